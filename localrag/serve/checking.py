"""Checks of long texts: each in a process of its own, which ends when nobody waits for it.

A long text takes a processor for seconds. Searches do not wait for it: other processes carry them
out, and this one gives way to them. Of each holder of a token one long text is checked at a time.
"""

import asyncio
import os
from collections import defaultdict
from concurrent.futures.process import BrokenProcessPool

from localrag.serve.calls import Call, CheckCall, Refusal
from localrag.serve.reader import Reader
from localrag.session import Session
from localrag_indexes.parallel import ProcessPool

# So many characters are checked as fast as a question is searched for.
_LONG = 2_000
# A process that checks leaves the processors to those that search.
_NICE = 10


def is_long_check(call: Call) -> bool:
    """Whether a call checks a text that takes more time than a search."""
    return isinstance(call, CheckCall) and len(call.text) > _LONG


class Checks:
    """The checks of long texts of one server.

    Args:
        session: the workspace and the settings.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # Searches keep half of the processors.
        self._at_once = asyncio.Semaphore(max(1, (os.cpu_count() or 1) // 2))
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._idle: list[ProcessPool] = []

    def close(self) -> None:
        """End the processes that wait for texts."""
        for pool in self._idle:
            pool.shutdown()
        self._idle.clear()

    async def carry_out(self, call: Call, code: str, holder: str) -> bytes | Refusal:
        """Check a text; a cancelled task ends the process that checks it.

        Args:
            call: a `CheckCall`.
            code: of the language in which messages are written.
            holder: who asks; their texts are checked one after the other.

        Returns:
            The JSON of the result in UTF-8, or why there is none.

        Raises:
            BrokenProcessPool: the process was killed twice, for memory perhaps.
        """
        async with self._turns[holder]:
            try:
                return await self._check(call, code)
            except BrokenProcessPool:
                return await self._check(call, code)

    async def _check(self, call: Call, code: str) -> bytes | Refusal:
        loop = asyncio.get_running_loop()
        async with self._at_once:
            pool = self._idle.pop() if self._idle else _opened()
            try:
                result = await loop.run_in_executor(pool, _check_here, self._session, call, code)
            except BaseException:
                # A caller who has left needs no process that goes on.
                pool.kill()
                raise
            self._idle.append(pool)
            return result


def _opened() -> ProcessPool:
    """A process that starts; it can be killed before it is ready."""
    pool = ProcessPool(1, os.nice, _NICE)
    pool.submit(os.getpid)
    return pool


_kept: list[tuple[Session, Reader]] = []
"""The reader of a process that checks, and of which session it is."""


def _check_here(session: Session, call: Call, code: str) -> bytes | Refusal:
    """Check a text in a process that was started to do so."""
    if not _kept or _kept[0][0] != session:
        for _, reader in _kept:
            reader.close()
        _kept[:] = [(session, Reader(session))]
    return _kept[0][1].carry_out("check", call, code)
