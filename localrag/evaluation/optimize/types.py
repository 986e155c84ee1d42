"""Values of an optimisation: plan, attempts and outcome."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from localrag.text.facts import Fact


class Objective(StrEnum):
    """Score of a query, 0 to 1.

    OVERLAP: overlap of the best hit with the gold context (`localrag.evaluation.optimize.task`).
    RECALL: number and ranks of gold articles among the hits (`gain`, there).
    """

    OVERLAP = "overlap"
    RECALL = "recall"


@dataclass(frozen=True, slots=True)
class OptimisationPlan:
    """Task and budget of an optimisation."""

    name: str  # of the run and of its prompt
    dataset: str  # name of a dataset, or path of a file of questions
    split: str = ""  # of the dataset; "" for the first present
    # a file of questions to read instead, in the format of the dataset
    questions: Path | None = None
    limit: int = 0  # number of questions, chosen by the seed; 0 for all
    # a file of other questions, to compare the built-in and the best instruction; or None
    report: Path | None = None
    objective: Objective = Objective.OVERLAP
    calls: int = 1_000  # most calls of models, over all starts; a retry may exceed it
    minutes: float = 480.0  # most minutes of work, over all starts
    reflection: str = ""  # model that proposes prompts; "" for the writer of queries
    seed: int = 0  # of the split and of GEPA's choices


@dataclass(frozen=True, slots=True)
class Rollout:
    """One prompt on one question."""

    query: str  # of the model; "" if its reply stayed malformed
    score: float  # 0 to 1
    parts: Mapping[str, float] = field(default_factory=dict)
    found: Sequence[str] = ()  # headers of the hits, best first
    # gold places not among the hits, by kind of law; "" for other documents
    missed: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""  # why there is no query or hit
    notes: Sequence[Fact] = ()  # what a stage left out, switched off or replaced
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal of the reflection model."""

    text: str  # the new instruction; "" if the reply stayed malformed
    problem: str = ""
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt scored on all validation questions."""

    text: str
    score: float
    parent: int | None = None  # number of its parent; None for the seed


@dataclass(frozen=True, slots=True)
class RefusedProposals:
    """Numbers of proposals that became no candidate."""

    malformed: int = 0
    leaking: int = 0
    repeated: int = 0
    not_better: int = 0  # no better than the parent on its training questions


@dataclass(frozen=True, slots=True)
class Reported:
    """The built-in and the best instruction on other questions."""

    n: int
    found: tuple[int, int]  # for both, questions with a gold place among the hits
    scores: tuple[float, float]


@dataclass(frozen=True, slots=True)
class OptimisationOutcome:
    """Result of an optimisation."""

    name: str  # of the run and of the prompt
    # "calls", "minutes", "perfect" (nothing to gain), "idle" (nothing new to try) or "stopped"
    end: str
    candidates: Sequence[Candidate]  # in the order found; the seed first
    best: int  # number of the best; the first of equals
    validation: int
    refused: RefusedProposals
    calls: int  # calls, seconds: spent over all starts, without the report
    seconds: float
    reported: Reported | None = None  # on other questions; None without them

    @property
    def gain(self) -> float:
        """Score of the best minus score of the seed."""
        return self.candidates[self.best].score - self.candidates[0].score


@dataclass(frozen=True, slots=True)
class OptimisationProgress:
    """Progress after a call of a model."""

    candidates: int
    best: float | None  # score of the best; None before the first
    calls: int
    seconds: float
    plan: OptimisationPlan
    replayed: bool  # whether an earlier start had paid for this outcome


@dataclass(frozen=True, slots=True)
class Begun:
    """A run begins or continues."""

    train: int
    validation: int
    unusable: int  # questions without what the objective needs
    known: int
    torn: bool  # whether a cut off line was dropped
    models: Sequence[str]  # their ids, the writer of queries first
    loaded: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """A new candidate."""

    number: int
    candidate: Candidate
    best: bool


@dataclass(frozen=True, slots=True)
class Reporting:
    """Progress of the report; each question is tried with two instructions."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Leak:
    """Wording of a question in a prompt; as an event, in a refused proposal."""

    question: str  # its id; "" for article numbers
    wording: str  # shared letters (small letters and hiragana), or article numbers ("27_36")


Event = Begun | OptimisationProgress | Accepted | Leak | Reporting | Fact
Listener = Callable[[Event], None]
