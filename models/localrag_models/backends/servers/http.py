"""Speaking HTTP with a model server: JSON in, JSON or lines of it out, failures typed.

httpx is used bare for chat, and for all else with servers of OpenAI's protocol: the client that
OpenAI publishes reads keys, organisations and addresses from the environment. Ollama's own client
(`backends.ollama.server`) lists and pulls models, and embeds. It does not chat: it sends neither
``truncate`` nor ``shift``, without which a long prompt is cut in silence, drops the count of cached
tokens, splits its stream at U+0085, which may stand in a text, and cannot be left while the server
is silent. Nor does it show models: it drops the host that a model really runs on.
"""

import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from localrag_models.backends.servers.streaming import pumped
from localrag_models.errors import (
    ContextExceeded,
    ModelError,
    OutOfMemory,
    ProbabilitiesMissing,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
)

Json = dict[str, Any]

_NOT_IMPLEMENTED = 501
_CONNECT_SECONDS = 5.0
_LONGEST_LINE = 8 * 2**20
_LONGEST_MESSAGE = 400
_TOO_LONG = re.compile(
    r"exceed\w* .{0,40}context|context (?:size|length|window).{0,40}exceed|maximum context length"
    r"|greater than the context|context.{0,20}overflow|too large to process|must have less than",
    re.I | re.S,
)
_NO_PROBABILITIES = re.compile(r"log_?probs", re.I)
_NO_MEMORY = re.compile(r"more system memory|out of memory|unable to allocate", re.I)
_USER = re.compile(r"^(\s*\w+://)?.*([@＠])", re.S)
_QUERY = re.compile(r"([?#]).+", re.S)


class BadRequest(ServerRefused):
    """The server answered 400 or 422: it serves the caller, but not with what was asked for."""


class Unserved(ServerRefused):
    """The server answered 404 or 501: it has nothing there."""


_KINDS = {400: BadRequest, 422: BadRequest, 404: Unserved, 501: Unserved}


