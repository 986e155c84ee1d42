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
    """A part of some work.

    Attributes:
        name: of the part, a message marked with `N_`.
        unit: of what is counted, in the plural; marked, too.
        about: its object, if there are several.
    """

    name: str
    unit: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a phase.

    Attributes:
        phase: the phase.
        done, total: in its unit, with earlier runs; a total of 0 is unknown.
        seconds: since this run began it.
        earlier: done in earlier runs.
        failed: failed units among `done`.
        limit: seconds after which nothing new begins.
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
        """Units per second; 0 if unknown."""
        return (self.done - self.earlier) / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Estimated remaining seconds; None at the beginning."""
        if not self.rate:
            return None
        return max(0.0, min((self.total - self.done) / self.rate, self.limit - self.seconds))


class Stopwatch:
    """Reports progress with the time of each phase.

    Args:
        tell: called with every progress.
    """

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
