"""What the answers of an entry come to: laid out by question, then measured one thing at a time."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from string import Formatter

from localrag.answer.types import Stage, Status
from localrag.errors import InputError
from localrag.evaluation.statistics import Estimate, score, share
from localrag.evaluation.types import (
    ANSWERABLE,
    DETERMINISTIC,
    JUDGE,
    Entry,
    Evaluation,
    Question,
    Reading,
    Result,
    Search,
    Spent,
    Verdict,
    in_dataset_order,
)
from localrag.language import N_, _
from localrag.methods.catalogue import LABELS
from localrag.text.facts import Fact, FactKind

AGAIN = N_("Give the command of the evaluation again: answers that are there are kept.")


@dataclass(frozen=True, slots=True)
class Answers:
    """Every answer of one entry.

    Attributes:
        questions: in the order of the dataset.
        by_question: for each the results in all orders of its options, from order 0.
    """

    entry: Entry
    questions: tuple[Question, ...]
    by_question: Mapping[str, tuple[Result, ...]]

    def all(self) -> list[Result]:
        """All results, order by order within each question."""
        return [result for question in self.questions for result in self.by_question[question.id]]

    def scores(self, question: Question) -> list[float]:
        """The scores of a question, order by order."""
        return [result.score for result in self.by_question[question.id]]

    def first_scores(self) -> list[float]:
        """The score of each question in the order of the dataset."""
        return [self.scores(question)[0] for question in self.questions]

    def means(self) -> list[float]:
        """The mean score of each question."""
        return [fmean(self.scores(question)) for question in self.questions]


def answers_of(evaluation: Evaluation) -> list[Answers]:
    """Lay out the results of every entry.

    Raises:
        InputError: entries share a name, or the results of one are not complete: figures over part
            of the questions would not be comparable.
    """
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
    """What one answer costs.

    Attributes:
        n: answers.
        calls, prompt, cached, completion: means; calls include retries, the others are tokens.
        retries: of all answers together.
        median_seconds, p95_seconds: wall time; the 95th percentile by nearest rank.
    """

    n: int
    calls: float
    retries: int
    prompt: float
    cached: float
    completion: float
    median_seconds: float
    p95_seconds: float


def costs(spent: Sequence[Spent]) -> Costs | None:
    """Sum up what answers cost; None where there is none."""
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
    """One place among the options, over all answers of an entry that chose one.

    Attributes:
        label: what the option there is labelled.
        chosen: answers that chose it.
        right: the same questions in the same orders, if each were answered right.
    """

    label: str
    chosen: int
    right: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a way to answer that reads no question scores on these questions.

    Attributes:
        name: `CHANCE`, or "always a".
        position: the label that is always chosen; "" for chance.
    """

    name: str
    position: str
    score: Estimate


def positions(answers: Answers) -> list[Position]:
    """How often each position was chosen, and how often it was right, in the answers there are."""
    chosen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question in answers.questions:
        for result in answers.by_question[question.id]:
            if result.shown:
                chosen[result.shown] += 1
                right[right_position(question, result.order)] += 1
    return [Position(label, chosen[label], right[label]) for label in sorted({*chosen, *right})]


def same_choice(answers: Answers) -> Estimate | None:
    """The share of questions with the same option chosen in all orders.

    A question with an answer missing counts as not the same. None where there is one order, or
    no option was ever chosen.
    """
    choices = [
        [result.chosen for result in answers.by_question[question.id]]
        for question in answers.questions
    ]
    if not any(map(any, choices)) or len(choices[0]) < 2:
        return None
    return share(sum(bool(one[0]) and len(set(one)) == 1 for one in choices), len(choices))


def baselines(questions: Sequence[Question], orders: int) -> list[Baseline]:
    """Always the same position, and chance; none where questions are not answered by a choice."""
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
    """The label under which the right option is shown in this order."""
    size = len(question.query.options)
    labels = LABELS[:size]
    return next(one for one in labels if in_dataset_order(one, order, size) == question.answer)


SHARE = 0.05
"""Of the answers of an entry: what holds for fewer says little about its score."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the traces of some answers say was left out, switched off or stood in.

    Attributes:
        kind: of what they say.
        fact: what all of them say; None where each says it of something else, such as another
            provision. The exact facts stay in the results.
        answers: how many.
    """

    kind: FactKind
    fact: Fact | None
    answers: int

    @property
    def key(self) -> str:
        """What tells it from others: its kind, or the words that an earlier version put instead."""
        return _key(self.fact) if self.fact else self.kind.code

    def __str__(self) -> str:
        if self.fact:
            return str(self.fact)
        parts = Formatter().parse(_(self.kind.words))
        return "".join(text + ("…" if field else "") for text, field, _spec, _conversion in parts)


def _key(fact: Fact) -> str:
    return str(fact) if fact.kind is FactKind.SAID else fact.kind.code


def counts(results: Sequence[Result]) -> list[Note]:
    """What the traces of answers say, and of how many; the commonest first."""
    facts = [fact for result in results for fact in set(result.notes)]
    answers = Counter(key for result in results for key in set(map(_key, result.notes)))
    notes = [Note(fact.kind, fact, answers[_key(fact)]) for fact in facts]
    return sorted(_united(notes), key=lambda note: (-note.answers, note.key))


