"""One question at a time, from the moment it is asked until its end is written down."""

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
from localrag_tui.wording import cure_of, duration
from localrag_tui.work.answering import (
    AnswerEvent,
    Drafted,
    Found,
    Opened,
    Opening,
    Read,
    StageEnded,
)

if TYPE_CHECKING:
    from localrag.ops.conversations.store import Conversations
    from localrag_tui.app import Workbench


@dataclass
class AnswerProgress:
    """What was told of an answer until now.

    Attributes:
        read_as: the question made whole, where it leans on those before it; else "".
        stages: of the retrieval, as they ended.
        nearest: the passages that come nearest by now; they may not answer.
        claims: as far as they are written; nothing in them is checked.
        tokens: about so many are written.
        opening: the model that is being loaded; None where none is.
        read: the tokens a model has read of the prompt it is reading; None where none reads.
        changed: whether something was told that nobody has looked at.
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
        """Take what is told."""
        match event:
            case Opening():
                self.opening = event
            case Opened():
                self.opening = None
            case Read():
                self.read = event
            case StageEnded(record) if record.stage == FOLLOW_UP:
                self.read_as = record.query
            case StageEnded(record):
                self.stages.append(record)
            case Found(nearest):
                self.nearest = nearest
            case Drafted(claims, tokens):
                self.read = None
                self._writing = self._writing or monotonic()
                self.claims, self.tokens = claims, tokens
        self.changed = True

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return monotonic() - self._began

    def __str__(self) -> str:
        """The tokens so far, and the clock."""
        parts = []
        if self.tokens:
            parts.append(_("{written:,} written").format(written=self.tokens))
            if (busy := monotonic() - self._writing) > 1:
                parts.append(_("{rate:.1f} tokens/s").format(rate=self.tokens / busy))
        return " · ".join((*parts, duration(self.seconds)))


def cost(trace: Trace, seconds: float) -> str:
    """The tokens that the models read and wrote, and how long it all took."""
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
        if busy > 0:
            parts.append(_("{rate:.1f} tokens/s").format(rate=written / busy))
    return " · ".join((*parts, duration(seconds)))


T = TypeVar("T")
# Questions that one can walk back to.
_WALKED = 500


class Record:
    """Writes each question down before it is answered, and what becomes of it.

    Where it cannot be written, the user is told, and the answer is made all the same: such a turn
    has the id 0.
    """

    def __init__(self, bench: "Workbench") -> None:
        self._bench = bench
        self._draft_failed = False

    @property
    def id(self) -> int:
        """The conversation in view; 0 for one that has no question yet."""
        return self._bench.memory.choices.conversation

    def choose(self, conversation: int) -> None:
        """Go on with another conversation; 0 for a new one."""
        self._bench.memory.remember(conversation=conversation)

    async def turns(self) -> tuple[str, list[Turn]]:
        """The title, as `title`, and the turns of the conversation in view; none if it is gone."""
        if not self.id:
            return "", []
        chosen = self.id
        found = await self._do(lambda kept: (_title(kept, chosen), kept.turns(chosen)))
        if found is None:
            self.choose(0)
            return "", []
        return found

    async def title(self) -> str:
        """What the conversation is called; "" where that says no more than its only question."""
        chosen = self.id
        return (await self._do(lambda kept: _title(kept, chosen)) or "") if chosen else ""

    async def questions(self) -> list[str]:
        """What was asked last in this workspace, oldest first."""
        return await self._do(lambda conversations: conversations.questions(_WALKED)) or []

    async def begin(self, query: Query, corpus: str, method: str, model: str) -> Turn:
        """Write down a question that is about to be answered."""
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
        """Write down what there is of an answer; of drafts that fail only the first is told."""
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
        """Write down an answer."""
        if turn.id:
            await self._do(lambda conversations: conversations.finish(turn.id, answer, seconds))
        return replace(turn, state=TurnState.ANSWERED, answer=answer, seconds=seconds, draft=())

    async def cancel(self, turn: Turn) -> None:
        """Write down that an answer is no longer wanted, with what there is of it."""
        if turn.id:
            await self._do(lambda kept: kept.cancel(turn.id, turn.draft, turn.nearest))

    async def fail(self, turn: Turn, error: LocalragError) -> Turn:
        """Write down the error in the place of an answer."""
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
    """A question on its way.

    Attributes:
        turn: as it is written down.
        progress: how far its answer has come.
        over: whether the user need not wait for it: it has ended, or was cancelled.
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
        """Write down a question that is going to be answered.

        Args:
            bench: whose engine answers it.
            record: where it is written.
            query: the question.
            config: the settings it is answered under.
            on_end: told once, as soon as `turn` has its end.
        """
        names = (bench.corpus, config.method.name, config.chat.model)
        return cls(bench, record, await record.begin(query, *names), config, on_end)

    @property
    def going_on(self) -> bool:
        """Whether `turn` has no end yet."""
        return self.turn.state is TurnState.ANSWERING

    async def run(self, before: "OpenQuestion | None") -> None:
        """Have it answered.

        Args:
            before: the question before it, which may have been cancelled and still be ending.
        """
        try:
            if before is not None:
                await before._ended.wait()
            if not self.over:
                await self._answer()
        finally:
            self._ended.set()

    async def cancel(self) -> None:
        """Give it up; what was written of its answer is kept."""
        if self.over:
            return
        self.over = True
        self._bench.engine.cancel()
        self._end(replace(self._unanswered(), state=TurnState.CANCELLED))
        await self._record.cancel(self.turn)

    async def keep_draft(self) -> None:
        """Write down what there is of the answer."""
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
        """The turn with what was told of its answer."""
        told = self.progress
        return replace(self.turn, draft=told.claims, nearest=told.nearest)

    def _end(self, turn: Turn) -> None:
        self.turn = turn
        self._on_end(self)

    def _hear(self, event: AnswerEvent) -> None:
        if not self.over:
            self.progress.take(event)


OnEnd = Callable[[OpenQuestion], object]
"""Is told of a question that has its end."""
