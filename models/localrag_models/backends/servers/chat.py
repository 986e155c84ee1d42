"""The common part of chat models on servers."""

import math
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from localrag_models.backends.servers.binding import (
    EASY,
    EASY_TOKENS,
    HARD_TOKENS,
    PROBE,
    Gate,
    RememberedWays,
    Schema,
    Way,
    binding_way,
    flaw_of,
    free,
    json_in,
    json_of_thought,
    repairing,
)
from localrag_models.backends.servers.draft import Asked, Draft, Event
from localrag_models.backends.servers.estimates import (
    CUT,
    SAMPLE,
    lower_bound_of,
    stretch,
    upper_bound_of,
)
from localrag_models.backends.servers.http import Json, Retry, Server, StreamLeft, retrying
from localrag_models.chat import (
    ChatRequest,
    Choice,
    Finish,
    Message,
    OfferedWords,
    Remark,
    Reply,
    Usage,
    ignore,
    neutralise,
    never,
    overlook,
)
from localrag_models.embedding import Closing
from localrag_models.errors import N_, ContextExceeded, Cure, ModelError, ReplyInvalid
from localrag_models.grammar import grammar_of
from localrag_models.thinking import THINK, Effort, Thinking, room_for

LARGEST_DEFAULT = 8192
_GLANCE = 0.05
_LIVELIER = 0.5
_LONGEST_OTHER = 65_536
_SCHEMA_WORDS = 1024
"""Tokens kept for a schema in words."""
_EMPTY = "it is empty"
_CANDIDATES = 20
"""Likely tokens to ask for: no server of OpenAI's protocol must give more."""


@dataclass(frozen=True, slots=True)
class Found:
    """The reply found in a draft.

    Attributes:
        flaw: why it does not fulfil its schema; empty if it does.
    """

    text: str
    thinking: str
    flaw: str = ""
    remarks: tuple[Remark, ...] = ()


