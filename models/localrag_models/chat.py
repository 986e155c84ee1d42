"""Chat models: their promises, requests and replies, and what happens to a reply as it comes.

The conformance suite in ``tests/models`` tests each back end against every promise of `ChatModel`.
"""

import codecs
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, ValidationError

from localrag_models.errors import N_, Cure, ReplyInvalid
from localrag_models.schema import check_bounds
from localrag_models.thinking import ThinkingSplitter

Shape = TypeVar("Shape", bound=BaseModel)
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; its content is data and cannot act as a control token."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A request to a model.

    Attributes:
        messages: the conversation. Put shared parts first, so that their evaluation is reused.
        schema: JSON schema of the reply; None for free text. Every string needs a ``maxLength`` (or
            enum, const, pattern) and every list ``maxItems``.
        max_tokens: limit of the reply, in tokens.
        temperature: 0 always takes the most likely token.
        top_p: share of the probability that is sampled from.
        seed: of the sampling; the same request with the same seed gives the same reply.
        stop: texts that end a reply and are not part of it; not together with a schema.

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
        cached: tokens reused from an earlier call; None if unknown.
        completion: generated, thought included.
        thought: generated as thought; an estimate if a server does not say.
    """

    prompt: int
    cached: int | None
    completion: int
    thought: int = 0


class Remark(StrEnum):
    """A remark on a reply."""

    THINKS_ANYWAY = "thinks anyway"
    """The model cannot be stopped from thinking, and was given room for it."""
    THOUGHT_CUT = "thought cut"
    """The thought filled its room and was ended."""
    UNBOUND = "unbound"
    """The server binds no reply to a schema: the schema was in the prompt."""
    LENIENT = "lenient"
    """The value was taken out of other words."""
    IN_THOUGHT = "in thought"
    """The server put the reply into the field for thought."""
    REPAIRED = "repaired"
    """The first reply did not fulfil its schema; this is the second."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model.

    Attributes:
        text: the answer, without thought.
        usage: tokens.
        finish: why the reply ended.
        seconds: wall time of the call.
        thinking: the thought. It is never quoted and never read as the reply.
        remarks: each once.
    """

    text: str
    usage: Usage
    finish: Finish
    seconds: float
    thinking: str = ""
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The weights that a model gives to some answers.

    Attributes:
        probabilities: of each option, in order; their sum is 1. Also 0 if a server does not list
            the option among the likeliest tokens.
        covered: probability of all options together. If it is small, the model would have said
            something else.
        usage: tokens.
        seconds: wall time of the call.
    """

    probabilities: Mapping[str, float]
    covered: float
    usage: Usage
    seconds: float


def ignore(text: str) -> None:
    """Ignore the pieces of a reply."""
    del text


def overlook(done: int, total: int) -> None:
    """Ignore how much of a prompt has been read."""
    del done, total


def never() -> bool:
    """Never cancel."""
    return False


class ChatModel(Protocol):
    """A model that continues a conversation.

    Promises of every back end:

    - **Thought is apart.** The settings switch it. It goes to `Reply.thinking`, is counted, and
      never reaches `on_text`.
    - **A schema binds.** With ``request.schema``, a reply that ends with `Finish.STOP` is one JSON
      value that fulfils it. An unbounded schema is refused before any token.
    - **Nothing is cut in silence.** If prompt and ``max_tokens`` do not fit into the context,
      `ContextExceeded` comes before any token.
    - **Content is data.** Control tokens inside a message (``<|im_end|>``) reach the model as plain
      text. Replies give back the text of the documents.
    - **Failures are typed**: always `ModelError`, and `ModelError.transient` says whether repeating
      can help. The process survives them.
    """

    @property
    def id(self) -> str:
        """Names the model and its back end in traces, "qwen3-8b (llama.cpp)"."""
        ...

    @property
    def context(self) -> int:
        """Tokens of prompt and reply together, without the room for thought."""
        ...

    @property
    def parallel(self) -> int:
        """How many calls may run at the same time, in threads; further ones wait."""
        ...

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt made of `messages`; an estimate is on the high side."""
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
            request: the request.
            on_text: called with each piece of the answer; joined they are `Reply.text`. An error it
                raises ends the call.
            cancelled: asked at least once per token; true ends the call with `Finish.CANCELLED` and
                the text so far.
            on_read: called with the tokens of the prompt read so far and the number to read, about
                once a second and at the end. Some servers never report it. An error it raises ends
                the call.

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
        """Weigh answers by the first token of the model's reply, without thought.

        A token counts for the option that it begins or equals, ignoring case and the blanks before
        it. A token that could begin two options (the first byte of はい and of いいえ) counts for
        none. The part shared with the last prompt is not read again.

        Args:
            messages: a question that one of the options answers.
            options: at least two different single words ("yes", "no").
            cancelled: as in `chat`.

        Returns:
            The choice; None if cancelled.

        Raises:
            ValueError: the options are no such words; a mistake of the program.
            ProbabilitiesMissing: the server gives no probabilities of tokens.
            ReplyInvalid: no likely token begins an option, or most begin several.
            ModelError: as the class says.
        """
        ...

    def close(self) -> None:
        """Free memory and connections; a second call does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def generate(
    model: ChatModel,
    request: ChatRequest,
    shape: type[Shape],
    on_text: Callable[[str], None] = ignore,
    cancelled: Callable[[], bool] = never,
    on_read: Callable[[int, int], None] = overlook,
) -> tuple[Shape, Reply]:
    """Let a model fill in an object of type `shape`, and return it with the reply.

    `shape` bounds every string and list, and replaces the schema of the request. The other
    arguments are as in `ChatModel.chat`.

    Raises:
        SchemaUnsupported: `shape` cannot be enforced; nothing was generated.
        ReplyInvalid: the reply was cut short, cancelled, or does not fit.
        ModelError: as `ChatModel.chat` says.
    """
    bound = replace(request, schema=_schema_of(shape))
    reply = model.chat(bound, on_text, cancelled, on_read)
    if reply.finish is Finish.CANCELLED:
        raise ReplyInvalid(N_("The reply of {model} was cancelled."), reply=reply, model=model.id)
    if reply.finish is Finish.LENGTH:
        only_thought = reply.thinking and not reply.text.strip()
        raise ReplyInvalid(
            N_("{model} was cut in its thought: it wrote {thought:,} tokens and no answer.")
            if only_thought
            else N_("The reply of {model} was cut short after {n:,} tokens."),
            Cure.LESS_THOUGHT if only_thought else N_("Allow more tokens, or ask for less."),
            thought=reply.usage.thought,
            reply=reply,
            model=model.id,
            n=request.max_tokens,
        )
    try:
        return shape.model_validate_json(reply.text), reply
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ReplyInvalid(
            N_("The reply of {model} is not a valid {shape}: {why} ({place})."),
            N_("Ask again, or choose a larger model."),
            reply=reply,
            model=model.id,
            shape=shape.__name__,
            why=first["msg"],
            place=".".join(map(str, first["loc"])) or "$",
        ) from error


