"""Writes the report of a check: HTML, Markdown, or Word with comments."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localrag import language
from localrag.check import wording
from localrag.check.types import CheckReport, DiffPart, Finding, Verdict
from localrag.check.wording import WORST_FIRST
from localrag.corpus.readers.word import WORD_SUFFIXES
from localrag.errors import UsageError
from localrag.language import N_, _
from localrag.page.blocks import (
    Block,
    Changed,
    Heading,
    Inline,
    Item,
    Items,
    PassageLink,
    Quotation,
    Remark,
    Strong,
    Tone,
    items,
    paragraph,
)
from localrag.page.comments import commented
from localrag.page.files import opened
from localrag.page.markdown import markdown
from localrag.text.harmless import harmless

if TYPE_CHECKING:
    from jinja2 import Template

TONES = {
    Verdict.FAILS: Tone.WRONG,
    Verdict.UNCHECKED: Tone.DOUBTFUL,
    Verdict.HOLDS: Tone.GOOD,
}

_BREAK = re.compile(r"\s*\n\s*")
_SUFFIXES = (".html", ".htm", ".md", *WORD_SUFFIXES)


def known_suffix(path: Path) -> str:
    """Return the suffix of a report; raises `UsageError` for an unknown one."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(
            N_("There is no report of the form {suffix!r}."),
            N_("Name the file .html, .md or .docx."),
            suffix=path.suffix,
        )
    return suffix


def write_report(
    report: CheckReport, path: Path, original: Path | None = None, *, replace: bool = True
) -> None:
    """Write a report in the format of its suffix; comments go into a copy of a Word file.

    Raises:
        FileExistsAlready: the file exists and `replace` is off.
        UsageError: the suffix is unknown or not the original's, or the path is a folder or the
            original.
        InputError: python-docx is missing.
        StorageError: writing failed.
    """
    suffix = known_suffix(path)
    if original is not None and path.exists() and path.samefile(original):
        raise UsageError(
            N_("{path} is the text itself."), N_("Name another file for the report."), path=path
        )
    if suffix in WORD_SUFFIXES:
        # Word refuses a file with the suffix of another format.
        own = original.suffix.lower() if original and report.kind == "docx" else ".docx"
        if suffix != own:
            raise UsageError(
                N_("The report with comments is a copy of the text, in the form {own}."),
                N_("Name it {own}, or .html or .md."),
                own=own,
            )
        content = commented(report, original)
    else:
        written = markdown(blocks(report)) if suffix == ".md" else html(report)
        content = written.encode()
    with opened(path, replace=replace) as file:
        file.write(content)


def check_blocks(report: CheckReport, *, show_all: bool, link: bool = False) -> Iterator[Block]:
    """Yield the findings in the order of the text, then their number and the notes.

    `show_all` includes correct statements; `link` adds links to the provisions.
    """
    shown = [one for one in report.findings if show_all or one.verdict is not Verdict.HOLDS]
    if shown:
        yield Items(tuple(_finding(one, report.kind, link=link) for one in shown))
    yield paragraph(Strong(wording.counts(report)))
    for note in wording.notes(report):
        yield paragraph(Remark(note, Tone.DOUBTFUL))


def _finding(finding: Finding, kind: str, *, link: bool) -> Item:
    provision = (PassageLink(finding.provision, finding.passage_id),) if link else ()
    return Item((*_head(finding, kind), *provision), tuple(finding_blocks(finding)))


def _head(finding: Finding, kind: str) -> tuple[Inline, ...]:
    where = wording.place(finding.place, kind)
    return Strong(where), Remark(wording.verdict(finding), TONES[finding.verdict])


def blocks(report: CheckReport) -> Iterator[Block]:
    """Yield the findings, failures first."""
    yield Heading(1, wording.title(report))
    yield paragraph(wording.counts(report))
    for note in wording.notes(report):
        yield paragraph(Strong(note))
    for kind in WORST_FIRST:
        found = [finding for finding in report.findings if finding.verdict is kind]
        # Sentences without a difference have their own heading.
        for words in dict.fromkeys(map(wording.status, found)):
            yield Heading(2, words)
            alike = [finding for finding in found if wording.status(finding) == words]
            if kind is Verdict.HOLDS:
                yield items(_in_short(finding, report) for finding in alike)
                continue
            for finding in alike:
                yield from _in_full(finding, report)


def _in_short(finding: Finding, report: CheckReport) -> str:
    return (
        f"{wording.place(finding.place, report.kind)}: {finding.said} – {wording.compared(finding)}"
    )


def finding_blocks(finding: Finding) -> Iterator[Block]:
    """Yield the words of a text, their difference from the provision, and its text."""
    yield Quotation(finding.said)
    if finding.diff:
        yield paragraph(*map(_part, finding.diff))
    if finding.provision:
        yield paragraph(Remark(wording.compared(finding)))


def _part(part: DiffPart) -> Inline:
    return _BREAK.sub(" ", part.law) if part.same else Changed(part.law, part.said)


def _in_full(finding: Finding, report: CheckReport) -> Iterator[Block]:
    yield paragraph(*_head(finding, report.kind))
    yield from finding_blocks(finding)
    if finding.evidence:
        yield Quotation(finding.evidence)


class _Piece(NamedTuple):
    """A stretch of the text, its worst verdict, and the number of its first finding or 0."""

    text: str
    verdict: str
    anchor: int


def html(report: CheckReport) -> str:
    """Write the text and its findings as one page without scripts or links to other servers."""
    from localrag.page.html import fragment

    pieces = list(_pieces(report))
    anchors = _anchors(report)
    findings = [
        {
            "anchor": anchors[number],
            "verdict": finding.verdict.value,
            "place": wording.place(finding.place, report.kind),
            "words": wording.verdict(finding),
            "blocks": fragment(finding_blocks(finding)),
            "evidence": harmless(finding.evidence),
        }
        for number, finding in enumerate(report.findings)
    ]
    order = [verdict.value for verdict in WORST_FIRST]
    findings.sort(key=lambda finding: order.index(str(finding["verdict"])))
    return _template().render(
        language=language.in_use(),
        title=wording.title(report),
        counts=wording.counts(report),
        notes=wording.notes(report),
        pieces=pieces,
        findings=findings,
        text_of_the_law=_("Text of the provision"),
    )


def _anchors(report: CheckReport) -> list[int]:
    """Return for each finding the number of the first one at its place."""
    first: dict[int, int] = {}
    return [
        first.setdefault(finding.place.start, number)
        for number, finding in enumerate(report.findings, 1)
    ]


def _pieces(report: CheckReport) -> Iterator[_Piece]:
    anchors = dict(zip((one.place.start for one in report.findings), _anchors(report), strict=True))
    ends = {place for one in report.findings for place in one.place[:2]}
    cuts = sorted({0, len(report.text), *ends})
    waiting = sorted(report.findings, key=lambda finding: finding.place.start, reverse=True)
    open_: list[Finding] = []
    for start, end in pairwise(cuts):
        while waiting and waiting[-1].place.start <= start:
            open_.append(waiting.pop())
        open_ = [finding for finding in open_ if finding.place.end > start]
        there = {finding.verdict for finding in open_}
        worst = next((verdict.value for verdict in WORST_FIRST if verdict in there), "")
        yield _Piece(harmless(report.text[start:end]), worst, anchors.get(start, 0))


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("localrag", "page"),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=lambda value: harmless(value) if type(value) is str else value,
        trim_blocks=True,
    )
    return environment.get_template("report.html.jinja")
