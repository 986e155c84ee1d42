"""Who may call the server, how much at once, and what is noted of it.

What a client sends is bounded before it is read: its size, the time it takes, how many calls wait.
A token is kept as its digest. On the loopback address there need be none; then a request has to
come by a name of this machine, and from no page of another site: a browser can be made to send one.
"""

import asyncio
import hmac
import json
import logging
import math
import re
import secrets
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import tomli_w
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localrag.durable import replace_text, storing
from localrag.errors import ConfigError, NotFoundError, UsageError
from localrag.harmless import json_text
from localrag.inference.opening import embedder_id
from localrag.language import N_, _
from localrag.progress import ignore
from localrag.serve.calls import TOLD, AskCall, Call, Refusal, ToldJson
from localrag.serve.desk import Desk, Refused

_Call = TypeVar("_Call", bound=Call)
_Result = TypeVar("_Result")
_Sent = TypeVar("_Sent", bound=BaseModel)

COOKIE = "localrag-token"
"""The cookie in which a browser keeps a token."""

LOG = logging.getLogger("localrag_serve")
"""Takes a line of JSON for each request."""

_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
_HOLDER = re.compile(r"[\w-]{1,64}")
_SECURITY = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    # Without any a browser would hide even from this server that a form is of its own page.
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Of so many calls the mean tells how long the next one will take.
_REMEMBERED = 20


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a token.

    Attributes:
        name: "" for whoever needs none.
        corpora: those that they may use; empty for all.
    """

    name: str = ""
    corpora: tuple[str, ...] = ()

    def allowed(self, corpora: Sequence[str]) -> list[str]:
        """Those of some corpora that they may use."""
        return [name for name in corpora if not self.corpora or name in self.corpora]


class Tokens:
    """The tokens of a workspace: their digests, each with its holder.

    Args:
        path: of their file, which need not exist.

    Raises:
        ConfigError: it is no such file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._holders: dict[str, Holder] = {}
        if not path.exists():
            return
        try:
            for name, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
                corpora = tuple(map(str, row["corpora"]))
                self._holders[bytes.fromhex(row["sha256"]).hex()] = Holder(name, corpora)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ConfigError(
                N_("{path} cannot be read ({problem})."),
                N_("Delete it, and make the tokens anew: localrag serve --add-token NAME"),
                path=path,
                problem=error,
            ) from error

    def __bool__(self) -> bool:
        return bool(self._holders)

    def holder(self, token: str) -> Holder | None:
        """Who holds a token; every digest is compared, each in constant time."""
        digest, found = _digest(token), None
        for known, holder in self._holders.items():
            if hmac.compare_digest(known, digest):
                found = holder
        return found

    def add(self, name: str, corpora: Sequence[str]) -> str:
        """Make a token, in the place of the one that its holder had; it is kept nowhere.

        Raises:
            UsageError: nobody can have such a name.
            StorageError: the file cannot be written.
        """
        if not _HOLDER.fullmatch(name):
            raise UsageError(
                N_("{name!r} cannot be the name of a token."),
                N_("Use up to 64 letters, digits, '_' and '-'."),
                name=name,
            )
        token = secrets.token_urlsafe(32)
        kept = {digest: one for digest, one in self._holders.items() if one.name != name}
        self._holders = {**kept, _digest(token): Holder(name, tuple(corpora))}
        rows = {
            holder.name: {"sha256": digest, "corpora": list(holder.corpora)}
            for digest, holder in self._holders.items()
        }
        with storing(self._path):
            replace_text(self._path, tomli_w.dumps(rows))
        return token


def _digest(token: str) -> str:
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


class Refusing(Exception):  # noqa: N818 - it says what is done
    """A request that is refused before anybody works on it.

    Attributes:
        status: of HTTP.
        refusal: why, in words.
        retry_after: seconds after which it can be tried again; 0 for never.
    """

    def __init__(self, status: int, kind: str, cause: str, cure: str, retry_after: int = 0) -> None:
        super().__init__(cause)
        self.status = status
        self.refusal = Refusal(kind, cause, cure, 2, transient=retry_after > 0)
        self.retry_after = retry_after


class Gate:
    """Lets so many calls work at once, and so many wait; refuses the others.

    Args:
        name: for the metrics.
        at_once: that work.
        waiting: that wait.
    """

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
        """Wait for a place, and hold it.

        Raises:
            Refusing: as many wait as may; says when to try again.
        """
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
    """Whoever has asked is there no longer."""


