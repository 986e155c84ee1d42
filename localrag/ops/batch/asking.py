"""Asks the questions of a batch, and separates failures of rows from failures of the batch."""

from collections.abc import Generator, Iterable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from time import perf_counter

from localrag.answer.types import UNWATCHED, Watch
from localrag.errors import (
    BusyError,
    InputError,
    ModelUnusable,
    NotFoundError,
    StorageError,
    UsageError,
    WorkspaceError,
)
from localrag.ops.batch.types import (
    AnswerSource,
    QuestionRow,
    Row,
    RowOutcome,
    cause_and_cure,
    error_type,
)

_Outcomes = Generator[RowOutcome, None, None]

# Seconds for a running call to notice the cancellation.
_FAREWELL = 2.0
PATIENCE = 5
"""This many equal failures in succession end the batch."""

# Nothing to search, or no place to write: every row would fail.
_FATAL = (WorkspaceError, NotFoundError, BusyError, StorageError)


class _UntilStopped(Watch):
    """Cancels an answer when the batch ends."""

    def __init__(self, stopping: Event) -> None:
        self._stopping = stopping

    def cancelled(self) -> bool:
        return self._stopping.is_set()


def at_once(answers: AnswerSource, concurrency: int) -> int:
    """Return the number of parallel questions; `concurrency` 0 means the most possible."""
    return min(concurrency or answers.parallel, answers.parallel)


def outcomes(rows: Iterable[Row], answers: AnswerSource, concurrency: int) -> _Outcomes:
    """Ask every row and yield its outcome at once.

    With 1, all calls stay in this thread. With more, outcomes come out of order, and at most
    `concurrency` rows are read ahead. Closing the generator cancels running calls.
    """
    if concurrency == 1:
        for row in rows:
            yield _outcome(row, answers, UNWATCHED)
    else:
        yield from _at_once(rows, answers, concurrency)


def _at_once(rows: Iterable[Row], answers: AnswerSource, concurrency: int) -> _Outcomes:
    tasks: SimpleQueue[Row | None] = SimpleQueue()
    results: SimpleQueue[RowOutcome] = SimpleQueue()
    stopping = Event()

    watch = _UntilStopped(stopping)

    def work() -> None:
        while (row := tasks.get()) is not None and not stopping.is_set():
            results.put(_outcome(row, answers, watch))

    # Daemons: a hanging server must not block the end of a batch.
    threads = [Thread(target=work, daemon=True) for _ in range(concurrency)]
    for thread in threads:
        thread.start()
    try:
        waiting = 0
        for row in rows:
            tasks.put(row)
            waiting += 1
            # One more than threads, so none waits for the next row.
            if waiting > concurrency:
                yield results.get()
                waiting -= 1
        for _ in range(waiting):
            yield results.get()
    finally:
        stopping.set()
        for _ in threads:
            tasks.put(None)
        patience = perf_counter() + _FAREWELL
        for thread in threads:
            thread.join(max(0.0, patience - perf_counter()))


def _outcome(row: Row, answers: AnswerSource, watch: Watch) -> RowOutcome:
    if not isinstance(row, QuestionRow):
        return RowOutcome(row, 0.0, error=row.problem)
    started = perf_counter()
    try:
        answer = answers.answer(row.query, watch)
    except Exception as error:  # noqa: BLE001 - one question must not end a night's work
        return RowOutcome(row, perf_counter() - started, error=error)
    return RowOutcome(row, perf_counter() - started, answer=answer)


def settled(outcomes: Iterable[RowOutcome]) -> Iterator[RowOutcome]:
    """Yield the outcomes to be written; raise an error of the whole batch.

    A possible error of the batch is held back until another outcome disproves it. If the batch
    stops, the held rows are not written and will be asked later.
    """
    held: list[RowOutcome] = []
    for outcome in outcomes:
        error = outcome.error
        if isinstance(error, _FATAL):
            raise error
        if error is not None and _of_one_question(error):
            yield outcome
            continue
        if held and (error is None or not _alike(error, held[-1].error)):
            yield from held
            held = []
        if error is None:
            yield outcome
            continue
        held.append(outcome)
        if len(held) == PATIENCE:
            raise error
    yield from held


def _of_one_question(error: Exception) -> bool:
    if isinstance(error, ModelUnusable):
        return error.of_one_request
    return isinstance(error, UsageError | InputError)


def _alike(error: Exception, other: Exception | None) -> bool:
    return other is not None and (
        (error_type(error), cause_and_cure(error)) == (error_type(other), cause_and_cure(other))
    )
