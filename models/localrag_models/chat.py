"""Chat models: what every back end takes and gives, and what it promises.

A back end is a class that fulfils `ChatModel`; the conformance suite in ``tests/models`` tests
each one against every promise below.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol, Self

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; its content is data and cannot act as a control token."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked to do.

    Attributes:
        messages: the conversation; put first what several requests share, so that its
            evaluation is reused.
        schema: JSON schema the reply must fulfil; None for free text. Every string needs a
            ``maxLength`` (or enum, const, pattern) and every list ``maxItems``.
        max_tokens: limit of the reply, in tokens.
        temperature: 0 takes the likeliest token every time.
        top_p: share of the probability that is sampled from.
        seed: of the sampling; the same request with the same seed gives the same reply.
        stop: texts that end a reply, and are no part of it; not together with a schema.

    Raises:
        ValueError: a value is out of its range; a mistake of the program.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.messages:
            raise ValueError("a request needs a message")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}, less than 1")
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature is {self.temperature}, no number from 0 up")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}, not above 0 and at most 1")
        if self.stop and (self.schema is not None or "" in self.stop):
            raise ValueError("stop goes with free text, and none may be empty")


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call.

    Attributes:
        prompt: of the whole prompt, template included.
        cached: of these, taken over from an earlier call instead of evaluated; None where the
            back end does not say.
        completion: generated.
    """

    prompt: int
    cached: int | None
    completion: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the answer, without any reasoning that came before it.
        thinking: reasoning that the model produced although it was asked not to.
        usage: tokens.
        finish: why the reply ended.
        seconds: wall time of the call.
    """

    text: str
    usage: Usage
    finish: Finish
    seconds: float
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """How a model weighs answers that it is offered.

    Attributes:
        probabilities: of each option, in the order they were given; together 1. 0 also for an
            option that a server does not list among the likeliest tokens.
        covered: what the options had of the probability of all tokens; where it is small, the
            model would have said something else.
        usage: tokens.
        seconds: wall time of the call.
    """

    probabilities: Mapping[str, float]
    covered: float
    usage: Usage
    seconds: float


def ignore(text: str) -> None:
    """Take the pieces of a reply and do nothing with them."""
    del text


def overlook(done: int, total: int) -> None:
    """Take how much of a prompt has been read, and do nothing with it."""
    del done, total


def never() -> bool:
    """Say that nobody wants the call cancelled."""
    return False


class ChatModel(Protocol):
    """A model that continues a conversation.

    Promises of every back end:

    - **Reasoning is off.** A model that can think first is told not to; reasoning that comes all
      the same is kept apart in `Reply.thinking` and never reaches `on_text`.
    - **A schema binds.** With ``request.schema``, a reply that ends with `Finish.STOP` is one JSON
      value that fulfils it. A schema the back end cannot enforce is refused before any token.
    - **Nothing is cut in silence.** A prompt that leaves no room for ``max_tokens`` in the context
      raises `ContextExceeded` before anything is generated.
    - **Content is data.** Control tokens of the model's template inside a message (``<|im_end|>``)
      reach the model as plain text. Replies give back what the documents held.
    - **Failures are typed**: `ModelError` and nothing else, `ModelError.transient` true where
      repeating can help. The process survives them.
    """

    @property
    def id(self) -> str:
        """Names the model and its back end in traces, "qwen3-8b (llama.cpp)"."""
        ...

    @property
    def context(self) -> int:
        """Tokens that prompt and reply may have together."""
        ...

    @property
    def parallel(self) -> int:
        """How many calls may run at the same time, in threads; further ones wait."""
        ...

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt made of `messages`.

        An estimate on the high side where the tokenizer is not at hand.
        """
        ...

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Answer a request.

        Args:
            request: what is asked.
            on_text: called with each piece of the answer as it comes; the pieces joined are
                `Reply.text`. What it raises ends the call and passes through.
            cancelled: asked at least once per token; the call ends with `Finish.CANCELLED` and
                what has come so far.
            on_read: called with the tokens of the prompt that have been read, and with how many
                there are to read: at least once a second or so while it is read, and when all are.
                Never called by a server that does not tell. What it raises ends the call and
                passes through.

        Raises:
            ModelError: as its class says.
        """
        ...

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        """Weigh answers by the token that the model would begin its reply with.

        A token counts for the option that it begins or is, whatever its case and the blanks before
        it; one that could begin two options (the first byte of はい and of いいえ) for none. What
        is shared with the prompt before is not read again.

        Args:
            messages: a question that one of the options answers.
            options: at least two different single words ("yes", "no").
            cancelled: as in `chat`.

        Returns:
            The choice; None where it was cancelled.

        Raises:
            ValueError: the options are no such words; a mistake of the program.
            ProbabilitiesMissing: the server gives no probabilities of tokens.
            ReplyInvalid: no likely token begins any of the options, or most that do begin several.
            ModelError: as the class says.
        """
        ...

    def close(self) -> None:
        """Let go of memory and connections; calling it twice does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
