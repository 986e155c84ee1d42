"""The values of an evaluation: questions whose answers are known, and what became of them.

Options are asked in several orders, so that a liking for a position shows. The orders are
rotations: over as many of them as there are options each option stands once at each place. Order 0
is that of the dataset.
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
"""The group that tells questions with an answer in their documents (yes) from those without."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A place that is known to answer a question, wholly or in part.

    Attributes:
        document: the law id; the id or the title of what is no statute.
        article: as in `Locator.article` ("27_36"); "" for what is no statute.
    """

    document: str
    article: str = ""


class GoldSentence(NamedTuple):
    """A sentence that is known to answer a question, in part.

    Attributes:
        document: as of `Gold`.
        text: as the dataset has it.
    """

    document: str
    text: str


class GoldEvidence(NamedTuple):
    """A question that was asked to check a claim, with the answers that were found.

    Attributes:
        answers: none where none could be found.
    """

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is known.

    Attributes:
        id: unique in its split.
        query: the question, its options in the order of the dataset.
        answer: the label of the right option in that order ("c"), or the text to be found; "" of a
            question that its texts do not answer; of a claim its verdict, as in `Veracity`.
        context: the texts that are known to answer it, as the dataset gives them; "" for none.
        gold: the places they stand at.
        groups: what it is counted under, value by name ({"law": "金商法", "kind": "関連法令",
            "polarity": "deviates"}).
        derivation: the triples that its answer follows from; empty where none are known.
        aliases: other texts that are as right as `answer`.
        sentences: of the gold places those that answer it; empty where they are not told.
        evidence: of a claim, what was asked to check it; empty of every other question.
    """

    id: str
    query: Query
    answer: str
    context: str = ""
    gold: tuple[Gold, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    derivation: tuple[Triple, ...] = ()
    aliases: tuple[str, ...] = ()
    sentences: tuple[GoldSentence, ...] = ()
    evidence: tuple[GoldEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that others have published, under conditions of their own.

    Attributes:
        score: their measure, 0 to 1.
        n: questions; 0 where they do not say.
        conditions: model, questions and corpus, in words.
        source: where it stands.
    """

    score: float
    n: int
    conditions: str
    source: str


@dataclass(frozen=True, slots=True)
class Split:
    """One set of questions of a dataset.

    Attributes:
        file: relative to the folder of the dataset.
        sha256: of the file, in hexadecimal digits; "" where it is not pinned.
        url: where it can be had; "" where it has no address of its own.
    """

    name: str
    file: str
    sha256: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as it is declared: data about data, no code.

    Attributes:
        name: what it is called by ("lawqa").
        title: as published.
        source: where it is published.
        licence: its terms.
        reader: the format of its files; a name in `localrag.evaluation.datasets.readers`.
        splits: where none is named, the first one that is at hand is used.
        corpus: files and folders, relative to the folder of the data, that make the corpus the
            questions are about.
        excerpts: files of passages that the corpus lacks, as
            `localrag.evaluation.datasets.acquiring` reads them; each passage becomes a document
            of the corpus.
        hints: how to come by a file or folder that has no address, by its path.
        caveats: what has to be known to judge a score on it, a sentence each.
        measure: how answers in free text are measured; a name in
            `localrag.evaluation.measures.MEASURES`.
        synonyms: files of words that the measure takes for the same, relative to the folder of the
            dataset; of those that are at hand a later one takes precedence.
        published: figures by method; several for one method under different conditions.
    """

    name: str
    title: str
    source: str
    licence: str
    reader: str
    splits: tuple[Split, ...]
    corpus: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    measure: str = CONTAINS
    synonyms: tuple[str, ...] = ()
    published: Mapping[str, Sequence[Published]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of one split, read and checked.

    Attributes:
        split: the name of the split; the name of the file where a file was given instead.
        sha256: of the file they were read from.
        own: whether a user gave them in the place of a split. What is said and published of the
            dataset does not hold for them, and `dataset` does not claim it.
        own_documents: whether each is asked of the documents alone that came with it; its query
            names them.
        unanswerable: whether each is followed by a variant without those that support its answer.
    """

    dataset: Dataset
    split: str
    sha256: str
    questions: tuple[Question, ...]
    own: bool = False
    own_documents: bool = False
    unanswerable: bool = False

    @property
    def are_claims(self) -> bool:
        """Whether they are claims, to be checked."""
        return self.dataset.measure == CLAIMS


class Cause(StrEnum):
    """Why an answer is wrong, after the error analysis of the published study.

    CORPUS: the corpus lacks every gold provision, so that no search could find one.
    SEARCH: no gold provision was among the hits that the answer could rest on.
    EVIDENCE: gold was found, but what the model was shown or the answer cites lacks it.
    REPLY: the reply stayed malformed, or no answer came for another reason.
    REASONING: the gold provision was there, or nothing was searched, or no gold is known, and the
        answer is wrong.
    """

    CORPUS = "corpus"
    SEARCH = "search"
    EVIDENCE = "evidence"
    REPLY = "reply"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class Spent:
    """What an answer, or several, cost.

    Attributes:
        calls: of chat models, retries included.
        retries: calls whose reply could not be used.
        prompt, cached, completion: tokens.
        seconds: wall time.
    """

    calls: int = 0
    retries: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, calls: Sequence[ModelCall], seconds: float) -> "Spent":
        """Sum up calls of a model.

        Raises:
            ValueError: a number is none that an answer can have cost.
        """
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


class Reading(StrEnum):
    """What a stage made of the hits for a query, held against the gold triple."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class Search:
    """One query of a derivation at one of the stages that were asked.

    Attributes:
        found: whether the hits that the stage read hold the gold triple, or say it.
        reading: what the stage made of them.
    """

    stage: Stage
    found: bool
    reading: Reading


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one question under one method and one order of its options.

    Attributes:
        question: its id.
        order: which of the orders of its options, from 0, the order of the dataset.
        score: 0 to 1; for a choice 1 if it is right, else 0; else the leading figure of the
            measure of the dataset. A failure scores 0.
        chosen: the label chosen, in the order of the dataset, or the verdict on a claim; "" where
            there is none.
        shown: the label chosen, as it was shown: the position.
        failure: the type of the error in the place of an answer; "" where there is one.
        cause: why it scores less than 1; None where it does not.
        recall: by stage, for each gold place the rank of the first hit that is it, 0 for none; of
            several searches, as for single options, the best rank.
        lengths: by stage, how many hits the longest of its lists holds.
        notes: what the trace says was left out, switched off or stood in for something else.
        transient: whether the failure may be gone by itself; the next call asks again.
        status: of the answer, as in `localrag.answer.types.Status`; "" for a failure.
        measures: the figures of an answer in free text, 0 to 1, by name; of a failure all 0.
        verdicts: on answer and derivation, by who gave them (`DETERMINISTIC`, `JUDGE`).
        unjudged: why the judge gave no verdict; "" where it did, or there is none.
        judging: what the verdict of the judge cost; no part of `spent`.
        searches: by query and stage, what was found and what was made of it; of queries that ask
            for a gold triple.
        unsought: gold triples that no query asked for.
        sentences: for each gold sentence whether the model was shown it; empty where there is none,
            or it is not known what was shown.
    """

    question: str
    order: int
    score: float
    chosen: str = ""
    shown: str = ""
    failure: str = ""
    cause: Cause | None = None
    recall: Mapping[str, Sequence[int]] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    spent: Spent = Spent()
    notes: tuple[Fact, ...] = ()
    transient: bool = False
    status: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)
    unjudged: str = ""
    judging: Spent = Spent()
    searches: tuple[Search, ...] = ()
    unsought: int = 0
    sentences: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """What was asked for and has no results: a method that cannot be run, an entry that stopped.

    Attributes:
        name: of the method or the entry.
        cause, cure: sentences; there may be no cure.
    """

    name: str
    cause: str
    cure: str = ""


Scores = Mapping[str, tuple[int, int]]
"""By measure what two answers were given, 0 to 100."""


@dataclass(frozen=True, slots=True)
class PairRating:
    """What a judge gave the answers of two entries to one question.

    Attributes:
        question: its id.
        first, second: the names of the entries.
        as_named, swapped: scores of the first and of the second entry, where the answer of the
            first was shown first, and where it was shown last; empty where the judge gave none.
        problem: why it gave none in one of them; "" where it gave both.
        spent: on both.
    """

    question: str
    first: str
    second: str
    as_named: Scores
    swapped: Scores
    problem: str = ""
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a report's table: a method under its settings, with all its results.

    Attributes:
        name: unique in the report; the method, with the model where one run compares several.
        method: its name.
        made_with: by dotted name, what the answers depend on: model and quantisation, prompts,
            corpus, settings, version of the code.
        results: question by question, order by order; complete.
    """

    name: str
    method: str
    made_with: Mapping[str, object]
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation, as reports and comparisons read it.

    Attributes:
        id: the name of its run folder.
        questions: what was asked; with the dataset.
        orders: how many orders of the options each question was asked in.
        entries: a method each, in the order asked for.
        machine: processor, memory and system, in words.
        date: ISO date and time (UTC) of its end.
        not_measured: what has no results, and why.
        lacking: by question, the gold places that the corpus does not hold; only of questions of
            which it lacks some, and only where a method searches.
        judge: by dotted name, what the verdicts of the judge were made with; empty without one.
        measured_with: what has to be known of the figures of the measure.
        ratings: of a judge, where it rates answers in pairs: every two entries, every question.
    """

    id: str
    questions: Questions
    orders: int
    entries: tuple[Entry, ...]
    machine: str
    date: str
    not_measured: tuple[NotMeasured, ...] = ()
    lacking: Mapping[str, tuple[Gold, ...]] = field(default_factory=dict)
    judge: Mapping[str, object] = field(default_factory=dict)
    measured_with: tuple[Fact, ...] = ()
    ratings: tuple[PairRating, ...] = ()


MOST = 4
"""Orders at most; of a question with fewer options the first ones come again."""


def rotated(query: Query, order: int) -> Query:
    """The question with its options in this order."""
    if not query.options:
        return query
    first = order % len(query.options)
    return replace(query, options=(*query.options[first:], *query.options[:first]))


def in_dataset_order(shown: str, order: int, options: int) -> str:
    """The label that an option has in the order of the dataset.

    Args:
        shown: the label it has in `order`.
        order: the order it was shown in.
        options: how many there are.

    Raises:
        ValueError: no option has this label.
    """
    return LABELS[(LABELS[:options].index(shown) + order) % options]


class Verdict(StrEnum):
    """Whether an answer and its derivation are right, in this order (true, false).

    NA: there is no answer, whatever was derived.
    """

    TT = "TT"
    TF = "TF"
    FT = "FT"
    FF = "FF"
    NA = "N/A"

    @classmethod
    def of(cls, *, answer: bool, derivation: bool) -> "Verdict":
        """The verdict on an answer that there is."""
        return cls("FT"[answer] + "FT"[derivation])


_T = TypeVar("_T", covariant=True)

Measured = Callable[[str, Sequence[Triple], Question], _T]
"""Takes the text of an answer, the triples it was derived from, and the question."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to measure answers in words.

    Attributes:
        score: the figure, among `figures`, that counts as the score.
        figures: by name, 0 to 1 each, better when higher.
        verdict: by comparison alone, without a model; None where derivations are not looked at.
        notes: what has to be known of the figures: what they were made with, and which could not
            be made.
        of_checks: makes the figures of a claim that was checked, in the place of `figures`; None
            where the questions are no claims.
        of_claims: makes the figures of the statements of an answer and of its citations, in the
            place of `figures`; None where its text alone is measured.
        rated: whether a judge rates answers in pairs (`localrag.evaluation.rating`), and gives no
            verdicts.
    """

    score: str
    figures: Measured[Mapping[str, float]]
    verdict: Measured[Verdict] | None = None
    notes: tuple[Fact, ...] = ()
    of_checks: Callable[[FactCheck | None, Question], Mapping[str, float]] | None = None
    of_claims: (
        Callable[[Sequence[Claim], Sequence[Citation], Question], Mapping[str, float]] | None
    ) = None
    rated: bool = False


@dataclass(frozen=True, slots=True)
class Asking:
    """A batch begins: one order of the options under one method; its own events follow.

    Attributes:
        name: of the entry.
        order: from 0.
        orders: how many there are.
        place, batches: which batch of how many that have something to ask.
    """

    name: str
    order: int
    orders: int
    place: int
    batches: int


@dataclass(frozen=True, slots=True)
class Halted:
    """An entry cannot go on; the others do."""

    name: str
    cause: str
    cure: str


@dataclass(frozen=True, slots=True)
class Judging:
    """A model begins to judge the answers of an entry; its progress follows.

    Attributes:
        name: of the entry.
        judge: the model.
        place, entries: which entry of how many that have something to judge.
    """

    name: str
    judge: str
    place: int
    entries: int


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The judge gave no verdict on an answer.

    Attributes:
        name: of the entry.
        question: its id.
        problem: why.
    """

    name: str
    question: str
    problem: str


Event = Asking | Halted | Judging | Unjudged | BatchEvent
Listener = Callable[[Event], None]