def common(entries: Iterable[tuple[Sequence[Note], int]]) -> list[Note]:
    """The notes that hold for a `SHARE` of the answers of an entry or more, in their order.

    A note on one answer of several is never common.

    Args:
        entries: for each what `counts` gives, and how many answers it has.
    """
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


def _united(notes: Iterable[Note]) -> list[Note]:
    """The notes, each once: without a fact where two of a kind differ in it."""
    found: dict[str, Note] = {}
    for note in notes:
        before = found.setdefault(note.key, note)
        if before.fact != note.fact:
            found[note.key] = replace(before, fact=None)
    return list(found.values())


_Value = Callable[[Result], float | None]
"""What is averaged; None where it is not known."""

_ANSWERED = (Status.SUPPORTED, Status.UNSUPPORTED)
"""Statuses of answers that say something; quotations that come nearest promise no answer."""

_REFUSED = (Status.NOT_FOUND, Status.UNSUPPORTED)
"""Statuses of answers that nobody is to rely on."""

APART = (ANSWERABLE, "type", "answer")
"""The groups of questions that are measured apart, where a dataset has them."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a stage made of the hits for queries.

    Attributes:
        found: by what it made of them, queries whose hits held the gold triple.
        missed: those whose hits did not.
        gold: the share of the queries whose hits did.
        of_found, of_missed: the shares that `found` and `missed` are of those queries; empty
            without any.
    """

    found: Mapping[Reading, int]
    missed: Mapping[Reading, int]
    gold: Estimate
    of_found: Mapping[Reading, Estimate]
    of_missed: Mapping[Reading, Estimate]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the answers to some questions come to.

    Attributes:
        n: questions.
        figures: of the measure of the dataset, by name.
        not_found: share of questions that nothing was found for.
        quoted: share of questions that only quotations were given for, with no word on whether
            they answer.
        answered: the score of the others, failures left out; None where there is none.
        verdicts: share of each verdict, by who gave it.
        agreement: share of the answers that both gave a verdict on, on which code and judge agree.
        unjudged: answers that the judge gave no verdict on.
        searched: by stage that searches.
        unsought: gold triples that no query asked for.
    """

    n: int
    figures: Mapping[str, Estimate]
    not_found: Estimate
    quoted: Estimate
    answered: Estimate | None
    verdicts: Mapping[str, Mapping[str, Estimate]]
    agreement: Estimate | None
    unjudged: int
    searched: Mapping[Stage, Searched]
    unsought: int


def measured(answers: Answers) -> Measured | None:
    """Over all questions of an entry; None where they are answered by a choice."""
    return _of([answers.by_question[question.id] for question in answers.questions])


def apart(answers: Answers) -> dict[str, dict[str, Measured]]:
    """By the name of a group and the value in it, for the groups that are measured apart."""
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


def _of(asked: Sequence[Sequence[Result]]) -> Measured | None:
    results = [result for results in asked for result in results]
    names = dict.fromkeys(name for result in results for name in result.measures)
    not_found, quoted = (_mean(asked, _has(each)) for each in (Status.NOT_FOUND, Status.QUOTED))
    if not names or not_found is None or quoted is None:
        return None
    return Measured(
        n=len(asked),
        figures=_means(asked, {name: _figure(name) for name in names}),
        not_found=not_found,
        quoted=quoted,
        answered=_mean(asked, lambda one: one.score if one.status in _ANSWERED else None),
        verdicts={
            by: shares
            for by in (DETERMINISTIC, JUDGE)
            if (shares := _means(asked, {verdict: _verdict(by, verdict) for verdict in Verdict}))
        },
        agreement=_mean(asked, _agreement),
        unjudged=sum(bool(result.unjudged) for result in results),
        searched=_searched([search for result in results for search in result.searches]),
        unsought=sum(result.unsought for result in results),
    )


@dataclass(frozen=True, slots=True)
class Refusals:
    """How often questions were refused an answer, and what was given in its place.

    Attributes:
        n: questions.
        refused: share of them for which nothing was found, or whose answer was marked as one that
            its citations do not carry.
        not_found, unsupported: the share of each of the two.
        quoted: share for which only quotations were given.
        supported: share that was answered without a doubt.
    """

    n: int
    refused: Estimate
    not_found: Estimate
    unsupported: Estimate
    quoted: Estimate
    supported: Estimate


def refusals(answers: Answers) -> dict[str, Refusals]:
    """Of questions that have an answer (yes) and of those that have none (no).

    Nothing where no question is known to have none. A failure is neither refusal nor answer.
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


def _searched(searches: Sequence[Search]) -> dict[Stage, Searched]:
    counts = Counter((one.stage, one.found, one.reading) for one in searches)
    found: dict[Stage, Searched] = {}
    for stage in dict.fromkeys(search.stage for search in searches):
        held, missed = (
            {reading: counts[stage, holds, reading] for reading in Reading}
            for holds in (True, False)
        )
        n = sum(held.values())
        gold = share(n, n + sum(missed.values()))
        found[stage] = Searched(held, missed, gold, _shares(held), _shares(missed))
    return found


def _shares(counts: Mapping[Reading, int]) -> dict[Reading, Estimate]:
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
    """The mean over the questions that the value is known for."""
    values = [[found for one in results if (found := value(one)) is not None] for results in asked]
    return score([found for found in values if found])
