"""Values of an evaluation: questions with known answers, and their results.

Options are asked in several orders, to show a bias for a position. Orders are rotations; order 0
is the dataset's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

from localrag.answer.types import Citation, Claim, FactCheck, Stage
from localrag.corpus.types import Triple
from localrag.methods.catalogue import LABELS
from localrag.ops.batch.types import Event as BatchEvent
from localrag.search.types import ModelCall, Query
from localrag.text.facts import Fact

CONTAINS = "contains"
"""The measure of answers in free text where a dataset names no other one."""

CLAIMS = "averitec"
"""The measure of verdicts on claims: a dataset that names it has claims for questions."""


ANSWERABLE = "answerable"
"""The group of questions with (yes) and without (no) an answer in their documents."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A place answering a question, wholly or in part."""

    document: str  # law id; for other documents id or title
    article: str = ""  # as in `Locator.article` ("27_36"); "" outside statutes


class GoldSentence(NamedTuple):
    """A sentence answering part of a question."""

    document: str  # as in `Gold`
    text: str


class GoldEvidence(NamedTuple):
    """A question asked to check a claim, and the answers found."""

    question: str
    answers: tuple[str, ...]  # may be empty


@dataclass(frozen=True, slots=True)
class Question:
    """A question with a known answer."""

    id: str
    query: Query  # with options in the order of the dataset
    # label of the right option ("c"), a text, or the verdict on a claim (`Veracity`). "" if the
    # texts do not answer it
    answer: str
    context: str = ""  # texts that answer it, as in the dataset; may be ""
    gold: tuple[Gold, ...] = ()
    # value by name ({"law": "金商法", "kind": "関連法令", "polarity": "deviates"})
    groups: Mapping[str, str] = field(default_factory=dict)
    derivation: tuple[Triple, ...] = ()  # triples behind the answer; may be empty
    aliases: tuple[str, ...] = ()
    sentences: tuple[GoldSentence, ...] = ()  # gold sentences; may be empty
    evidence: tuple[GoldEvidence, ...] = ()  # for a claim, the questions asked to check it


@dataclass(frozen=True, slots=True)
class Published:
    """A figure published by others, under other conditions."""

    score: float  # 0 to 1
    n: int  # questions; 0 if unknown
    conditions: str  # model, questions and corpus, in words
    source: str


