"""The words for what a check has found, for the terminal and for reports, and all as Markdown."""

from collections.abc import Iterator

from localrag.check.types import (
    PARTS,
    VERDICTS,
    CheckReport,
    DiffPart,
    Finding,
    Place,
    Verdict,
)
from localrag.conversations.export import items, line, quotation
from localrag.language import _

WORST_FIRST = (Verdict.FAILS, Verdict.UNCHECKED, Verdict.HOLDS)
"""The order in which reports tell of findings."""


def counts(report: CheckReport) -> str:
    """How many findings there are of each verdict, those that do not hold first."""
    found = report.counts
    return _(", ").join(f"{_(VERDICTS[kind])} {found[kind]:,}" for kind in WORST_FIRST)


def place(found: Place, kind: str) -> str:
    """Where something stands in a text of a kind: line 3; page 2, line 40; paragraph 7."""
    if kind == "docx":
        return _("paragraph {n:,}").format(n=found.line)
    if found.page:
        return _("page {page:,}, line {n:,}").format(page=found.page, n=found.line)
    return _("line {n:,}").format(n=found.line)


def verdict(finding: Finding) -> str:
    """What was looked at, what came of it, and why."""
    words = f"{_(PARTS[finding.part])} – {_(VERDICTS[finding.verdict])}"
    return f"{words}: {finding.problem}" if finding.problem else words


def compared(finding: Finding) -> str:
    """The provision that something was compared with, and its state; "" for nothing."""
    if not finding.provision or not finding.state:
        return finding.provision
    return _("{provision}, as of {day}").format(provision=finding.provision, day=finding.state)


def title(report: CheckReport) -> str:
    """What a report is of."""
    name = report.name or _("text")
    return _("Check of {name} against the law as of {day}").format(name=name, day=report.as_of)


def markdown(report: CheckReport) -> str:
    """The findings as Markdown, those that do not hold first; every text is taken literally."""
    blocks = [f"# {line(title(report))}", line(counts(report))]
    for kind in WORST_FIRST:
        found = [finding for finding in report.findings if finding.verdict is kind]
        if found:
            blocks.append(f"## {line(_(VERDICTS[kind]))}")
        if kind is Verdict.HOLDS:
            blocks.append(items(_in_short(finding, report) for finding in found))
            continue
        for finding in found:
            blocks += _in_full(finding, report)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _in_short(finding: Finding, report: CheckReport) -> str:
    where = line(place(finding.place, report.kind))
    return f"{where}: {line(finding.said)} – {line(compared(finding))}"


def _in_full(finding: Finding, report: CheckReport) -> Iterator[str]:
    where = place(finding.place, report.kind)
    yield f"**{line(where)}** · {line(verdict(finding))}"
    yield quotation(finding.said)
    if finding.diff:
        yield "> " + "".join(map(_marked, finding.diff))
    if finding.provision:
        yield line(compared(finding))
    if finding.evidence:
        yield quotation(finding.evidence)


def _marked(part: DiffPart) -> str:
    """A stretch of a quotation: what the law has in bold, what the text has instead struck out."""
    if part.same:
        return line(part.law)
    law = f"**{line(part.law)}**" if part.law.strip() else ""
    return law + (f"~~{line(part.said)}~~" if part.said.strip() else "")
