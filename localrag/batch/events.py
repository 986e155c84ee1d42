"""What a batch tells while it runs. An event is sent once what it says is stored."""

from collections.abc import Callable
from dataclasses import dataclass

from localrag.language import N_
from localrag.progress import Progress, Stage

ANSWERING = Stage(N_("answering"), N_("questions"))
"""The stage whose `Progress` is told after every row."""


@dataclass(frozen=True, slots=True)
class TableChecked:
    """All rows were read once.

    Attributes:
        rows: how many.
        unreadable: of them, cannot be asked.
        unused: names of fields that are not read.
    """

    rows: int
    unreadable: int
    unused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexBehind:
    """The corpus has changed since it was indexed; what is new in it takes no part."""

    corpus: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """Answers of an earlier run are there.

    Attributes:
        done: rows that will not be asked again, answered or failed.
        torn: whether a line that was cut off by a kill was dropped.
    """

    done: int
    torn: bool


@dataclass(frozen=True, slots=True)
class RowAnswered:
    """The answer of a row is stored."""

    row: int
    line: int
    status: str


@dataclass(frozen=True, slots=True)
class RowFailed:
    """A row has no answer; the error is stored in its place.

    Attributes:
        row: its number, blank lines not counted.
        line: of the table, where it begins.
        type: the name of the error.
    """

    row: int
    line: int
    type: str
    cause: str
    cure: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The batch ends before its last row; everything done so far is kept."""

    done: int
    total: int


Event = TableChecked | IndexBehind | Resumed | RowAnswered | RowFailed | Progress | Stopped
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Be the listener that does not listen."""
    del event
