"""Speaking HTTP with a model server: JSON in, JSON or lines of it out, failures typed.

It also tries again what failed in passing, and leaves a stream at any moment.

httpx is used bare for chat, and for all else with servers of OpenAI's protocol: the client that
OpenAI publishes reads keys, organisations and addresses from the environment. Ollama's own client
(`backends.ollama`) lists and pulls models, and embeds. It does not chat: it sends neither
``truncate`` nor ``shift``, without which a long prompt is cut in silence, drops the count of cached
tokens, splits its stream at U+0085, which may stand in a text, and cannot be left while the server
is silent. Nor does it show models: it drops the host that a model really runs on.
"""

import json
import logging
import queue
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
from anyio.from_thread import start_blocking_portal

from localrag_models.chat import never
from localrag_models.errors import (
    N_,
    ContextExceeded,
    Cure,
    ModelError,
    OutOfMemory,
    ProbabilitiesMissing,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
)

if TYPE_CHECKING:
    import tenacity

Json = dict[str, Any]
T = TypeVar("T")

_ATTEMPTS = 4
_FIRST_WAIT = 0.5
_GLANCE = 0.05
_END: Final = object()
_MOST_TOKENS = 10**9
"""No model reads a thousand million tokens: whoever says so tells nothing."""
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


class StreamLeft(Exception):  # noqa: N818 - no error: somebody wanted it
    """A stream was left because its reader no longer wants it."""


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
            "headers": {"Content-Type": "application/json"},
        }
        with self._failures():
            self._client = httpx.Client(**self._options)

    @property
    def described(self) -> str:
        """Its kind and its address, for messages."""
        return f"{self.name} ({self.address})"

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
        told = N_("{server} answered {status}: {said}")
        fields = {"server": self.described, "status": status, "said": message}
        if _TOO_LONG.search(message):
            figures = sorted(map(int, re.findall(r"\d+", message)), reverse=True)
            needed, available = [*figures, 0, 0][:2]
            return ContextExceeded(
                told, Cure.LESS_TEXT, needed=needed, available=available, **fields
            )
        if _NO_MEMORY.search(message):
            return OutOfMemory(told, Cure.LESS_MEMORY, **fields)
        if _NO_PROBABILITIES.search(message):
            return self.no_probabilities(message)
        if 300 <= status < 400:
            cure = N_("Redirects are not followed: name the final address.")
            return ServerRefused(told, cure, **fields)
        if status in (408, 429) or (status >= 500 and status != _NOT_IMPLEMENTED):
            cure = N_("Try again a little later; the log of the server says more.")
            return ServerBusy(told, cure, **fields)
        return ServerRefused(told, N_("See which model and settings the server accepts."), **fields)

    def no_probabilities(self, message: str = "") -> ProbabilitiesMissing:
        """The error for a server that does not give the probabilities of tokens."""
        cause = N_("{server} gives no probabilities of tokens.")
        if message:
            cause = N_("{server} gives no probabilities of tokens: {said}")
        return ProbabilitiesMissing(cause, self._probabilities, server=self.described, said=message)

    def broke(self, cause: str, **fields: object) -> ServerBroke:
        """The error for an answer that ended early or makes no sense; `cause` names {server}."""
        return ServerBroke(
            cause,
            N_("Try again; the log of the server may say why."),
            server=self.described,
            **fields,
        )

    def no_vectors(self) -> ServerBroke:
        """The error for an answer without a vector for each text."""
        return self.broke(N_("{server} sent no vectors for what was to be embedded."))

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
            raise self.broke(
                N_("{server} sent what is no JSON object: {said!r}"), said=excerpt(text)
            )
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
                raise kind(*error.args, **error.fields) from error
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
                    raise self.broke(N_("{server} sent a line without end."))
            if rest.strip():
                yield self._decoded(rest)

    def _url(self, path: str) -> str:
        return path if path.startswith("http") else self.address + path

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise self.broke(N_("{server} sent bytes that are no UTF-8.")) from None

    def _unreachable(self, error: BaseException | None) -> ServerUnreachable:
        return ServerUnreachable(
            N_("Nobody answers at {address} ({why})."),
            self._cure,
            address=self.address,
            why=str(error or "") or "timeout",
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except httpx.TimeoutException as error:
            raise ServerTimeout(
                N_("{server} sent nothing for {seconds:g} s."),
                Cure.MORE_TIME,
                server=self.described,
                seconds=self._timeout,
            ) from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            why = str(error) or type(error).__name__
            raise self.broke(N_("{server} broke off ({why})."), why=why) from error
        except httpx.InvalidURL as error:
            raise no_address(self.address) from error


@dataclass(frozen=True, slots=True)
class Retry:
    """One failure that is about to be followed by another attempt.

    Attributes:
        error: what went wrong.
        attempt: the attempt that failed, counted from 1.
        wait: seconds until the next one.
    """

    error: BaseException
    attempt: int
    wait: float

    def __str__(self) -> str:
        return f"{self.error} Attempt {self.attempt + 1} follows in {self.wait:.1f} s."


def warn(retry: Retry) -> None:
    """Write a retry to the log, as a warning."""
    logging.getLogger("localrag_models").warning("%s", retry)


def retrying(
    call: Callable[[], T],
    *,
    allowed: Callable[[], bool],
    on_retry: Callable[[Retry], None] = warn,
    cancelled: Callable[[], bool] = never,
) -> T:
    """Call, and call again while failures are transient: four times at most.

    The waits are drawn from 0 to 0.5, 1 and 2 s, so that callers who failed together part.

    A timeout is not repeated: it has already cost the patience the user set.

    Args:
        call: what is to be done.
        allowed: asked after a failure whether doing it again would still be unseen by anybody.
        on_retry: told of each failure that is followed by another attempt.
        cancelled: asked while waiting; true ends the waiting, and the last failure is raised.

    Raises:
        ModelError: the last failure.
    """
    import tenacity

    def worth_it(error: BaseException) -> bool:
        passing = isinstance(error, ModelError) and error.transient
        return passing and not isinstance(error, ServerTimeout) and allowed() and not cancelled()

    def told(state: "tenacity.RetryCallState") -> None:
        if state.outcome is not None and (error := state.outcome.exception()) is not None:
            on_retry(Retry(error, state.attempt_number, state.upcoming_sleep))

    def sleep(seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not cancelled():
            time.sleep(min(_GLANCE, left))

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(worth_it),
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=_FIRST_WAIT),
        sleep=sleep,
        before_sleep=told,
        reraise=True,
    )(call)


def pumped(
    stream: Callable[[], AsyncIterator[T]], cancelled: Callable[[], bool]
) -> Generator[T, None, None]:
    """What an asynchronous stream yields, in the thread that asks.

    Servers send nothing while they read a prompt, which can take minutes. So the stream runs in a
    thread of its own, as a task that can be cancelled wherever it waits.

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
                    raise StreamLeft
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
        N_(
            "{address!r} is not the address of a model server; "
            "an address may hold no user, password, query or fragment."
        ),
        Cure.SERVER_ADDRESS,
        address=shown,
    )


def _tls() -> ssl.SSLContext:
    try:
        return ssl.create_default_context()
    except OSError as error:
        raise ServerRefused(
            N_("An encrypted connection cannot be prepared ({why})."),
            N_("Unset SSLKEYLOGFILE, or let it name a file that can be written."),
            why=error,
        ) from error


def text_of(told: object) -> str:
    """A text; empty for what is none."""
    return told if isinstance(told, str) else ""


def tokens(told: object) -> int | None:
    """A number of tokens; None for what is none: true and false, a negative or an absurd number."""
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return told if 0 <= told <= _MOST_TOKENS else None


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