class GuardedDesk:
    """The desk as the clients of the server reach it: what they may use, so many at once.

    Attributes:
        desk: carries out the calls.
        embedder: the id of the model that embeds; "" for none.

    Args:
        desk: carries out the calls.
        queue: calls that wait at most, of those that look up and of the questions for a model.

    Raises:
        ModelUnusable: the settings name an embedder that cannot be had.
    """

    def __init__(self, desk: Desk, queue: int) -> None:
        self.desk = desk
        self.embedder = embedder_id(desk.session.workspace, desk.session.config())
        self.looking = Gate("looking-up", desk.readers, queue)
        self.asking = Gate("asking", desk.questions, queue)

    def corpora(self, holder: Holder) -> list[str]:
        """The corpora that a client may use, by their names."""
        return holder.allowed(self.desk.session.corpora())

    async def look_up(self, request: Request, name: str, call: Call) -> bytes:
        """Carry out a call that needs no model, and give the JSON of its result.

        Raises:
            Refused: it has none, or the client may not use the corpus.
            Refusing: too many wait.
        """
        call = self.allowed(request, call)
        async with self.looking.passed():
            return await self.desk.carry_out(name, call)

    async def ask(
        self, request: Request, call: AskCall, tell: Callable[[str], None] = ignore
    ) -> ToldJson:
        """Answer a question, as long as the client waits.

        Raises:
            Gone: it does no longer.
            Refused, Refusing: as `look_up`.
        """
        call = self.allowed(request, call)
        note_of(request).asked = call.question
        if not self.desk.writes(call):
            told: ToldJson = json.loads(await self.look_up(request, TOLD, call))
            return told
        async with self.asking.passed():
            return await _while_there(request, self.desk.ask(call, tell))

    def allowed(self, request: Request, call: _Call) -> _Call:
        """The call with the corpus that is meant.

        Raises:
            Refused: there is no such corpus; to a client, one that they may not use does not exist.
        """
        names = self.corpora(note_of(request).holder)
        usual = self.desk.usual if self.desk.usual in names else "".join(names[:1])
        name = call.corpus or usual
        if name not in names:
            missing = NotFoundError(
                N_("There is no corpus {name!r}."),
                N_("There is: {known}.") if names else N_("Add documents: localrag add PATH"),
                name=name or self.desk.usual,
                known=", ".join(names),
            )
            raise Refused(Refusal.of(missing))
        return call.model_copy(update={"corpus": name})


async def begun(work: Coroutine[Any, Any, _Result], seconds: float) -> "asyncio.Task[_Result]":
    """Begin some work, and wait a little for it; raises what it fails with meanwhile."""
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
    """Do some work as long as the client is there, and end it when it goes."""

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
    """What the server counts, for Prometheus; no words of anybody.

    Args:
        gates: whose calls are counted.
    """

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


@dataclass(frozen=True)
class Rules:
    """What holds for every request.

    Attributes:
        tokens: one of them is needed where there are any.
        names: of this server, in small letters, by which clients without a token have to call it.
        body: bytes of a request at most.
        patience: seconds in which a client has to send a request, or to take a piece of the reply.
        open: paths that need no token.
        log_questions: whether the log tells what was asked.
    """

    tokens: Tokens
    names: frozenset[str]
    body: int
    patience: float
    open: frozenset[str] = frozenset({"/health", "/ready", "/sign-in", "/style.css"})
    log_questions: bool = False


@dataclass
class Note:
    """What is noted of a request while it lasts.

    Attributes:
        id: names it, in the reply and in the log.
        holder: who sends it.
        asked: the words of it, for a log that is to have them.
    """

    id: str
    holder: Holder = field(default_factory=Holder)
    asked: str = ""


def note_of(request: Request) -> Note:
    """What is noted of a request."""
    note: Note = request.scope["localrag"]
    return note


