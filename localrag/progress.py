"""How far some work is, how fast it goes, and how long it will still take."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from localrag.language import N_

BYTES = N_("bytes")
"""The unit of what is shown as a size."""


@dataclass(frozen=True, slots=True)
class Stage:
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
    """How far a stage is.

    Attributes:
        stage: which one.
        done, total: in its unit, what earlier runs did included; a total of 0 is not known.
        seconds: since this run began with it.
        earlier: of `done`, what earlier runs did.
        failed: of `done`.
        limit: seconds after which no more is begun.
    """

    stage: Stage
    done: int
    total: int
    seconds: float = 0.0
    earlier: int = 0
    failed: int = 0
    limit: float = inf

    @property
    def rate(self) -> float:
        """So much is done in a second; 0 where that cannot be said."""
        return (self.done - self.earlier) / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds until the end; None where nothing is done yet."""
        if not self.rate:
            return None
        return max(0.0, min((self.total - self.done) / self.rate, self.limit - self.seconds))


class Stopwatch:
    """Tells the progress of work that only counts, with the time each stage takes.

    Args:
        tell: called with every progress.
    """

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._stage: Stage | None = None
        self._began = monotonic()

    def __call__(self, stage: Stage, done: int, total: int) -> None:
        """Tell how far a stage is; arguments as of `Progress`."""
        if self._stage not in (None, stage):
            self._began = monotonic()
        self._stage = stage
        self._tell(Progress(stage, done, total, monotonic() - self._began))
