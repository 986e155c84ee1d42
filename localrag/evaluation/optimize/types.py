"""The values of an optimisation: what it is to do, what it tried, what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from localrag.text.facts import Fact


class Objective(StrEnum):
    """What a query is scored by, from 0 to 1.

    OVERLAP: how well the best hit covers the gold context (`localrag.evaluation.optimize.task`).
    RECALL: how many gold articles are among the hits, and how early; see
        `localrag.evaluation.optimize.task.gain`.
    """

    OVERLAP = "overlap"
    RECALL = "recall"


@dataclass(frozen=True, slots=True)
class OptimisationPlan:
    """What is to be optimised, and for how long.

    Attributes:
        name: of the run and of the prompt it makes.
        dataset: name of a declared dataset, or path of a file of questions.
        split: of the dataset; "" for the first that is at hand.
        questions: a file of questions in the format of the dataset, to be read instead.
        limit: use so many of the questions, chosen by the seed; 0 for all.
        report: a file of questions that take no part; the built-in instruction and the best one are
            tried on them in the end. None for none.
        objective: what a query is scored by.
        calls: of models, at most; whatever was begun anew after a stop included. One reply that
            has to be asked for again may pass it.
        minutes: of work on queries and proposals, at most, over all starts of the run.
        reflection: the model that proposes prompts; "" for the one that writes the queries.
        seed: of the split of the questions and of every choice that GEPA makes.
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
    """What one prompt made of one question.

    Attributes:
        query: what the model wrote; "" where its reply stayed malformed.
        score: by the objective, 0 to 1.
        parts: what the score is made of, by name.
        found: headers of the hits, best first.
        missed: how many gold places are not among the hits, by kind of law; "" for what is no law.
        problem: why there is no query or no hit; "" where there is.
        notes: what a stage left out, switched off or stood in for.
        calls: of the model.
        seconds: wall time.
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
    """What the reflection model proposed.

    Attributes:
        text: the new instruction; "" where the reply stayed malformed.
        problem: why there is none.
        calls: of the reflection model.
        seconds: wall time.
    """

    text: str
    problem: str = ""
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt that was scored on all validation questions.

    Attributes:
        text: the instruction.
        score: mean over the validation questions.
        parent: number of the candidate it was made from; None for the seed.
    """

    text: str
    score: float
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """How many proposals never became a candidate, and why.

    Attributes:
        malformed: the reply could not be read, twice.
        leaking: it carried wording of the questions.
        repeated: it was tried before.
        not_better: it was no better than its parent on the training questions it was made from.
    """

    malformed: int = 0
    leaking: int = 0
    repeated: int = 0
    not_better: int = 0


@dataclass(frozen=True, slots=True)
class Reported:
    """What the built-in instruction and the best one come to on questions that took no part.

    Attributes:
        n: questions.
        found: of how many the first has a gold place among its hits, and of how many the second.
        scores: their mean scores.
    """

    n: int
    found: tuple[int, int]
    scores: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an optimisation came to.

    Attributes:
        name: of the run and of the prompt.
        end: why it ended: "calls", "minutes", "perfect" (nothing is left to gain), "idle"
            (nothing new to try) or "stopped".
        candidates: in the order in which they were found; the seed first.
        best: number of the best; of equals the first.
        validation: number of questions behind the scores.
        refused: proposals that never became a candidate.
        calls, seconds: spent, over all starts; without those of the report.
        reported: on other questions; None where none were given.
    """

    name: str
    end: str
    candidates: Sequence[Candidate]
    best: int
    validation: int
    refused: Refused
    calls: int
    seconds: float
    reported: Reported | None = None

    @property
    def gain(self) -> float:
        """By how much the best beats the seed on the validation questions."""
        return self.candidates[self.best].score - self.candidates[0].score


@dataclass(frozen=True, slots=True)
class OptimisationProgress:
    """How far it is; told after each call of a model.

    Attributes:
        candidates: so far, the seed included.
        best: score of the best of them; None before the seed is scored.
        calls, seconds: spent, over all starts of the run.
        plan: with the budget.
        replayed: whether this was known from an earlier start and cost nothing now.
    """

    candidates: int
    best: float | None
    calls: int
    seconds: float
    plan: OptimisationPlan
    replayed: bool


@dataclass(frozen=True, slots=True)
class Begun:
    """A run begins, or goes on.

    Attributes:
        train, validation: numbers of questions.
        unusable: questions that lack what the objective compares with.
        known: outcomes kept from earlier starts.
        torn: whether a line that a kill cut off was dropped.
        models: ids of the models, the one that writes queries first.
        loaded: bytes of the weights that are loaded for them.
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
    """How far the questions of the report are; each is tried under two instructions."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Leaked:
    """A proposal was refused: `localrag.evaluation.optimize.leakage.Leak` says why."""

    question: str
    wording: str


Event = Begun | OptimisationProgress | Accepted | Leaked | Reporting | Fact
Listener = Callable[[Event], None]
