"""What became of each row, in ten bytes a row, and the file that says so."""

from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localrag.answer.types import Status
from localrag.corpus.journal import Journal
from localrag.errors import UsageError
from localrag.language import N_
from localrag.ops.batch.rows import ROWS, WrittenRow, written
from localrag.ops.batch.table import CheckedTable
from localrag.ops.batch.types import RowOutcome
from localrag.text.facts import Fact, FactKind

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


class AnswerFile:
    """The file of answers while a batch writes it: a journal, and a ledger of what is in it.

    The newest line of a row counts, so that a row can be asked again.

    Attributes:
        ledger: what became of each row.
    """

    def __init__(self, path: Path, checked: CheckedTable) -> None:
        """Read what is there, without changing anything.

        Args:
            path: of the file, which need not exist.
            checked: the questions.

        Raises:
            UsageError: it holds answers to other questions, or something else than answers.
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
        """Whether the last line was cut off by a kill."""
        return self._journal.torn

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open it to be added to; what a kill left unfinished is dropped.

        Raises:
            StorageError: it cannot be written.
        """
        with self._journal:
            yield

    def append(self, outcome: RowOutcome) -> None:
        """Write down what became of a row; when this returns, no kill can lose it.

        Raises:
            StorageError: the disk is full; what was written before is kept.
        """
        offset = self._journal.end
        try:
            self._journal.append(written(outcome))
        finally:
            # Whoever is interrupted while the disk works counts the line, for it stands there.
            if self._journal.end > offset:
                self.ledger.note(outcome.row.row, offset, outcome.name)

    def rows(self) -> Iterator[WrittenRow]:
        """The rows as they stand in the file; once they are in order, one for each question.

        Raises:
            StorageError: it cannot be read.
        """
        return (line.row for line in self._journal.lines())

    def put_in_order(self, aside: Path) -> None:
        """Put the newest line of each row in the order of the rows, all at once.

        Args:
            aside: a free path on the same disk, where the new file is written first.

        Raises:
            StorageError: the disk is full; the rows stay as they are.
        """
        if self.torn or not self.ledger.in_order:
            self._journal.keep(self.ledger.offsets(), aside)


def _no_row(path: Path, line: int) -> UsageError:
    return UsageError(
        N_("{path}, line {line}: It is no row of a file of answers."),
        N_("Delete that line, name another file with --out, or begin anew with --restart."),
        path=path,
        line=line,
    )
