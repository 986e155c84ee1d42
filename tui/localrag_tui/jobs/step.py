"""How far a job is: told in its process a few times a second, put into words here."""

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from localrag.language import N_, _
from localrag.text.progress import BYTES, Phase, Progress
from localrag_tui.shown import one_line
from localrag_tui.wording import cure_of, duration, size
from localrag_tui.work.jobs import Job, State

_EVERY = 0.1
"""Seconds between two words on the same stage."""
_SOON = 1.0
"""Seconds after which a rate says something."""


@runtime_checkable
class Telling(Protocol):
    """An event of a job that says in a line how far it is."""

    def told(self) -> str:
        """The line, in the language of the interface."""
        ...


class Steps:
    """Tells progress from the process that works; what follows too soon is left out."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        self._tell = tell
        self._phase: Phase | None = None
        self._told = 0.0

    def __call__(self, progress: Progress) -> None:
        """Note how far it is."""
        now = time.monotonic()
        last = progress.done >= progress.total
        if progress.phase != self._phase or now - self._told >= _EVERY or last:
            self._phase, self._told = progress.phase, now
            self._tell(progress)


def described(event: object) -> str:
    """An event of a job in one line; "" for one that does not say how far it is."""
    match event:
        case Progress():
            return " · ".join(filter(None, (_count(event), event.phase.about, _pace(event))))
        case Telling():
            return one_line(event.told())
        case _:
            return ""


def share(event: object) -> float | None:
    """The part of a stage that an event says is done, from 0 to 1; None where it does not say."""
    if isinstance(event, Progress) and event.total > 0:
        return min(1.0, event.done / event.total)
    return None


def _count(step: Progress) -> str:
    if step.phase.unit == BYTES:
        done, total = size(step.done), size(step.total)
    else:
        done, total = f"{step.done:,}", f"{step.total:,} {_(step.phase.unit)}"
    return _("{step}: {done} of {total}").format(step=_(step.phase.name), done=done, total=total)


def _pace(step: Progress) -> str:
    if step.seconds < _SOON or not 0 < step.done < step.total or step.left is None:
        return ""
    bytes_ = step.phase.unit == BYTES
    speed = f"{size(int(step.rate))}/s" if bytes_ else f"{step.rate:,.0f}/s"
    return _("{speed} · about {left} left").format(speed=speed, left=duration(step.left))


STATES = {
    State.RUNNING: N_("running"),
    State.DONE: N_("done"),
    State.STOPPED: N_("stopped"),
    State.FAILED: N_("failed"),
}
"""The states of a job, as messages."""


@runtime_checkable
class JobOutcome(Protocol):
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
        return _("Stopped; what it had finished is kept.") if job.keeps else _("Stopped.")
    if isinstance(job.value, JobOutcome):
        return "\n".join(map(one_line, job.value.told().split("\n")))
    return ""


def details(job: Job) -> list[str]:
    """All that is known of how a job ended, line by line."""
    if job.error is not None and job.state is not State.STOPPED:
        return [job.error.cause, *filter(None, [cure_of(job.error)])]
    if isinstance(job.value, JobOutcome):
        return list(map(one_line, job.value.details()))
    return [line for line in (told(job),) if line]
