"""What became of each row, in ten bytes a row."""

from array import array
from collections import Counter
from collections.abc import Iterator

from localrag.reading.model import Status

_ANSWERED = frozenset(Status)


class Ledger:
    """Knows for each row its newest line in the file of answers, and what that says.

    Attributes:
        tally: rows by outcome: a status, or the type of an error.
        in_order: whether the lines stand in the order of the rows, none of them superseded.
    """

    def __init__(self, rows: int) -> None:
        self.tally: Counter[str] = Counter()
        self.in_order = True
        self._last = 0
        self._offsets = array("q", [-1]) * rows
        self._codes = array("H", [0]) * rows
        self._outcomes = [""]

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def done(self) -> int:
        """Rows that have an outcome."""
        return self.tally.total()

    @property
    def failed(self) -> int:
        """Rows whose outcome is an error."""
        return self.done - sum(self.tally[status] for status in _ANSWERED)

    def note(self, row: int, offset: int, outcome: str) -> None:
        """Note what became of a row, and where in the file it is written."""
        if before := self.outcome(row):
            self.tally[before] -= 1
        self.tally[outcome] += 1
        if outcome not in self._outcomes:
            self._outcomes.append(outcome)
        self._codes[row - 1] = self._outcomes.index(outcome)
        self._offsets[row - 1] = offset
        self.in_order = self.in_order and row > self._last
        self._last = row

    def outcome(self, row: int) -> str:
        """What became of a row; empty where nothing has yet."""
        return self._outcomes[self._codes[row - 1]]

    def open(self, row: int, *, retry_failed: bool) -> bool:
        """Whether a row is still to be asked."""
        outcome = self.outcome(row)
        return not outcome or (retry_failed and outcome not in _ANSWERED)

    def offsets(self) -> Iterator[int]:
        """Where the newest line of each row begins, in the order of the rows."""
        return (offset for offset in self._offsets if offset >= 0)
