"""The progress of work: amount, rate and remaining time."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from localrag.language import N_

BYTES = N_("bytes")
"""The unit of sizes."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of some work."""

    name: str  # of the part, a message marked with `N_`
    unit: str  # of what is counted, in the plural; marked, too
    about: str = ""  # its object, if there are several


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a phase."""

    phase: Phase
    done: int  # done, total: in its unit, with earlier runs; a total of 0 is unknown
    total: int
    seconds: float = 0.0  # since this run began it
    earlier: int = 0  # done in earlier runs
    failed: int = 0  # failed units among `done`
    limit: float = inf  # seconds after which nothing new begins

    @property
    def rate(self) -> float:
        """Units per second; 0 if unknown."""
        return (self.done - self.earlier) / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Estimated remaining seconds; None at the beginning."""
        if not self.rate:
            return None
        return max(0.0, min((self.total - self.done) / self.rate, self.limit - self.seconds))


class Stopwatch:
    """Reports progress with the time of each phase."""

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._phase: Phase | None = None
        self._began = monotonic()

    def __call__(self, phase: Phase, done: int, total: int, earlier: int = 0) -> None:
        """Report progress; arguments as of `Progress`."""
        if self._phase not in (None, phase):
            self._began = monotonic()
        self._phase = phase
        self._tell(Progress(phase, done, total, monotonic() - self._began, earlier))


def ignore(*_told: object) -> None:
    """Ignore progress."""
