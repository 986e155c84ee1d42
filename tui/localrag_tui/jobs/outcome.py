"""What came of a job, in words."""

from typing import Protocol, runtime_checkable

from localrag.language import N_, _
from localrag_tui.work.job import Job, State

STATES = {
    State.RUNNING: N_("running"),
    State.DONE: N_("done"),
    State.STOPPED: N_("stopped"),
    State.FAILED: N_("failed"),
}
"""The states of a job, as messages."""


@runtime_checkable
class Outcome(Protocol):
    """What a job returns where it has something to say to the user."""

    def told(self) -> str:
        """What was done, in a line."""
        ...

    def details(self) -> list[str]:
        """All that is to be known of it, line by line; what failed among it."""
        ...


def told(job: Job) -> str:
    """How a job ended, in a line; "" while it runs."""
    if job.error is not None and job.state is not State.STOPPED:
        return job.error.cause
    if job.state is State.STOPPED:
        return _("Stopped; what it had finished is kept.")
    if isinstance(job.value, Outcome):
        return job.value.told()
    return ""


def details(job: Job) -> list[str]:
    """All that is known of how a job ended, line by line."""
    if job.error is not None and job.state is not State.STOPPED:
        return [job.error.cause, *filter(None, [job.error.cure])]
    if isinstance(job.value, Outcome):
        return job.value.details()
    return [line for line in (told(job),) if line]
