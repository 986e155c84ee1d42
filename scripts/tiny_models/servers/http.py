"""An HTTP server for tests: one thread a request, answers by chunks, and every kind of bad end."""

import json
import select
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from typing import Any, Self

Json = dict[str, Any]


class End(Enum):
    """How an answer ends."""

    WELL = auto()
    DIES = auto()
    """The connection is closed in the middle."""
    HANGS = auto()
    """Nothing more comes until the client gives up."""


@dataclass(frozen=True)
class Answer:
    """What a server answers.

    Attributes:
        content: the body, sent chunk by chunk.
    """

    content: Iterable[bytes] = ()
    status: int = 200
    end: End = End.WELL
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, value: object, status: int = 200) -> Self:
        """An answer that is one JSON value."""
        return cls([json.dumps(value, ensure_ascii=False).encode()], status)

    @classmethod
    def error(cls, message: str, status: int) -> Self:
        """An answer as servers give it when something is wrong."""
        return cls.json({"error": message}, status)


class Double:
    """A server on loopback; a context manager.

    Attributes:
        address: ``http://127.0.0.1:PORT``.
        requests: path and body of each request, in order.
        abandoned: requests whose client disconnected before the end.
        before: answers a request by itself, before `instead` is looked at.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, Json]] = []
        self.headers: list[dict[str, str]] = []
        self.abandoned = 0
        self.before: Callable[[str, Json], Answer | None] = lambda *_: None
        self._instead: list[tuple[str, Answer]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), self)
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def turned_away(self) -> int:
        """Callers that came while sockets were blocked."""
        return self._http.turned_away

    def instead(self, path: str, *answers: Answer) -> None:
        """Give these answers to the next requests for `path`, one each."""
        with self._lock:
            self._instead += [(path, answer) for answer in answers]

    def first(self, path: str, answer: Answer) -> None:
        """Give this answer before the others."""
        with self._lock:
            self._instead.insert(0, (path, answer))

    def answer(self, path: str, body: Json) -> Answer:
        """What the server answers when it behaves."""
        del body
        return Answer.error(f"{path} not found", 404)

    def close(self) -> None:
        """Stop; running requests are left alone."""
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def respond(self, request: "_Request", body: Json) -> None:
        """Answer a request; called in its thread."""
        with self._lock:
            self.requests.append((request.path, body))
            self.headers.append(dict(request.headers))
            known = self.before(request.path, body)
            waiting = (each for each in self._instead if each[0] == request.path)
            planned = None if known else next(waiting, None)
            if planned:
                self._instead.remove(planned)
        answer = known or (planned[1] if planned else self.answer(request.path, body))
        try:
            request.send(answer)
            if answer.end is End.HANGS:
                self._hang(request)
        except OSError:
            with self._lock:
                self.abandoned += 1

    def _hang(self, request: "_Request") -> None:
        while not self._closing.is_set():
            readable, _, _ = select.select([request.connection], [], [], 0.02)
            if readable and not request.connection.recv(1):
                raise ConnectionAbortedError


class CalledServer(ThreadingHTTPServer):
    """A server whose clients may disconnect, and come at any time.

    Attributes:
        turned_away: callers that came while sockets were blocked.
    """

    daemon_threads = True
    turned_away = 0

    def get_request(self) -> tuple[socket, Any]:
        """Accept a caller.

        A late caller, between two tests, is refused: the error of blocked sockets would end the
        accepting thread.
        """
        try:
            return super().get_request()
        except (RuntimeError, Warning) as error:
            self.turned_away += 1
            raise OSError("sockets are blocked") from error

    def handle_error(self, *_: object) -> None:
        """Print nothing: these servers are made for clients that disconnect."""


class _Http(CalledServer):
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], double: Double) -> None:
        self.double = double
        super().__init__(address, _Request)


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # it holds small chunks back for 40 ms
    server: _Http

    def do_GET(self) -> None:
        self.server.double.respond(self, {})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.double.respond(self, json.loads(content or b"{}"))

    def send(self, answer: Answer) -> None:
        """Send an answer as far as it is to come."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in answer.content:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if answer.end is End.WELL:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Keep quiet."""
