"""Results of an entry by question, and their measures; gold places found and shown."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median
from string import Formatter

from localrag.answer.types import Stage, Status
from localrag.errors import InputError
from localrag.evaluation.statistics import Estimate, score, share
from localrag.evaluation.types import (
    ANSWERABLE,
    DETERMINISTIC,
    JUDGE,
    AnswerVerdict,
    Entry,
    Evaluation,
    Question,
    Result,
    Spent,
    StageReading,
    StageSearch,
    in_dataset_order,
)
from localrag.language import N_, _
from localrag.methods.catalogue import LABELS
from localrag.methods.extractive import EVIDENCE
from localrag.text.facts import Fact, FactKind

AGAIN = N_("Give the command of the evaluation again: answers that are there are kept.")


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of one entry."""

    entry: Entry
    questions: tuple[Question, ...]  # in the order of the dataset
    # results of each in all orders of options, from 0
    by_question: Mapping[str, tuple[Result, ...]]

    def all(self) -> list[Result]:
        """All results, by question and order."""
        return [result for question in self.questions for result in self.by_question[question.id]]

    def scores(self, question: Question) -> list[float]:
        """Scores of a question, by order."""
        return [result.score for result in self.by_question[question.id]]

    def first_scores(self) -> list[float]:
        """Score of each question in the order of the dataset."""
        return [self.scores(question)[0] for question in self.questions]

    def means(self) -> list[float]:
        """Mean score of each question."""
        return [fmean(self.scores(question)) for question in self.questions]


def answers_of(evaluation: Evaluation) -> list[Answers]:
    """Group the results of every entry by question. Raises `InputError`."""
    names = Counter(entry.name for entry in evaluation.entries)
    for name, times in names.items():
        if times > 1:
            raise InputError(
                N_("{n} entries of {evaluation} are named {name!r}."),
                AGAIN,
                n=times,
                evaluation=evaluation.id,
                name=name,
            )
    return [_answers(evaluation, entry) for entry in evaluation.entries]


def _answers(evaluation: Evaluation, entry: Entry) -> Answers:
    questions = evaluation.questions.questions
    cells = [(question.id, order) for question in questions for order in range(evaluation.orders)]
    counts = Counter((result.question, result.order) for result in entry.results)
    missing = [cell for cell in cells if cell not in counts]
    if missing:
        question, order = missing[0]
        raise InputError(
            N_(
                "{n} of {total} results of {entry!r} are missing, such as {question!r} in order "
                "{order}."
            ),
            AGAIN,
            n=len(missing),
            total=len(cells),
            entry=entry.name,
            question=question,
            order=order,
        )
    if len(entry.results) > len(cells):
        question, order = next(cell for cell in counts if counts[cell] > 1 or cell not in cells)
        raise InputError(
            N_("{entry!r} has a result too many: {question!r} in order {order}."),
            AGAIN,
            entry=entry.name,
            question=question,
            order=order,
        )
    for result in entry.results:
        if not (math.isfinite(result.score) and 0 <= result.score <= 1):
            raise InputError(
                N_("{entry!r} scores {score} on {question!r}, which does not lie between 0 and 1."),
                AGAIN,
                entry=entry.name,
                score=result.score,
                question=result.question,
            )
    placed = {(result.question, result.order): result for result in entry.results}
    by_question = {
        question.id: tuple(placed[question.id, order] for order in range(evaluation.orders))
        for question in questions
    }
    return Answers(entry, questions, by_question)


@dataclass(frozen=True, slots=True)
class Costs:
    """Cost of one answer."""

    n: int
    calls: float  # calls, prompt, cached, completion: means of calls (with retries) and tokens
    retries: int
    prompt: float
    cached: float
    completion: float
    # median_seconds, p95_seconds: wall time; the 95th percentile by nearest rank
    median_seconds: float
    p95_seconds: float


def costs(spent: Sequence[Spent]) -> Costs | None:
    """Summarise the cost of answers; None without any."""
    if not spent:
        return None
    seconds = sorted(one.seconds for one in spent)
    return Costs(
        n=len(spent),
        calls=fmean(one.calls for one in spent),
        retries=sum(one.retries for one in spent),
        prompt=fmean(one.prompt for one in spent),
        cached=fmean(one.cached for one in spent),
        completion=fmean(one.completion for one in spent),
        median_seconds=median(seconds),
        p95_seconds=seconds[math.ceil(0.95 * len(seconds)) - 1],
    )


