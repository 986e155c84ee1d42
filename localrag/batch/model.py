"""The values of a batch: rows of questions, what became of them, and what answers them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from localrag.batch.failures import error_type
from localrag.config import Config
from localrag.errors import LocalragError
from localrag.reading.types import Answer, Unanswered
from localrag.reading.watching import UNWATCHED, Watch
from localrag.retrieval.model import Query, Trace
from localrag.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Question:
    """A row that can be asked.

    Attributes:
        row: its number from 1, blank lines not counted.
        line: of the file, where it begins; from 1.
        id: as the file gives it; empty where it gives none.
    """

    row: int
    line: int
    id: str
    query: Query


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that cannot be asked; `row`, `line` and `id` as for `Question`."""

    row: int
    line: int
    problem: LocalragError
    id: str = ""


Row = Question | Unreadable


@dataclass(frozen=True, slots=True)
class Outcome:
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


class Answers(Protocol):
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


Opener = Callable[[Workspace, str, Config], AbstractContextManager[Answers]]
"""Opens what answers the questions about a corpus."""
