"""What every chat model behind a server does alike; a back end adds how its server is spoken to."""

import json
import math
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Self

from localrag_models.backends.servers.http import Json, Retry, Server, StreamLeft, retrying
from localrag_models.chat import (
    AnswerStream,
    ChatRequest,
    Choice,
    Finish,
    LikelyToken,
    Message,
    OfferedWords,
    Reply,
    Usage,
    ignore,
    neutralise,
    never,
    overlook,
    restore,
)
from localrag_models.errors import N_, ContextExceeded, Cure, ModelError, ReplyInvalid
from localrag_models.grammar import grammar_of

_PIECE = re.compile(r"[A-Za-z]+| |\s+|.", re.DOTALL)
_RUN = re.compile(r"(.)\1+", re.DOTALL)
_LETTERS_A_TOKEN = 4
_MARGIN = 1.1
_MESSAGE_TOKENS = 8
_PROMPT_TOKENS = 8

CUT = N_(
    "{model} read {available:,} tokens of a text that has {least:,} at the very least: the server "
    "cut it."
)
"""The cause where a server has read fewer tokens than `lower_bound`."""

SAMPLE = (
    Message(
        "user",
        "第三条の二　乙は、毎年四月一日までに届け出た渡し舟が運休するときは、十四日以内にその理由を"
        "記載した書面を甲へ提出しなければならない。Reply with a single word: yes.",
    ),
)
"""Text of the kind that is asked about; made up."""


def upper_bound(text: str) -> int:
    """Tokens of a text, rather too many than too few."""
    return sum(_most(piece.group()) for piece in _PIECE.finditer(text))


def lower_bound(text: str) -> int:
    """Tokens that a text takes at the very least; a tokenizer that needs fewer is not known."""
    once = _RUN.sub(r"\1", text)
    wide = sum(_is_wide(character) for character in once)
    return wide // 3 + (len(once) - wide) // 10


def upper_bound_of(messages: Sequence[Message]) -> int:
    """Tokens of a conversation with what a template puts around it, rather too many."""
    return _PROMPT_TOKENS + sum(_MESSAGE_TOKENS + upper_bound(each.content) for each in messages)


def lower_bound_of(messages: Sequence[Message]) -> int:
    """Tokens that a conversation takes at the very least."""
    return sum(lower_bound(message.content) for message in messages)


def stretch(prompt: int) -> float:
    """What `upper_bound_of` has to be multiplied by, where `SAMPLE` took so many tokens."""
    share = prompt / upper_bound_of(SAMPLE)
    return share * _MARGIN if share > 1 else 1.0


