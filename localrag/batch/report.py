"""What a batch comes to: rows by outcome, tokens, time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from localrag.batch.ledger import Ledger
from localrag.batch.model import Outcome
from localrag.reading.types import Status


@dataclass(slots=True)
class Spent:
    """What the rows asked in one run cost.

    Attributes:
        asked: rows.
        noted: rows whose trace says that something was left out or switched off.
        prompt, cached, completion: tokens; of a question that failed, as far as they are known.
    """

    asked: int = 0
    noted: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def add(self, outcome: Outcome) -> None:
        """Take one more row into account."""
        self.asked += 1
        trace = outcome.trace
        if trace is None:
            return
        self.noted += bool(trace.events)
        for call in trace.calls:
            self.prompt += call.prompt
            self.cached += call.cached or 0
            self.completion += call.completion


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch did.

    Attributes:
        rows: of the table.
        statuses: answered rows by status, those of earlier runs included.
        failed: rows without an answer by the type of their error, those of earlier runs included.
        earlier: rows that an earlier run had finished and this one left alone.
        spent: what the rows of this run cost.
        seconds: wall time of this run.
        asking: seconds of it from the first question to the last answer.
    """

    rows: int
    statuses: Mapping[Status, int]
    failed: Mapping[str, int]
    earlier: int
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    asking: float = 0.0

    @property
    def answered(self) -> int:
        """Rows that have an answer."""
        return sum(self.statuses.values())

    @property
    def per_minute(self) -> float:
        """Questions of this run a minute; 0 where none was asked."""
        return 60 * self.spent.asked / self.asking if self.asking else 0.0

    @classmethod
    def of(
        cls, ledger: Ledger, earlier: int, spent: Spent, seconds: float, asking: float
    ) -> "BatchReport":
        """Put a report together from what is written."""
        return cls(
            rows=len(ledger),
            statuses={status: ledger.tally[status] for status in Status},
            failed={name: n for name, n in ledger.tally.items() if n and name not in set(Status)},
            earlier=earlier,
            spent=spent,
            seconds=seconds,
            asking=asking,
        )
