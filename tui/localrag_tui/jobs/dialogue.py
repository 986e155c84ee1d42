"""The jobs of this application: how far each is, stopping one, reading what came of it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import ListItem, ListView, Static

from localrag.language import N_, _
from localrag_tui.jobs.step import details
from localrag_tui.jobs.view import JobView
from localrag_tui.screen import Dialogue
from localrag_tui.shown import harmless
from localrag_tui.work.job import Job, State


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

    def body(self) -> ComposeResult:
        yield Static(Content(harmless(self._job.title)), classes="heading")
        with VerticalScroll():
            yield Static(Content(harmless("\n".join(details(self._job)))), classes="lines")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        self.bench.copy("\n".join(details(self._job)))


class JobsList(ListView):
    """The jobs, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", N_("What came of it"), id="jobs.report"),
    ]


class JobsDialogue(Dialogue):
    """Every job, newest first."""

    CSS: ClassVar[str] = """
    JobsDialogue > .box {
        width: 90; max-width: 96%; height: auto; max-height: 80%;
        background: $surface; padding: 1 1;
        .heading { padding: 0 1 1 1; }
        .nothing { padding: 0 1; color: $foreground-muted; }
        JobsList { height: auto; max-height: 100%; background: $surface; }
        ListItem { height: auto; padding: 0 0 1 0; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", N_("Stop"), id="jobs.stop"),
    ]

    def body(self) -> ComposeResult:
        jobs = self.bench.jobs.all[::-1]
        yield Static(Content(_("Jobs")), classes="heading")
        if jobs:
            yield JobsList(*(ListItem(JobView(job)) for job in jobs))
        else:
            yield Static(Content(_("Nothing runs, and nothing has run.")), classes="nothing")

    def on_mount(self) -> None:
        for listing in self.query(JobsList):
            listing.focus()

    def on_list_view_selected(self) -> None:
        """Read what came of the job."""
        job = self._chosen()
        if job is not None and job.state is not State.RUNNING:
            self.app.push_screen(ReportDialogue(job))

    async def action_stop(self) -> None:
        """Stop the job; what it has finished is kept. Pressed again, it ends at once."""
        job = self._chosen()
        if job is not None and job.state is State.RUNNING:
            self.notify(_("It ends as soon as what is begun is kept; again: at once."))
            await job.stop()

    def _chosen(self) -> Job | None:
        for listing in self.query(JobsList):
            if listing.highlighted_child is not None:
                return listing.highlighted_child.query_one(JobView).job
        return None
