"""One question at a time, from asking it to storing its answer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from localrag.answer.types import Answer, Cancelled, Nearest
from localrag.corpus.config import Config
from localrag.errors import LocalragError, NotFoundError
from localrag.language import _
from localrag.ops.conversations.types import Turn, TurnState
from localrag.search.types import FOLLOW_UP, Query, StageRecord, Trace
from localrag_tui.shown import cure_of, duration
from localrag_tui.work.engine import (
    AnswerEvent,
    Drafted,
    ModelOpened,
    NearestFound,
    Opening,
    Read,
    StageEnded,
)

if TYPE_CHECKING:
    from localrag.ops.conversations.store import Conversations
    from localrag_tui.app import Workbench


@dataclass
class AnswerProgress:
    """How far an answer is.

    Attributes:
        read_as: the question completed from earlier ones; "" if it was complete.
        nearest: the nearest passages so far; they may not answer.
        read: how far a model has read its prompt, if it reads.
    """

    read_as: str = ""
    stages: list[StageRecord] = field(default_factory=list)
    nearest: tuple[Nearest, ...] = ()
    claims: tuple[str, ...] = ()
    tokens: int = 0
    opening: Opening | None = None
    read: Read | None = None
    changed: bool = False
    _began: float = field(default_factory=monotonic)
    _writing: float = 0.0

    def take(self, event: AnswerEvent) -> None:
        match event:
            case Opening():
                self.opening = event
            case ModelOpened():
                self.opening = None
            case Read():
                self.read = event
            case StageEnded(record) if record.stage == FOLLOW_UP:
                self.read_as = record.query
            case StageEnded(record):
                self.stages.append(record)
            case NearestFound(nearest):
                self.nearest = nearest
            case Drafted(claims, tokens):
                self.read = None
                self._writing = self._writing or monotonic()
                self.claims, self.tokens = claims, tokens
        self.changed = True

    @property
    def seconds(self) -> float:
        return monotonic() - self._began

    def __str__(self) -> str:
        parts = []
        if self.tokens:
            parts.append(_("{written:,} written").format(written=self.tokens))
            if (busy := monotonic() - self._writing) > 1:
                parts.append(_("{rate:.1f} tokens/s").format(rate=self.tokens / busy))
        return " · ".join((*parts, duration(self.seconds)))


def cost(trace: Trace, seconds: float) -> str:
    """Tokens read and written by the models, and the time of the answer."""
    parts = []
    if trace.calls:
        read = sum(call.prompt for call in trace.calls)
        reused = sum(call.cached or 0 for call in trace.calls)
        written = sum(call.completion for call in trace.calls)
        busy = sum(call.seconds for call in trace.calls)
        parts.append(
            _("{read:,} read ({reused:,} reused)").format(read=read, reused=reused)
            if reused
            else _("{read:,} read").format(read=read)
        )
        parts.append(_("{written:,} written").format(written=written))
        if thought := sum(call.thought for call in trace.calls):
            parts.append(_("{thought:,} of them thought").format(thought=thought))
        if busy > 0:
            parts.append(_("{rate:.1f} tokens/s").format(rate=written / busy))
    return " · ".join((*parts, duration(seconds)))


T = TypeVar("T")
# Questions in the history of the field.
_WALKED = 500


class Record:
    """Stores each question before it is answered, and then its outcome.

    If storing fails, the user sees the error and gets the answer anyway; such a turn has the id 0.
    """

    def __init__(self, bench: "Workbench") -> None:
        self._bench = bench
        self._draft_failed = False

    @property
    def id(self) -> int:
        """The conversation in view; 0 for a new one."""
        return self._bench.memory.choices.conversation

    def choose(self, conversation: int) -> None:
        """Go on with another conversation; 0 for a new one."""
        self._bench.memory.remember(conversation=conversation)

    async def turns(self) -> tuple[str, list[Turn]]:
        """Title and turns of the conversation in view; empty if it is gone."""
        if not self.id:
            return "", []
        chosen = self.id
        found = await self._do(lambda kept: (_title(kept, chosen), kept.turns(chosen)))
        if found is None:
            self.choose(0)
            return "", []
        return found

    async def title(self) -> str:
        """The title; "" if it only repeats the single question."""
        chosen = self.id
        return (await self._do(lambda kept: _title(kept, chosen)) or "") if chosen else ""

    async def questions(self) -> list[str]:
        return await self._do(lambda conversations: conversations.questions(_WALKED)) or []

    async def begin(self, query: Query, corpus: str, method: str, model: str) -> Turn:
        """Store a question before it is answered."""
        chosen = self.id

        def write(conversations: "Conversations") -> Turn:
            if chosen:
                with suppress(NotFoundError):
                    return conversations.begin(chosen, query, corpus, method, model)
            new = conversations.new().id
            return conversations.begin(new, query, corpus, method, model)

        turn = await self._do(write)
        if turn is None:
            asked = datetime.now(UTC).isoformat(timespec="seconds")
            return Turn(0, chosen, query, corpus, method, model, asked)
        if chosen and turn.conversation != chosen:
            gone = _("The conversation was deleted elsewhere: the question begins a new one.")
            self._bench.notify(gone, severity="warning", markup=False)
        self.choose(turn.conversation)
        return turn

    async def draft(self, turn: Turn, claims: Sequence[str]) -> None:
        """Store the draft of an answer; of several failures in a row only the first is shown."""
        if not (turn.id and claims):
            return
        try:
            await self._bench.conversations.do(lambda kept: kept.draft(turn.id, claims))
        except LocalragError as error:
            if not self._draft_failed:
                self._bench.tell(error)
            self._draft_failed = True
        else:
            self._draft_failed = False

    async def finish(self, turn: Turn, answer: Answer, seconds: float) -> Turn:
        if turn.id:
            await self._do(lambda conversations: conversations.finish(turn.id, answer, seconds))
        return replace(turn, state=TurnState.ANSWERED, answer=answer, seconds=seconds, draft=())

    async def cancel(self, turn: Turn) -> None:
        if turn.id:
            await self._do(lambda kept: kept.cancel(turn.id, turn.draft, turn.nearest))

    async def fail(self, turn: Turn, error: LocalragError) -> Turn:
        """Store the error in place of an answer."""
        cause, mends = error.cause, cure_of(error)
        if turn.id:
            await self._do(lambda kept: kept.fail(turn.id, cause, mends, turn.nearest))
        return replace(turn, state=TurnState.FAILED, cause=cause, cure=mends)

    async def _do(self, work: "Callable[[Conversations], T]") -> T | None:
        try:
            return await self._bench.conversations.do(work)
        except LocalragError as error:
            self._bench.tell(error)
            return None


def _title(conversations: "Conversations", conversation: int) -> str:
    from localrag.ops.conversations.store import title_of

    found = conversations.get(conversation)
    if found.turns == 1 and found.title == title_of(conversations.turns(conversation)[0].query):
        return ""
    return found.title


class OpenQuestion:
    """A question being answered.

    Attributes:
        over: whether it has ended or was cancelled.
    """

    def __init__(
        self, bench: "Workbench", record: Record, turn: Turn, config: Config, on_end: "OnEnd"
    ) -> None:
        self.turn = turn
        self.progress = AnswerProgress()
        self.over = False
        self._bench = bench
        self._record = record
        self._config = config
        self._on_end = on_end
        self._ended = asyncio.Event()

    @classmethod
    async def begin(
        cls, bench: "Workbench", record: Record, query: Query, config: Config, on_end: "OnEnd"
    ) -> "OpenQuestion":
        names = (bench.corpus, config.method.name, config.chat.model)
        return cls(bench, record, await record.begin(query, *names), config, on_end)

    @property
    def going_on(self) -> bool:
        return self.turn.state is TurnState.ANSWERING

    async def run(self, before: "OpenQuestion | None") -> None:
        """Have the question answered.

        Args:
            before: the previous question; it may be cancelled and still ending.
        """
        try:
            if before is not None:
                await before._ended.wait()
            if not self.over:
                await self._answer()
        finally:
            self._ended.set()

    async def cancel(self) -> None:
        """Give up the answer; its draft is kept."""
        if self.over:
            return
        self.over = True
        self._bench.engine.cancel()
        self._end(replace(self._unanswered(), state=TurnState.CANCELLED))
        await self._record.cancel(self.turn)

    async def keep_draft(self) -> None:
        if not self.over:
            await self._record.draft(self.turn, self.progress.claims)

    async def _answer(self) -> None:
        turn = self.turn
        try:
            reply = await self._bench.engine.answer(
                self._bench.workspace, turn.corpus, self._config, turn.query, self._hear
            )
        except Cancelled:
            return
        except LocalragError as error:
            if self.over:
                return
            self.over = True
            turn = await self._record.fail(self._unanswered(), error)
        else:
            if self.over:
                return
            self.over = True
            turn = await self._record.finish(turn, reply.answer, reply.seconds)
        self._end(turn)

    def _unanswered(self) -> Turn:
        told = self.progress
        return replace(self.turn, draft=told.claims, nearest=told.nearest)

    def _end(self, turn: Turn) -> None:
        self.turn = turn
        self._on_end(self)

    def _hear(self, event: AnswerEvent) -> None:
        if not self.over:
            self.progress.take(event)


OnEnd = Callable[[OpenQuestion], object]
"""Called with a finished question."""