@lru_cache(maxsize=64)
def _schema_of(shape: type[BaseModel]) -> Mapping[str, Any]:
    schema = shape.model_json_schema()
    check_bounds(schema)
    return schema


@dataclass(frozen=True, slots=True)
class LikelyToken:
    """A token that a reply may begin with.

    Attributes:
        text: its bytes, perhaps a part of a character.
        logarithm: of its probability.
    """

    text: bytes
    logarithm: float


class OfferedWords:
    """The words that a model may answer with.

    Raises:
        ValueError: there are fewer than two, two are equal but for their case, one is empty or has
            a blank.
    """

    def __init__(self, words: Sequence[str]) -> None:
        spelled = [word.encode(errors="replace").lower() for word in words]
        if len(spelled) < 2 or len(set(spelled)) < len(spelled):
            raise ValueError(f"not at least two different options: {list(words)}")
        if any(len(word.split()) != 1 or word != word.strip() for word in words):
            raise ValueError(f"an option is a word without a blank: {list(words)}")
        self.words = tuple(words)
        self._spelled = spelled

    def begun_by(self, token: bytes) -> list[str]:
        """The options that a reply beginning with this token can be."""
        said = token.lstrip().lower()
        return [
            word
            for word, spelled in zip(self.words, self._spelled, strict=True)
            if said and (spelled.startswith(said) or _ends_after(said, spelled))
        ]

    def weighed(
        self, candidates: Iterable[LikelyToken], model: str, usage: Usage, seconds: float
    ) -> Choice:
        """The choice that the likeliest tokens make.

        Raises:
            ReplyInvalid: no token begins an option, or most begin several.
        """
        likeliest = b""
        weights = dict.fromkeys(self.words, 0.0)
        shared = 0.0
        for candidate in candidates:
            likeliest = likeliest or candidate.text
            begun = self.begun_by(candidate.text)
            if len(begun) == 1:
                weights[begun[0]] += math.exp(candidate.logarithm)
            elif begun:
                shared += math.exp(candidate.logarithm)
        covered = sum(weights.values())
        if covered <= shared:
            cause = N_("{model} would begin its reply with {said!r}, not with one of {options}.")
            if shared:
                cause = N_(
                    "{model} would begin its reply with {said!r}, which may be several of "
                    "{options}."
                )
            said = likeliest.decode(errors="replace")
            raise ReplyInvalid(
                cause,
                N_("Offer words that begin differently, or ask a larger model."),
                reply=Reply(said, usage, Finish.LENGTH, seconds),
                model=model,
                said=said,
                options=", ".join(map(repr, self.words)),
            )
        shares: Mapping[str, float] = {word: weights[word] / covered for word in self.words}
        return Choice(shares, min(covered, 1.0), usage, seconds)


def _ends_after(said: bytes, word: bytes) -> bool:
    rest = said.removeprefix(word).decode(errors="replace")
    return said.startswith(word) and not (rest[:1].isalnum() or rest[:1] == "\ufffd")


