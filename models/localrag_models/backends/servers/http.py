"""HTTP with a model server: JSON in, JSON or lines of it out, typed failures, retries.

A stream can be left at any moment. httpx is used directly, because the client of OpenAI reads keys,
organisations and addresses from the environment. Ollama's client (`backends.ollama`) lists, pulls
and embeds. It does not chat: it cannot send ``truncate`` and ``shift``, without which long prompts
are cut silently. It also drops the count of cached tokens, splits its stream at U+0085, and cannot
be left while the server is silent. Nor does it show models: it drops the host that a model runs on.
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
"""No model reads a thousand million tokens: such a number means nothing."""
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
    """Its reader no longer wants the stream."""


class BadRequest(ServerRefused):
    """The server answered 400 or 422: it does not accept this request."""


class Unserved(ServerRefused):
    """The server answered 404, 405 or 501: it has nothing there."""


_KINDS = {400: BadRequest, 422: BadRequest, 404: Unserved, 405: Unserved, 501: Unserved}


class Server:
    """A model server, used without proxy, environment or redirects.

    Args:
        address: ``http://HOST:PORT``, with a path if the server needs one.
        name: of the kind of server, for messages.
        cure: if no server answers.
        probabilities: cure if it gives no probabilities of tokens.
        binding: cure if a reply does not fulfil its schema.
        timeout: seconds without a byte until the server counts as stuck.
    """

    def __init__(
        self,
        address: str,
        *,
        name: str,
        cure: str,
        probabilities: str,
        binding: str,
        timeout: float,
    ) -> None:
        self.address = checked(address)
        self.name = name
        self.binding = binding
        self._cure = cure
        self._probabilities = probabilities
        self._timeout = timeout
        secure = self.address.startswith("https:")
        self._options: dict[str, Any] = {
            # A context for TLS takes 30 ms to make, and every stream has its own client.
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

        `last` closes the connection afterwards: a server that does not know the path may leave the
        body unread and take it for the next request.

        Raises:
            BadRequest, Unserved, ModelError: as in `get`.
        """
        return self._plain("POST", path, body, {"Connection": "close"} if last else {})

    def post_any(self, path: str, body: Json) -> Json | list[Any]:
        """Answer of a POST request that may also be a JSON list; otherwise as `post`."""
        content = self._content("POST", path, body, {})
        listed = _list_in(content)
        return self.parsed(content) if listed is None else listed

    def lines(
        self, path: str, body: Json, cancelled: Callable[[], bool]
    ) -> Generator[str, None, None]:
        """Lines of the answer to a POST request, as they come; empty ones are left out.

        Raises:
            StreamLeft: `cancelled` returned true; the connection is closed, so that the server
                stops.
            ModelError: as in `get`, at any line.
        """
        with self._failures():
            yield from pumped(lambda: self._lines(path, body), cancelled)

    def refusal(self, status: int, message: str) -> ModelError:
        """The error for an HTTP status and the server's words."""
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
        cause = N_("{server} gives no probabilities of tokens.")
        if message:
            cause = N_("{server} gives no probabilities of tokens: {said}")
        return ProbabilitiesMissing(cause, self._probabilities, server=self.described, said=message)

    def broke(self, cause: str, **fields: object) -> ServerBroke:
        """The error for an incomplete or invalid answer; `cause` names {server}."""
        return ServerBroke(
            cause,
            N_("Try again; the log of the server may say why."),
            server=self.described,
            **fields,
        )

    def no_vectors(self) -> ServerBroke:
        return self.broke(N_("{server} sent no vectors for the texts."))

    def parsed(self, text: str | bytes) -> Json:
        """Parse a JSON object from the server.

        Raises:
            ServerBroke: it is no JSON object.
        """
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.broke(
                N_("{server} sent something other than a JSON object: {said!r}"), said=excerpt(text)
            )
        return value

    def close(self) -> None:
        self._client.close()

    def _plain(self, method: str, path: str, body: Json | None, headers: Mapping[str, str]) -> Json:
        return self.parsed(self._content(method, path, body, headers))

    def _content(
        self, method: str, path: str, body: Json | None, headers: Mapping[str, str]
    ) -> bytes:
        with self._failures():
            content = None if body is None else _encoded(body)
            url = self._url(path)
            response = self._client.request(method, url, content=content, headers=headers)
            self._demand_ok(response)
            return response.content

    def _demand_ok(self, response: httpx.Response) -> None:
        if response.status_code != httpx.codes.OK:
            raise self._refused(response.status_code, response.read())

    def _refused(self, status: int, content: bytes) -> ModelError:
        """The error for a status; refused requests have their own kinds."""
        error = self.refusal(status, _words(content))
        kind = _KINDS.get(status)
        if kind is None or type(error) is not ServerRefused:
            return error
        return kind(*error.args, **error.fields)

    async def _lines(self, path: str, body: Json) -> AsyncIterator[str]:
        async with (
            httpx.AsyncClient(**self._options) as client,
            client.stream("POST", self._url(path), content=_encoded(body)) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise self._refused(response.status_code, await response.aread())
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
            raise self.broke(N_("{server} sent bytes that are not UTF-8.")) from None

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
    """A failure before another attempt."""

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
    """Call, and call again after transient failures: four times at most.

    The waits are drawn from 0 to 0.5, 1 and 2 s, so that callers who failed together part. A
    timeout is not repeated: it has used up the user's patience.

    Args:
        call: the work.
        allowed: asked after a failure whether a repetition would be invisible.
        on_retry: called with each failure before another attempt.
        cancelled: asked while waiting; true raises the last failure.

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
    """The items of an asynchronous stream, in the thread that asks.

    Servers may be silent for minutes while they read a prompt. So the stream runs in its own
    thread, as a task that can be cancelled while it waits. `cancelled` is asked before each item,
    and twenty times a second. The stream is always closed at the end.

    Raises:
        StreamLeft: `cancelled` returned true.
        Exception: the error of the stream.
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
                yield item  # type: ignore[misc]  # everything else came from the stream
        finally:
            task.cancel()


def checked(address: str) -> str:
    """`address` without a closing slash.

    Raises:
        ServerRefused: it has no host or no scheme of HTTP, or more than host, port and path. A
            password in it would be in every message.
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
    """The error for an invalid address; hides possible passwords and keys."""
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
    """A text; empty for anything else."""
    return told if isinstance(told, str) else ""


def tokens(told: object) -> int | None:
    """A number of tokens; None for anything else, negative and absurd numbers included."""
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return told if 0 <= told <= _MOST_TOKENS else None


def excerpt(text: str | bytes) -> str:
    """The beginning of a server's words, for a message."""
    whole = text if isinstance(text, str) else text.decode(errors="replace")
    whole = whole.strip()
    return whole if len(whole) <= _LONGEST_MESSAGE else whole[:_LONGEST_MESSAGE] + "…"


def _list_in(content: bytes) -> list[Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _encoded(body: Mapping[str, Any]) -> bytes:
    # Half a surrogate pair has no UTF-8: a question mark replaces it.
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def _words(content: bytes) -> str:
    """The words in an error body: servers nest error, message or detail once or twice."""
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
