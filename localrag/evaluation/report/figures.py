"""Figures of a report, computed from the results."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeVar

from localrag.evaluation.report.claims import Verdicts, always, commonest, verdicts
from localrag.evaluation.report.measured import (
    AnswerMeasures,
    Answers,
    Baseline,
    Costs,
    GoldShown,
    Position,
    Recall,
    Refusals,
    TraceNote,
    answers_of,
    apart,
    baselines,
    costs,
    counts,
    measured,
    positions,
    recall,
    refusals,
    same_choice,
    sentences_shown,
    shown,
)
from localrag.evaluation.report.rated import Rated, rated
from localrag.evaluation.statistics import (
    Estimate,
    McNemar,
    difference,
    holm,
    mcnemar,
    score,
)
from localrag.evaluation.types import (
    Cause,
    Evaluation,
    Published,
)

_Named = TypeVar("_Named", bound=str)


@dataclass(frozen=True, slots=True)
class EntryFigures:
    """Figures of an entry."""

    name: str
    method: str
    score: Estimate | None  # None without questions
    # scores by name of a group ("law", "kind", "polarity") and value
    by_group: Mapping[str, Mapping[str, Estimate]]
    by_order: Sequence[Estimate]  # score in each order of options
    positions: Sequence[Position]  # how often each was chosen; empty without options
    # share of questions with the same choice in every order; None for one order
    same_choice: Estimate | None
    recall: Mapping[str, Recall]
    shown: GoldShown | None  # share of gold places shown to a model; None if unknown
    sentences_shown: GoldShown | None
    costs: Costs | None  # None without questions
    failures: Mapping[str, int]
    causes: Mapping[Cause, int]
    notes: Sequence[TraceNote]  # notes of the traces, and their number of answers
    published: Sequence[Published]  # figures of others for this method
    measured: AnswerMeasures | None  # figures of answers in free text; None for choices
    # the same by group and value, for those in `APART`
    apart: Mapping[str, Mapping[str, AnswerMeasures]]
    # of answerable (yes) and unanswerable questions (no); may be empty
    refusals: Mapping[str, Refusals]
    judging: Costs | None  # cost of a verdict; None without a judge
    verdicts: Verdicts | None  # on claims; None for other questions


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries on the same questions, or an entry and the best constant verdict."""

    first: str
    second: str  # name of an entry or baseline
    difference: Estimate | None  # first minus second over all orders; None without questions
    mcnemar: McNemar | None  # in the order of the dataset; None unless scores are 0 and 1
    adjusted: float | None  # its p after Holm, over all pairs of the report


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a report."""

    entries: Sequence[EntryFigures]
    pairs: Sequence[Pair]
    baselines: Sequence[Baseline]  # scores of answers that ignore the question
    rated: Rated | None = None  # ratings of a judge; None without one


def figures(evaluation: Evaluation) -> Figures:
    """Compute the figures of a finished evaluation. Raises `InputError` or `UsageError`."""
    entries = answers_of(evaluation)
    published = evaluation.questions.dataset.published
    return Figures(
        [_entry(answers, published.get(answers.entry.method, ())) for answers in entries],
        pairs(entries),
        [
            *baselines(evaluation.questions.questions, evaluation.orders),
            *always(evaluation.questions.questions),
        ],
        rated(evaluation.ratings),
    )


def compared(first: Answers, second: Answers) -> tuple[Estimate | None, McNemar | None]:
    """Difference over all orders, and the test in the order of the dataset, on equal questions."""
    return _tested(_scored(first), _scored(second))


def pairs(entries: Sequence[Answers]) -> list[Pair]:
    """Compare every two entries, and claims with the best constant verdict; p adjusted over all."""
    scored = [_scored(answers) for answers in entries]
    compare = list(combinations(scored, 2))
    if entries and (baseline := commonest(entries[0].questions)):
        name, scores = baseline
        compare += [(one, _Scored(name, scores, scores)) for one in scored]
    found = [(first.name, second.name, *_tested(first, second)) for first, second in compare]
    tested = [place for place, (*_, test) in enumerate(found) if test]
    values = [test.p for *_, test in found if test]
    adjusted = dict(zip(tested, holm(values), strict=True))
    return [Pair(*one, adjusted.get(place)) for place, one in enumerate(found)]


class _Scored(NamedTuple):
    """Scores by question over all orders, and in the order of the dataset."""

    name: str
    means: Sequence[float]
    first: Sequence[float]


def _scored(answers: Answers) -> _Scored:
    return _Scored(answers.entry.name, answers.means(), answers.first_scores())


def _tested(first: _Scored, second: _Scored) -> tuple[Estimate | None, McNemar | None]:
    gap = difference(first.means, second.means)
    if not gap or any(value not in (0, 1) for value in (*first.first, *second.first)):
        return gap, None
    ours, theirs = ([value == 1 for value in one.first] for one in (first, second))
    return gap, mcnemar(ours, theirs)


def _entry(answers: Answers, published: Sequence[Published]) -> EntryFigures:
    results = answers.all()
    return EntryFigures(
        name=answers.entry.name,
        method=answers.entry.method,
        score=score([answers.scores(question) for question in answers.questions]),
        by_group=_by_group(answers),
        by_order=_by_order(answers),
        positions=positions(answers),
        same_choice=same_choice(answers),
        recall=recall(answers),
        shown=shown(answers),
        sentences_shown=sentences_shown(answers),
        costs=costs([result.spent for result in results]),
        failures=_counted(result.failure for result in results if result.failure),
        causes=_counted(result.cause for result in results if result.cause),
        notes=counts(results),
        published=published,
        measured=measured(answers),
        apart=apart(answers),
        refusals=refusals(answers),
        judging=costs([one.judging for one in results if one.judging.calls]),
        verdicts=verdicts(answers),
    )


def _by_group(answers: Answers) -> dict[str, dict[str, Estimate]]:
    scores: dict[str, dict[str, list[list[float]]]] = {}
    for question in answers.questions:
        for name, value in question.groups.items():
            scores.setdefault(name, {}).setdefault(value, []).append(answers.scores(question))
    return {
        name: {value: found for value in sorted(values) if (found := score(values[value]))}
        for name, values in scores.items()
    }


def _by_order(answers: Answers) -> list[Estimate]:
    by_order = zip(*(answers.scores(question) for question in answers.questions), strict=True)
    return [found for scores in by_order if (found := score([[value] for value in scores]))]


def _counted(names: Iterable[_Named]) -> dict[_Named, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