@dataclass(frozen=True, slots=True)
class Split:
    """One set of questions of a dataset."""

    name: str
    file: str  # relative to the folder of the dataset
    sha256: str = ""  # in hexadecimal digits; "" if not pinned
    url: str = ""  # for the download; may be ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A declared dataset."""

    name: str  # short name ("lawqa")
    title: str
    source: str
    licence: str
    reader: str  # format of its files; a name in `localrag.evaluation.datasets.readers`
    splits: tuple[Split, ...]  # by default, the first one present is used
    # files and folders of the corpus, relative to the folder of the data
    corpus: tuple[str, ...] = ()
    # files of passages missing from the corpus; each becomes a document
    # (`localrag.evaluation.datasets.acquiring`)
    excerpts: tuple[str, ...] = ()
    # by path, how to get a file or folder without an address
    hints: Mapping[str, str] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()  # sentences needed to judge a score
    # of answers in free text; a name in `localrag.evaluation.measures.MEASURES`
    measure: str = CONTAINS
    # files for the measure, relative to the folder of the dataset; later ones win
    synonyms: tuple[str, ...] = ()
    published: Mapping[str, Sequence[Published]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of one split, read and checked."""

    dataset: Dataset
    split: str  # its name, or the name of a user's file
    sha256: str
    questions: tuple[Question, ...]
    # whether a user's file replaces the split; caveats and published figures do not apply
    own: bool = False
    # whether each question is asked of its own documents only, named in its query
    own_documents: bool = False
    # whether each is followed by a variant without its supporting documents
    unanswerable: bool = False

    @property
    def are_claims(self) -> bool:
        """Whether they are claims to check."""
        return self.dataset.measure == CLAIMS


class Cause(StrEnum):
    """Cause of a wrong answer.

    CORPUS: the corpus has no gold provision. SEARCH: no gold provision was among the hits.
    EVIDENCE: gold was found, but not shown to the model or not cited. REPLY: the reply stayed
    malformed, or there is no answer. REASONING: any other wrong answer.
    """

    CORPUS = "corpus"
    SEARCH = "search"
    EVIDENCE = "evidence"
    REPLY = "reply"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class Spent:
    """Cost of one or several answers."""

    calls: int = 0  # of chat models, retries included
    retries: int = 0  # calls with an unusable reply
    prompt: int = 0  # prompt, cached, completion: tokens
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0  # wall time

    @classmethod
    def of(cls, calls: Sequence[ModelCall], seconds: float) -> "Spent":
        """Sum up calls of a model. Raises `ValueError` if a number is negative or infinite."""
        spent = cls(
            calls=len(calls),
            retries=sum(bool(call.problem) for call in calls),
            prompt=sum(call.prompt for call in calls),
            cached=sum(call.cached or 0 for call in calls),
            completion=sum(call.completion for call in calls),
            seconds=round(seconds, 6),
        )
        counts = (spent.prompt, spent.cached, spent.completion, spent.seconds)
        if not all(math.isfinite(count) and count >= 0 for count in counts):
            raise ValueError("no cost")
        return spent


DETERMINISTIC, JUDGE = "deterministic", "judge"
"""Who gives verdicts: the comparison by code, and a model."""


class StageReading(StrEnum):
    """A stage's reading of the hits, compared with the gold triple."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class StageSearch:
    """One query of a derivation at one stage."""

    stage: Stage
    found: bool  # whether the hits hold or state the gold triple
    reading: StageReading


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one question, method and order of options."""

    question: str
    order: int  # of the options, from 0
    # 0 to 1: right or wrong for a choice, else the main figure of the measure; 0 for a failure
    score: float
    chosen: str = ""  # label in the order of the dataset, or verdict on a claim; may be ""
    shown: str = ""
    failure: str = ""  # type of the error; "" for an answer
    cause: Cause | None = None  # why the score is below 1; None otherwise
    # by stage, the best rank of each gold place; 0 if not found
    recall: Mapping[str, Sequence[int]] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)  # by stage, hits in its longest list
    spent: Spent = Spent()
    notes: tuple[Fact, ...] = ()  # from the trace: what was left out, switched off or replaced
    transient: bool = False  # whether the next call asks again
    status: str = ""  # as in `localrag.answer.types.Status`; "" for a failure
    # figures of an answer in free text, 0 to 1, by name; 0 for a failure
    measures: Mapping[str, float] = field(default_factory=dict)
    # on answer and derivation, by their source (`DETERMINISTIC`, `JUDGE`)
    verdicts: Mapping[str, str] = field(default_factory=dict)
    unjudged: str = ""  # why the judge gave no verdict
    judging: Spent = Spent()  # cost of the judge, not part of `spent`
    searches: tuple[StageSearch, ...] = ()  # by query and stage, for queries about a gold triple
    unsought: int = 0  # number of gold triples without a query
    # for each gold sentence, whether it was shown; empty if unknown
    sentences: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """A method or entry without results; as an event, one that cannot continue."""

    name: str
    cause: str  # cause, cure: sentences; the cure may be ""
    cure: str = ""


Scores = Mapping[str, tuple[int, int]]
"""By measure what two answers were given, 0 to 100."""


@dataclass(frozen=True, slots=True)
class PairRating:
    """A judge's scores of two entries on one question."""

    question: str
    first: str
    second: str
    # as_named, swapped: scores of both, with the first shown first or last; empty if there are none
    as_named: Scores
    swapped: Scores
    problem: str = ""
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a report's table, with all its results."""

    name: str  # unique in the report: the method, and the model if there are several
    method: str
    made_with: Mapping[str, object]  # everything the answers depend on, by dotted name
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation."""

    id: str
    questions: Questions
    orders: int
    entries: tuple[Entry, ...]
    machine: str
    date: str  # ISO date and time (UTC) of the end
    not_measured: tuple[NotMeasured, ...] = ()
    # by question, gold places missing from the corpus; only if a method searches
    lacking: Mapping[str, tuple[Gold, ...]] = field(default_factory=dict)
    # everything its verdicts depend on, by dotted name; empty without a judge
    judge: Mapping[str, object] = field(default_factory=dict)
    measured_with: tuple[Fact, ...] = ()  # notes on the figures of the measure
    ratings: tuple[PairRating, ...] = ()  # of every two entries, if a judge rates pairs


MOST = 4
"""Orders at most; of a question with fewer options the first ones come again."""


def rotated(query: Query, order: int) -> Query:
    """The question with its options in this order."""
    if not query.options:
        return query
    first = order % len(query.options)
    return replace(query, options=(*query.options[first:], *query.options[:first]))


def in_dataset_order(shown: str, order: int, options: int) -> str:
    """The label of an option in the order of the dataset. Raises `ValueError`."""
    return LABELS[(LABELS[:options].index(shown) + order) % options]


class AnswerVerdict(StrEnum):
    """Whether an answer and its derivation are right (true, false); NA without an answer."""

    TT = "TT"
    TF = "TF"
    FT = "FT"
    FF = "FF"
    NA = "N/A"

    @classmethod
    def of(cls, *, answer: bool, derivation: bool) -> "AnswerVerdict":
        """The verdict on an existing answer."""
        return cls("FT"[answer] + "FT"[derivation])


_T = TypeVar("_T", covariant=True)

Measured = Callable[[str, Sequence[Triple], Question], _T]
"""Takes the text of an answer, the triples it was derived from, and the question."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of answers in free text."""

    score: str
    figures: Measured[Mapping[str, float]]  # by name, 0 to 1, higher is better
    # by comparison; None if derivations are not examined
    verdict: Measured[AnswerVerdict] | None = None
    notes: tuple[Fact, ...] = ()  # versions used, and figures that are missing
    # figures of a checked claim, instead of `figures`; None for questions
    of_checks: Callable[[FactCheck | None, Question], Mapping[str, float]] | None = None
    # figures of statements and citations, instead of `figures`; None otherwise
    of_claims: (
        Callable[[Sequence[Claim], Sequence[Citation], Question], Mapping[str, float]] | None
    ) = None
    rated: bool = False  # whether a judge rates answers in pairs instead of giving verdicts


@dataclass(frozen=True, slots=True)
class Asking:
    """A batch begins: one order of options and one method."""

    name: str
    order: int  # from 0
    orders: int
    place: int  # place, batches: number of this batch, and of all
    batches: int


@dataclass(frozen=True, slots=True)
class Judging:
    """A model begins to judge an entry."""

    name: str
    judge: str
    place: int  # place, entries: number of this entry, and of all
    entries: int


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The judge gave no verdict on an answer."""

    name: str
    question: str
    problem: str


Event = Asking | NotMeasured | Judging | Unjudged | BatchEvent
Listener = Callable[[Event], None]
