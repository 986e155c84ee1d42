"""What every chat model behind a server does alike; a back end adds how its server is spoken to."""

import json
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Self

from localrag_models.backends.servers import estimate
from localrag_models.backends.servers.http import Json, Server
from localrag_models.backends.servers.replies import Draft, Event
from localrag_models.backends.servers.streaming import Cancelled
from localrag_models.chat import (
    ChatRequest,
    Choice,
    Finish,
    Message,
    Reply,
    Usage,
    ignore,
    never,
    overlook,
)
from localrag_models.choosing import Options
from localrag_models.control_tokens import neutralise
from localrag_models.errors import ContextExceeded, ModelError, ReplyInvalid
from localrag_models.grammar import grammar_of
from localrag_models.retrying import Retry, retrying

_GLANCE = 0.05
_LIVELIER = 0.5
_LONGEST_FLAW = 200
_CANDIDATES = 20
"""Likeliest tokens that are asked for: no server of OpenAI's protocol has to give more."""
_FEWER = "Use fewer or shorter passages, a smaller chat.max_tokens, or a larger chat.context."


class ServerChat(ABC):
    """A chat model behind a server; fulfils `localrag_models.chat.ChatModel`.

    Usage is the server's where it tells. Where it does not, `Usage.prompt` is the estimate of
    `count`, and `Usage.completion` the limit that ended the reply, else the number of its pieces.
    """

    def __init__(
        self,
        model: str,
        server: Server,
        *,
        context: int,
        parallel: int,
        on_retry: Callable[[Retry], None],
    ) -> None:
        self._model = model
        self._server = server
        self._context = context
        self._parallel = parallel
        self._places = threading.BoundedSemaphore(parallel)
        self._on_retry = on_retry
        self._closed = False
        self._stretch: float | None = None
        self._calibrating = threading.Lock()

    @property
    def id(self) -> str:
        """The name the server knows the model by, and the kind of server."""
        return f"{self._model} ({self._server.name})"

    @property
    def context(self) -> int:
        """Tokens that prompt and reply may have together."""
        return self._context

    @property
    def parallel(self) -> int:
        """How many calls are sent to the server at the same time."""
        return self._parallel

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt made of `messages`: an estimate, rather too many than too few."""
        self._calibrate(never)
        return math.ceil(estimate.upper_bound_of(messages) * (self._stretch or 1))

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Answer a request; see `localrag_models.chat.ChatModel.chat`.

        A failure in passing is tried again as long as `on_text` has heard nothing, and a reply
        that is not what its schema demands once more if nobody listens (`on_text` left out).
        """
        self._demand_open()
        if request.schema is not None:
            grammar_of(request.schema)  # refuses what nobody can bind, and what has no bounds
        started = time.monotonic()
        try:
            self._calibrate(cancelled)
        except Cancelled:
            seconds = time.monotonic() - started
            return Reply("", Usage(0, None, 0), Finish.CANCELLED, seconds)
        expected = self._make_room(request)
        draft = self._draft(request, on_text, cancelled, on_read)
        if _flaw(request, draft) and on_text is ignore:
            temperature = max(request.temperature, _LIVELIER)
            request = replace(request, seed=request.seed + 1, temperature=temperature)
            draft = self._draft(request, on_text, cancelled, on_read)
        reply = Reply(
            text=draft.text,
            usage=self._usage(request, draft, expected),
            finish=draft.finish or Finish.STOP,
            seconds=time.monotonic() - started,
            thinking=draft.thinking,
        )
        if flaw := _flaw(request, draft):
            raise ReplyInvalid(
                f"The reply of {self.id} is not what its schema demands: {flaw}.",
                "Ask again with another seed, or use a server that keeps to JSON schemas.",
                reply=reply,
            )
        return reply

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        """Weigh answers; see `localrag_models.chat.ChatModel.choose`."""
        self._demand_open()
        started = time.monotonic()
        offered = Options(options)
        request = ChatRequest(messages=tuple(messages), max_tokens=1)
        try:
            self._calibrate(cancelled)
        except Cancelled:
            return None
        expected = self._make_room(request)
        draft = self._draft(request, ignore, cancelled, candidates=_CANDIDATES)
        if draft.finish is Finish.CANCELLED:
            return None
        if not draft.first:
            raise self._server.no_probabilities()
        usage = self._usage(request, draft, expected)
        return offered.weighed(draft.first, self.id, usage, time.monotonic() - started)

    def close(self) -> None:
        """Close the connections; calling it twice does no harm."""
        self._closed = True
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _exchange(self, request: ChatRequest, candidates: int) -> tuple[str, Json]:
        """Path and body that ask the server for a stream of the reply.

        Args:
            request: what is asked.
            candidates: how many likely tokens it is to list with each that it takes.
        """

    @abstractmethod
    def _event(self, line: str) -> Event | None:
        """What a line of the stream says; None for one that says nothing.

        Raises:
            ModelError: the line tells of a failure, or makes no sense.
        """

    def _calibrate(self, cancelled: Callable[[], bool]) -> None:
        """Learn once how many tokens the model makes of a sample; the server loads it for that.

        Raises:
            Cancelled: `cancelled` was true.
        """
        with self._calibrating:
            if self._stretch is None:
                sample = ChatRequest(messages=estimate.SAMPLE, max_tokens=1)
                draft = self._draft(sample, ignore, cancelled)
                if draft.finish is Finish.CANCELLED:
                    raise Cancelled
                self._stretch = estimate.stretch(draft.prompt or 0)

    def _demand_open(self) -> None:
        if self._closed:
            raise ModelError(f"{self.id} has been closed.", "Open it again.")

    def _sent(self, messages: Sequence[Message]) -> list[Json]:
        """Messages as they go to the server, their control tokens broken."""
        return [{"role": each.role, "content": neutralise(each.content)} for each in messages]

    def _make_room(self, request: ChatRequest) -> int:
        expected = self.count(request.messages)
        needed = expected + request.max_tokens
        if needed > self.context:
            raise ContextExceeded(
                f"The prompt (about {expected:,} tokens) and a reply of {request.max_tokens:,} do "
                f"not fit the context of {self.id}, {self.context:,} tokens.",
                _FEWER,
                needed=needed,
                available=self.context,
            )
        return expected

    def _draft(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None] = overlook,
        candidates: int = 0,
    ) -> Draft:
        heard = False

        def hear(piece: str) -> None:
            nonlocal heard
            heard = True
            on_text(piece)

        try:
            draft = retrying(
                lambda: self._attempt(request, hear, cancelled, on_read, candidates),
                allowed=lambda: not heard,
                on_retry=self._on_retry,
                cancelled=cancelled,
            )
        except ModelError as error:
            if not (error.transient and cancelled()):
                raise
            draft = Draft(ignore)
            draft.end(Finish.CANCELLED)
        return draft

    def _attempt(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None],
        candidates: int,
    ) -> Draft:
        draft = Draft(on_text, on_read)
        while not self._places.acquire(timeout=_GLANCE):
            if cancelled():
                draft.end(Finish.CANCELLED)
                return draft
        try:
            path, body = self._exchange(request, candidates)
            with closing(self._server.lines(path, body, cancelled)) as lines:
                for line in lines:
                    if event := self._event(line):
                        draft.take(event)
        except Cancelled:
            draft.end(Finish.CANCELLED)
            return draft
        finally:
            self._places.release()
        if draft.finish is None:
            raise self._server.broke("ended the stream in the middle of a reply")
        self._insist_on_whole(request, draft)
        draft.end(draft.finish)
        return draft

    def _insist_on_whole(self, request: ChatRequest, draft: Draft) -> None:
        """Refuse an answer over a prompt of which the server may have read only a part."""
        if not draft.prompt:
            return
        needed = draft.prompt + request.max_tokens
        if needed > self.context:
            raise ContextExceeded(
                f"{self.id} counted {draft.prompt:,} tokens in the prompt, more than estimated; "
                f"with a reply of {request.max_tokens:,} the context of {self.context:,} is full.",
                _FEWER,
                needed=needed,
                available=self.context,
            )
        least = estimate.lower_bound_of(request.messages)
        if draft.prompt < least:
            raise ContextExceeded(
                f"{self.id} read {draft.prompt:,} tokens of a prompt that has {least:,} at the "
                "very least: the server cut it.",
                "Give the server a larger context, or set chat.context to what it really has.",
                needed=least + request.max_tokens,
                available=draft.prompt,
            )

    def _usage(self, request: ChatRequest, draft: Draft, expected: int) -> Usage:
        told = request.max_tokens if draft.finish is Finish.LENGTH else draft.pieces
        return Usage(
            prompt=expected if draft.prompt is None else draft.prompt,
            cached=draft.cached,
            completion=told if draft.completion is None else draft.completion,
        )


def _flaw(request: ChatRequest, draft: Draft) -> str:
    """What keeps a finished reply from fulfilling its schema; empty where nothing does."""
    if request.schema is None or draft.finish is not Finish.STOP:
        return ""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        value = json.loads(draft.text)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})"
    worst = best_match(Draft202012Validator(request.schema).iter_errors(value))
    return "" if worst is None else f"at {worst.json_path}, {worst.message[:_LONGEST_FLAW]}"