class ServerChat(Closing):
    """A chat model behind a server; fulfils `localrag_models.chat.ChatModel`.

    Usage is the server's. If unknown, `Usage.prompt` is the estimate of `count`, and
    `Usage.completion` the limit that ended the reply, else the number of its pieces.

    Args:
        thinking, effort, remembered: as in `ModelSpec`.
        thinks: whether the model is going to think.
        harmony: it writes Harmony: it cannot be stopped from thinking, and no grammar binds it.
    """

    def __init__(
        self,
        model: str,
        server: Server,
        *,
        context: int,
        parallel: int,
        on_retry: Callable[[Retry], None],
        thinking: Thinking = "off",
        effort: Effort = "medium",
        remembered: Path | None = None,
        thinks: bool = False,
        harmony: bool = False,
    ) -> None:
        super().__init__(f"{model} ({server.name})")
        self.parallel = parallel
        self._model = model
        self._server = server
        self._whole = context
        self._thinking = thinking
        self._effort = effort
        self._harmony = harmony
        self._room = room_for(effort, context) if thinks or harmony else 0
        self._places = threading.BoundedSemaphore(parallel)
        self._on_retry = on_retry
        self._stretch: float | None = None
        self._calibrating = threading.Lock()
        self._remembered = RememberedWays(remembered)
        self._way: Way | None = None
        self._finding_way = threading.Lock()

    @property
    def context(self) -> int:
        """Tokens of prompt and reply, without the room for thought and for a schema in words."""
        worded = self._way is not None and not self._way.is_strict
        return self._whole - self._room - (min(_SCHEMA_WORDS, self._whole // 8) if worded else 0)

    def count(self, messages: Sequence[Message]) -> int:
        """An estimate of the tokens of the prompt, rather too many than too few."""
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

        A transient failure is tried again if `on_text` has heard nothing. So is, once, a reply
        against its schema, or cut in a thought without room.
        """
        self._demand_open()
        if request.schema is not None:
            grammar_of(request.schema)  # refuses what nobody can bind, and what has no bounds
        started = time.monotonic()
        try:
            self._calibrate(cancelled)
            way = self._way_for(request, cancelled)
        except StreamLeft:
            seconds = time.monotonic() - started
            return Reply("", Usage(0, None, 0), Finish.CANCELLED, seconds)
        asked, expected = self._fitted(way.worded(request), way)
        listens = on_text is not ignore
        draft = self._draft(asked, on_text, cancelled, on_read)
        found = self._found(asked, draft, listens and draft.heard)
        if not (listens and draft.heard) and (second := self._second(asked, draft, found)):
            draft = self._draft(second, on_text, cancelled, on_read)
            found = self._found(second, draft, listens and draft.heard)
            if second.request != asked.request and not found.flaw:
                found = replace(found, remarks=(*found.remarks, Remark.REPAIRED))
            asked = second
        given = draft.heard or draft.finish is Finish.CANCELLED
        if not given and found.text:
            on_text(found.text)
        reply = Reply(
            text=found.text if draft.heard or not given else "",
            usage=self._usage(asked, draft, expected, found),
            finish=draft.finish or Finish.STOP,
            seconds=time.monotonic() - started,
            thinking=found.thinking,
            remarks=found.remarks,
        )
        if found.flaw:
            raise self._unfit(way, reply, found.flaw)
        return reply

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        self._demand_open()
        started = time.monotonic()
        offered = OfferedWords(options)
        request = ChatRequest(messages=tuple(messages), max_tokens=1)
        try:
            self._calibrate(cancelled)
        except StreamLeft:
            return None
        way = free("off")
        asked, expected = self._fitted(request, way)
        if not self._harmony:
            asked = replace(asked, limit=1)
        draft = self._draft(replace(asked, candidates=_CANDIDATES), ignore, cancelled)
        if draft.finish is Finish.CANCELLED:
            return None
        if not draft.first:
            raise self._server.no_probabilities()
        usage = self._usage(asked, draft, expected, Found("", ""))
        return offered.weighed(draft.first, self.id, usage, time.monotonic() - started)

    @abstractmethod
    def _exchange(self, asked: Asked) -> tuple[str, Json]:
        """Path and body of a request for a stream of the reply."""

    @abstractmethod
    def _event(self, line: str) -> Event | None:
        """The event in a line of the stream, if any."""

    @abstractmethod
    def _ways(self) -> Sequence[Way]:
        """The ways to bind a reply on such servers, best first."""

    @abstractmethod
    def _version(self) -> str:
        """The version of the server and of the weights; empty if unknown."""

    def _late(self, lines: Sequence[str]) -> Event | None:
        """The reply in lines without an event, if they hold one together."""
        del lines
        return None

    def _way_for(self, request: ChatRequest, cancelled: Callable[[], bool]) -> Way:
        """The way to ask for a reply; a server is probed once.

        Raises:
            StreamLeft: `cancelled` returned true.
            ModelError: the server refuses every probe, or has a transient failure.
        """
        if request.schema is None:
            return free(self._thinking)
        with self._finding_way:
            if self._way is None:
                self._way = self._probed(cancelled)
            if self._way.thinking == "on" and not self._room:
                self._room = room_for(self._effort, self._whole)
            return self._way

    def _probed(self, cancelled: Callable[[], bool]) -> Way:
        last = free(self._thinking)
        if self._harmony:
            return last
        ways = self._ways()
        key = self._key()
        known = self._remembered.get(key) if key else ""
        if found := next((way for way in (*ways, last) if way.name == known), None):
            return found
        try:
            way = retrying(
                lambda: binding_way(ways, last, partial(self._probe, cancelled)),
                allowed=lambda: True,
                on_retry=self._on_retry,
                cancelled=cancelled,
            )
        except ModelError as error:
            if error.transient and cancelled():
                raise StreamLeft from error
            raise
        if key:
            self._remembered.put(key, way.name)
        return way

    def _key(self) -> str:
        version = self._version()
        words = (self._server.address, self._model, version, self._thinking)
        return " ".join(words) if version else ""

    def _probe(self, cancelled: Callable[[], bool], way: Way, schema: Schema) -> str:
        """The reply to a probe, perhaps in the field for thought."""
        tokens = EASY_TOKENS if schema is EASY else HARD_TOKENS
        probe = ChatRequest(messages=(Message("user", PROBE),), schema=schema, max_tokens=tokens)
        request = way.worded(probe)
        room = room_for(self._effort, self._whole) if way.thinking != "off" else self._room
        draft = self._attempt(Asked(request, way, tokens + room), ignore, cancelled)
        if draft.only_thought and draft.finish is Finish.LENGTH and self._learn(draft):
            limit = tokens + self._room
            draft = self._attempt(Asked(request, way, limit), ignore, cancelled)
        if draft.finish is Finish.CANCELLED:
            raise StreamLeft
        text = draft.answer.text.rpartition(THINK.closing)[2].strip()
        return text or json_of_thought(schema, draft.thinking) or ""

    def _learn(self, draft: Draft) -> bool:
        """Give the model room if it thinks unasked; true at the first time."""
        if not draft.thinking or self._room:
            return False
        self._room = room_for(self._effort, self._whole)
        return True

    def _calibrate(self, cancelled: Callable[[], bool]) -> None:
        """Learn once how many tokens the model makes of a sample; the server loads it meanwhile."""
        with self._calibrating:
            if self._stretch is None:
                sample = ChatRequest(messages=SAMPLE, max_tokens=1)
                draft = self._draft(Asked(sample, free("off"), 1), ignore, cancelled)
                if draft.finish is Finish.CANCELLED:
                    raise StreamLeft
                self._stretch = stretch(draft.prompt or 0)

    def _release(self) -> None:
        self._server.close()

    def _sent(self, messages: Sequence[Message]) -> list[Json]:
        return [{"role": each.role, "content": neutralise(each.content)} for each in messages]

    def _fitted(self, request: ChatRequest, way: Way) -> tuple[Asked, int]:
        """The request with its limit, and the tokens expected of its prompt."""
        expected = self.count(request.messages)
        needed = expected + request.max_tokens
        if needed > self._whole:
            raise ContextExceeded(
                N_(
                    "The prompt (about {prompt:,} tokens) and a reply of {reply:,} do not fit the "
                    "context of {model}, {available:,} tokens."
                ),
                Cure.LESS_TEXT,
                needed=needed,
                available=self._whole,
                prompt=expected,
                reply=request.max_tokens,
                model=self.id,
            )
        return Asked(request, way, request.max_tokens + self._room_beside(needed)), expected

    def _room_beside(self, needed: int) -> int:
        """Tokens left for a thought beside prompt and reply."""
        return min(self._room, self._whole - needed)

    def _found(self, asked: Asked, draft: Draft, heard: bool) -> Found:
        """The reply in a draft; after it was heard, its text is final.

        Thought is taken for it only if the server mixed them up.
        """
        schema, text, thinking = asked.request.schema, draft.answer.text, draft.thinking
        remarks = () if asked.way.is_strict or schema is None else (Remark.UNBOUND,)
        learned = self._learn(draft)
        if (learned or self._room) and thinking and self._thinking == "off":
            remarks = (Remark.THINKS_ANYWAY, *remarks)
        if schema is None or draft.finish is not Finish.STOP:
            alone = draft.finish is Finish.STOP and draft.only_thought
            return Found(text, thinking, _EMPTY if alone else "", remarks)
        flaw = flaw_of(schema, text)
        if not flaw or heard:
            return Found(text, thinking, flaw, remarks)
        thought, closed, rest = text.rpartition(THINK.closing)
        if closed:
            text, thinking = rest.strip(), f"{thinking}\n{thought}".strip()
            if not (flaw := flaw_of(schema, text)):
                return Found(text, thinking, "", remarks)
        if (value := json_in(schema, text)) is not None:
            return Found(value, thinking, "", (*remarks, Remark.LENIENT))
        if not text.strip() and (value := json_of_thought(schema, thinking)) is not None:
            kept = tuple(one for one in remarks if one is not Remark.THINKS_ANYWAY)
            return Found(value, "", "", (*kept, Remark.IN_THOUGHT))
        return Found(text, thinking, flaw, remarks)

    def _second(self, asked: Asked, draft: Draft, found: Found) -> Asked | None:
        """The second request after a failed reply; None if it would be useless."""
        if draft.finish is Finish.CANCELLED:
            return None
        request = asked.request
        needed = (draft.prompt or self.count(request.messages)) + request.max_tokens
        limit = request.max_tokens + self._room_beside(needed)
        if draft.finish is Finish.LENGTH:
            cut = draft.only_thought and limit > asked.limit
            return replace(asked, limit=limit) if cut else None
        if not found.flaw:
            return None
        if asked.way.is_strict or not found.text.strip() or request.schema is None:
            other = max(request.temperature, _LIVELIER)
            again = replace(request, seed=request.seed + 1, temperature=other)
            return replace(asked, request=again, limit=limit)
        repair = repairing(request, found.text, found.flaw)
        try:
            return self._fitted(repair, asked.way)[0]
        except ContextExceeded:
            return None

    def _unfit(self, way: Way, reply: Reply, flaw: str) -> ReplyInvalid:
        """The error for a reply against its schema, with the cure for this server."""
        cause = N_("The reply of {model} does not match its schema: {flaw}.")
        cure = self._server.binding
        if not reply.text.strip():
            cause = N_("{model} sent an empty reply.")
            if reply.thinking:
                cause = N_("{model} wrote a thought and no answer.")
                cure = Cure.LESS_THOUGHT
        elif not way.is_strict:
            cause = N_(
                "{server} binds no reply of {model} to a schema, and its words hold no JSON that "
                "fits: {flaw}."
            )
        elif self._way is way:
            # The next request probes the server again.
            self._way = None
            self._remembered.put(self._key(), "")
        return ReplyInvalid(
            cause, cure, reply=reply, model=self.id, server=self._server.described, flaw=flaw
        )

    def _draft(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None] = overlook,
    ) -> Draft:
        heard = False

        def hear(piece: str) -> None:
            nonlocal heard
            heard = True
            on_text(piece)

        try:
            draft = retrying(
                lambda: self._attempt(asked, hear, cancelled, on_read),
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
        asked: Asked,
        on_text: Callable[[str], None],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None] = overlook,
    ) -> Draft:
        bound = asked.request.schema is not None
        gate = Gate(on_text, asked.request.schema if asked.way.is_strict else None)
        opened = not bound and asked.way.thinking != "off"
        draft = Draft(on_text, on_read, gate if bound else None, opened=opened)
        while not self._places.acquire(timeout=_GLANCE):
            if cancelled():
                draft.end(Finish.CANCELLED)
                return draft
        try:
            path, body = self._exchange(asked)
            with closing(self._server.lines(path, body, cancelled)) as lines:
                self._follow(asked, draft, lines)
        except StreamLeft:
            draft.end(Finish.CANCELLED)
            return draft
        finally:
            self._places.release()
        if draft.finish is None:
            raise self._server.broke(N_("{server} ended the stream in the middle of a reply."))
        self._insist_on_whole(asked.request, draft)
        draft.end(draft.finish)
        return draft

    def _follow(self, asked: Asked, draft: Draft, lines: Iterable[str]) -> None:
        """Take in a stream up to its end, or as far as it is wanted."""
        others: list[str] = []
        for line in lines:
            if event := self._event(line):
                draft.take(event)
            elif sum(map(len, others)) < _LONGEST_OTHER:
                others.append(line)
            if asked.candidates and draft.first and asked.limit > 1:
                draft.finish = Finish.STOP
                return
            # The rest of the room is not for a longer answer.
            if asked.limit > asked.request.max_tokens < draft.answered:
                draft.finish = Finish.LENGTH
                return
        if draft.finish is None and not draft.pieces and (late := self._late(others)):
            draft.take(late)

    def _insist_on_whole(self, request: ChatRequest, draft: Draft) -> None:
        """Refuse an answer if the server may have read only a part of the prompt."""
        if not draft.prompt:
            return
        needed = draft.prompt + request.max_tokens
        if needed > self._whole:
            raise ContextExceeded(
                N_(
                    "{model} counted {prompt:,} tokens in the prompt, more than estimated; with a "
                    "reply of {reply:,} the context of {available:,} is full."
                ),
                Cure.LESS_TEXT,
                needed=needed,
                available=self._whole,
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

    def _usage(self, asked: Asked, draft: Draft, expected: int, found: Found) -> Usage:
        told = asked.limit if draft.finish is Finish.LENGTH else draft.pieces
        completion = told if draft.completion is None else draft.completion
        thought = draft.thought if found.thinking else 0
        if thought is None:
            share = len(found.thinking) / len(found.thinking + found.text)
            thought = math.ceil(completion * share)
        return Usage(
            prompt=expected if draft.prompt is None else draft.prompt,
            cached=draft.cached,
            completion=completion,
            thought=min(thought, completion),
        )


def agreed_context(model: str, cause: str, wanted: int, told: int, untold: int) -> int:
    """The context to use: `wanted`, else the server's up to 8,192 tokens, else `untold`.

    Raises:
        ContextExceeded: the server has less; `cause` names {model}, {available} and {needed}.
    """
    if told and wanted > told:
        raise ContextExceeded(
            cause, Cure.SMALLER_CONTEXT, needed=wanted, available=told, model=model
        )
    return wanted or min(told or untold, LARGEST_DEFAULT)
