"""The words for findings, on the terminal and in reports."""

from localrag.answer.wording import read_by_ocr
from localrag.check.types import (
    NO_DIFFERENCE,
    PARTS,
    VERDICTS,
    CheckedPlace,
    CheckReport,
    Finding,
    Verdict,
)
from localrag.corpus.types import omission_notes
from localrag.language import _, colon, ngettext

WORST_FIRST = (Verdict.FAILS, Verdict.UNCHECKED, Verdict.HOLDS)
"""The order of findings in reports."""


def counts(report: CheckReport) -> str:
    """Return the number of findings of each verdict, failures first."""
    found = report.counts
    alike = report.without_difference
    numbers = {_(VERDICTS[kind]): found[kind] for kind in WORST_FIRST}
    if alike:
        numbers[_(VERDICTS[Verdict.HOLDS])] -= alike
        numbers[_(NO_DIFFERENCE)] = alike
    told = _(", ").join(f"{words} {number:,}" for words, number in numbers.items())
    if not report.confidences:
        return told
    by_ocr = ngettext(
        "{n:,} page was read by OCR, confidence {least:.2f}",
        "{n:,} pages were read by OCR, confidence {least:.2f} or more",
        len(report.confidences),
    )
    read = by_ocr.format(n=len(report.confidences), least=min(report.confidences))
    return _("{counts}; {read}: compare with the paper").format(counts=told, read=read)


def place(found: CheckedPlace, kind: str) -> str:
    """Return a place in words: page 2, paragraph 4; 注1, paragraph 8."""
    if found.note:
        return _("{note}, paragraph {n:,}").format(note=found.note, n=found.line)
    if kind == "docx":
        return _("paragraph {n:,}").format(n=found.line)
    if found.page:
        where = _("page {page:,}, paragraph {n:,}").format(page=found.page, n=found.line)
    else:
        where = _("line {n:,}").format(n=found.line)
    if found.confidence is None:
        return where
    return _("{where}, {read}").format(where=where, read=read_by_ocr(found.confidence))


def status(finding: Finding) -> str:
    """Return the word for a verdict; sentences have "no difference found", not "holds"."""
    return _(NO_DIFFERENCE) if finding.is_sentence_that_holds else _(VERDICTS[finding.verdict])


def verdict(finding: Finding) -> str:
    """Return the kind of a finding, its verdict and the reason."""
    words = f"{_(PARTS[finding.part])} – {status(finding)}"
    return f"{words}{colon()}{finding.problem}" if finding.problem else words


def compared(finding: Finding) -> str:
    """Return the compared provision and its state; "" for none."""
    if not finding.provision or not finding.state:
        return finding.provision
    words = _("{provision}, in force from {day}")
    return words.format(provision=finding.provision, day=finding.state)


def title(report: CheckReport) -> str:
    """Return the title of a report."""
    name = report.name or _("text")
    return _("Check of {name} against the law as of {day}").format(name=name, day=report.as_of)


def notes(report: CheckReport) -> list[str]:
    """Return sentences on parts of the file not read or not compared."""
    told = omission_notes(report.omissions)
    if report.without_difference:
        told.append(
            _(
                '"No difference found" means: figures, bounds, words, duties and prohibitions '
                "agree. Subjects, objects, missing conditions, and 及び for 又は are not "
                "compared."
            )
        )
    if report.upcoming:
        told.append(_changing(report))
    return told


def _changing(report: CheckReport) -> str:
    n = len({(one.place.start, one.place.end) for one in report.upcoming})
    words = ngettext(
        "From {day} on, {n} citation or quotation has other words.",
        "From {day} on, {n} citations and quotations have other words.",
        n,
    )
    return words.format(day=report.upcoming[0].day, n=n)
