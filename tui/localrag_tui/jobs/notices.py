"""Tells the user when a job has ended, wherever they are."""

from typing import TYPE_CHECKING

from localrag_tui.jobs.outcome import told
from localrag_tui.jobs.view import JobView
from localrag_tui.shown import harmless
from localrag_tui.work.job import Job, State

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


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