_JOINER = "\u2060"
_OPENERS = "<["

_KNOWN = (
    r"<\|[^<>|\s]{1,64}\|?>",
    r"<(?:channel|turn|tool|tool_call|tool_response|image|audio)\|>",
    r"</?(?:s|unk|pad|mask|bos|eos|sep|cls|think|thinking|reasoning|start_of_turn|end_of_turn"
    r"|tool_call|tool_response|tools)>",
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK)\]",
    r"<</?SYS>>",
)
"""Spellings of the common formats: ChatML, Llama 2 to 4, Mistral, Gemma, Phi, reasoning models."""

_OPENER = f"[{re.escape(_OPENERS)}]"
_OWN = re.compile(f"({_OPENER})(?={_JOINER})")
_BROKEN = re.compile(f"({_OPENER}){_JOINER}")


def neutralise(text: str, tokens: Collection[str] = ()) -> str:
    """Break every spelling of a control token in the text of a message.

    `tokens` are further spellings of the model's vocabulary; only those with ``<`` or ``[`` count.
    """
    # A joiner of the document in that place gets a second one, so that exactly the document
    # returns.
    text = _OWN.sub(rf"\1{_JOINER}", text)
    cuts = sorted({_after_opener(match) for match in _spellings(frozenset(tokens)).finditer(text)})
    return _JOINER.join(text[start:end] for start, end in pairwise([0, *cuts, len(text)]))


def restore(text: str) -> str:
    """Undo `neutralise`: ``restore(neutralise(text)) == text`` for every text."""
    return _BROKEN.sub(r"\1", text)


class Restorer:
    """`restore` for a text that comes in pieces."""

    def __init__(self) -> None:
        self._before = ""

    def __call__(self, piece: str) -> str:
        before, self._before = self._before, piece[-1:] or self._before
        if _JOINER not in piece:
            return piece
        return restore(before + piece)[len(before) :]


@lru_cache(maxsize=8)
def _spellings(tokens: frozenset[str]) -> re.Pattern[str]:
    """Matches, without consuming it, each place where a spelling starts."""
    own = [token for token in tokens if _OPENERS[0] in token[:-1] or _OPENERS[1] in token[:-1]]
    alternatives = [*map(re.escape, sorted(own, key=len, reverse=True)), *_KNOWN]
    first = "".join(sorted({token[0] for token in own} | set(_OPENERS)))
    return re.compile(f"(?=[{re.escape(first)}])(?=({'|'.join(alternatives)}))")


def _after_opener(match: re.Match[str]) -> int:
    opener = re.search(_OPENER, match[1])
    assert opener is not None
    return match.start() + opener.end()


class AnswerStream:
    """The answer as it comes: reasoning apart, control tokens restored, stops found.

    Args:
        on_text: called with each piece that is certain to be answer.
        stop: texts that end it.
        thinks: whether thought may come first.
        opened: as in `ThinkingSplitter`.

    Attributes:
        stopped: a stop has come; it and everything after it are left out.
    """

    def __init__(
        self,
        on_text: Callable[[str], None],
        stop: Sequence[str] = (),
        *,
        thinks: bool = True,
        opened: bool = False,
    ) -> None:
        self.stopped = False
        self._on_text = on_text
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._thinking = ThinkingSplitter(opened=opened)
        self._split = self._thinking if thinks else str
        self._restore = Restorer()
        self._held = ""
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """The pieces given to `on_text`, joined."""
        return "".join(self._pieces)

    @property
    def thinking(self) -> str:
        return restore(self._thinking.thinking)

    def keep_apart(self) -> None:
        """Thought comes in a field of its own."""
        self._thinking.keep_apart()

    def take(self, piece: bytes | str) -> None:
        """Add a piece of the reply; bytes of a token may end inside a character."""
        text = self._decoder.decode(piece) if isinstance(piece, bytes) else piece
        self._look(self._restore(self._split(text)))

    def end(self) -> None:
        """Give out the rest; an unfinished character becomes U+FFFD."""
        self._look(self._restore(self._split(self._decoder.decode(b"", True))))
        self._look(self._restore(self._thinking.end()))
        self._say(self._held)

    def _look(self, piece: str) -> None:
        """Give out the text that cannot begin a stop any more."""
        if self.stopped or not piece:
            return
        if not self._stop:
            self._say(piece)
            return
        text = self._held + piece
        found = [place for stop in self._stop if (place := text.find(stop)) >= 0]
        self.stopped = bool(found)
        certain = min(found) if found else len(text) - self._open(text)
        self._held = "" if found else text[certain:]
        self._say(text[:certain])

    def _open(self, text: str) -> int:
        """Length of the longest end of a text that begins a stop."""
        return max(
            (
                length
                for stop in self._stop
                for length in range(1, min(len(stop), len(text) + 1))
                if text.endswith(stop[:length])
            ),
            default=0,
        )

    def _say(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._on_text(piece)
