"""The values of a batch: rows of questions, what became of them, and what is told of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from localrag.answer.types import UNWATCHED, Answer, Unanswered, Watch
from localrag.corpus.config import Config
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError, ModelUnusable
from localrag.language import N_, _
from localrag.search.types import Query, Trace
from localrag.text.facts import Fact
from localrag.text.progress import Phase, Progress

ANSWERING = Phase(N_("answering"), N_("questions"))
"""The stage whose `Progress` is told after every row."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A row that can be asked.

    Attributes:
        row: its number from 1, blank lines not counted.
        line: of the file, where it begins; from 1.
        id: as the file gives it; empty where it gives none.
        labels: of the options, as the file gives them; empty where they are a, b, c …
    """

    row: int
    line: int
    id: str
    query: Query
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row that cannot be asked; `row`, `line` and `id` as for `QuestionRow`.

    Attributes:
        question: as written; "" where it cannot be read.
    """

    row: int
    line: int
    problem: LocalragError
    id: str = ""
    question: str = ""


Row = QuestionRow | UnreadableRow


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """What became of a row: an answer, or the error in its place.

    Attributes:
        seconds: wall time it took to answer.
    """

    row: Row
    seconds: float
    answer: Answer | None = None
    error: Exception | None = None

    @property
    def name(self) -> str:
        """What it is counted under: the status of the answer, or the type of the error."""
        if self.answer is not None:
            return self.answer.status.value
        assert self.error is not None, "what is not answered has failed"
        return error_type(self.error)

    @property
    def trace(self) -> Trace | None:
        """What was done for it; None where a failure does not tell."""
        if self.answer is not None:
            return self.answer.trace
        return self.error.trace if isinstance(self.error, Unanswered) else None


class AnswerSource(Protocol):
    """What answers the questions of a batch; `localrag.methods.answering.Answerer` is the one.

    With a concurrency of 1 every call comes from the thread that opened it.
    """

    @property
    def parallel(self) -> int:
        """How many threads may call `answer` at the same time and gain by it."""
        ...

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        """Answer one question.

        Args:
            query: the question.
            watch: follows it; where it says so, the call ends with `Cancelled`.
        """
        ...


Opener = Callable[[Workspace, str, Config], AbstractContextManager[AnswerSource]]
"""Opens what answers the questions about a corpus."""


@dataclass(frozen=True, slots=True)
class RowAnswered:
    """The answer of a row is stored."""

    row: int
    line: int
    status: str


@dataclass(frozen=True, slots=True)
class RowFailed:
    """A row has no answer; the error is stored in its place.

    Attributes:
        row: its number, blank lines not counted.
        line: of the table, where it begins.
        type: the name of the error.
    """

    row: int
    line: int
    type: str
    cause: str
    cure: str

    @classmethod
    def of(cls, row: Row, error: Exception) -> "RowFailed":
        """What is told of a row that failed with an error."""
        return cls(row.row, row.line, error_type(error), *cause_and_cure(error))


Event = Fact | RowAnswered | RowFailed | Progress
"""What a batch tells while it runs, once it is stored.

Facts are `TABLE_CHECKED`, `FIELDS_UNREAD`, `INDEX_BEHIND`, `GOES_ON`, `LINE_DROPPED` and `STOPPED`.
"""
Listener = Callable[[Event], None]


def error_type(error: Exception) -> str:
    """The name an error is counted under; that of a model's own error where one is behind it."""
    return error.kind if isinstance(error, ModelUnusable) else type(error).__name__


def cause_and_cure(error: Exception) -> tuple[str, str]:
    """What went wrong, and what to do about it."""
    if isinstance(error, LocalragError):
        return error.cause, error.cure
    return (
        _("An error nobody foresaw: {name}: {error}").format(
            name=type(error).__name__, error=error
        ),
        _("See where it comes from: LOCALRAG_DEBUG=1 localrag ask QUESTION"),
    )


def is_transient(error: Exception) -> bool:
    """Whether the same question can succeed a little later."""
    return isinstance(error, ModelUnusable) and error.transient
