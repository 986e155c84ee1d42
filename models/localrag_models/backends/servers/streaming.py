"""A stream that can be left at any moment, even while the server has not said a word.

Servers send nothing while they read a prompt, which can take minutes. So the stream runs in a
thread of its own, as a task that can be cancelled wherever it waits.
"""

import queue
from collections.abc import AsyncIterator, Callable, Generator
from typing import Final, TypeVar

from anyio.from_thread import start_blocking_portal

_GLANCE = 0.05
_END: Final = object()

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818 - no error: somebody wanted it
    """The stream was left because its reader no longer wants it."""


def pumped(
    stream: Callable[[], AsyncIterator[T]], cancelled: Callable[[], bool]
) -> Generator[T, None, None]:
    """What an asynchronous stream yields, in the thread that asks.

    `cancelled` is asked before each item, and twenty times a second while none comes. However the
    reader leaves, the stream is closed before this returns.

    Raises:
        Cancelled: `cancelled` was true.
        Exception: what the stream raises.
    """
    items: queue.SimpleQueue[object] = queue.SimpleQueue()

    async def run() -> None:
        async for item in stream():
            items.put(item)

    with start_blocking_portal() as portal:
        task = portal.start_task_soon(run)
        task.add_done_callback(lambda _: items.put(_END))
        try:
            while True:
                if cancelled():
                    raise Cancelled
                try:
                    item = items.get(timeout=_GLANCE)
                except queue.Empty:
                    continue
                if item is _END:
                    task.result()
                    return
                yield item  # type: ignore[misc]  # whatever is no end came from the stream
        finally:
            task.cancel()
