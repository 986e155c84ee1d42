"""Progress of work: how far, how fast, how long still."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from localrag.language import N_

BYTES = N_("bytes")
"""The unit of sizes."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of some work.

    Attributes:
        name: a message marked with `N_`.
        unit: what is counted, in the plural; marked too.
        about: the object, if there are several.
    """

    name: str
    unit: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is.

    Attributes:
        phase: the phase.
        done, total: in its unit, with earlier runs; a total of 0 is unknown.
        seconds: since this run began the phase.
        earlier: the share of earlier runs in `done`.
        failed: the failures in `done`.
        limit: seconds after which nothing more is begun.
    """

    phase: Phase
    done: int
    total: int
    seconds: float = 0.0
    earlier: int = 0
    failed: int = 0
    limit: float = inf

    @property
    def rate(self) -> float:
        """Units a second; 0 if unknown."""
        return (self.done - self.earlier) / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds until the end; None if nothing is done yet."""
        if not self.rate:
            return None
        return max(0.0, min((self.total - self.done) / self.rate, self.limit - self.seconds))


class Stopwatch:
    """Reports progress of work that only counts, with the time of each phase.

    Args:
        tell: called with every progress.
    """

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._phase: Phase | None = None
        self._began = monotonic()

    def __call__(self, phase: Phase, done: int, total: int, earlier: int = 0) -> None:
        """Report a phase; arguments as for `Progress`."""
        if self._phase not in (None, phase):
            self._began = monotonic()
        self._phase = phase
        self._tell(Progress(phase, done, total, monotonic() - self._began, earlier))


def ignore(*_told: object) -> None:
    """Discard reports."""
