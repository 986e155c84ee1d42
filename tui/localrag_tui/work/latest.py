"""One piece of work at a time; of what is wanted meanwhile only the newest waits."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Does a piece of work for what is wanted last.

    Args:
        work: what is done; while it runs, `overtaken` tells whether it is still worth while.

    Attributes:
        busy: whether it is being done.
    """

    def __init__(self, work: Callable[[T], Awaitable[None]]) -> None:
        self._work = work
        self._waiting: deque[T] = deque(maxlen=1)
        self.busy = False

    @property
    def overtaken(self) -> bool:
        """Whether something newer waits."""
        return bool(self._waiting)

    async def want(self, wanted: T) -> None:
        """Do the work for it, unless something newer is wanted before its turn comes."""
        self._waiting.append(wanted)
        if self.busy:
            return
        self.busy = True
        try:
            while self._waiting:
                await self._work(self._waiting.popleft())
        finally:
            self.busy = False
