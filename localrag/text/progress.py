"""How far some work is, how fast it goes, and how long it will still take."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from localrag.language import N_

BYTES = N_("bytes")
"""The unit of what is shown as a size."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of some work.

    Attributes:
        name: what is done, a message marked with `N_`.
        unit: what is counted, in the plural; likewise.
        about: what it is done to, where the work is on several things.
    """

    name: str
    unit: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is.

    Attributes:
        phase: which one.
        done, total: in its unit, what earlier runs did included; a total of 0 is not known.
        seconds: since this run began with it.
        earlier: of `done`, what earlier runs did.
        failed: of `done`.
        limit: seconds after which no more is begun.
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
        """How much is done in a second; 0 where that cannot be said."""
        return (self.done - self.earlier) / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds until the end; None where nothing is done yet."""
        if not self.rate:
            return None
        return max(0.0, min((self.total - self.done) / self.rate, self.limit - self.seconds))


class Stopwatch:
    """Tells the progress of work that only counts, with the time each phase takes.

    Args:
        tell: called with every progress.
    """

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._phase: Phase | None = None
        self._began = monotonic()

    def __call__(self, phase: Phase, done: int, total: int, earlier: int = 0) -> None:
        """Tell how far a phase is; arguments as of `Progress`."""
        if self._phase not in (None, phase):
            self._began = monotonic()
        self._phase = phase
        self._tell(Progress(phase, done, total, monotonic() - self._began, earlier))


def ignore(*_told: object) -> None:
    """Take what is told where nobody listens."""
