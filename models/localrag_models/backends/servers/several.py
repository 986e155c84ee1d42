"""One chat model on several servers: each request goes to the one that is least busy."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self, TypeVar

from localrag_models.chat import (
    ChatModel,
    ChatRequest,
    Choice,
    Message,
    Reply,
    ignore,
    never,
    overlook,
)
from localrag_models.errors import N_, ServerTrouble

T = TypeVar("T")

REST = 30.0
"""Seconds for which a server that failed is left out."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Server:
    """A server, and how it is; its model is opened when it is first needed."""

    address: str
    model: ChatModel | None = None
    busy: int = 0
    rests_until: float = 0.0
    opening: threading.Lock = field(default_factory=threading.Lock)


class SeveralServersChat:
    """A chat model on several servers; fulfils `localrag_models.chat.ChatModel`.

    A server that fails in passing is left out for a while, and what it was asked goes to another,
    unless a piece of its reply was heard. Where all are left out, the one that rested longest is
    asked again.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        open_one: Callable[[str], ChatModel],
        *,
        parallel: int,
        rest: float = REST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Find one server that answers.

        Args:
            addresses: of the servers, of which each has the same model.
            open_one: opens the model of one.
            parallel: calls sent to each at the same time.
            rest: seconds for which one that failed is left out.
            clock: tells the seconds.

        Raises:
            ModelError: none of them can be used; what the last one failed with.
        """
        self._servers = [_Server(address) for address in addresses]
        self._open_one = open_one
        self._rest = rest
        self._clock = clock
        self._choosing = threading.Lock()
        self.parallel = parallel * len(addresses)
        self.id, self.context = self._on_one(lambda model: (model.id, model.context))

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt made of `messages`."""
        return self._on_one(lambda model: model.count(messages))

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Answer a request; see `localrag_models.chat.ChatModel.chat`."""
        heard = False

        def hear(piece: str) -> None:
            nonlocal heard
            heard = True
            on_text(piece)

        # Whether anybody listens decides whether a malformed reply is asked for once more.
        listener = ignore if on_text is ignore else hear
        return self._on_one(
            lambda model: model.chat(request, listener, cancelled, on_read),
            again=lambda: not heard and not cancelled(),
        )

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        """Weigh answers; see `localrag_models.chat.ChatModel.choose`."""
        return self._on_one(
            lambda model: model.choose(messages, options, cancelled),
            again=lambda: not cancelled(),
        )

    def close(self) -> None:
        """Close the connections; calling it twice does no harm."""
        for server in self._servers:
            if server.model is not None:
                server.model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_one(
        self, call: Callable[[ChatModel], T], again: Callable[[], bool] = lambda: True
    ) -> T:
        """Call one server, and others where it fails in passing; each once at most."""
        asked: list[_Server] = []
        while True:
            with self._least_busy(asked) as server:
                asked.append(server)
                try:
                    return call(self._opened(server))
                except ServerTrouble as error:
                    server.rests_until = self._clock() + self._rest
                    if len(asked) == len(self._servers) or not again():
                        raise
                    _log.warning(N_("%s is left out for a while: %s"), server.address, error)

    @contextmanager
    def _least_busy(self, asked: Sequence[_Server]) -> Iterator[_Server]:
        with self._choosing:
            now = self._clock()
            left = [one for one in self._servers if all(one is not other for other in asked)]
            rested = [one for one in left if one.rests_until <= now]
            if rested:
                server = min(rested, key=lambda one: one.busy)
            else:
                server = min(left, key=lambda one: one.rests_until)
            server.busy += 1
        try:
            yield server
        finally:
            with self._choosing:
                server.busy -= 1

    def _opened(self, server: _Server) -> ChatModel:
        with server.opening:
            if server.model is None:
                server.model = self._open_one(server.address)
            return server.model
