"""The guard of a network door: every request passes it first, every reply last.

Size and duration of a request are limited before it is read. A client needs a token or the session
of a browser; a socket for the owner alone needs neither. A request must use a name of this machine
and come from no page of another site. Replies name no path of this machine; the log does.
"""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self, TypeVar
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localrag.corpus.config import ServeConfig
from localrag.doors.calls import adapter
from localrag.doors.serve.holders import NOBODY, Holder, Sessions, Tokens
from localrag.doors.serve.listening import names_of
from localrag.doors.serve.work import Refusal
from localrag.language import _
from localrag.text.harmless import json_text

_Sent = TypeVar("_Sent")

COOKIE = "localrag-session"
"""The cookie in which a browser keeps the number of its session."""

LOG = logging.getLogger("localrag_serve")
"""Takes a line of JSON for each request."""

_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
_SECURITY = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    # Without it, a browser hides even from this server which page sent a form.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_READS = ("GET", "HEAD", "OPTIONS")


class Refusing(Exception):  # noqa: N818 - it says what is done
    """A request is refused before any work.

    Attributes:
        status: HTTP status.
        retry_after: seconds until another try makes sense; 0 for never.
    """

    def __init__(self, status: int, kind: str, cause: str, cure: str, retry_after: int = 0) -> None:
        super().__init__(cause)
        self.status = status
        self.refusal = Refusal(kind, cause, cure, 2, transient=retry_after > 0)
        self.retry_after = retry_after

    @property
    def headers(self) -> Iterator[tuple[str, str]]:
        """Headers of the reply."""
        if self.retry_after:
            yield "retry-after", str(self.retry_after)
        if self.status == 401:
            yield "www-authenticate", "Bearer"
        if self.status == 408:
            # Nobody waits for the rest. A large body is read and dropped: a client that is cut off
            # while sending reads no reply.
            yield "connection", "close"


@dataclass(frozen=True)
class Rules:
    """Rules for every request of a door.

    Attributes:
        tokens: a client needs one of them, except at the owner's door.
        names: allowed lower-case names of this server; empty for any.
        body: largest request in bytes.
        patience: seconds for a client to send a request or take a piece of the reply.
        of_owner: only the account of this process reaches the door.
        open: paths without a token.
    """

    tokens: Tokens
    names: frozenset[str]
    body: int
    patience: float
    of_owner: bool = False
    open: frozenset[str] = frozenset()
    log_questions: bool = False

    @classmethod
    def of(
        cls,
        settings: ServeConfig,
        tokens: Tokens,
        *,
        of_owner: bool,
        open: frozenset[str] = frozenset(),  # noqa: A002 - as the attribute
    ) -> Self:
        """The rules of the settings."""
        return cls(
            tokens,
            frozenset() if of_owner else names_of(settings),
            settings.max_body_kb * 1_000,
            settings.patience,
            of_owner=of_owner,
            open=open,
            log_questions=settings.log_questions,
        )


@dataclass
class RequestNote:
    """Notes about a request in progress.

    Attributes:
        id: name of the request, in the reply and in the log.
        holder: the client.
        asked: words of the request, for the log.
        problem: with its paths.
    """

    id: str
    holder: Holder = NOBODY
    asked: str = ""
    problem: str = ""


def note_of(request: Request) -> RequestNote:
    """The notes about a request."""
    note: RequestNote = request.scope["localrag"]
    return note


async def sent(request: Request, kind: type[_Sent]) -> _Sent:
    """Read the JSON of a request; raises ValidationError, Refusing."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refusing(
            415,
            "UsageError",
            _("The request is not JSON."),
            _("Send it as Content-Type: application/json."),
        )
    read: _Sent = adapter(kind).validate_json(await request.body())
    return read


class Guard:
    """Checks every request of a door, and completes every reply.

    `refuse` makes the reply to a refused request. `count` gets route, status and seconds of each
    request.
    """

    def __init__(
        self,
        app: Starlette,
        rules: Rules,
        refuse: Callable[[Request, Refusing], ASGIApp],
        count: Callable[[str, int, float], None],
        sessions: Sessions | None = None,
    ) -> None:
        self._app = app
        self._rules = rules
        self._refuse = refuse
        self._count = count
        self._sessions = sessions or Sessions()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        note = RequestNote(given if _ID.fullmatch(given) else secrets.token_hex(8))
        scope["localrag"], scope["app"] = note, self._app
        reply = _SentReply(send, note.id, self._rules.patience)
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
        kind, _blank, token = headers.get("authorization", "").partition(" ")
        session = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        holder = None
        if kind.lower() == "bearer" and (token := token.strip()):
            holder = self._rules.tokens.holder(token)
        elif session and (holder := self._sessions.holder(session)):
            _require_own_form(scope["method"], headers)
        elif self._rules.of_owner:
            holder = Holder()
        if holder is None and scope["path"] not in self._rules.open:
            raise Refusing(
                401,
                "NotAllowed",
                _("The request has no token that is valid here."),
                _("Send one as Authorization: Bearer TOKEN."),
            )
        return holder or NOBODY

    def _require_own_site(self, headers: Headers) -> None:
        """Refuse requests from pages of other sites."""
        host = _hostname(headers.get("host", ""))
        if self._rules.names and host not in self._rules.names:
            raise Refusing(
                421,
                "NotAllowed",
                _("The server is not called by this name: {host!r}").format(host=host[:100]),
                _("Use its address, or enter the name in serve.names."),
            )
        origin = headers.get("origin", "")
        of_other = bool(origin) and origin.partition("://")[2] != headers.get("host", "")
        # A link on another site may lead here.
        asks_for_page = headers.get("sec-fetch-mode", "") == "navigate" and not origin
        # Another port of this machine counts as the same site.
        is_cross = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        if of_other or (is_cross and not asks_for_page):
            raise _of_other_site()

    def _too_large(self) -> Refusing:
        return Refusing(
            413,
            "TooLarge",
            _("The request has more than {n:,} bytes.").format(n=self._rules.body),
            _("Send less at once."),
        )

    def _bounded(self, receive: Receive) -> Receive:
        """Limit the size and the duration of a request."""
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

    def _tell(self, scope: Scope, note: RequestNote, reply: "_SentReply", seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "")
        self._count(route, reply.status, seconds)
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
        if note.problem:
            line["problem"] = note.problem
        if self._rules.log_questions:
            line["asked"] = note.asked
        LOG.info("%s", json_text(line))


def _require_own_form(method: str, headers: Headers) -> None:
    """Refuse forms of other servers: a cookie alone would let them in.

    Every browser names the page of a form, in one header or the other.
    """
    says_own = headers.get("sec-fetch-site", "") in ("same-origin", "none")
    if method not in _READS and not says_own and "origin" not in headers:
        raise _of_other_site()


def _of_other_site() -> Refusing:
    return Refusing(
        403,
        "NotAllowed",
        _("The request comes from a page of another site."),
        _("Open the page of this server itself."),
    )


class _SentReply:
    """Sends a reply with the common headers, and counts its bytes."""

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
        # uvicorn closes the connection of an idle client.
        async with asyncio.timeout(self._patience):
            await self._send(message)


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
