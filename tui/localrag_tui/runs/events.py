"""What the process of a run tells the screen: what is shown of the events of localrag.

They are values of their own, so that the screen need not import what runs a batch.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """An evaluation has its folder."""

    folder: str


@dataclass(frozen=True, slots=True)
class Step:
    """A part of an evaluation begins.

    Attributes:
        name: of the entry.
        order: of the options, from 0.
        judge: the model that judges its answers; "" where they are asked for.
        place, of: which part of how many.
    """

    name: str
    order: int
    judge: str
    place: int
    of: int


@dataclass(frozen=True, slots=True)
class Halted:
    """An entry cannot go on; the others do."""

    name: str
    cause: str
    cure: str


@dataclass(frozen=True, slots=True)
class Warned:
    """What our packages write to the log: a server that was asked again, say."""

    message: str
