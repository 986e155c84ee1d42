"""What an optimisation tells while it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from localrag.optimize.model import Candidate, Plan


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is; told after each call of a model.

    Attributes:
        candidates: so far, the seed included.
        best: score of the best of them; None before the seed is scored.
        calls, seconds: spent, over all starts of the run.
        plan: with the budget.
        replayed: whether this was known from an earlier start and cost nothing now.
    """

    candidates: int
    best: float | None
    calls: int
    seconds: float
    plan: Plan
    replayed: bool


@dataclass(frozen=True, slots=True)
class Begun:
    """It begins, or goes on.

    Attributes:
        train, validation: numbers of questions.
        unusable: questions that lack what the objective compares with.
        known: outcomes kept from earlier starts.
        torn: whether a line that a kill cut off was dropped.
        models: ids of the models, the one that writes queries first.
        loaded: bytes of the weights that are loaded for them.
    """

    train: int
    validation: int
    unusable: int
    known: int
    torn: bool
    models: Sequence[str]
    loaded: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """A new candidate."""

    number: int
    candidate: Candidate
    best: bool


@dataclass(frozen=True, slots=True)
class Leaked:
    """A proposal was refused for what it carries; see `localrag.optimize.leakage.Leak`."""

    question: str
    wording: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something was left out, switched off or stood in for; told once."""

    text: str


Event = Begun | Progress | Accepted | Leaked | Note
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Be the listener that does not listen."""
    del event