CHANCE = "chance"
"""The name of the baseline that chooses by chance."""


@dataclass(frozen=True, slots=True)
class Position:
    """One position among the options."""

    label: str
    chosen: int
    right: int  # answers for which it was right


@dataclass(frozen=True, slots=True)
class Baseline:
    """Score of answers ignoring the question."""

    name: str  # `CHANCE`, or "always a"
    position: str  # label of the constant choice; "" for chance
    score: Estimate


def positions(answers: Answers) -> list[Position]:
    """How often each position was chosen, and was right."""
    chosen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question in answers.questions:
        for result in answers.by_question[question.id]:
            if result.shown:
                chosen[result.shown] += 1
                right[right_position(question, result.order)] += 1
    return [Position(label, chosen[label], right[label]) for label in sorted({*chosen, *right})]


def same_choice(answers: Answers) -> Estimate | None:
    """Share of questions with the same choice in all orders; a missing answer is another choice."""
    choices = [
        [result.chosen for result in answers.by_question[question.id]]
        for question in answers.questions
    ]
    if not any(map(any, choices)) or len(choices[0]) < 2:
        return None
    return share(sum(bool(one[0]) and len(set(one)) == 1 for one in choices), len(choices))


def baselines(questions: Sequence[Question], orders: int) -> list[Baseline]:
    """Constant positions, and chance; empty without options."""
    if not questions or not all(question.query.options for question in questions):
        return []
    places = [
        [right_position(question, order) for order in range(orders)] for question in questions
    ]
    widest = max(len(question.query.options) for question in questions)
    always = [
        Baseline(f"always {label}", label, found)
        for label in LABELS[:widest]
        if (found := score([[float(place == label) for place in one] for one in places]))
    ]
    chance = fmean(1 / len(question.query.options) for question in questions)
    return [*always, Baseline(CHANCE, "", Estimate(chance, chance, chance, len(questions)))]


def right_position(question: Question, order: int) -> str:
    """Label of the right option in this order."""
    size = len(question.query.options)
    labels = LABELS[:size]
    return next(one for one in labels if in_dataset_order(one, order, size) == question.answer)


SHARE = 0.05
"""Of the answers of an entry: what holds for fewer says little about its score."""


@dataclass(frozen=True, slots=True)
class TraceNote:
    """A note in the traces of several answers."""

    kind: FactKind
    fact: Fact | None  # None if the answers differ in its fields. Results keep the exact facts
    answers: int

    @property
    def key(self) -> str:
        """Identifies it: its kind, or the words of an earlier version."""
        return _key(self.fact) if self.fact else self.kind.code

    def __str__(self) -> str:
        if self.fact:
            return str(self.fact)
        parts = Formatter().parse(_(self.kind.words))
        return "".join(text + ("…" if field else "") for text, field, _spec, _conversion in parts)


def _key(fact: Fact) -> str:
    return str(fact) if fact.kind is FactKind.SAID else fact.kind.code


def counts(results: Sequence[Result]) -> list[TraceNote]:
    """Notes in the traces of answers with their number, the most frequent first."""
    facts = [fact for result in results for fact in set(result.notes)]
    answers = Counter(key for result in results for key in set(map(_key, result.notes)))
    notes = [TraceNote(fact.kind, fact, answers[_key(fact)]) for fact in facts]
    return sorted(_united(notes), key=lambda note: (-note.answers, note.key))


def common(entries: Iterable[tuple[Sequence[TraceNote], int]]) -> list[TraceNote]:
    """Notes of at least `SHARE`, and at least two, of the answers of an entry, in order."""
    held = list(entries)
    keys = {
        note.key
        for notes, answers in held
        for note in notes
        if note.answers >= SHARE * answers and (note.answers > 1 or answers == 1)
    }
    return [
        note for note in _united(note for notes, _n in held for note in notes) if note.key in keys
    ]


def _united(notes: Iterable[TraceNote]) -> list[TraceNote]:
    """Notes without duplicates; without a fact if two of a kind differ."""
    found: dict[str, TraceNote] = {}
    for note in notes:
        before = found.setdefault(note.key, note)
        if before.fact != note.fact:
            found[note.key] = replace(before, fact=None)
    return list(found.values())


_Value = Callable[[Result], float | None]
"""The averaged value; None if unknown."""

_ANSWERED = (Status.SUPPORTED, Status.UNSUPPORTED)
"""Statuses of answers; closest quotations are not answers."""

