"""A parallel map over a stream: ordered, bounded in memory, and leaving no process behind."""

import gc
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol, TypeVar

from localrag_indexes.errors import N_, IndexingError, WorkerNotStarted

Item = TypeVar("Item")
Result = TypeVar("Result")

# Enough that no worker waits for the consumer, few enough to keep memory flat.
_IN_FLIGHT_PER_WORKER = 3
# Objects made before Python looks for cycles among them. What a worker makes goes mostly without:
# looking after every 700, as it does unasked, takes a seventh of the time.
_OBJECTS = 50_000

# Calls that wait for each thread, so that none waits for the next item to be made.
_WAITING_PER_THREAD = 2

_work: Callable[[Any], Any]


class Executor(Protocol):
    """Does work elsewhere than in processes of this machine."""

    def map_stream(
        self, work: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Do what `map_stream` of this module does, with as many workers as there are."""
        ...


Workers = int | Executor
"""How many processes do some work, or what does it in their place."""


def map_stream(
    work: Callable[[Item], Result], items: Iterable[Item], workers: Workers
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with ``work(item)``, in order.

    Args:
        work: a picklable callable; each process gets one copy of it.
        items: picklable; read as they are needed, a few per worker ahead.
        workers: processes to start (by spawning: no state of this one leaks into them); with 1
            the work is done in this process.

    Raises:
        WorkerNotStarted: a worker process ended before it did any work.
        IndexingError: one was killed.
    """
    if not isinstance(workers, int):
        yield from workers.map_stream(work, items)
        return
    if workers <= 1:
        for item in items:
            yield item, work(item)
        return
    context = _RememberingContext()
    pool = ProcessPoolExecutor(workers, context, initializer=_start_worker, initargs=(work,))
    try:
        yield from _in_order(partial(_submit, pool), items, workers * _IN_FLIGHT_PER_WORKER)
    except BrokenProcessPool as error:
        raise _why_broken(context.started) from error
    finally:
        # The pool would wait for every worker, for ever if one was killed with a lock in its hand
        # or was just starting when the pool broke. None has anything left to do.
        for worker in context.started:
            if worker.is_alive():
                worker.kill()
        pool.shutdown(cancel_futures=True)


# How a script keeps from a worker, which imports it, what only the script itself is to do.
_GUARD = re.compile(r"__name__\s*==|==\s*__name__")
# So long the system may take to note how a process ended, in seconds.
_ENDING = 5


def _why_broken(workers: Sequence[BaseProcess]) -> IndexingError:
    """Say why worker processes are gone: a signal ended one, or one failed as it started.

    Each worker first imports the program that started it. A program without a guard would start
    workers again in there; Python forbids it, and the worker ends with an exit code.
    """
    for worker in workers:
        worker.join(_ENDING)
        if worker.exitcode is not None and worker.exitcode != 0:
            break
    if not any((worker.exitcode or 0) > 0 for worker in workers):
        return IndexingError(
            N_(
                "a worker process was killed, most likely because memory ran out: "
                "use fewer workers, or free some memory"
            )
        )
    program = getattr(sys.modules.get("__main__"), "__file__", None) or "<stdin>"
    try:
        guarded = bool(_GUARD.search(Path(program).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return WorkerNotStarted(
            N_(
                "A worker process could not start: it imports the program, and {program} is no "
                "file."
            ),
            N_(
                'Save the program as a file with its calls below if __name__ == "__main__":, or '
                "use one worker."
            ),
            program=program,
        )
    if guarded:
        return WorkerNotStarted(
            N_("A worker process ended as it started; its error is printed above."),
            N_("Mend what the error names, or use one worker."),
        )
    return WorkerNotStarted(
        N_("A worker process could not start: it imports {program}, which calls localrag again."),
        N_('Put the calls in {program} below if __name__ == "__main__":, or use one worker.'),
        program=program,
    )


def map_threads(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with ``work(item)``, in order, made in threads; with 1 in this one.

    For work that waits for something else than this process. Items are read a few ahead.
    """
    if threads <= 1:
        for item in items:
            yield item, work(item)
        return
    pool = ThreadPoolExecutor(threads)
    ahead = threads * _WAITING_PER_THREAD + 1
    try:
        yield from _in_order(lambda item: pool.submit(work, item), items, ahead)
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(
    submit: "Callable[[Item], Future[Result]]", items: Iterable[Item], ahead: int
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order; at most `ahead` wait for theirs."""
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    for item in items:
        waiting.append((item, submit(item)))
        if len(waiting) >= ahead:
            first, future = waiting.popleft()
            yield first, future.result()
    for item, future in waiting:
        yield item, future.result()


class _RememberingContext(SpawnContext):
    """Starts processes by spawning and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[BaseProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> BaseProcess:  # type: ignore[override]  # noqa: N802
        process = SpawnContext.Process(*args, **kwargs)
        self.started.append(process)
        return process


def _submit(pool: ProcessPoolExecutor, item: Any) -> "Future[Any]":
    try:
        with _interrupts_held():
            return pool.submit(_call, item)
    except (OSError, ValueError) as error:
        # No process can be started: memory ran out, or the pool broke and closed its pipes.
        raise BrokenProcessPool from error


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let a process started meanwhile be deaf to Ctrl-C from its first instruction on.

    It reaches the whole group, and a process still importing would answer with a traceback; the
    parent decides what happens, and gets a Ctrl-C of these moments right after them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work
    gc.set_threshold(_OBJECTS)
    # For systems where a process cannot be started deaf to it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(item: Any) -> Any:
    return _work(item)
