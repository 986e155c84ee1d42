"""Records the outcome of each row in ten bytes, and in the file of answers."""

from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localrag.batch.rows import ROWS, WrittenRow, written
from localrag.batch.table import CheckedTable
from localrag.batch.types import RowOutcome
from localrag.errors import UsageError
from localrag.facts import Fact, FactKind
from localrag.journal import Journal
from localrag.language import N_
from localrag.reading.types import Status

_ANSWERED = frozenset(Status)


class Ledger:
    """The newest line of each row in the file of answers, and its outcome.

    Attributes:
        tally: rows by outcome: a status, or the type of an error.
        in_order: whether the lines are in row order, without repeated rows.
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
        """The number of rows with an outcome."""
        return self.tally.total()

    @property
    def failed(self) -> int:
        """The number of rows with an error."""
        return self.done - sum(self.tally[status] for status in _ANSWERED)

    def note(self, row: int, offset: int, outcome: str) -> None:
        """Record the outcome of a row and its offset in the file."""
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
        """Return the outcome of a row; "" before it."""
        return self._outcomes[self._codes[row - 1]]

    def open(self, row: int, *, retry_failed: bool) -> bool:
        """Whether a row is still to be asked."""
        outcome = self.outcome(row)
        return not outcome or (retry_failed and outcome not in _ANSWERED)

    def offsets(self) -> Iterator[int]:
        """Yield the offset of the newest line of each row, in row order."""
        return (offset for offset in self._offsets if offset >= 0)


class AnswerFile:
    """The file of answers during a batch; the newest line of a row counts."""

    def __init__(self, path: Path, checked: CheckedTable) -> None:
        """Read the existing lines.

        Raises:
            UsageError: it holds answers to other questions, or other content.
            StorageError: it cannot be read.
        """
        self.ledger = Ledger(len(checked))
        self._journal: Journal[WrittenRow] = Journal(path, ROWS, lambda line: _no_row(path, line))
        for line in self._journal.lines():
            row = line.row
            if not checked.holds(row.row, row.digest):
                raise UsageError(
                    N_("{path}, line {line} answers another question than row {row} asks now."),
                    Fact(FactKind.TO_BEGIN_ANEW),
                    path=path,
                    line=line.number,
                    row=row.row,
                )
            self.ledger.note(row.row, line.offset, row.outcome)

    @property
    def torn(self) -> bool:
        """Whether a kill cut off the last line."""
        return self._journal.torn

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the file for appending without an unfinished line; raises `StorageError`."""
        with self._journal:
            yield

    def append(self, outcome: RowOutcome) -> None:
        """Write an outcome so that no kill can lose it; raises `StorageError`."""
        offset = self._journal.end
        try:
            self._journal.append(written(outcome))
        finally:
            # After an interruption during writing, the line is there and counts.
            if self._journal.end > offset:
                self.ledger.note(outcome.row.row, offset, outcome.name)

    def rows(self) -> Iterator[WrittenRow]:
        """Yield the rows of the file; raises `StorageError`."""
        return (line.row for line in self._journal.lines())

    def put_in_order(self, aside: Path) -> None:
        """Sort the newest lines by row, in one step, through the free path `aside`."""
        if self.torn or not self.ledger.in_order:
            self._journal.keep(self.ledger.offsets(), aside)


def _no_row(path: Path, line: int) -> UsageError:
    return UsageError(
        N_("{path}, line {line}: It is no row of a file of answers."),
        N_("Delete that line, name another file with --out, or begin anew with --restart."),
        path=path,
        line=line,
    )