def _most(piece: str) -> int:
    if piece == " ":
        return 0  # part of the word that follows
    if piece.isascii():
        return -(-len(piece) // _LETTERS_A_TOKEN) if piece.isalpha() or piece.isspace() else 1
    return 1 if _is_wide(piece[0]) else len(piece.encode(errors="replace"))


def _is_wide(character: str) -> bool:
    """Whether vocabularies of this day hold the character as a token: kana, kanji, full width."""
    return "\u3000" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef"


_GLANCE = 0.05
_LIVELIER = 0.5
_LONGEST_FLAW = 200
_CANDIDATES = 20
"""Likeliest tokens that are asked for: no server of OpenAI's protocol has to give more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One message of a stream.

    Attributes:
        text: a piece of the answer, perhaps with reasoning at its head.
        thinking: a piece of reasoning that the server itself kept apart.
        finish: why the reply ended, in the message that says so.
        prompt: tokens of the prompt, where the message tells.
        cached: of these, not evaluated again, where the message tells.
        completion: tokens generated, where the message tells.
        read: tokens of the prompt that have been read, and all of them, where the message tells.
        candidates: what the token of this message might have been, likeliest first, where asked.
    """

    text: str = ""
    thinking: str = ""
    finish: Finish | None = None
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    read: tuple[int, int] | None = None
    candidates: Sequence[LikelyToken] = ()


class Draft:
    """A reply that is coming in.

    Attributes:
        answer: the text as far as it has come.
        finish: why it ended; None as long as the server has not said.
        prompt: tokens, as in `Event`; so are `cached` and `completion`.
        pieces: messages that brought text.
        first: what the first token might have been; empty where the server does not say.
    """

    def __init__(
        self, on_text: Callable[[str], None], on_read: Callable[[int, int], None] = overlook
    ) -> None:
        self.answer = AnswerStream(on_text)
        self.finish: Finish | None = None
        self.prompt: int | None = None
        self.cached: int | None = None
        self.completion: int | None = None
        self.pieces = 0
        self.first: Sequence[LikelyToken] = ()
        self._on_read = on_read
        self._thought: list[str] = []

    @property
    def thinking(self) -> str:
        """Reasoning, wherever the server put it."""
        return (restore("".join(self._thought)) + self.answer.thinking).strip()

    def take(self, event: Event) -> None:
        """Add what a message of the stream brought."""
        self.finish = event.finish or self.finish
        self.prompt = self.prompt if event.prompt is None else event.prompt
        self.cached = self.cached if event.cached is None else event.cached
        self.completion = self.completion if event.completion is None else event.completion
        self.pieces += bool(event.text or event.thinking)
        self.first = self.first or event.candidates
        if event.read is not None:
            self._on_read(*event.read)
        self._thought.append(event.thinking)
        self.answer.take(event.text)

    def end(self, finish: Finish) -> None:
        """Say what was held back; nothing more comes."""
        self.finish = finish
        self.answer.end()


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
        return math.ceil(upper_bound_of(messages) * (self._stretch or 1))

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
        except StreamLeft:
            seconds = time.monotonic() - started
            return Reply("", Usage(0, None, 0), Finish.CANCELLED, seconds)
        expected = self._make_room(request)
        draft = self._draft(request, on_text, cancelled, on_read)
        if _flaw(request, draft) and on_text is ignore:
            temperature = max(request.temperature, _LIVELIER)
            request = replace(request, seed=request.seed + 1, temperature=temperature)
            draft = self._draft(request, on_text, cancelled, on_read)
        reply = Reply(
            text=draft.answer.text,
            usage=self._usage(request, draft, expected),
            finish=draft.finish or Finish.STOP,
            seconds=time.monotonic() - started,
            thinking=draft.thinking,
        )
        if flaw := _flaw(request, draft):
            raise ReplyInvalid(
                N_("The reply of {model} is not what its schema demands: {flaw}."),
                N_("Ask again with another seed, or use a server that keeps to JSON schemas."),
                reply=reply,
                model=self.id,
                flaw=flaw,
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
        offered = OfferedWords(options)
        request = ChatRequest(messages=tuple(messages), max_tokens=1)
        try:
            self._calibrate(cancelled)
        except StreamLeft:
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
                sample = ChatRequest(messages=SAMPLE, max_tokens=1)
                draft = self._draft(sample, ignore, cancelled)
                if draft.finish is Finish.CANCELLED:
                    raise StreamLeft
                self._stretch = stretch(draft.prompt or 0)

    def _demand_open(self) -> None:
        if self._closed:
            raise ModelError(N_("{model} has been closed."), N_("Open it again."), model=self.id)

    def _sent(self, messages: Sequence[Message]) -> list[Json]:
        """Messages as they go to the server, their control tokens broken."""
        return [{"role": each.role, "content": neutralise(each.content)} for each in messages]

    def _make_room(self, request: ChatRequest) -> int:
        expected = self.count(request.messages)
        needed = expected + request.max_tokens
        if needed > self.context:
            raise ContextExceeded(
                N_(
                    "The prompt (about {prompt:,} tokens) and a reply of {reply:,} do not fit the "
                    "context of {model}, {available:,} tokens."
                ),
                Cure.LESS_TEXT,
                needed=needed,
                available=self.context,
                prompt=expected,
                reply=request.max_tokens,
                model=self.id,
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
        except StreamLeft:
            draft.end(Finish.CANCELLED)
            return draft
        finally:
            self._places.release()
        if draft.finish is None:
            raise self._server.broke(N_("{server} ended the stream in the middle of a reply."))
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
                N_(
                    "{model} counted {prompt:,} tokens in the prompt, more than estimated; with a "
                    "reply of {reply:,} the context of {available:,} is full."
                ),
                Cure.LESS_TEXT,
                needed=needed,
                available=self.context,
                model=self.id,
                prompt=draft.prompt,
                reply=request.max_tokens,
            )
        least = lower_bound_of(request.messages)
        if draft.prompt < least:
            raise ContextExceeded(
                CUT,
                Cure.CONTEXT_OF_SERVER,
                needed=least + request.max_tokens,
                available=draft.prompt,
                model=self.id,
                least=least,
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
        value = json.loads(draft.answer.text)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})"
    worst = best_match(Draft202012Validator(request.schema).iter_errors(value))
    return "" if worst is None else f"at {worst.json_path}, {worst.message[:_LONGEST_FLAW]}"


def likely(told: object) -> list[LikelyToken]:
    """What the first of several tokens might have been, as the list ``logprobs`` tells it.

    OpenAI's protocol and Ollama's write a token alike: ``{"token", "bytes", "logprob",
    "top_logprobs": [{"token", "bytes", "logprob"}]}``.
    """
    first = told[0] if isinstance(told, list) and told else None
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    some = _candidates(listed) if isinstance(listed, list) else ()
    return sorted(some, key=lambda candidate: -candidate.logarithm)


def _candidates(listed: list[object]) -> Iterator[LikelyToken]:
    for each in listed:
        if not isinstance(each, dict) or not isinstance(each.get("token"), str):
            continue
        logarithm = each.get("logprob")
        if isinstance(logarithm, int | float) and math.isfinite(logarithm) and logarithm <= 0:
            yield LikelyToken(_bytes(each), float(logarithm))


def _bytes(told: dict[str, object]) -> bytes:
    """A part of a character has bytes, and no text."""
    listed = told.get("bytes")
    try:
        return bytes(listed) if isinstance(listed, list) else str(told["token"]).encode()
    except (TypeError, ValueError):
        return b""
