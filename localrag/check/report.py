"""What a check has found as a file: HTML, Markdown, or Word with comments."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localrag import language
from localrag.check import word_file, wording
from localrag.check.types import CheckReport, Finding
from localrag.check.wording import WORST_FIRST
from localrag.corpus.readers.word import WORD_SUFFIXES
from localrag.errors import UsageError
from localrag.language import N_, _
from localrag.page.files import opened
from localrag.page.markdown import markdown
from localrag.text.harmless import harmless

if TYPE_CHECKING:
    from jinja2 import Template

_SUFFIXES = (".html", ".htm", ".md", *WORD_SUFFIXES)


def known_suffix(path: Path) -> str:
    """The suffix by which the form of a report is told.

    Raises:
        UsageError: there is no such form.
    """
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
    """Write a report in the form that the suffix of its file tells.

    Args:
        report: what was found.
        path: the file.
        original: the file that was checked; comments go into a copy of it where it is of Word.
        replace: write over a file that is there.

    Raises:
        FileExistsAlready: there is such a file, and it may not be replaced.
        UsageError: there is no such form, it is not that of the original, a folder is in its
            place, or it is the text itself.
        InputError: python-docx is missing.
        StorageError: the file cannot be written.
    """
    suffix = known_suffix(path)
    if original is not None and path.exists() and path.samefile(original):
        raise UsageError(
            N_("{path} is the text itself."), N_("Name another file for the report."), path=path
        )
    if suffix in WORD_SUFFIXES:
        # Word opens no file whose name tells another form than the one it has.
        own = original.suffix.lower() if original and report.kind == "docx" else ".docx"
        if suffix != own:
            raise UsageError(
                N_("The report with comments is a copy of the text, in the form {own}."),
                N_("Name it {own}, or .html or .md."),
                own=own,
            )
        content = word_file.commented(report, original)
    else:
        written = markdown(wording.blocks(report)) if suffix == ".md" else html(report)
        content = written.encode()
    with opened(path, replace=replace) as file:
        file.write(content)


class _Piece(NamedTuple):
    """A stretch of the text with the worst of its findings.

    Attributes:
        anchor: the number of the finding that begins here, from 1; 0 for none.
    """

    text: str
    verdict: str
    anchor: int


def html(report: CheckReport) -> str:
    """The text with all findings as one page that loads nothing and runs nothing."""
    pieces = list(_pieces(report))
    anchors = _anchors(report)
    findings = [
        {
            "anchor": anchors[number],
            "verdict": finding.verdict.value,
            "place": wording.place(finding.place, report.kind),
            "words": wording.verdict(finding),
            "said": harmless(finding.said),
            "diff": finding.diff,
            "compared": wording.compared(finding),
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
    """For each finding the number of the first one that begins at its place."""
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
        loader=PackageLoader("localrag", "check"),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=lambda value: harmless(value) if type(value) is str else value,
        trim_blocks=True,
    )
    return environment.get_template("report.html.jinja")
