"""Opens and closes a door: its names, its socket, its connections.

A door is a port, or a Unix socket for its owner alone. h11 reads the requests. Requests that
another reader in front may read differently are refused: two lengths, folded headers, lines without
CR.
"""

import asyncio
import os
import signal
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from localrag.corpus.config import ServeConfig
from localrag.corpus.durable import make_folder
from localrag.errors import StorageError, UsageError
from localrag.language import N_

LOOPBACK = "127.0.0.1"
_LOOPBACK = (LOOPBACK, "localhost", "::1")
# Bytes and lines of the head of a request, at most.
_HEAD, _HEADERS = 16_384, 100
_LENGTH = b"content-length"
# A second one of these could be read in place of the first.
_ONCE = (_LENGTH, b"transfer-encoding", b"host", b"authorization")
_BACKLOG = 128
# struct ucred: process, user and group of the client.
_PEER = struct.Struct("3i")
_FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    return host in _LOOPBACK


def names_of(settings: ServeConfig) -> frozenset[str]:
    """Allowed lower-case names of a server; none for any.

    The name of another site can lead to this machine. On a port for other machines, only the names
    of the settings count, if there are any: browsers keep cookies by name.
    """
    more = [name.strip().lower() for name in settings.names.split(",") if name.strip()]
    if is_loopback(settings.host) and not settings.proxy:
        return frozenset((*_LOOPBACK, *more))
    return frozenset((settings.host.lower(), *more) if more else ())


@dataclass(frozen=True)
class Door:
    """A socket in use; `path` is the file of a Unix socket, None for a port."""

    listening: socket.socket
    path: Path | None = None

    def address(self, scheme: str, path: str = "/") -> str:
        """Its address: a URL, or the path of a Unix socket."""
        if self.path is not None:
            return os.fspath(self.path)
        host, port = self.listening.getsockname()[:2]
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{path}"

    def connections(self, patience: float) -> type[H11Protocol]:
        """The protocol of its connections; requests must come within `patience` seconds."""
        return _connections(patience, of_owner=self.path is not None)


def configured(app: ASGIApp, door: Door, settings: ServeConfig, **more: Any) -> uvicorn.Config:
    """How uvicorn serves a door: without logs, names and sockets of its own."""
    return uvicorn.Config(
        app,
        http=door.connections(settings.patience),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=settings.connections,
        **more,
    )


@contextmanager
def opened_door(host: str, port: int, path: Path | None = None) -> Iterator[Door]:
    """Open a door, and close it afterwards; raises UsageError, StorageError.

    `path` is the file of a Unix socket, instead of host and port. Port 0 is any free one.
    """
    with _on_socket(path) if path else _on_port(host, port) as listening:
        yield Door(listening, path.absolute() if path else None)


def _on_port(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            N_("{host}, port {port}, cannot be listened on ({problem})."),
            N_("Choose another port, with --port."),
            host=host,
            port=port,
            problem=error,
        ) from error