async def sent(request: Request, kind: type[_Sent]) -> _Sent:
    """What a request has sent as JSON.

    Raises:
        ValidationError: it is nothing of the kind.
        Refusing: it is no JSON, or does not come in time.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refusing(
            415,
            "UsageError",
            _("The request is not JSON."),
            _("Send it as Content-Type: application/json."),
        )
    return kind.model_validate_json(await request.body())


class Guard:
    """The part of the server that every request passes first, and every reply last.

    Args:
        app: what works on the requests.
        rules: what holds for them.
        metrics: are kept up.
        refuse: makes the reply to a request that is refused.
    """

    def __init__(
        self,
        app: Starlette,
        rules: Rules,
        metrics: Metrics,
        refuse: Callable[[Request, Refusing], ASGIApp],
    ) -> None:
        self._app = app
        self._rules = rules
        self._metrics = metrics
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        note = Note(given if _ID.fullmatch(given) else secrets.token_hex(8))
        scope["localrag"], scope["app"] = note, self._app
        reply = _Reply(send, note.id, self._rules.patience)
        began = time.perf_counter()
        try:
            app: ASGIApp = self._app
            try:
                note.holder = self._admitted(scope, headers)
            except Refusing as refusing:
                app = self._refuse(Request(scope), refusing)
            await app(scope, self._bounded(receive), reply)
        finally:
            self._tell(scope, note, reply, time.perf_counter() - began)

    def _admitted(self, scope: Scope, headers: Headers) -> Holder:
        size = headers.get("content-length", "0")
        if not size.isascii() or not size.isdigit() or int(size[:20]) > self._rules.body:
            raise self._too_large()
        self._require_own_site(headers)
        if not self._rules.tokens:
            return Holder()
        kind, _blank, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            token = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        holder = self._rules.tokens.holder(token.strip())
        if holder is None and scope["path"] not in self._rules.open:
            raise Refusing(
                401,
                "NotAllowed",
                _("The request has no token that is valid here."),
                _("Send one as Authorization: Bearer TOKEN."),
            )
        return holder or Holder()

    def _require_own_site(self, headers: Headers) -> None:
        """Make sure that no page of another site makes a browser send the request."""
        host = _hostname(headers.get("host", ""))
        if not self._rules.tokens and host not in self._rules.names:
            raise Refusing(
                421,
                "NotAllowed",
                _("The server is not called by this name: {host!r}").format(host=host[:100]),
                _("Use its address, or enter the name in serve.names."),
            )
        origin = headers.get("origin", "")
        of_other = bool(origin) and origin.partition("://")[2] != headers.get("host", "")
        # To follow a link of another site to a page of this one is not to be sent by it.
        asks_for_page = headers.get("sec-fetch-mode", "") == "navigate" and not origin
        is_cross = headers.get("sec-fetch-site", "none") == "cross-site"
        if of_other or (is_cross and not asks_for_page):
            raise Refusing(
                403,
                "NotAllowed",
                _("The request comes from a page of another site."),
                _("Open the page of this server itself."),
            )

    def _too_large(self) -> Refusing:
        return Refusing(
            413,
            "TooLarge",
            _("The request has more than {n:,} bytes.").format(n=self._rules.body),
            _("Send less at once."),
        )

    def _bounded(self, receive: Receive) -> Receive:
        """Take no more of a request than may come, and no later."""
        left, over = self._rules.body, False
        until = asyncio.get_running_loop().time() + self._rules.patience

        async def take() -> Message:
            nonlocal left, over
            try:
                async with asyncio.timeout_at(None if over else until):
                    message = await receive()
            except TimeoutError as error:
                raise Refusing(
                    408, "TooSlow", _("The request came too slowly."), _("Send it at once.")
                ) from error
            left -= len(message.get("body", b""))
            over = over or not message.get("more_body", False)
            if left < 0:
                raise self._too_large()
            return message

        return take

    def _tell(self, scope: Scope, note: Note, reply: "_Reply", seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "")
        self._metrics.requests.labels(route, reply.status).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        line = {
            "time": time.time(),
            "id": note.id,
            "holder": note.holder.name,
            "method": scope["method"],
            "route": route,
            "status": reply.status,
            "seconds": round(seconds, 4),
            "bytes": reply.bytes,
        }
        if self._rules.log_questions:
            line["asked"] = note.asked
        LOG.info("%s", json_text(line))


class _Reply:
    """Sends a reply, with what every reply has, to a client that takes it; counts it."""

    def __init__(self, send: Send, id_: str, patience: float) -> None:
        self.status = 0
        self.bytes = 0
        self._send = send
        self._id = id_
        self._patience = patience

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self._id
            for name, value in _SECURITY.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        self.bytes += len(message.get("body", b""))
        # One who takes nothing is let go of: uvicorn closes the connection.
        async with asyncio.timeout(self._patience):
            await self._send(message)


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
