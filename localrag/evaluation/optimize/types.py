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
    """Task and budget of an optimisation.

    Attributes:
        name: of the run and of its prompt.
        dataset: name of a dataset, or path of a file of questions.
        split: of the dataset; "" for the first present.
        questions: a file of questions to read instead, in the format of the dataset.
        limit: number of questions, chosen by the seed; 0 for all.
        report: a file of other questions, to compare the built-in and the best instruction; or
            None.
        calls: most calls of models, over all starts; a retry may exceed it.
        minutes: most minutes of work, over all starts.
        reflection: model that proposes prompts; "" for the writer of queries.
        seed: of the split and of GEPA's choices.
    """

    name: str
    dataset: str
    split: str = ""
    questions: Path | None = None
    limit: int = 0
    report: Path | None = None
    objective: Objective = Objective.OVERLAP
    calls: int = 1_000
    minutes: float = 480.0
    reflection: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Rollout:
    """One prompt on one question.

    Attributes:
        query: of the model; "" if its reply stayed malformed.
        score: 0 to 1.
        found: headers of the hits, best first.
        missed: gold places not among the hits, by kind of law; "" for other documents.
        problem: why there is no query or hit.
        notes: what a stage left out, switched off or replaced.
    """

    query: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    found: Sequence[str] = ()
    missed: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    notes: Sequence[Fact] = ()
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal of the reflection model.

    Attributes:
        text: the new instruction; "" if the reply stayed malformed.
    """

    text: str
    problem: str = ""
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt scored on all validation questions.

    Attributes:
        parent: number of its parent; None for the seed.
    """

    text: str
    score: float
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class RefusedProposals:
    """Numbers of proposals that became no candidate.

    Attributes:
        not_better: no better than the parent on its training questions.
    """

    malformed: int = 0
    leaking: int = 0
    repeated: int = 0
    not_better: int = 0


@dataclass(frozen=True, slots=True)
class Reported:
    """The built-in and the best instruction on other questions.

    Attributes:
        found: for both, questions with a gold place among the hits.
    """

    n: int
    found: tuple[int, int]
    scores: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an optimisation.

    Attributes:
        name: of the run and of the prompt.
        end: "calls", "minutes", "perfect" (nothing to gain), "idle" (nothing new to try) or
            "stopped".
        candidates: in the order found; the seed first.
        best: number of the best; the first of equals.
        calls, seconds: spent over all starts, without the report.
        reported: on other questions; None without them.
    """

    name: str
    end: str
    candidates: Sequence[Candidate]
    best: int
    validation: int
    refused: RefusedProposals
    calls: int
    seconds: float
    reported: Reported | None = None

    @property
    def gain(self) -> float:
        """Score of the best minus score of the seed."""
        return self.candidates[self.best].score - self.candidates[0].score


@dataclass(frozen=True, slots=True)
class OptimisationProgress:
    """Progress after a call of a model.

    Attributes:
        best: score of the best; None before the first.
        replayed: whether an earlier start had paid for this outcome.
    """

    candidates: int
    best: float | None
    calls: int
    seconds: float
    plan: OptimisationPlan
    replayed: bool


@dataclass(frozen=True, slots=True)
class Begun:
    """A run begins or continues.

    Attributes:
        unusable: questions without what the objective needs.
        torn: whether a cut off line was dropped.
        models: their ids, the writer of queries first.
    """

    train: int
    validation: int
    unusable: int
    known: int
    torn: bool
    models: Sequence[str]
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
class Leaked:
    """A proposal was refused as a leak (`localrag.evaluation.optimize.leakage.Leak`)."""

    question: str
    wording: str


Event = Begun | OptimisationProgress | Accepted | Leaked | Reporting | Fact
Listener = Callable[[Event], None]