@contextmanager
def _on_socket(path: Path) -> Iterator[socket.socket]:
    """A Unix socket for its owner alone; its file is removed afterwards."""
    if not hasattr(socket, "AF_UNIX"):
        raise UsageError(N_("This system has no Unix sockets."), N_("Use a port: --port."))
    path = path.absolute()
    _require_own_folder(path.parent)
    _remove_left_over(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # No second thread makes files yet.
    before = os.umask(0o177)
    try:
        listening.bind(os.fspath(path))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        # Paths of sockets have at most about a hundred bytes.
        raise UsageError(
            N_("{path} cannot be listened on ({problem})."),
            N_("Choose another path, a short one, with --socket."),
            path=path,
            problem=error,
        ) from error
    finally:
        os.umask(before)
    own = path.lstat()
    with listening:
        try:
            yield listening
        finally:
            # A newer server may have put its own there.
            if path.exists() and os.path.samestat(own, path.lstat()):
                path.unlink()


def _require_own_folder(folder: Path) -> None:
    try:
        make_folder(folder)
        status = folder.stat()
    except OSError as error:
        raise StorageError(
            N_("The folder {path} cannot be made ({problem})."),
            N_("Choose another path, with --socket."),
            path=folder,
            problem=error,
        ) from error
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UsageError(
            N_("Other accounts can enter the folder {path}."),
            N_("Choose one of your own for the socket, or close it: chmod 700 {path}"),
            path=folder,
        )


def _remove_left_over(path: Path) -> None:
    """Remove the socket of a killed server."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise UsageError(
                N_("{path} is no socket."), N_("Choose another path, with --socket."), path=path
            )
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
            trying.connect(os.fspath(path))
    except FileNotFoundError:
        return
    except OSError:
        path.unlink(missing_ok=True)
        return
    raise UsageError(
        N_("A server listens at {path} already."),
        N_("End it, or choose another path, with --socket."),
        path=path,
    )


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Let SIGTERM leave the block, as an interrupt does.

    uvicorn sends itself the signal once more at its end. Python would then stop at once and leave
    shared resources behind.
    """

    def leave(*_: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except SystemExit as left:
        if left.code:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _connections(patience: float, *, of_owner: bool) -> type[H11Protocol]:
    """The protocol of the connections of a door.

    A request may take `patience` seconds; uvicorn alone waits without limit. `of_owner` allows
    processes of this account alone, on a Unix socket.
    """

    class Connection(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.conn = _Strict(h11.SERVER, _HEAD)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if of_owner and not _is_own(transport.get_extra_info("socket")):
                transport.write(_FORBIDDEN)
                transport.close()
                return
            self._watch()

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._stop()
            elif self._deadline is None:
                # The guard has answered a slow body before.
                self._deadline = self.loop.call_later(patience + 1, self.transport.abort)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Connection


def _is_own(connected: socket.socket) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # The mode of the socket's file is what keeps others out there.
    given = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _process, user, _group = _PEER.unpack(given)
    return bool(user == os.geteuid())


class _Strict(h11.Connection):
    """Reads requests as h11 does, and refuses ambiguous ones."""

    def next_event(self) -> Any:
        """The next event; raises as h11, and for an ambiguous head."""
        if self.their_state is h11.IDLE:
            _require_plain(self.trailing_data[0])
        return super().next_event()


def _require_plain(received: bytes) -> None:
    """Refuse an ambiguous head of a request; raises h11.RemoteProtocolError.

    `received` may not be all of the head.
    """
    head, end, _body = received.partition(b"\r\n\r\n")
    if len(head) > _HEAD:
        raise h11.RemoteProtocolError("The head is too long.", 431)
    # The last CR may still wait for its LF.
    lines = (head if end else head.removesuffix(b"\r")).split(b"\r\n")
    if any(b"\r" in line or b"\n" in line or b"\0" in line for line in lines):
        raise h11.RemoteProtocolError("A line ends otherwise than by CR LF.")
    request, *headers = lines
    if end and not request.endswith((b" HTTP/1.1", b" HTTP/1.0")):
        raise h11.RemoteProtocolError("The request is of another protocol.", 505)
    if len(headers) > _HEADERS:
        raise h11.RemoteProtocolError("There are too many headers.", 431)
    if any(line[:1] in (b" ", b"\t") for line in headers):
        raise h11.RemoteProtocolError("A header is folded.")
    fields = [line.partition(b":") for line in headers]
    names = [name.strip().lower() for name, _colon, _value in fields]
    if any(names.count(name) > 1 for name in _ONCE):
        raise h11.RemoteProtocolError("A header that can be there once comes twice.")
    if b"transfer-encoding" in names and _LENGTH in names:
        raise h11.RemoteProtocolError("The body has two lengths.")
    lengths = [value for name, (_, _, value) in zip(names, fields, strict=True) if name == _LENGTH]
    if end and not all(value.strip().isdigit() for value in lengths):
        raise h11.RemoteProtocolError("The length of the body is no number.")
