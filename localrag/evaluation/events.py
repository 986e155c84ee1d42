"""What an evaluation tells while it runs, beside the events of its batches."""

from collections.abc import Callable
from dataclasses import dataclass

from localrag.batch.types import Event as BatchEvent


@dataclass(frozen=True, slots=True)
class Asking:
    """A batch begins: one order of the options under one method; its own events follow.

    Attributes:
        name: of the entry.
        order: from 0.
        orders: how many there are.
        place, batches: which batch of how many that have something to ask.
    """

    name: str
    order: int
    orders: int
    place: int
    batches: int


@dataclass(frozen=True, slots=True)
class Halted:
    """An entry cannot go on; the others do."""

    name: str
    cause: str
    cure: str


@dataclass(frozen=True, slots=True)
class Judging:
    """A model begins to judge the answers of an entry; its progress follows.

    Attributes:
        name: of the entry.
        judge: the model.
        place, entries: which entry of how many that have something to judge.
    """

    name: str
    judge: str
    place: int
    entries: int


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The judge gave no verdict on an answer.

    Attributes:
        name: of the entry.
        question: its id.
        problem: why.
    """

    name: str
    question: str
    problem: str


Event = Asking | Halted | Judging | Unjudged | BatchEvent
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Be the listener that does not listen."""
    del event
