"""A job on the screen: what it is, how far it is, what came of it."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ProgressBar, Static

from localrag.language import _
from localrag_tui.jobs.step import STATES, described, details, share, told
from localrag_tui.shown import harmless
from localrag_tui.work.job import Job, State

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


_STYLES = {
    State.RUNNING: "$text-accent",
    State.DONE: "$text-success",
    State.STOPPED: "$text-warning",
    State.FAILED: "$text-error",
}
_EVERY = 0.1
"""Seconds between two looks at a job that runs."""


class JobView(Vertical):
    """One job, followed to its end.

    Args:
        job: whatever its state.
        full: whether all that came of it is shown, not one line alone.
    """

    DEFAULT_CSS: ClassVar[str] = """
    JobView {
        height: auto;
        padding: 0 1;
        ProgressBar { width: 1fr; height: 1; }
        ProgressBar Bar { width: 1fr; }
        .words { height: auto; color: $foreground-muted; }
    }
    """

    def __init__(self, job: Job, *, full: bool = False) -> None:
        super().__init__()
        self.job = job
        self._full = full
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(classes="title")
        yield ProgressBar(total=1.0, show_eta=False, show_percentage=True)
        yield Static(classes="words")

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
            Content.assemble((harmless(job.title), "bold"), "  ", state)
        )
        done = share(job.last)
        bar = self.query_one(ProgressBar)
        bar.display = running and done is not None
        bar.update(progress=done or 0.0)
        words = (described(job.last) or _("under way …")) if running else self._end()
        line = self.query_one(".words", Static)
        line.update(Content(harmless(words)))
        line.display = bool(words)
        if not running:
            self._looking.stop()

    def _end(self) -> str:
        full = self._full or self.job.state is State.FAILED
        return "\n".join(details(self.job)) if full else told(self.job)


def announce(bench: "Workbench") -> None:
    """Tell of every job that ends from now on, unless the user looks at it or has stopped it."""

    def listen(job: Job, event: object) -> None:
        if event is not None or not bench.is_running or _in_view(bench, job):
            return
        if job.state is State.FAILED and job.error is not None:
            bench.tell(job.error)
        elif job.state is State.DONE and (words := told(job)):
            bench.notify(harmless(words), title=harmless(job.title), markup=False)

    bench.jobs.listen(listen)


def _in_view(bench: "Workbench", job: Job) -> bool:
    shown = [
        getattr(bench.screen, "job", None),
        *(view.job for view in bench.screen.query(JobView)),
    ]
    return job in shown
