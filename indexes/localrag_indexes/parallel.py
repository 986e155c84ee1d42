"""A parallel map over a stream: ordered, bounded in memory, and leaving no process behind."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from localrag_indexes.errors import IndexingError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Enough that no worker waits for the consumer, few enough to keep memory flat.
_IN_FLIGHT_PER_WORKER = 3

_work: Callable[[Any], Any]


def map_stream(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with ``work(item)``, in order.

    Args:
        work: a picklable callable; each process gets one copy of it.
        items: picklable; read as they are needed, a few per worker ahead.
        workers: processes to start (by spawning: no state of this one leaks into them); with 1
            the work is done in this process.

    Raises:
        IndexingError: a worker process was killed.
    """
    if workers <= 1:
        for item in items:
            yield item, work(item)
        return
    pending: deque[tuple[Item, Future[Result]]] = deque()
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(work,)
    )
    try:
        for item in items:
            pending.append((item, pool.submit(_call, item)))
            if len(pending) >= workers * _IN_FLIGHT_PER_WORKER:
                first, future = pending.popleft()
                yield first, future.result()
        for item, future in pending:
            yield item, future.result()
    except BrokenProcessPool as error:
        # The pool stops the workers it has; one that was just starting it would wait for forever.
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise IndexingError(
            "a worker process was killed, most likely because memory ran out: "
            "use fewer workers, or free some memory"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work
    # Ctrl-C reaches the whole group: the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(item: Any) -> Any:
    return _work(item)
