"""The values of a conversation."""

from dataclasses import dataclass
from enum import StrEnum

from localrag.answer.types import Answer, Citation, Nearest
from localrag.search.types import Query


class TurnState(StrEnum):
    """The state of a question.

    ANSWERING: a living process is answering it.
    ANSWERED: it has an answer.
    CANCELLED: the user stopped it.
    FAILED: an error ended it.
    INTERRUPTED: its process ended or was killed.
    """

    ANSWERING = "answering"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Conversation:
    """An entry in the list of conversations.

    Attributes:
        title: set by the user, else the shortened first question; "" before it.
        created, changed: ISO times in UTC; every question and answer changes the latter.
        state: of the last question; None without questions.
    """

    id: int
    title: str
    created: str
    changed: str
    turns: int = 0
    state: TurnState | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its outcome.

    Attributes:
        corpus, method, model: as the settings name them; "" for the default reader or no model.
        asked: ISO time in UTC.
        answer: None without an answer; `cause` explains an unreadable one. Passages of its trace
            have no text.
        seconds: duration of the answer.
        draft: unchecked claims of an unfinished answer.
        nearest: the best hits of a question without an answer.
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
        """The ids of the quoted passages."""
        held: list[Citation | Nearest] = [*self.nearest]
        if self.answer is not None:
            held += (*self.answer.citations, *self.answer.quotations, *self.answer.nearest)
        return tuple(one.passage_id for one in held)

    @property
    def read_as(self) -> str:
        """The question as answered, readable by itself; before that, as asked."""
        return (self.answer.read_as if self.answer else "") or self.query.text
