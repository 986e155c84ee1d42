"""All that came of one job: what was done, left out, and failed."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from localrag.language import N_
from localrag_tui.jobs.outcome import details
from localrag_tui.screen import Dialogue
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import harmless
from localrag_tui.work.job import Job


class ReportDialogue(Dialogue):
    """What came of a job, to be scrolled."""

    CSS: ClassVar[str] = """
    ReportDialogue > .box {
        width: 90; max-width: 96%; height: auto; max-height: 80%;
        background: $surface; padding: 1 1;
        .heading { padding: 0 1 1 1; }
        VerticalScroll { height: auto; max-height: 100%; padding: 0 1; }
        .lines { height: auto; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="report.copy"),
        Binding("enter", "leave", N_("Close"), id="report.close"),
    ]

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def compose(self) -> ComposeResult:
        """The title and the lines."""
        with Vertical(classes="box"):
            yield Static(Content(harmless(self._job.title)), classes="heading")
            with VerticalScroll():
                yield Static(Content(harmless("\n".join(details(self._job)))), classes="lines")
        yield KeyBar()

    def on_mount(self) -> None:
        """The arrows scroll."""
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        """Copy the lines."""
        self.bench.copy("\n".join(details(self._job)))