_REFUSED = (Status.NOT_FOUND, Status.UNSUPPORTED)
"""Statuses of answers that nobody is to rely on."""

APART = (ANSWERABLE, "type", "answer")
"""Groups of questions that are measured separately."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A stage's readings of the hits."""

    found: Mapping[StageReading, int]  # by reading, queries whose hits held the gold triple
    missed: Mapping[StageReading, int]
    gold: Estimate
    # of_found, of_missed: shares by reading; may be empty
    of_found: Mapping[StageReading, Estimate]
    of_missed: Mapping[StageReading, Estimate]


@dataclass(frozen=True, slots=True)
class AnswerMeasures:
    """Measures of answers to some questions."""

    n: int
    figures: Mapping[str, Estimate]  # of the dataset's measure, by name
    not_found: Estimate  # share of questions without a finding
    quoted: Estimate  # share of questions with quotations only
    answered: Estimate | None  # score of the others, without failures; may be None
    verdicts: Mapping[str, Mapping[str, Estimate]]  # share of each verdict, by source
    agreement: Estimate | None  # share of equal verdicts of code and judge
    unjudged: int  # answers without a verdict of the judge
    searched: Mapping[Stage, Searched]
    unsought: int


def measured(answers: Answers) -> AnswerMeasures | None:
    """Measures over all questions of an entry; None for choices."""
    return _of([answers.by_question[question.id] for question in answers.questions])


def apart(answers: Answers) -> dict[str, dict[str, AnswerMeasures]]:
    """Measures by group and value, for the groups in `APART`."""
    groups: dict[str, dict[str, list[Sequence[Result]]]] = {}
    for question in answers.questions:
        for name in APART:
            if value := question.groups.get(name):
                of_name = groups.setdefault(name, {})
                of_name.setdefault(value, []).append(answers.by_question[question.id])
    return {
        name: {value: found for value in sorted(values) if (found := _of(values[value]))}
        for name, values in groups.items()
    }


def _of(asked: Sequence[Sequence[Result]]) -> AnswerMeasures | None:
    results = [result for results in asked for result in results]
    names = dict.fromkeys(name for result in results for name in result.measures)
    not_found, quoted = (_mean(asked, _has(each)) for each in (Status.NOT_FOUND, Status.QUOTED))
    if not names or not_found is None or quoted is None:
        return None
    return AnswerMeasures(
        n=len(asked),
        figures=_means(asked, {name: _figure(name) for name in names}),
        not_found=not_found,
        quoted=quoted,
        answered=_mean(asked, lambda one: one.score if one.status in _ANSWERED else None),
        verdicts={
            by: shares
            for by in (DETERMINISTIC, JUDGE)
            if (
                shares := _means(
                    asked, {verdict: _verdict(by, verdict) for verdict in AnswerVerdict}
                )
            )
        },
        agreement=_mean(asked, _agreement),
        unjudged=sum(bool(result.unjudged) for result in results),
        searched=_searched([search for result in results for search in result.searches]),
        unsought=sum(result.unsought for result in results),
    )


@dataclass(frozen=True, slots=True)
class Refusals:
    """Refusals of questions."""

    n: int
    refused: Estimate  # share with nothing found, or with an unsupported answer
    not_found: Estimate
    unsupported: Estimate
    quoted: Estimate  # share with quotations only
    supported: Estimate


def refusals(answers: Answers) -> dict[str, Refusals]:
    """Refusals of answerable (yes) and unanswerable questions (no).

    Empty without unanswerable ones. A failure is neither refusal nor answer.
    """
    by_value: dict[str, list[Sequence[Result]]] = {}
    for question in answers.questions:
        if value := question.groups.get(ANSWERABLE):
            by_value.setdefault(value, []).append(answers.by_question[question.id])
    if "no" not in by_value:
        return {}
    return {value: _refusals(by_value[value]) for value in sorted(by_value)}


def _refusals(asked: Sequence[Sequence[Result]]) -> Refusals:
    def having(*statuses: Status) -> Estimate:
        found = score([[float(one.status in statuses) for one in results] for results in asked])
        assert found
        return found

    return Refusals(
        n=len(asked),
        refused=having(*_REFUSED),
        not_found=having(Status.NOT_FOUND),
        unsupported=having(Status.UNSUPPORTED),
        quoted=having(Status.QUOTED),
        supported=having(Status.SUPPORTED),
    )


