"""How a door on a port is opened and left: its names, its socket, its connections, its end."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from localrag.errors import UsageError
from localrag.language import N_

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    return host in _LOOPBACK


def names_of(host: str, more: str) -> frozenset[str]:
    """The names of a server: those of its address, and more that are separated by commas."""
    own = _LOOPBACK if is_loopback(host) else (host,)
    return frozenset(filter(None, (name.strip().lower() for name in (*own, *more.split(",")))))


def opened(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; port 0 stands for any that is free.

    Raises:
        UsageError: it cannot be listened on.
    """
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
def ended_in_order() -> Iterator[None]:
    """Let SIGTERM leave what is within, as an interrupt does.

    uvicorn ends its own work and then sends itself the signal once more, by which Python would end
    at once: what the processes share would be left behind.
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


def impatient(patience: float) -> type[H11Protocol]:
    """The protocol of connections whose requests have to come within so many seconds.

    uvicorn waits for ever for the head of a request, and for the rest of a body that nobody reads.
    """

    class Impatient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._stop()
            elif self._deadline is None:
                # The guard has told a slow body of it by then.
                self._deadline = self.loop.call_later(patience + 1, self.transport.abort)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Impatient
