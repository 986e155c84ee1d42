"""The values of a conversation."""

from dataclasses import dataclass
from enum import StrEnum

from localrag.answer.types import Answer, Citation, Nearest
from localrag.search.types import Query


class TurnState(StrEnum):
    """What became of a question.

    ANSWERING: it is being answered, by this process or another living one.
    ANSWERED: to the end, whatever the answer says.
    CANCELLED: the user wanted no answer any longer.
    FAILED: an error came in its place.
    INTERRUPTED: whoever answered it ended, or was killed, in the middle.
    """

    ANSWERING = "answering"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a listing says of a conversation.

    Attributes:
        title: as the user named it, else its first question, shortened; empty before that.
        created, changed: ISO times, UTC; it changes with every question and answer.
        turns: how many questions it has.
        state: of the last question; None where there is none.
    """

    id: int
    title: str
    created: str
    changed: str
    turns: int = 0
    state: TurnState | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, and what became of it.

    Attributes:
        conversation: the id of its conversation.
        corpus, method, model: what it was put to, as the settings name them; "" for the default
            reader and for no model.
        asked: ISO time, UTC.
        answer: None unless it was answered, and where the answer cannot be read any longer, which
            `cause` then says. The passages of its trace have no text: the corpus has it.
        seconds: that the answer took.
        draft: claims that were written before the end, unchecked; none once it was answered.
        nearest: what the search found until a question without an answer ended, best first.
        cause, cure: the error in the place of an answer, and what to do about it.
    """

    id: int
    conversation: int
    query: Query
    corpus: str
    method: str
    model: str
    asked: str
    state: TurnState = TurnState.ANSWERING
    answer: Answer | None = None
    seconds: float = 0.0
    draft: tuple[str, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    cause: str = ""
    cure: str = ""

    @property
    def passages(self) -> tuple[str, ...]:
        """Ids of the passages whose words it holds."""
        held: list[Citation | Nearest] = [*self.nearest]
        if self.answer is not None:
            held += (*self.answer.citations, *self.answer.quotations, *self.answer.nearest)
        return tuple(one.passage_id for one in held)

    @property
    def read_as(self) -> str:
        """The question standing by itself, as it was answered; as it was asked before that."""
        return (self.answer.read_as if self.answer else "") or self.query.text
