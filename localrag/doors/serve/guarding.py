"""Limits for the clients of the server, and its metrics."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.requests import Request

from localrag.corpus.inference.opening import embedder_id
from localrag.doors.calls import AskCall, Call
from localrag.doors.serve.desk import Desk, Refused
from localrag.doors.serve.entrance import Refusing, note_of
from localrag.doors.serve.holders import Holder, allowed
from localrag.doors.serve.reader import is_long_check
from localrag.doors.serve.work import TOLD, ToldJson
from localrag.language import _
from localrag.text.progress import ignore

_Call = TypeVar("_Call", bound=Call)
_Result = TypeVar("_Result")

# The mean of the last calls predicts how long the next one takes.
_REMEMBERED = 20


class Gate:
    """Lets a number of calls work, a number wait, and refuses the others."""

    def __init__(self, name: str, at_once: int, waiting: int) -> None:
        self.name = name
        self.working = 0
        self.waiting = 0
        self._at_once = at_once
        self._most = waiting
        self._free = asyncio.Semaphore(at_once)
        self._mean = 0.0

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[None]:
        """Wait for a place, and hold it; raises Refusing."""
        if self._free.locked() and self.waiting >= self._most:
            raise Refusing(
                429,
                "BusyError",
                _("As many calls wait as the server lets wait."),
                _("Try again a little later."),
                max(1, math.ceil(self._mean * (self.waiting + 1) / self._at_once)),
            )
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        self.working += 1
        began = time.perf_counter()
        try:
            yield
        finally:
            self._mean += (time.perf_counter() - began - self._mean) / _REMEMBERED
            self.working -= 1
            self._free.release()


class Gone(Exception):  # noqa: N818 - it says what the client is
    """The client has left."""


class GuardedDesk:
    """The desk for clients: only their corpora, and a limited number of calls.

    `queue` limits waiting calls, for lookups and for questions each. `embedder` is the id of the
    embedding model, "" for none; raises ModelUnusable if it cannot be used.
    """

    def __init__(self, desk: Desk, queue: int) -> None:
        self.desk = desk
        self.embedder = embedder_id(desk.session.workspace, desk.session.config())
        self.looking = Gate("looking-up", desk.readers, queue)
        self.asking = Gate("asking", desk.questions, queue)
        # The desk gives each holder a turn.
        self.checking = Gate("checking", max(1, queue), 0)

    def corpora(self, holder: Holder) -> list[str]:
        """Names of a client's corpora."""
        return holder.allowed(self.desk.session.corpora())

    async def look_up(self, request: Request, name: str, call: Call) -> bytes:
        """Carry out a call without a model, and return the JSON of its result.

        Raises:
            Gone: the client left during the check of a long text.
            Refused: there is no result, or the client may not use the corpus.
            Refusing: too many calls wait.
        """
        call = self.allowed(request, call)
        with noting(request):
            if is_long_check(call):
                async with self.checking.passed():
                    work = self.desk.carry_out(name, call, note_of(request).holder.name)
                    return await _while_there(request, work)
            async with self.looking.passed():
                return await self.desk.carry_out(name, call)

    async def ask(
        self, request: Request, call: AskCall, tell: Callable[[str], None] = ignore
    ) -> ToldJson:
        """Answer a question while the client waits; raises Gone, Refused, Refusing."""
        call = self.allowed(request, call)
        note_of(request).asked = call.question
        with noting(request):
            writes = self.desk.writes(call)
        if not writes:
            told: ToldJson = json.loads(await self.look_up(request, TOLD, call))
            return told
        with noting(request):
            async with self.asking.passed():
                return await _while_there(request, self.desk.ask(call, tell))

    def allowed(self, request: Request, call: _Call) -> _Call:
        """The call with its corpus filled in; raises as `localrag.doors.serve.holders.allowed`."""
        return allowed(self.desk, note_of(request).holder, call)


@contextmanager
def noting(request: Request) -> Iterator[None]:
    """Keep the paths in an error for the log."""
    try:
        yield
    except Refused as refused:
        note_of(request).problem = refused.refusal.within
        raise


async def begun(work: Coroutine[Any, Any, _Result], seconds: float) -> "asyncio.Task[_Result]":
    """Begin some work, and wait for it a little; raises early errors."""
    working = asyncio.create_task(work)
    try:
        await asyncio.wait({working}, timeout=seconds)
    except asyncio.CancelledError:
        working.cancel()
        raise
    if working.done():
        working.result()
    return working


async def _while_there(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Do some work until the client leaves."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, going = asyncio.create_task(work), asyncio.create_task(gone())
    try:
        await asyncio.wait({working, going}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Gone
        return working.result()
    finally:
        working.cancel()
        going.cancel()
        await asyncio.gather(working, going, return_exceptions=True)


class Metrics:
    """Counters for Prometheus, without words of clients."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "localrag_requests", "Requests.", ("route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "localrag_request_seconds", "How long they took.", ("route",), registry=self.registry
        )
        for state in ("working", "waiting"):
            gauge = Gauge(
                f"localrag_{state}", f"Calls that are {state}.", ("gate",), registry=self.registry
            )
            for gate in gates:
                gauge.labels(gate.name).set_function(partial(getattr, gate, state))

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests.labels(route, status).inc()
        self.seconds.labels(route).observe(seconds)
