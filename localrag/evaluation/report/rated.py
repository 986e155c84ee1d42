"""What ratings of a judge come to: means, differences in pairs, its agreement with itself.

What varies is the question: the ratings of one question, by either order, count as one observation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from localrag.evaluation.report.document import (
    Block,
    Items,
    ReportText,
    Table,
    estimate,
    p_value,
    points,
    value,
)
from localrag.evaluation.statistics import Estimate, difference, holm, mcnemar, score
from localrag.evaluation.types import PairRating
from localrag.language import N_, _

_FULL = 100
_MEASURES = {
    "recall": (N_("recall"), N_("how much an answer says of what is needed")),
    "precision": (N_("precision"), N_("how far what it says bears on the question")),
    "specificity": (N_("specificity"), N_("how far it names particulars, and no generalities")),
    "breadth": (N_("breadth"), N_("how many aspects of the question it takes up")),
    "depth": (N_("depth"), N_("how thoroughly it treats those that it takes up")),
    "relevancy": (N_("relevancy"), N_("how well it serves whoever has asked")),
}
"""The measures, and what the judge is told of each."""


@dataclass(frozen=True, slots=True)
class RatedPair:
    """Two entries on the same questions, by one measure.

    Attributes:
        difference: how much higher the first is rated, in shares of 100.
        wins, ties, losses: questions on which the first is rated higher, alike, lower, over both
            orders.
        p: of a sign test over the questions without a tie (exact, two-sided).
        adjusted: the same after Holm, for all pairs and measures of the report.
    """

    first: str
    second: str
    measure: str
    difference: Estimate | None
    wins: int
    ties: int
    losses: int
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings of a judge.

    Attributes:
        entries: by entry and measure its mean rating over questions, in shares of 100.
        pairs: every two entries, measure by measure.
        agreement: by measure, how often the judge says the same of two answers, the one better,
            the other, or alike, whichever it is shown first.
        pairs_of_answers: that were to be rated.
        unrated: of these, those that it gave no ratings in at least one order.
    """

    entries: Mapping[str, Mapping[str, Estimate]]
    pairs: Sequence[RatedPair]
    agreement: Mapping[str, Estimate]
    pairs_of_answers: int
    unrated: int


def rated(ratings: Sequence[PairRating]) -> Rated | None:
    """Sum up ratings; None where there are none.

    A pair of answers counts where it is rated in both orders.
    """
    if not ratings:
        return None
    whole = [one for one in ratings if one.as_named and one.swapped]
    measures = list(dict.fromkeys(name for one in whole for name in one.as_named))
    names = dict.fromkeys(name for one in ratings for name in (one.first, one.second))
    pairs = [
        _pair(whole, first, second, measure)
        for first, second in dict.fromkeys((one.first, one.second) for one in whole)
        for measure in measures
    ]
    adjusted = holm([one.p for one in pairs])
    return Rated(
        {
            name: {
                measure: found
                for measure in measures
                if (found := score(_by_question(whole, name, measure)))
            }
            for name in names
        },
        [replace(one, adjusted=p) for one, p in zip(pairs, adjusted, strict=True)],
        {measure: found for measure in measures if (found := _agreement(whole, measure))},
        len(ratings),
        len(ratings) - len(whole),
    )


def blocks(found: Rated | None, judge: Mapping[str, object]) -> list[Block]:
    """The tables of a report.

    Args:
        found: the ratings; None for none.
        judge: by dotted name, what the ratings were made with.
    """
    if found is None:
        return []
    head = _(
        "A model ({model}) rated every two answers from 0 to 100, either of them shown first once. "
        "The ratings say what this model prefers, and the smaller it is, the less they say of the "
        "answers. Pairs of answers: {n:,}; without ratings in at least one order: {unrated:,}."
    ).format(model=value(judge.get("judge.model")), n=found.pairs_of_answers, unrated=found.unrated)
    measures = list(found.agreement)
    means = Table(
        [_("entry"), *(_(_MEASURES[one][0]) for one in measures)],
        [
            [name, *(estimate(given.get(one)) for one in measures)]
            for name, given in found.entries.items()
        ],
    )
    agreement = Table(
        ["", *(_(_MEASURES[one][0]) for one in measures)],
        [[_("says the same"), *(estimate(found.agreement[one]) for one in measures)]],
    )
    differences = Table(
        [
            *(_("first"), _("second"), _("measure"), _("first − second")),
            *(_("higher"), _("alike"), _("lower"), "p", _("p (Holm)")),
        ],
        [
            [
                *(one.first, one.second, _(_MEASURES[one.measure][0]), points(one.difference)),
                *(str(one.wins), str(one.ties), str(one.losses)),
                *(p_value(one.p), p_value(one.adjusted)),
            ]
            for one in found.pairs
        ],
        left=3,
    )
    return [
        ReportText(head),
        means,
        Items(
            [
                _("{name}: {meaning}.").format(name=_(name), meaning=_(meaning))
                for name, meaning in (_MEASURES[one] for one in measures)
            ]
        ),
        ReportText(
            _(
                "How often the judge says the same of two answers (the first better, the second, "
                "or alike), whichever is shown first:"
            )
        ),
        agreement,
        ReportText(
            _(
                "Differences in points over questions, with questions rated higher, alike and "
                "lower, and a sign test of these:"
            )
        ),
        differences,
    ]


def _pair(ratings: Iterable[PairRating], first: str, second: str, measure: str) -> RatedPair:
    gaps = [
        fmean(_gap(scores[measure]) for scores in (one.as_named, one.swapped)) / _FULL
        for one in ratings
        if (one.first, one.second) == (first, second)
    ]
    higher, lower = [one > 0 for one in gaps], [one < 0 for one in gaps]
    p = mcnemar(higher, lower).p
    wins, losses = sum(higher), sum(lower)
    found = difference(gaps, [0.0] * len(gaps))
    ties = len(gaps) - wins - losses
    return RatedPair(first, second, measure, found, wins, ties, losses, p, p)


def _by_question(
    ratings: Iterable[PairRating], name: str, measure: str
) -> Sequence[Sequence[float]]:
    """What an entry was given in all pairs and both orders, question by question."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in ratings:
        if name in (one.first, one.second):
            place = int(name == one.second)
            found[one.question] += [
                scores[measure][place] / _FULL for scores in (one.as_named, one.swapped)
            ]
    return list(found.values())


def _agreement(ratings: Iterable[PairRating], measure: str) -> Estimate | None:
    """How often a judge prefers the same answer in both orders, question by question.

    Two answers without a word are rated by rule, and tell nothing of it.
    """
    same: dict[str, list[float]] = defaultdict(list)
    for one in (one for one in ratings if one.spent.calls):
        signs = [_sign(_gap(scores[measure])) for scores in (one.as_named, one.swapped)]
        same[one.question].append(float(signs[0] == signs[1]))
    return score(list(same.values()))


def _gap(scores: tuple[int, int]) -> int:
    """How much more the first was given."""
    first, second = scores
    return first - second


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
