"""Asking questions one after the other, or several at once where a server gains by it."""

from collections.abc import Generator, Iterable
from queue import SimpleQueue
from threading import Event, Thread
from time import perf_counter

from localrag.batch.model import Answers, Outcome, Question, Row
from localrag.reading.watching import UNWATCHED, Watch

_Outcomes = Generator[Outcome, None, None]

# Seconds that a call under way is given to notice that its answer is no longer wanted.
_FAREWELL = 2.0


class _UntilStopped(Watch):
    """Gives an answer up as soon as the batch ends."""

    def __init__(self, stopping: Event) -> None:
        self._stopping = stopping

    def cancelled(self) -> bool:
        return self._stopping.is_set()


def at_once(answers: Answers, concurrency: int) -> int:
    """How many questions to ask at the same time, if `concurrency` are wanted; 0 for the most."""
    return min(concurrency or answers.parallel, answers.parallel)


def outcomes(rows: Iterable[Row], answers: Answers, concurrency: int) -> _Outcomes:
    """Ask every row, and yield what becomes of it as soon as that is known.

    With 1 nothing leaves this thread. With more, rows end out of order, and at most `concurrency`
    are read ahead. When the generator is closed, calls under way are given up.
    """
    if concurrency == 1:
        for row in rows:
            yield _outcome(row, answers, UNWATCHED)
    else:
        yield from _at_once(rows, answers, concurrency)


def _at_once(rows: Iterable[Row], answers: Answers, concurrency: int) -> _Outcomes:
    tasks: SimpleQueue[Row | None] = SimpleQueue()
    results: SimpleQueue[Outcome] = SimpleQueue()
    stopping = Event()

    watch = _UntilStopped(stopping)

    def work() -> None:
        while (row := tasks.get()) is not None and not stopping.is_set():
            results.put(_outcome(row, answers, watch))

    # Daemons: a server that hangs must not keep a batch from ending.
    threads = [Thread(target=work, daemon=True) for _ in range(concurrency)]
    for thread in threads:
        thread.start()
    try:
        waiting = 0
        for row in rows:
            tasks.put(row)
            waiting += 1
            # One more than there are threads, so that none waits for the next to be read.
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


def _outcome(row: Row, answers: Answers, watch: Watch) -> Outcome:
    """Ask one row; whatever it fails with is its outcome."""
    if not isinstance(row, Question):
        return Outcome(row, 0.0, error=row.problem)
    started = perf_counter()
    try:
        answer = answers.answer(row.query, watch)
    except Exception as error:  # noqa: BLE001 - one question must not end a night's work
        return Outcome(row, perf_counter() - started, error=error)
    return Outcome(row, perf_counter() - started, answer=answer)
