"""The conversation in view, written down as it goes on."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from localrag.conversations.types import Turn, TurnState
from localrag.errors import LocalragError, NotFoundError
from localrag.language import _
from localrag.reading.types import Answer
from localrag.retrieval.types import Query

if TYPE_CHECKING:
    from localrag.conversations.store import Conversations
    from localrag_tui.app import Workbench

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

    async def cancel(self, turn: Turn, claims: Sequence[str]) -> None:
        """Write down that an answer is no longer wanted."""
        if turn.id:
            await self._do(lambda conversations: conversations.cancel(turn.id, claims))

    async def fail(self, turn: Turn, error: LocalragError) -> Turn:
        """Write down the error in the place of an answer."""
        cause, cure = error.cause, error.cure
        if turn.id:
            await self._do(lambda conversations: conversations.fail(turn.id, cause, cure))
        return replace(turn, state=TurnState.FAILED, cause=cause, cure=cure)

    async def _do(self, work: "Callable[[Conversations], T]") -> T | None:
        try:
            return await self._bench.conversations.do(work)
        except LocalragError as error:
            self._bench.tell(error)
            return None


def _title(conversations: "Conversations", conversation: int) -> str:
    from localrag.conversations.store import title_of

    found = conversations.get(conversation)
    if found.turns == 1 and found.title == title_of(conversations.turns(conversation)[0].query):
        return ""
    return found.title
