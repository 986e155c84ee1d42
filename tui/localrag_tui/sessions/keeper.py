"""Conversations off the event loop, in one thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from localrag.errors import StoreError
from localrag.language import _
from localrag.workspace import Workspace

if TYPE_CHECKING:
    from localrag.conversations.store import Conversations

T = TypeVar("T")


class Keeper:
    """The conversations of a workspace, opened by the first call that needs them.

    What cannot be opened is told by every call, as the errors of `Conversations.open`; after
    `close` every call is a `StoreError`.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._thread = ThreadPoolExecutor(1, "conversations")
        self._open: Conversations | None = None
        self._closed = False

    async def do(self, work: Callable[["Conversations"], T]) -> T:
        """Do something with the conversations; calls are done in the order they come.

        What was begun is done to its end, even where nobody waits for it any longer.
        """
        if self._closed:
            raise StoreError(_("The conversations are closed."))
        loop = asyncio.get_running_loop()
        # Cancelling a call that still waits for the thread would drop what it was to write.
        return await asyncio.shield(
            loop.run_in_executor(self._thread, lambda: work(self._opened()))
        )

    async def close(self) -> None:
        """Close the file, once everything asked for is done."""
        if self._closed:
            return
        self._closed = True

        def close() -> None:
            if self._open is not None:
                self._open.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, close)
        self._thread.shutdown(wait=False)

    def _opened(self) -> "Conversations":
        if self._open is None:
            from localrag.conversations.store import Conversations

            self._open = Conversations.open(self._workspace)
        return self._open
