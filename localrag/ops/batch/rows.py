"""Writes and reads the rows of a file of answers.

During a batch, `AnswerFile` appends rows, and its `Ledger` records the outcome of each in ten
bytes. `WrittenRows` reads single rows for display.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import fstat
from pathlib import Path
from threading import Lock
from typing import IO, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter

from localrag.answer.types import Citation, Claim, Derivation, FactCheck, Nearest, Status
from localrag.corpus.journal import Journal
from localrag.corpus.types import Label
from localrag.errors import UsageError
from localrag.language import N_
from localrag.ops.batch.options import label_of
from localrag.ops.batch.table import CheckedTable, digest
from localrag.ops.batch.types import (
    QuestionRow,
    RowOutcome,
    cause_and_cure,
    error_type,
    is_transient,
)
from localrag.search.types import Filters, ModelCall, Query, TextSpan, Trace
from localrag.text.facts import Fact, FactKind, facts_of

_UNLESS_EMPTY = Field(exclude_if=lambda value: not value)
FAILED: Literal["failed"] = "failed"
"""The status of a failed row."""


@dataclass(frozen=True, slots=True)
class StageSummary:
    """A stage of the search; as `StageRecord`, with ids of its hits."""

    stage: str
    subject: str
    query: str
    hits: int
    passages: tuple[str, ...]
    seconds: float
    spans: Annotated[tuple[TextSpan, ...], _UNLESS_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """The summary of a `Trace`."""

    stages: tuple[StageSummary, ...]
    calls: tuple[ModelCall, ...]
    events: tuple[Fact, ...]

    @classmethod
    def of(cls, trace: Trace) -> "TraceSummary":
        """Summarize a trace."""
        stages = (
            StageSummary(
                one.stage,
                one.subject,
                one.query,
                len(one.hits),
                tuple(hit.passage.id for hit in one.hits),
                round(one.seconds, 6),
                one.spans,
            )
            for one in trace.stages
        )
        return cls(tuple(stages), trace.calls, trace.events)


@dataclass(frozen=True, slots=True)
class RowFailure:
    """The error of a row; a `transient` one may succeed later."""

    type: str
    cause: str = ""
    cure: str = ""
    transient: bool = False


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """A written row with an answer; fields as in `QuestionRow` and `Answer`.

    `choice` is the chosen label of the file; `label` stays a, b, c ….
    """

    row: Annotated[int, Field(ge=1, strict=True)]
    line: int
    id: str | None
    question: str
    options: tuple[str, ...]
    status: Status
    answer: str = ""
    doubt: Annotated[tuple[Fact, ...], BeforeValidator(facts_of)] = ()
    label: str = ""
    derivation: Derivation | None = None
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    absent: tuple[str, ...] = ()
    trace: TraceSummary | None = None
    seconds: float = 0.0
    documents: Annotated[tuple[str, ...], _UNLESS_EMPTY] = ()
    checked: Annotated[FactCheck | None, _UNLESS_EMPTY] = None
    where: Annotated[tuple[Label, ...], _UNLESS_EMPTY] = ()
    labels: Annotated[tuple[str, ...], _UNLESS_EMPTY] = ()
    choice: Annotated[str, _UNLESS_EMPTY] = ""
    nearest: Annotated[tuple[Nearest, ...], _UNLESS_EMPTY] = ()
    quotations: Annotated[tuple[Citation, ...], _UNLESS_EMPTY] = ()

    @property
    def outcome(self) -> str:
        """The key for counting."""
        return self.status.value

    @property
    def digest(self) -> int:
        """The digest of the question."""
        filters = Filters(documents=self.documents, where=self.where)
        return digest(self.id or "", Query(self.question, self.options, filters))


@dataclass(frozen=True, slots=True)
class FailedRow:
    """A written row with an error, also for an unreadable row."""

    row: Annotated[int, Field(ge=1, strict=True)]
    line: int
    id: str | None
    question: str | None
    options: tuple[str, ...]
    status: Literal["failed"]
    error: RowFailure
    trace: Annotated[TraceSummary | None, _UNLESS_EMPTY] = None
    seconds: float = 0.0
    labels: Annotated[tuple[str, ...], _UNLESS_EMPTY] = ()

    @property
    def outcome(self) -> str:
        """The key for counting."""
        return self.error.type

    @property
    def digest(self) -> int:
        """0 for any question: a mended row is asked again."""
        return 0


WrittenRow = AnsweredRow | FailedRow
ROWS: TypeAdapter[WrittenRow] = TypeAdapter(WrittenRow)
"""Rows as JSON, and back."""


def written(outcome: RowOutcome) -> WrittenRow:
    """Make the row for an outcome."""
    row, answer, error = outcome.row, outcome.answer, outcome.error
    query, labels = (row.query, row.labels) if isinstance(row, QuestionRow) else (None, ())
    question = row.query.text if isinstance(row, QuestionRow) else row.question
    trace = TraceSummary.of(outcome.trace) if outcome.trace is not None else None
    seconds = round(outcome.seconds, 6)
    if answer is not None and query is not None:
        return AnsweredRow(
            row.row,
            row.line,
            row.id or None,
            query.text,
            query.options,
            answer.status,
            answer.text,
            answer.doubts,
            answer.label,
            answer.derivation,
            answer.claims,
            answer.citations,
            answer.absent,
            trace,
            seconds,
            query.filters.documents,
            answer.checked,
            query.filters.where,
            labels,
            label_of(answer.label, labels) if labels else "",
            answer.nearest,
            answer.quotations,
        )
    assert error is not None, "what is not answered has failed"
    return FailedRow(
        row.row,
        row.line,
        row.id or None,
        question or None,
        query.options if query else (),
        FAILED,
        RowFailure(error_type(error), *cause_and_cure(error), is_transient(error)),
        trace,
        seconds,
        labels,
    )


# The beginning of a row as `ROWS` writes it. Inner quotation marks are escaped, so no text looks
# like a field. Parsing a whole line takes ten times as long.
_HEAD = re.compile(
    rb'\{"row": (\d{1,15}), .*?"status": "(\w{1,99})"(?:, "error": \{"type": "(\w{1,99})")?'
)


class WrittenRows:
    """The rows of a file of answers: found in one pass, read one by one.

    The newest line of a row counts. Unfinished and foreign lines are skipped. It is thread-safe.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Two threads reading on would count lines twice.
        self._lock = Lock()
        self._forget()

    def refresh(self) -> bool:
        """Read new lines; return whether there were any. Raises `OSError`."""
        try:
            with self._lock, self._path.open("rb") as file:
                return self._follow(file)
        except FileNotFoundError:
            with self._lock:
                there = bool(self._places)
                self._forget()
                return there

    def tally(self, up_to: int | None = None) -> Counter[str]:
        """Count rows by outcome; `up_to` as in `numbers`."""
        with self._lock:
            return Counter(
                outcome for row, outcome in self._outcomes.items() if up_to is None or row <= up_to
            )

    def numbers(self, *, failed: bool = False, up_to: int | None = None) -> list[int]:
        """Return the row numbers in the file, in order, up to `up_to`."""
        with self._lock:
            rows = self._failed if failed else self._places
            return sorted(row for row in rows if up_to is None or row <= up_to)

    def row(self, number: int) -> dict[str, Any]:
        """Return a row as `ROWS` writes it; raises OSError, LookupError, ValueError."""
        with self._path.open("rb") as file:
            file.seek(self._places[number])
            row = json.loads(file.readline())
        if not isinstance(row, dict) or row.get("row") != number:
            raise ValueError(number)
        return row

    def _forget(self) -> None:
        self._places: dict[int, int] = {}
        self._outcomes: dict[int, str] = {}
        self._failed: set[int] = set()
        self._end = 0
        self._file: tuple[int, int] | None = None

    def _follow(self, file: IO[bytes]) -> bool:
        stat = fstat(file.fileno())
        # The file was replaced (rows were sorted) or truncated.
        if self._file != (stat.st_dev, stat.st_ino) or stat.st_size < self._end:
            self._forget()
            self._file = stat.st_dev, stat.st_ino
        if stat.st_size == self._end:
            return False
        file.seek(self._end)
        for line in file:
            if not line.endswith(b"\n"):
                break
            self._note(line)
            self._end += len(line)
        return True

    def _note(self, line: bytes) -> None:
        found = _HEAD.match(line)
        if found is None:
            return
        number, status, error = int(found[1]), found[2].decode(), (found[3] or b"").decode()
        outcome = (error or status) if status == FAILED else status
        self._places[number], self._outcomes[number] = self._end, outcome
        (self._failed.add if status == FAILED else self._failed.discard)(number)


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
        """Read the existing lines; raises UsageError, StorageError."""
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
        """Write an outcome, safe from any kill; raises `StorageError`."""
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
        N_("Delete that line, name another file with --out, or start again with --restart."),
        path=path,
        line=line,
    )
