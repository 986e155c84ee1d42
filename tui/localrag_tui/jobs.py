"""Jobs on the screen: state, progress, outcome; the dialogue of all jobs."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import ListItem, ListView, ProgressBar, Static

from localrag.language import N_, _
from localrag.text.harmless import harmless, one_line
from localrag_tui.screen import Dialogue
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.work.jobs import STATES, Job, State, described, details, share, told

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_STYLES = {
    State.RUNNING: "$text-accent",
    State.DONE: "$text-success",
    State.STOPPED: "$text-warning",
    State.FAILED: "$text-error",
}
_EVERY = 0.1
"""Seconds between two looks at a running job."""


class JobView(Vertical):
    """One job, followed to its end."""

    def __init__(self, job: Job, *, full: bool = False) -> None:
        super().__init__()
        self.job = job
        self._full = full
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(classes="title")
        yield ProgressBar(total=1.0, show_eta=False, show_percentage=True)
        yield Paragraph(classes="words")

    def on_mount(self) -> None:
        self._looking = self.set_interval(_EVERY, self._show)
        self._show()

    def _show(self) -> None:
        job = self.job
        if self._shown == (now := (job.state, job.last)):
            return
        self._shown = now
        running = job.state is State.RUNNING
        state = (_(STATES[job.state]), _STYLES[job.state])
        self.query_one(".title", Static).update(
            Content.assemble((one_line(job.title), "bold"), "  ", state)
        )
        done = share(job.last)
        bar = self.query_one(ProgressBar)
        bar.display = running and done is not None
        bar.update(progress=done or 0.0)
        words = (described(job.last) or _("under way …")) if running else self._end()
        line = self.query_one(".words", Paragraph)
        line.show(Content(harmless(words)))
        line.display = bool(words)
        if not running:
            self._looking.stop()

    def _end(self) -> str:
        full = self._full or self.job.state is State.FAILED
        return "\n".join(details(self.job)) if full else told(self.job)


def announce(bench: "Workbench") -> None:
    """Show a notice when a job ends, unless it is in view or was stopped."""

    def listen(job: Job, event: object) -> None:
        if event is not None or not bench.is_running or _in_view(bench, job):
            return
        if job.state is State.FAILED and job.error is not None:
            bench.tell(job.error)
        elif job.state is State.DONE and (words := told(job)):
            bench.notify(harmless(words), title=one_line(job.title), markup=False)

    bench.jobs.listen(listen)


def _in_view(bench: "Workbench", job: Job) -> bool:
    shown = [
        getattr(bench.screen, "job", None),
        *(view.job for view in bench.screen.query(JobView)),
    ]
    return job in shown


class ReportDialogue(Dialogue):
    """The outcome of a job."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="report.copy"),
        Binding("enter", "leave", N_("Close"), id="report.close"),
    ]

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def body(self) -> ComposeResult:
        yield Static(Content(one_line(self._job.title)), classes="heading")
        with VerticalScroll():
            yield Paragraph(Content(harmless("\n".join(details(self._job)))), classes="lines")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        self.bench.copy("\n".join(details(self._job)))


class JobsList(ListView):
    """The list of jobs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", N_("Result"), id="jobs.report"),
    ]


class JobsDialogue(Dialogue):
    """Every job, newest first."""

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
        job = self._chosen()
        if job is not None and job.state is not State.RUNNING:
            self.app.push_screen(ReportDialogue(job))

    async def action_stop(self) -> None:
        """Stop the job and keep its results; pressed again, end it at once."""
        job = self._chosen()
        if job is not None and job.state is State.RUNNING:
            self.notify(_("It ends after saving its results; press again to end it at once."))
            await job.stop()

    def _chosen(self) -> Job | None:
        for listing in self.query(JobsList):
            if listing.highlighted_child is not None:
                return listing.highlighted_child.query_one(JobView).job
        return None
