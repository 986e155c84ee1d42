"""How far a job is: told in its process a few times a second, put into words here."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from localrag.language import N_, _
from localrag_tui.wording import duration, size

_EVERY = 0.1
"""Seconds between two words on the same step."""
_SOON = 1.0
"""Seconds after which a rate says something."""
BYTES = "bytes"
"""The unit that is shown in megabytes."""
UNITS = {
    "documents": N_("documents"),
    "passages": N_("passages"),
    "windows": N_("windows"),
    "vectors": N_("vectors"),
}
"""Of what is counted else."""


@runtime_checkable
class Telling(Protocol):
    """An event of a job that says in a line how far it is."""

    def told(self) -> str:
        """The line, in the language of the interface."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """How far a step is.

    Attributes:
        name: what is done, a message marked with `N_`.
        done, total: counted in `unit`.
        unit: `BYTES` or a key of `UNITS`.
        seconds: since the step began.
        about: what it is done to; "" where the title of the job says so.
    """

    name: str
    done: int
    total: int
    unit: str
    seconds: float = 0.0
    about: str = ""

    def told(self) -> str:
        """What is done, how much of it, how fast."""
        return " · ".join(filter(None, (_count(self), self.about, _pace(self))))


class Steps:
    """Tells steps from the process that works; what follows too soon is left out."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        self._tell = tell
        self._name = ""
        self._began = self._told = 0.0

    def __call__(self, name: str, done: int, total: int, unit: str, about: str = "") -> None:
        """Note how far a step is; arguments as of `Step`."""
        now = time.monotonic()
        if name != self._name:
            self._name, self._began, self._told = name, now, 0.0
        if now - self._told >= _EVERY or done >= total:
            self._told = now
            self._tell(Step(name, done, total, unit, now - self._began, about))


def described(event: object) -> str:
    """An event of a job in one line; "" for one that does not say how far it is."""
    if isinstance(event, Telling):
        return event.told()
    if (counts := _counts(event)) is None:
        return ""
    return _("{done} of {total}").format(done=f"{counts[0]:,}", total=f"{counts[1]:,}")


def share(event: object) -> float | None:
    """The part of a step that an event says is done, from 0 to 1; None where it does not say."""
    counts = _counts(event)
    return min(1.0, counts[0] / counts[1]) if counts and counts[1] > 0 else None


def _counts(event: object) -> tuple[int, int] | None:
    """What an event counts, be it of a step here, of adding or of a batch."""
    done, total = getattr(event, "done", None), getattr(event, "total", None)
    return (done, total) if isinstance(done, int) and isinstance(total, int) else None


def _count(step: Step) -> str:
    if step.unit == BYTES:
        done, total = size(step.done), size(step.total)
    else:
        done, total = f"{step.done:,}", f"{step.total:,} {_(UNITS[step.unit])}"
    return _("{step}: {done} of {total}").format(step=_(step.name), done=done, total=total)


def _pace(step: Step) -> str:
    if step.seconds < _SOON or not 0 < step.done < step.total:
        return ""
    rate = step.done / step.seconds
    left = duration((step.total - step.done) / rate)
    speed = f"{size(int(rate))}/s" if step.unit == BYTES else f"{rate:,.0f}/s"
    return _("{speed} · about {left} left").format(speed=speed, left=left)
