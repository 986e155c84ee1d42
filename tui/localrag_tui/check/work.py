"""What a check does in its process, what came of it, and where a finding leads."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.check import wording
from localrag.check.types import CheckReport, Finding
from localrag.corpus.config import Config
from localrag.corpus.states import DocumentInfo
from localrag.corpus.workspace import Workspace
from localrag.language import N_, _
from localrag.search.finding import find
from localrag_tui.jobs.step import Steps
from localrag_tui.shown import harmless
from localrag_tui.source.sheet import Sheet
from localrag_tui.spot import Spot
from localrag_tui.widgets.text_field import as_path

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.law.names import LawNames

NOTHING_CITED = N_("The text cites no provision and names no law with its number.")


@dataclass(frozen=True, slots=True)
class Checked:
    """A text was checked; a `JobOutcome`.

    Attributes:
        report: what was found.
        original: the file, absolute; None of a text that was pasted or typed.
    """

    report: CheckReport
    original: Path | None

    def told(self) -> str:
        """How many findings there are of each verdict."""
        said = wording.counts(self.report) if self.report.findings else _(NOTHING_CITED)
        return " ".join([said, *wording.notes(self.report)])

    def details(self) -> list[str]:
        """The counts, then every finding with its place."""
        report = self.report
        return [
            self.told(),
            *(
                f"{wording.place(finding.place, report.kind)}: {wording.verdict(finding)}"
                for finding in report.findings
            ),
        ]

    def proposed(self, folder: Path) -> Path:
        """A file for the report: beside the original, else in a folder; Word of what is Word."""
        if self.original is None:
            return folder / "checked.html"
        suffix = self.original.suffix if self.report.kind == "docx" else ".html"
        return self.original.with_name(f"{self.original.stem}-checked{suffix}")


def check_text(
    tell: Callable[[object], None], workspace: Workspace, corpus: str, config: Config, text: str
) -> Checked:
    """Check a text, or the file that it names, as ``localrag check`` does."""
    from localrag.check import named_file
    from localrag.doors.session import Session

    path = named_file(str(as_path(text)))
    with Session(workspace).corpus(corpus) as opened:
        opened.config = config
        report = opened.check(text if path is None else path, on_event=Steps(tell))
    return Checked(report, path and path.absolute())


def as_sheet(report: CheckReport) -> Sheet:
    """The text that was checked, as a page shows it; no character of it moves."""
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
    """Where a finding leads: to the provision, at the words that it was compared with.

    Raises:
        NotFoundError: the corpus does not have it any longer.
    """
    passage = find(store, finding.passage_id or finding.provision, names)
    compared = "".join(part.law for part in finding.diff)
    for words in (compared, finding.said.strip("「」“”\"' 　\n"), finding.evidence):
        at = passage.text.find(words) if words else -1
        if at >= 0:
            start = passage.start + at
            return Spot(passage.document_id, start, start + len(words), passage.id)
    return Spot.of(passage)
