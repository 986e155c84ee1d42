"""What an evaluation tells while it runs, beside the events of its batches."""

from collections.abc import Callable
from dataclasses import dataclass

from localrag.batch.events import Event as BatchEvent


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


Event = Asking | Halted | BatchEvent
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Be the listener that does not listen."""
    del event
