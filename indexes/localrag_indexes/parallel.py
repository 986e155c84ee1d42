"""Work in other processes or threads: an ordered, bounded map, its pool, its results and errors."""

import gc
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar

from localrag_indexes.errors import N_, IndexingError, WorkerNotStarted

Item = TypeVar("Item")
Result = TypeVar("Result")
Given = ParamSpec("Given")

# Enough that no worker waits for items, few enough to keep memory flat.
_IN_FLIGHT_PER_WORKER = 3
# Objects made before Python collects garbage. Workers make few cycles, and the default of 700 takes
# a seventh of their time.
_OBJECTS = 50_000

# Keeps every thread busy while the next item is read.
_WAITING_PER_THREAD = 2

_work: Callable[[Any], Any]


class Executor(Protocol):
    """Does work on other machines."""

    def map_stream(
        self, work: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        """Do the same as `map_stream` of this module, with all its workers."""
        ...


Workers = int | Executor
"""A number of processes, or an executor on other machines."""


def map_stream(
    work: Callable[[Item], Result], items: Iterable[Item], workers: Workers
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with ``work(item)``, in order, by so many processes; 1 is this process.

    Work and items can be pickled. Items are read a few ahead. Raises `WorkerNotStarted`, or
    `IndexingError` if a worker was killed.
    """
    if not isinstance(workers, int):
        yield from workers.map_stream(work, items)
        return
    if workers <= 1:
        for item in items:
            yield item, work(item)
        return
    pool = ProcessPool(workers, _start_worker, work)
    try:
        yield from _in_order(partial(pool.submit, _call), items, workers * _IN_FLIGHT_PER_WORKER)
    except BrokenProcessPool as error:
        raise _why_broken(pool.started) from error
    finally:
        pool.kill()


# The guard of a script against running again in a worker.
_GUARD = re.compile(r"__name__\s*==|==\s*__name__")
# Seconds for the system to note the exit code of a process.
_ENDING = 5


def _why_broken(workers: Sequence[BaseProcess]) -> IndexingError:
    """Say why worker processes ended: a signal, or a failure at the start.

    Each worker first imports its parent's program. Without a guard the program would start
    workers again. Python forbids it, and the worker ends with an exit code.
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
                "A worker process could not start: it imports the program, and {program} is not a"
                " file."
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
            N_("Fix that error, or use one worker."),
        )
    return WorkerNotStarted(
        N_("A worker process could not start: it imports {program}, which calls localrag again."),
        N_('Put the calls in {program} below if __name__ == "__main__":, or use one worker.'),
        program=program,
    )


def map_threads(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with ``work(item)``, in order, done in threads; with 1 in this thread.

    Use it for work waiting for something outside this process. Items are read a few ahead.
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
    """Yield each item with its result, in order; at most `ahead` items wait."""
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    for item in items:
        waiting.append((item, submit(item)))
        if len(waiting) >= ahead:
            first, future = waiting.popleft()
            yield first, future.result()
    for item, future in waiting:
        yield item, future.result()


def _start_worker(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work
    gc.set_threshold(_OBJECTS)


def _call(item: Any) -> Any:
    return _work(item)


class ProcessPool(ProcessPoolExecutor):
    """Processes for shared work; each ignores Ctrl-C and ends when this process ends.

    They are spawned: a fork would copy the locks of all threads.
    """

    def __init__(self, workers: int, start: Callable[..., object], *given: object) -> None:
        context = _RememberingContext()
        super().__init__(workers, context, initializer=_start, initargs=(start, given))
        self.started = context.started

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> "Future[Any]":
        try:
            with _interrupts_held():
                return super().submit(work, *given, **named)
        except (OSError, ValueError) as error:
            # Memory ran out, or the pool broke and closed its pipes.
            raise BrokenProcessPool from error

    def kill(self) -> None:
        """End all processes at once.

        `shutdown` alone waits for each worker, forever if one was killed while it held a lock.
        """
        for process in self.started:
            if process.is_alive():
                process.kill()
        self.shutdown(cancel_futures=True)


class _RememberingContext(SpawnContext):
    def __init__(self) -> None:
        super().__init__()
        self.started: list[BaseProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> BaseProcess:  # type: ignore[override]  # noqa: N802
        process = SpawnContext.Process(*args, **kwargs)
        self.started.append(process)
        return process


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let a process that starts meanwhile ignore Ctrl-C from its first instruction.

    Ctrl-C reaches the whole group. A process would still be importing and print a traceback.
    This process receives the Ctrl-C right afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(start: Callable[..., object], given: tuple[object, ...]) -> None:
    # For systems that cannot start a process with Ctrl-C blocked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start(*given)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class WorkFailed(Exception):  # noqa: N818 - the name says what happened
    """Work in another process raised an error without a pickled form; `failure` has its words."""

    def __init__(self, failure: "CarriedError") -> None:
        super().__init__(failure.cause)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class CarriedError:
    """An error on its way from one process to another."""

    type: str  # name of the error
    code: int  # its exit code; 1 for an unexpected error
    cause: str  # what went wrong, in words
    cure: Any  # what to do about it, in words or as a value that has words; "" if nothing is known
    error: Exception | None  # the error itself; None if it cannot be pickled

    @classmethod
    def of(cls, error: Exception) -> Self:
        name = type(error).__name__
        return cls(
            name,
            getattr(error, "exit_code", 1),
            getattr(error, "cause", f"{name}: {error}"),
            getattr(error, "remedy", getattr(error, "cure", "")),
            error if _travels(error) else None,
        )

    def raised(self) -> Exception:
        return self.error or WorkFailed(self)


def _travels(error: Exception) -> bool:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made the line before
    except Exception:  # noqa: BLE001 - an error of a library may raise anything here
        return False
    return True


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """The result of work in another process, or its failure."""

    value: Result | None = None
    failure: CarriedError | None = None

    def result(self) -> Result:
        if self.failure is not None:
            raise self.failure.raised()
        return self.value  # type: ignore[return-value]  # None only where the work returned it


def outcome(
    work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
) -> Outcome[Result]:
    """Do some work; return its result or its error, ready to travel."""
    try:
        return Outcome(work(*given, **named))
    except Exception as error:  # noqa: BLE001 - raised again where the work was ordered
        return Outcome(failure=CarriedError.of(error))
