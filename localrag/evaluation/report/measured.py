"""What answers in free text come to: figures of the measure, verdicts, searches."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from localrag.evaluation.measures.model import Verdict
from localrag.evaluation.model import DETERMINISTIC, JUDGE, Reading, Result, Search
from localrag.evaluation.report.answers import Answers
from localrag.evaluation.statistics import Estimate, score
from localrag.reading.types import Stage, Status

_Value = Callable[[Result], float | None]
"""What is averaged; None where it is not known."""

_ANSWERED = (Status.SUPPORTED, Status.UNSUPPORTED)
"""Statuses of answers that say something; quotations that come nearest promise no answer."""

APART = ("type", "answer")
"""The groups of questions that are measured apart, where a dataset has them."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a stage made of the hits for queries.

    Attributes:
        found: by what it made of them, queries whose hits held the gold triple.
        missed: those whose hits did not.
    """

    found: Mapping[Reading, int]
    missed: Mapping[Reading, int]


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


def _searched(searches: Sequence[Search]) -> dict[Stage, Searched]:
    counts = Counter((one.stage, one.found, one.reading) for one in searches)
    return {
        stage: Searched(
            *(
                {reading: counts[stage, found, reading] for reading in Reading}
                for found in (True, False)
            )
        )
        for stage in dict.fromkeys(search.stage for search in searches)
    }


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
