"""A reply of a server as it comes in: the request, messages of a stream, and their sum."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from localrag_models.backends.servers.binding import Gate, Way
from localrag_models.chat import (
    AnswerStream,
    ChatRequest,
    Finish,
    LikelyToken,
    overlook,
    restore,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One message of a stream. Missing fields are None or empty.

    Attributes:
        text: a piece of the answer, perhaps with thought at its start.
        thinking: a piece of thought, kept apart by the server.
        finish: why the reply ended.
        prompt: tokens of the prompt.
        cached: reused tokens of the prompt.
        completion: tokens generated.
        thought: tokens of thought among them.
        read: tokens of the prompt read so far, and all of them.
        candidates: the likely tokens at this place, likeliest first.
    """

    text: str = ""
    thinking: str = ""
    finish: Finish | None = None
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    thought: int | None = None
    read: tuple[int, int] | None = None
    candidates: Sequence[LikelyToken] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it is sent.

    Attributes:
        limit: tokens of thought and reply together.
        candidates: likely tokens to list for the first token; 0 for none.
    """

    request: ChatRequest
    way: Way
    limit: int
    candidates: int = 0


class Draft:
    """A reply coming in.

    Attributes:
        answer: the text so far.
        finish: why it ended; None until the server says so.
        prompt: tokens, as in `Event`; so are `cached`, `completion` and `thought`.
        pieces: messages with text or thought.
        answered: messages with text.
        first: the likely first tokens; empty if unknown.
    """

    def __init__(
        self,
        on_text: Callable[[str], None],
        on_read: Callable[[int, int], None] = overlook,
        gate: Gate | None = None,
        *,
        opened: bool = False,
    ) -> None:
        self.answer = AnswerStream(gate or on_text, opened=opened)
        self.finish: Finish | None = None
        self.prompt: int | None = None
        self.cached: int | None = None
        self.completion: int | None = None
        self.thought: int | None = None
        self.pieces = 0
        self.answered = 0
        self.first: Sequence[LikelyToken] = ()
        self._gate = gate
        self._on_read = on_read
        self._thought: list[str] = []

    @property
    def thinking(self) -> str:
        """The thought, wherever the server put it."""
        return (restore("".join(self._thought)) + self.answer.thinking).strip()

    @property
    def heard(self) -> bool:
        """A part of it was given out."""
        return bool(self.answer.text) if self._gate is None else self._gate.heard

    @property
    def only_thought(self) -> bool:
        return bool(self.thinking) and not self.answer.text.strip()

    def take(self, event: Event) -> None:
        """Add a message of the stream."""
        self.finish = event.finish or self.finish
        self.prompt = self.prompt if event.prompt is None else event.prompt
        self.cached = self.cached if event.cached is None else event.cached
        self.completion = self.completion if event.completion is None else event.completion
        self.thought = self.thought if event.thought is None else event.thought
        self.pieces += bool(event.text or event.thinking)
        self.answered += bool(event.text)
        if not event.thinking:
            self.first = self.first or event.candidates
        if event.read is not None:
            self._on_read(*event.read)
        if event.thinking:
            self.answer.keep_apart()
            self._thought.append(event.thinking)
        self.answer.take(event.text)

    def end(self, finish: Finish) -> None:
        self.finish = finish
        self.answer.end()


def likely(told: object) -> list[LikelyToken]:
    """The likely tokens in the first place of the list ``logprobs``.

    OpenAI's protocol and Ollama's are alike: ``{"token", "bytes", "logprob", "top_logprobs":
    [{"token", "bytes", "logprob"}]}``.
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
    """The bytes of a token; a part of a character has no text."""
    listed = told.get("bytes")
    try:
        return bytes(listed) if isinstance(listed, list) else str(told["token"]).encode()
    except (TypeError, ValueError):
        return b""
