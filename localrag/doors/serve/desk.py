"""Carries out the calls of clients.

Processes with open corpora look things up, and a dead one is replaced. The last results are kept
while the corpus stays the same. A question waits for the model in a thread of this process: the
model is in memory once.
"""

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.to_thread

from localrag import language
from localrag.answer import wording
from localrag.answer.types import Watch
from localrag.corpus.inference.opening import named, open_embedder
from localrag.corpus.workspace import CorpusPaths
from localrag.doors.as_json.found import CorpusJson
from localrag.doors.calls import AskCall, Call
from localrag.doors.serve.reader import Checks, Reader, is_long_check, key_of
from localrag.doors.serve.work import (
    FileCheckCall,
    Refusal,
    ToldJson,
    answered,
    corpora_of,
    writes,
)
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError, NotFoundError
from localrag.language import N_
from localrag.search.types import StageRecord
from localrag.search.units import opened_from
from localrag.text.progress import ignore
from localrag_indexes.parallel import ProcessPool

if TYPE_CHECKING:
    from localrag_models.embedding import Embedder, Vectors


class Refused(Exception):  # noqa: N818 - it says what became of the call
    """A call without a result; `refusal` gives the reason."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except LocalragError as error:
        raise Refused(Refusal.of(error)) from error


def _written(place: CorpusPaths) -> tuple[tuple[int, int], ...]:
    files = (place.store, place.store.with_name(f"{place.store.name}-wal"))
    found = [file.stat() for file in files if file.exists()]
    return tuple((of.st_mtime_ns, of.st_size) for of in found)


class _Remembered:
    """The last results, up to a number of bytes.

    Keys must be small: a checked text has up to 100,000 characters.
    """

    _MOST = 32_000_000
    # Further bytes of an entry, roughly.
    _ENTRY = 1_000

    def __init__(self) -> None:
        self._kept: OrderedDict[object, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, key: object) -> bytes | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: object, result: bytes) -> None:
        """Keep a result, and drop the oldest ones for it."""
        if key not in self._kept:
            self._kept[key] = result
            self._bytes += len(result) + self._ENTRY
        while self._bytes > self._MOST:
            self._bytes -= len(self._kept.popitem(last=False)[1]) + self._ENTRY


_reader: Reader
"""The reader of a process that was started to look things up."""


def _start(session: Session, code: str) -> None:
    global _reader
    language.use(code)
    _reader = Reader(session)


def _carry_out(name: str, call: Call, code: str) -> bytes | Refusal:
    return _reader.carry_out(name, call, code)


def _process() -> int:
    return os.getpid()


@dataclass
class _Seat:
    """Room for one question at a time, with the corpus it asked last."""

    key: object = None
    corpus: Corpus | None = None


class _Following(Watch):
    """Follows one answer. Another thread can cancel it.

    `tell` is called with each step, in words, in the thread of the answer.
    """

    # Tokens of a reply between two reports.
    _TOKENS = 16

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._cancelled = False
        self._written = 0

    def cancel(self) -> None:
        """Cancel the answer."""
        self._cancelled = True

    def cancelled(self) -> bool:
        return self._cancelled

    def stage(self, record: StageRecord) -> None:
        self._tell(wording.step(record.stage))

    def loading(self, model: str, done: int, total: int) -> None:
        self._tell(f"{model}: {done * 100 // total} %" if total else model)

    def wrote(self, piece: str) -> None:  # noqa: ARG002 - only what is checked is shown
        self._written += 1
        if self._written % self._TOKENS == 1:
            self._tell(f"{wording.step('model')}: {self._written}")


class Desk:
    """Carries out calls, as an asynchronous context.

    Lookups run in `processes`, 0 for a thread of this process.

    Attributes:
        readers, questions: lookups, and questions to a model, at the same time.
        usual: corpus of the settings.
    """

    def __init__(self, session: Session, processes: int = 0) -> None:
        self.session = session
        self.readers = processes or 1
        config = session.config()
        self.questions = config.chat.parallel
        self.usual = config.corpus
        self._processes = processes
        self._here = Reader(session)
        self._pool: Executor | None = None
        self._threads = ThreadPoolExecutor(self.questions, thread_name_prefix="question")
        self._seats = [_Seat() for _ in range(self.questions)]
        self._remembered = _Remembered()
        self._checks = Checks(session)
        self._choosing = threading.Lock()
        # Loading takes seconds; questions still get their seats.
        self._loading = threading.Lock()
        self._answering: anyio.CapacityLimiter
        self._embedder: Embedder | None = None

    async def __aenter__(self) -> Self:
        self._answering = anyio.CapacityLimiter(self.questions)
        self._pool = self._opened()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._close)

    def _close(self) -> None:
        self._threads.shutdown()
        self._here.close()
        self._checks.close()
        if self._embedder is not None:
            self._embedder.close()
        for seat in self._seats:
            if seat.corpus is not None:
                seat.corpus.close()

    def _opened(self) -> Executor:
        if not self._processes:
            return ThreadPoolExecutor(1, thread_name_prefix="reader")
        return ProcessPool(self._processes, _start, self.session, language.in_use())

    async def carry_out(self, name: str, call: Call, holder: str = "") -> bytes:
        """Look something up; returns the result as JSON in UTF-8. Raises Refused.

        Long texts of one client (`holder`) are checked one at a time.
        """
        code = language.in_use()
        with _refusals():
            place = self.session.workspace.corpus(call.corpus or self.usual)
        # The result holds while corpus and day stay the same.
        asked = sha256(repr(call).encode(errors="surrogatepass")).digest()
        key = (name, asked, code, opened_from(place), _written(place))
        # Each question is answered again: a journal must record it. A file is there once.
        is_remembered = not isinstance(call, AskCall | FileCheckCall)
        if is_remembered and (known := self._remembered.get(key)):
            return known
        result: bytes | Refusal
        if is_long_check(call):
            result = await self._checks.carry_out(name, call, code, holder)
        else:
            work = _carry_out if self._processes else self._here.carry_out
            result = await self._look_up(partial(work, name, call, code))
        if isinstance(result, Refusal):
            raise Refused(result)
        if is_remembered:
            self._remembered.put(key, result)
        return result

    async def corpora(self, names: Sequence[str]) -> list[CorpusJson]:
        """Describe corpora; raises Refused if one cannot be read."""
        with _refusals():
            return await anyio.to_thread.run_sync(corpora_of, self.session, names)

    async def ready(self) -> int:
        """Wait for a process for lookups, and return its number."""
        process: int = await self._look_up(_process)
        return process

    def writes(self, call: AskCall) -> bool:
        """Whether a model takes part in an answer; raises as `localrag.doors.serve.work.writes`."""
        with _refusals():
            return writes(self.session, call)

    async def ask(self, call: AskCall, tell: Callable[[str], None] = ignore) -> ToldJson:
        """Answer a question in a thread; cancelling the task ends it early. Raises Refused.

        `tell` gets each step, in words.
        """
        loop = asyncio.get_running_loop()
        watch = _Following(lambda words: loop.call_soon_threadsafe(tell, words))
        async with self._answering:
            work = partial(copy_context().run, self._ask, call, watch)
            answering = loop.run_in_executor(self._threads, work)
            try:
                with _refusals():
                    return await asyncio.shield(answering)
            finally:
                # An abandoned thread keeps its seat until it sees this.
                watch.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.gather(answering, return_exceptions=True)

    def _ask(self, call: AskCall, watch: _Following) -> ToldJson:
        session = self.session.with_settings(call.settings())
        key = key_of(session, call)
        with self._choosing:
            seat = next((seat for seat in self._seats if seat.key == key), self._seats[0])
            self._seats.remove(seat)
        try:
            watch.require()
            if seat.key != key or seat.corpus is None:
                if seat.corpus is not None:
                    seat.corpus.close()
                seat.key, seat.corpus = key, session.corpus(call.corpus)
            seat.corpus.answerer(watch.loading)
            return answered(seat.corpus, call, watch)
        finally:
            with self._choosing:
                self._seats.append(seat)

    async def embed(self, texts: Sequence[str], *, queries: bool) -> "Vectors":
        """Embed texts, as questions or passages, with the model of the settings; raises Refused."""
        with _refusals():
            return await anyio.to_thread.run_sync(
                partial(self._embed, texts, queries=queries), limiter=self._answering
            )

    def _embed(self, texts: Sequence[str], *, queries: bool) -> "Vectors":
        with self._loading:
            if self._embedder is None:
                self._embedder = open_embedder(self.session.workspace, self.session.config())
            embedder = self._embedder
        if embedder is None:
            raise NotFoundError(
                N_("There is no embedder."), N_("List the models to install: localrag models list")
            )
        with named():
            return embedder.embed_queries(texts) if queries else embedder.embed_passages(texts)

    async def _look_up(self, work: Callable[[], Any]) -> Any:
        for attempt in (1, 2):
            pool = self._pool
            assert pool is not None, "the desk is closed"
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, work)
            except BrokenProcessPool:
                # A process was killed, perhaps for memory, and the others with it.
                if self._pool is pool:
                    pool.shutdown(wait=False, cancel_futures=True)
                    self._pool = self._opened()
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")