class Server:
    """A model server. No proxy, no environment and no redirect stands between.

    Args:
        address: ``http://HOST:PORT``, with a path where the server wants one.
        name: of the kind of server, for messages.
        cure: what to do where nobody answers.
        probabilities: what to do where it gives no probabilities of tokens.
        timeout: seconds without a byte after which the server counts as stuck.
        api_key: sent as bearer token, unless empty.

    Raises:
        ServerRefused: `address` is none, or keys of TLS are to be logged and cannot be.
    """

    def __init__(
        self,
        address: str,
        *,
        name: str,
        cure: str,
        probabilities: str,
        timeout: float,
        api_key: str = "",
    ) -> None:
        self.address = checked(address)
        self.name = name
        self._cure = cure
        self._probabilities = probabilities
        self._timeout = timeout
        secure = self.address.startswith("https:")
        self._options: dict[str, Any] = {
            # A context for TLS takes 30 ms to make and every stream has a client of its own.
            "verify": _tls() if secure else False,
            "trust_env": False,
            "timeout": httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            "headers": {
                "Content-Type": "application/json",
                **({"Authorization": f"Bearer {api_key}"} if api_key else {}),
            },
        }
        with self._failures():
            self._client = httpx.Client(**self._options)

    def get(self, path: str) -> Json:
        """Answer of a GET request; `path` follows the address, or is a whole URL.

        Raises:
            ModelError: by the status; `ServerBroke` for an answer that is no JSON object.
        """
        return self._plain("GET", path, None, {})

    def post(self, path: str, body: Json, *, last: bool = False) -> Json:
        """Answer of a POST request.

        Args:
            path: as in `get`.
            body: what is sent.
            last: whether the connection is closed after it. A server that does not know the path
                may leave the body unread, and take it for the beginning of the next request.

        Raises:
            BadRequest, Unserved, ModelError: as `get` says.
        """
        return self._plain("POST", path, body, {"Connection": "close"} if last else {})

    def lines(
        self, path: str, body: Json, cancelled: Callable[[], bool]
    ) -> Generator[str, None, None]:
        """Lines of the answer to a POST request, as they come; empty ones are left out.

        Raises:
            Cancelled: `cancelled` said so; the connection is closed, so that the server stops.
            ModelError: as `get` does, at any line.
        """
        with self._failures():
            yield from pumped(lambda: self._lines(path, body), cancelled)

    def refusal(self, status: int, message: str) -> ModelError:
        """The error that an HTTP status and the server's words stand for."""
        told = f"{self.name} at {self.address} answered {status}: {message}"
        if _TOO_LONG.search(message):
            return too_long(told, message)
        if _NO_MEMORY.search(message):
            return OutOfMemory(told, "Use a smaller model, or a smaller chat.context.")
        if _NO_PROBABILITIES.search(message):
            return self.no_probabilities(message)
        if 300 <= status < 400:
            return ServerRefused(told, "Redirects are not followed: name the final address.")
        if status in (408, 429) or (status >= 500 and status != _NOT_IMPLEMENTED):
            return ServerBusy(told, "Try again a little later; the log of the server says more.")
        return ServerRefused(told, "See which model and settings the server accepts.")

    def no_probabilities(self, message: str = "") -> ProbabilitiesMissing:
        """The error for a server that does not give the probabilities of tokens."""
        return ProbabilitiesMissing(
            f"{self.name} at {self.address} gives no probabilities of tokens"
            f"{message and f': {message}'}.",
            self._probabilities,
        )

    def broke(self, what: str) -> ServerBroke:
        """The error for an answer that ended early or makes no sense."""
        return ServerBroke(
            f"{self.name} at {self.address} {what}.",
            "Try again; the log of the server may say why.",
        )

    def parsed(self, text: str | bytes) -> Json:
        """A JSON object from the server.

        Raises:
            ServerBroke: it is none.
        """
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.broke(f"sent what is no JSON object: {excerpt(text)!r}")
        return value

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _plain(self, method: str, path: str, body: Json | None, headers: Mapping[str, str]) -> Json:
        with self._failures():
            content = None if body is None else _encoded(body)
            url = self._url(path)
            response = self._client.request(method, url, content=content, headers=headers)
            try:
                self._demand_ok(response)
            except ServerRefused as error:
                if (kind := _KINDS.get(response.status_code)) is None:
                    raise
                raise kind(error.cause, error.cure) from error
            return self.parsed(response.content)

    def _demand_ok(self, response: httpx.Response) -> None:
        if response.status_code != httpx.codes.OK:
            raise self.refusal(response.status_code, _words(response.read()))

    async def _lines(self, path: str, body: Json) -> AsyncIterator[str]:
        async with (
            httpx.AsyncClient(**self._options) as client,
            client.stream("POST", self._url(path), content=_encoded(body)) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise self.refusal(response.status_code, _words(await response.aread()))
            rest = b""
            async for chunk in response.aiter_bytes():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield self._decoded(line)
                if len(rest) > _LONGEST_LINE:
                    raise self.broke("sent a line without end")
            if rest.strip():
                yield self._decoded(rest)

    def _url(self, path: str) -> str:
        return path if path.startswith("http") else self.address + path

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise self.broke("sent bytes that are no UTF-8") from None

    def _unreachable(self, error: BaseException | None) -> ServerUnreachable:
        why = str(error or "") or "no answer in time"
        return ServerUnreachable(f"Nobody answers at {self.address} ({why}).", self._cure)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except httpx.TimeoutException as error:
            raise ServerTimeout(
                f"{self.name} at {self.address} sent nothing for {self._timeout:g} s.",
                "Raise chat.timeout, or see what the server is busy with.",
            ) from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise self.broke(f"broke off ({error or type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise no_address(self.address) from error


def checked(address: str) -> str:
    """`address` without a closing slash.

    Raises:
        ServerRefused: it has no scheme, another than HTTP, or no host; or it has more than host,
            port and path: a password in it would stand in every message.
    """
    stripped = address.strip()
    try:
        parts = urlsplit(stripped)
        host = (parts.hostname or "").encode("idna")
        good = parts.scheme in ("http", "https") and host and parts.port != 0
    except ValueError:
        good = False
    if not good or not stripped.isprintable() or set(" @?#") & set(stripped):
        raise no_address(address)
    return stripped.rstrip("/")


def no_address(address: str) -> ServerRefused:
    """The error for what is not the address of a server; hides what may be a password or a key."""
    shown = _QUERY.sub(r"\1…", _USER.sub(r"\1…\2", address))
    return ServerRefused(
        f"{shown!r} is not the address of a model server; "
        "an address may hold no user, password, query or fragment.",
        "Set chat.server (or embedding.server) to http://HOST:PORT.",
    )


def _tls() -> ssl.SSLContext:
    try:
        return ssl.create_default_context()
    except OSError as error:
        raise ServerRefused(
            f"An encrypted connection cannot be prepared: {error}.",
            "Unset SSLKEYLOGFILE, or let it name a file that can be written.",
        ) from error


def too_long(told: str, message: str = "") -> ContextExceeded:
    """The error for a prompt that a server found too long, with the figures of its message."""
    figures = sorted({int(digits) for digits in re.findall(r"\d+", message)}, reverse=True)
    needed, available = [*figures, 0, 0][:2]
    return ContextExceeded(
        told,
        "Use fewer or shorter passages, or raise chat.context.",
        needed=needed,
        available=available,
    )


def excerpt(text: str | bytes) -> str:
    """The beginning of what a server said, fit for a message."""
    whole = text if isinstance(text, str) else text.decode(errors="replace")
    whole = whole.strip()
    return whole if len(whole) <= _LONGEST_MESSAGE else whole[:_LONGEST_MESSAGE] + "…"


def _encoded(body: Mapping[str, Any]) -> bytes:
    # Half a surrogate pair has no UTF-8; a question mark takes its place.
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def _words(content: bytes) -> str:
    """What an error body says: servers wrap it as error, message or detail, once or twice."""
    said: Any = content.decode(errors="replace")
    for _ in range(4):
        if isinstance(said, str):
            try:
                said = json.loads(said)
            except (ValueError, RecursionError):
                break
        if not isinstance(said, dict):
            break
        said = next((said[key] for key in ("error", "message", "detail") if key in said), said)
        if isinstance(said, dict) and not {"error", "message", "detail"} & said.keys():
            break
    return excerpt(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))
