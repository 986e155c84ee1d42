"""What a check has found as comments in a Word file, with python-docx (extra ``docs``).

The comments stand at the runs of the original where that is of Word, else at a copy of the text.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localrag.check import wording
from localrag.check.types import CheckReport, Finding, Verdict
from localrag.corpus.readers.text import drop_controls
from localrag.errors import InputError, to_install
from localrag.language import N_, _

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

_AUTHOR = "localrag"


class _Printed(NamedTuple):
    """A paragraph as a part of the text that was checked.

    Attributes:
        start, end: span in that text.
    """

    start: int
    end: int
    paragraph: "Paragraph"


def commented(report: CheckReport, original: Path | None = None) -> bytes:
    """Write a Word file with a comment on all that does not hold or could not be checked.

    Args:
        report: what was found.
        original: the file that was checked, if it is a file.

    Raises:
        InputError: python-docx is missing.
    """
    try:
        import docx
    except ImportError as error:
        raise InputError(N_("Writing DOCX needs python-docx."), to_install("docs")) from error
    if report.kind == "docx" and original is not None:
        document = docx.Document(str(original))
    else:
        document = docx.Document()
        for text in report.text.split("\n"):
            document.add_paragraph(drop_controls(text))
    printed = list(_printed(document, report))
    if printed:
        _comment(document, _runs(printed[0], 0, 1), wording.title(report), wording.counts(report))
    for finding in report.findings:
        if finding.verdict is not Verdict.HOLDS:
            there = [one for one in printed if _touches(one, finding)]
            runs = [run for one in there for run in _runs(one, *finding.place[:2])]
            _comment(document, runs, wording.verdict(finding), *_further(finding))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _further(finding: Finding) -> Iterator[str]:
    """What a comment says besides the verdict."""
    if finding.diff:
        yield "".join(
            part.law
            if part.same
            else (f"[{part.law}]" if part.law else "") + (f"({part.said})" if part.said else "")
            for part in finding.diff
        )
        yield _("In [ ] what the provision has, in ( ) what the text has.")
    if finding.provision:
        yield wording.compared(finding)
    if finding.evidence and finding.verdict is Verdict.FAILS:
        yield finding.evidence


def _comment(document: "WordDocument", runs: "Sequence[Run]", *lines: str) -> None:
    if not runs:
        return
    comment = document.add_comment(list(runs), author=_AUTHOR, initials="lr")
    for number, text in enumerate(lines):
        paragraph = comment.paragraphs[0] if number == 0 else comment.add_paragraph()
        paragraph.add_run(drop_controls(text))


def _printed(document: "WordDocument", report: CheckReport) -> Iterator[_Printed]:
    """The paragraphs in the order in which a reader of Word files prints them, with their spans."""
    at = 0
    for paragraph in _paragraphs(document):
        text = drop_controls(paragraph.text).replace("\n", "　").strip()
        start = report.text.replace("\n", "　").find(text, at) if text else -1
        if start >= 0:
            yield _Printed(start, start + len(text), paragraph)
            at = start + len(text)


def _paragraphs(document: "WordDocument") -> "Iterator[Paragraph]":
    from docx.table import Table

    for block in document.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                for cell in row.cells:
                    yield from cell.paragraphs
        else:
            yield block


def _touches(printed: _Printed, finding: Finding) -> bool:
    return printed.start < finding.place.end and finding.place.start < printed.end


def _runs(printed: _Printed, start: int, end: int) -> "list[Run]":
    """The runs of a paragraph that have something of a span; all where none does."""
    paragraph = printed.paragraph
    at = printed.start - (len(paragraph.text) - len(paragraph.text.lstrip()))
    found = []
    for run in paragraph.runs:
        if at < end and start < at + len(run.text):
            found.append(run)
        at += len(run.text)
    return found or list(paragraph.runs)