def _searched(searches: Sequence[StageSearch]) -> dict[Stage, Searched]:
    counts = Counter((one.stage, one.found, one.reading) for one in searches)
    found: dict[Stage, Searched] = {}
    for stage in dict.fromkeys(search.stage for search in searches):
        held, missed = (
            {reading: counts[stage, holds, reading] for reading in StageReading}
            for holds in (True, False)
        )
        n = sum(held.values())
        gold = share(n, n + sum(missed.values()))
        found[stage] = Searched(held, missed, gold, _shares(held), _shares(missed))
    return found


def _shares(counts: Mapping[StageReading, int]) -> dict[StageReading, Estimate]:
    n = sum(counts.values())
    return {reading: share(count, n) for reading, count in counts.items()} if n else {}


def _has(status: Status) -> _Value:
    return lambda one: float(one.status == status)


def _figure(name: str) -> _Value:
    return lambda one: one.measures.get(name)


def _verdict(by: str, verdict: str) -> _Value:
    return lambda one: float(one.verdicts[by] == verdict) if by in one.verdicts else None


def _agreement(one: Result) -> float | None:
    if not {DETERMINISTIC, JUDGE} <= one.verdicts.keys():
        return None
    return float(one.verdicts[DETERMINISTIC] == one.verdicts[JUDGE])


def _means(asked: Sequence[Sequence[Result]], values: Mapping[str, _Value]) -> dict[str, Estimate]:
    return {name: found for name, value in values.items() if (found := _mean(asked, value))}


def _mean(asked: Sequence[Sequence[Result]], value: _Value) -> Estimate | None:
    values = [[found for one in results if (found := value(one)) is not None] for results in asked]
    return score([found for found in values if found])


DEPTHS = (5, 10)
"""Hits looked at."""

_Found = Callable[[Iterable[bool]], bool]


@dataclass(frozen=True, slots=True)
class Recall:
    """Questions with any or all gold places among the first hits, to the longest list."""

    any_found: Mapping[int, Estimate]
    all_found: Mapping[int, Estimate]


def recall(answers: Answers) -> dict[str, Recall]:
    """Recall of every stage over questions with gold places; one not reached found nothing."""
    asked = [answers.by_question[question.id] for question in answers.questions if question.gold]
    stages = dict.fromkeys(
        stage for results in asked for result in results for stage in result.recall
    )
    return {stage: Recall(_at(asked, stage, any), _at(asked, stage, all)) for stage in stages}


def _at(asked: Sequence[Sequence[Result]], stage: str, found: _Found) -> dict[int, Estimate]:
    # Older reports have no lengths.
    longest = max(r.lengths.get(stage, DEPTHS[-1]) for rs in asked for r in rs if stage in r.recall)
    return {
        depth: estimate
        for before, depth in pairwise((0, *DEPTHS))
        if before == 0 or longest > before
        if (estimate := score([[_hit(r, stage, found, depth) for r in rs] for rs in asked]))
    }


def _hit(result: Result, stage: str, found: _Found, depth: int) -> float:
    ranks = result.recall.get(stage, ())
    return float(bool(ranks) and found(0 < rank <= depth for rank in ranks))


@dataclass(frozen=True, slots=True)
class GoldShown:
    """Share of gold places shown to a model, over all searches of a question."""

    # any_found, all_found: share of questions with any or all of their gold places
    any_found: Estimate
    all_found: Estimate
    recall: Estimate  # mean share of a question's gold places


def shown(answers: Answers) -> GoldShown | None:
    """Gold places in the evidence; None if nothing is known, none shown without evidence."""
    asked = [answers.by_question[question.id] for question in answers.questions if question.gold]
    if not any(EVIDENCE in result.recall for results in asked for result in results):
        return None
    return _shown(asked, lambda one: [rank > 0 for rank in one.recall.get(EVIDENCE, ())])


def sentences_shown(answers: Answers) -> GoldShown | None:
    """Gold sentences among the chosen ones; None if unknown."""
    asked = [
        answers.by_question[question.id] for question in answers.questions if question.sentences
    ]
    if not any(result.sentences for results in asked for result in results):
        return None
    return _shown(asked, lambda one: one.sentences)


def _shown(
    asked: Sequence[Sequence[Result]], held: Callable[[Result], Sequence[bool]]
) -> GoldShown | None:
    def share(of: Callable[[Sequence[bool]], float]) -> Estimate | None:
        return score([[float(of(held(one) or (False,))) for one in results] for results in asked])

    some, every, recalled = share(any), share(all), share(fmean)
    return GoldShown(some, every, recalled) if some and every and recalled else None
