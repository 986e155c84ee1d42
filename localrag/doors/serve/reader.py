"""Looks things up in the corpora of a session, and checks long texts in processes of their own.

A long text takes a processor for seconds. Other processes search meanwhile, and the check gives way
to them; it ends when nobody waits for it. One long text is checked at a time for each token.
"""

import asyncio
import os
import threading
from collections import OrderedDict, defaultdict
from concurrent.futures.process import BrokenProcessPool
from datetime import date

from localrag import language
from localrag.doors.calls import Call, CheckCall
from localrag.doors.serve.work import EVERY, FileCheckCall, Refusal
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError
from localrag.text.harmless import json_text
from localrag_indexes.parallel import ProcessPool

# Open corpora of a process, each of one day.
_OPEN = 8


def key_of(session: Session, call: Call) -> tuple[object, ...]:
    """The key of an open corpus: the settings of the call, and today's date."""
    return call.corpus, tuple(session.overrides.items()), date.today()


class Reader:
    """Looks things up, one call at a time, and keeps the corpora open."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open: OrderedDict[object, Corpus] = OrderedDict()
        self._working = threading.Lock()

    def carry_out(self, name: str, call: Call, code: str) -> bytes | Refusal:
        """Do the work of a call, and return its JSON in UTF-8.

        Args:
            name: name of the work.
            call: its call.
            code: language of messages.
        """
        with self._working, language.using(code):
            try:
                result = EVERY[name].do(self._corpus(call), call)
            except LocalragError as error:
                return Refusal.of(error)
            return json_text(result, allow_nan=False).encode()

    def close(self) -> None:
        """Close the corpora."""
        with self._working:
            for corpus in self._open.values():
                corpus.close()
            self._open.clear()

    def _corpus(self, call: Call) -> Corpus:
        session = self._session.with_settings(call.settings())
        key = key_of(session, call)
        if key not in self._open:
            self._open[key] = session.corpus(call.corpus)
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(key)
        return self._open[key]


# Shorter texts are checked as fast as a search.
_LONG = 2_000
# Checks give way to searches.
_NICE = 10


def is_long_check(call: Call) -> bool:
    """Whether the check of a text takes longer than a search."""
    return isinstance(call, FileCheckCall) or (
        isinstance(call, CheckCall) and len(call.text) > _LONG
    )


class Checks:
    """The checks of long texts of one server.

    Args:
        session: workspace and settings.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # Searches keep half of the processors.
        self._at_once = asyncio.Semaphore(max(1, (os.cpu_count() or 1) // 2))
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._idle: list[ProcessPool] = []

    def close(self) -> None:
        """End the idle processes."""
        for pool in self._idle:
            pool.shutdown()
        self._idle.clear()

    async def carry_out(self, name: str, call: Call, code: str, holder: str) -> bytes | Refusal:
        """Check a text; cancelling the task kills the process.

        Args:
            name: name of the work.
            call: a `CheckCall` or `FileCheckCall`.
            code: language of messages.
            holder: name of the client; its texts are checked one at a time.

        Returns:
            The result as JSON in UTF-8, or a refusal.

        Raises:
            BrokenProcessPool: the process was killed twice, perhaps for memory.
        """
        async with self._turns[holder]:
            try:
                return await self._check(name, call, code)
            except BrokenProcessPool:
                return await self._check(name, call, code)

    async def _check(self, name: str, call: Call, code: str) -> bytes | Refusal:
        loop = asyncio.get_running_loop()
        async with self._at_once:
            pool = self._idle.pop() if self._idle else _opened()
            try:
                result = await loop.run_in_executor(
                    pool, _check_here, self._session, name, call, code
                )
            except BaseException:
                # Nobody waits for the result.
                pool.kill()
                raise
            self._idle.append(pool)
            return result


def _opened() -> ProcessPool:
    """Start a process; it can be killed before it is ready."""
    pool = ProcessPool(1, os.nice, _NICE)
    pool.submit(os.getpid)
    return pool


_kept: list[tuple[Session, Reader]] = []
"""The reader of a process for checks, with its session."""


def _check_here(session: Session, name: str, call: Call, code: str) -> bytes | Refusal:
    if not _kept or _kept[0][0] != session:
        for _, reader in _kept:
            reader.close()
        _kept[:] = [(session, Reader(session))]
    return _kept[0][1].carry_out(name, call, code)
