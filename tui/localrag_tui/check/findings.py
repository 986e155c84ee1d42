"""A check in its process, and its findings in a list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag import language
from localrag.check import wording
from localrag.check.types import NO_DIFFERENCE, VERDICTS, CheckReport, Finding, Verdict
from localrag.corpus.config import Config
from localrag.corpus.states import DocumentInfo
from localrag.corpus.workspace import Workspace
from localrag.language import N_, _
from localrag.page.blocks import Block, Quotation
from localrag.search.finding import find
from localrag.text.harmless import cut, harmless
from localrag_tui.blocks import plain
from localrag_tui.shell.form import as_path
from localrag_tui.shell.listing import AdaptiveList, AdaptiveRow
from localrag_tui.shown import content, flat
from localrag_tui.source.sheet import Sheet
from localrag_tui.spot import Spot
from localrag_tui.work.jobs import JobOutcome, Steps

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.law.names import LawNames

NOTHING_CITED = N_("The text cites no provision and names no law with its number.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(JobOutcome):
    """The outcome of a check.

    Attributes:
        original: the file, absolute; None for pasted or typed text.
    """

    report: CheckReport
    original: Path | None

    @classmethod
    def of(cls, report: CheckReport, original: Path | None) -> "Checked":
        """The counts of the findings, then every finding with its place."""
        counts = wording.counts(report) if report.findings else _(NOTHING_CITED)
        told = " ".join([counts, *wording.notes(report)])
        found = (
            f"{wording.place(finding.place, report.kind)}: {wording.verdict(finding)}"
            for finding in report.findings
        )
        return cls(told=told, details=(told, *found), report=report, original=original)

    def proposed(self, folder: Path) -> Path:
        """A file for the report, beside the original; Word for a Word file."""
        if self.original is None:
            return folder / "checked.html"
        suffix = self.original.suffix if self.report.kind == "docx" else ".html"
        return self.original.with_name(f"{self.original.stem}-checked{suffix}")


def check_text(
    tell: Callable[[object], None], workspace: Workspace, corpus: str, config: Config, text: str
) -> Checked:
    """Check a text, or the file it names, as ``localrag check`` does."""
    from localrag.check import named_file
    from localrag.doors.session import Session

    path = named_file(str(as_path(text)))
    with Session(workspace).corpus(corpus) as opened:
        opened.config = config
        report = opened.check(text if path is None else path, on_event=Steps(tell))
    return Checked.of(report, path and path.absolute())


def as_sheet(report: CheckReport) -> Sheet:
    """The checked text as a page, character by character."""
    document = DocumentInfo(
        key=0,
        id="",
        title=report.name,
        kind=report.kind,
        source=report.name,
        characters=len(report.text),
        passages=0,
        metadata={},
        state_id="",
        followed="",
        not_yet=False,
        before_first=False,
        old=False,
    )
    text = harmless(report.text).replace("\t", "　")
    return Sheet(document, 0, date.fromisoformat(report.as_of), text, (), ())


def spot_of(store: "CorpusStore", names: "LawNames", finding: Finding) -> Spot:
    """The provision of a finding, at the compared words.

    Raises:
        NotFoundError: the corpus no longer has it.
    """
    passage = find(store, finding.passage_id or finding.provision, names)
    compared = "".join(part.law for part in finding.diff)
    for words in (compared, finding.said.strip("「」“”\"' 　\n"), finding.evidence):
        at = passage.text.find(words) if words else -1
        if at >= 0:
            start = passage.start + at
            return Spot(passage.document_id, start, start + len(words), passage.id)
    return Spot.of(passage)


STYLES = {
    Verdict.HOLDS: "$text-success",
    Verdict.FAILS: "$text-error",
    Verdict.UNCHECKED: "$text-warning",
}


class FindingRow(AdaptiveRow):
    """A row: verdict, place, words of the text."""

    def __init__(self, finding: Finding, kind: str) -> None:
        self._finding = finding
        self._kind = kind

    def write(self, width: int) -> Sequence[Content]:
        """Write the row; the words of the text are cut first."""
        verdict = self._finding.verdict
        name, room = wording.status(self._finding), _widest(language.in_use())
        place = wording.place(self._finding.place, self._kind)
        head = f" {name}{' ' * (room - cell_len(name))}  {place}  "
        said = cut(flat(self._finding.said), width - cell_len(head))
        return [
            Content.assemble(
                (head[: len(name) + 1], f"bold {STYLES[verdict]}"),
                (head[len(name) + 1 :], "$foreground-muted"),
                said,
            )
        ]


@cache
def _widest(_language: str) -> int:
    return max(cell_len(_(name)) for name in (*VERDICTS.values(), NO_DIFFERENCE))


def in_full(finding: Finding) -> Content:
    """A finding in full: reason, words of the text, difference from the law."""
    from localrag.page.report import finding_blocks

    reason = content(flat(wording.verdict(finding)), f"bold {STYLES[finding.verdict]}")
    # The difference has the words of the text.
    shown = (one for one in finding_blocks(finding) if not (finding.diff and _is_said(one)))
    return Content("\n").join([reason, *map(plain, shown)])


def _is_said(block: Block) -> bool:
    return isinstance(block, Quotation)


class FindingsList(AdaptiveList):
    """The findings in the order of the text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open the provision"), id="check.open"),
        Binding("c", "screen.copy", N_("Copy"), id="check.copy"),
    ]
    ROW = FindingRow

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self.findings: tuple[Finding, ...] = ()

    @property
    def chosen(self) -> Finding | None:
        if self.highlighted is None or self.highlighted >= len(self.findings):
            return None
        return self.findings[self.highlighted]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "select":
            return self.chosen is not None and bool(self.chosen.provision)
        return super().check_action(action, parameters)

    def show(self, findings: Sequence[Finding], kind: str) -> None:
        """List other findings; the cursor stays at its place in the text."""
        at = self.chosen.place.start if self.chosen else 0
        self.findings = tuple(findings)
        self.set_options(Option(FindingRow(finding, kind)) for finding in findings)
        later = (n for n, finding in enumerate(findings) if finding.place.start >= at)
        self.highlighted = next(later, len(findings) - 1) if findings else None

    def look_at(self, span: tuple[int, int]) -> bool:
        """Put the cursor on a place; True if it was there already."""
        if self.chosen is not None and self.chosen.place[:2] == span:
            return True
        there = (n for n, finding in enumerate(self.findings) if finding.place[:2] == span)
        self.highlighted = next(there, self.highlighted)
        return False

    def on_option_list_option_highlighted(self, _event: OptionList.OptionHighlighted) -> None:
        self.refresh_bindings()
