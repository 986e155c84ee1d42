"""The values of a batch: rows, outcomes, events."""

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
"""The phase of `Progress` after every row."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A row to ask.

    Attributes:
        row: its number from 1, without blank lines.
        line: its first line in the file, from 1.
        labels: of the options, from the file; () for a, b, c …
        cells: of its row in the table; () in JSON Lines.
    """

    row: int
    line: int
    id: str
    query: Query
    labels: tuple[str, ...] = ()
    cells: tuple[str | int | float, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row impossible to ask; fields as in `QuestionRow`."""

    row: int
    line: int
    problem: LocalragError
    id: str = ""
    question: str = ""
    cells: tuple[str | int | float, ...] = ()


Row = QuestionRow | UnreadableRow


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """An answer to a row, or an error, and the seconds it took."""

    row: Row
    seconds: float
    answer: Answer | None = None
    error: Exception | None = None

    @property
    def name(self) -> str:
        """The key for counting: the status of the answer, or the type of the error."""
        if self.answer is not None:
            return self.answer.status.value
        assert self.error is not None, "what is not answered has failed"
        return error_type(self.error)

    @property
    def trace(self) -> Trace | None:
        """The trace; None if an error has none."""
        if self.answer is not None:
            return self.answer.trace
        return self.error.trace if isinstance(self.error, Unanswered) else None


class AnswerSource(Protocol):
    """Answers the questions of a batch, as `localrag.methods.answering.Answerer` does.

    With a concurrency of 1, every call comes from the opening thread.
    """

    @property
    def parallel(self) -> int:
        """The most threads useful for calling `answer`."""
        ...

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        """Answer one question; `watch` may cancel the call."""
        ...


Opener = Callable[[Workspace, str, Config], AbstractContextManager[AnswerSource]]
"""Opens the answering method for a corpus."""


@dataclass(frozen=True, slots=True)
class RowAnswered:
    """The answer of a row is stored."""

    row: int
    line: int
    status: str


@dataclass(frozen=True, slots=True)
class RowFailed:
    """The error of a row is stored; `line` is its first line in the table."""

    row: int
    line: int
    type: str
    cause: str
    cure: str

    @classmethod
    def of(cls, row: Row, error: Exception) -> "RowFailed":
        """Make the event for an error."""
        return cls(row.row, row.line, error_type(error), *cause_and_cure(error))


Event = Fact | RowAnswered | RowFailed | Progress
"""The events of a running batch, after each is stored.

Facts are `TABLE_CHECKED`, `FIELDS_UNREAD`, `INDEX_BEHIND`, `GOES_ON`, `LINE_DROPPED` and `STOPPED`.
"""
Listener = Callable[[Event], None]


def error_type(error: Exception) -> str:
    """Return the name of an error for counting; a model's own error has its own name."""
    return error.kind if isinstance(error, ModelUnusable) else type(error).__name__


def cause_and_cure(error: Exception) -> tuple[str, str]:
    """Return the cause of an error and its cure."""
    if isinstance(error, LocalragError):
        return error.cause, error.cure
    return (
        _("An error nobody foresaw: {name}: {error}").format(
            name=type(error).__name__, error=error
        ),
        _("Find the cause: LOCALRAG_DEBUG=1 localrag ask QUESTION"),
    )


def is_transient(error: Exception) -> bool:
    """Whether the question may succeed later."""
    return isinstance(error, ModelUnusable) and error.transient
