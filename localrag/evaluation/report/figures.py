"""The figures of a report, computed from what the questions came to."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeVar

from localrag.evaluation.report.claims import Verdicts, always, commonest, verdicts
from localrag.evaluation.report.measured import (
    Answers,
    Baseline,
    Costs,
    Measured,
    Note,
    Position,
    Refusals,
    answers_of,
    apart,
    baselines,
    costs,
    counts,
    measured,
    positions,
    refusals,
    same_choice,
)
from localrag.evaluation.report.rated import Rated, rated
from localrag.evaluation.report.retrieved import Recall, Shown, recall, sentences_shown, shown
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
    """What an entry comes to.

    Attributes:
        score: None where no question was asked.
        by_group: scores by the name of a group ("law", "kind", "polarity") and the value in it.
        by_order: the score in each order of the options.
        positions: how often each was chosen; empty where there is nothing to choose.
        same_choice: share of questions with the same option chosen in every order; None where
            there is one order, or nothing to choose.
        recall: by stage of the retrieval.
        shown: how much of what supports the answers a model was shown; None where that is not
            known.
        sentences_shown: the same of sentences, in the place of whole gold places.
        costs: None where no question was asked.
        failures: answers that failed, by kind.
        causes: answers that are not right, by cause.
        notes: what the traces say, and of how many answers.
        published: figures of others for the same method, under conditions of their own.
        measured: what answers in free text come to; None where they are a choice.
        apart: the same by the name of a group and the value in it, for those in `APART`.
        refusals: of questions with an answer (yes) and without (no); empty where all have one.
        judging: what a verdict of the judge costs; None without one.
        verdicts: on claims, against the right ones; None where the questions are no claims.
    """

    name: str
    method: str
    score: Estimate | None
    by_group: Mapping[str, Mapping[str, Estimate]]
    by_order: Sequence[Estimate]
    positions: Sequence[Position]
    same_choice: Estimate | None
    recall: Mapping[str, Recall]
    shown: Shown | None
    sentences_shown: Shown | None
    costs: Costs | None
    failures: Mapping[str, int]
    causes: Mapping[Cause, int]
    notes: Sequence[Note]
    published: Sequence[Published]
    measured: Measured | None
    apart: Mapping[str, Mapping[str, Measured]]
    refusals: Mapping[str, Refusals]
    judging: Costs | None
    verdicts: Verdicts | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries on the same questions, or an entry and the verdict that is right most often.

    Attributes:
        second: name of an entry or of a baseline.
        difference: how much higher the first scores, over all orders; None where no question was
            asked.
        mcnemar: in the order of the dataset; None where scores are not only 0 and 1.
        adjusted: its p after Holm, for all pairs of the report.
    """

    first: str
    second: str
    difference: Estimate | None
    mcnemar: McNemar | None
    adjusted: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a report.

    Attributes:
        baselines: what these questions give to whom does not read them.
        rated: what a judge that rates answers in pairs gave; None without one.
    """

    entries: Sequence[EntryFigures]
    pairs: Sequence[Pair]
    baselines: Sequence[Baseline]
    rated: Rated | None = None


def figures(evaluation: Evaluation) -> Figures:
    """Compute the figures of a finished evaluation.

    Raises:
        InputError: the results of an entry are not complete.
        UsageError: scipy is not installed.
    """
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
    """The difference over all orders, and the test in the order of the dataset.

    Both entries must have the same questions, in the same order.
    """
    return _tested(_scored(first), _scored(second))


def pairs(entries: Sequence[Answers]) -> list[Pair]:
    """Compare every two entries, and on claims each with the verdict that is right most often.

    P-values are adjusted for all of them.
    """
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
    """What is compared: the score on each question over all orders, and in that of the dataset."""

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
    """How often each occurs, the commonest first."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
