"""Ratings of a judge: means, differences of pairs, and its agreement with itself.

The question is the unit: its ratings in both orders count as one observation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from localrag.evaluation.report.document import (
    Block,
    ReportItems,
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
    "recall": (N_("recall"), N_("how much of the needed content an answer has")),
    "precision": (N_("precision"), N_("how relevant its content is to the question")),
    "specificity": (N_("specificity"), N_("how far it names particulars, and no generalities")),
    "breadth": (N_("breadth"), N_("how many aspects of the question it takes up")),
    "depth": (N_("depth"), N_("how thoroughly it treats its aspects")),
    "relevancy": (N_("relevancy"), N_("how well it serves the person who asked")),
}
"""The measures, with the explanation for the judge."""


@dataclass(frozen=True, slots=True)
class RatedPair:
    """Two entries on the same questions, by one measure."""

    first: str
    second: str
    measure: str
    difference: Estimate | None  # first minus second, in shares of 100
    wins: int  # wins, ties, losses: questions rated higher, equal or lower, over both orders
    ties: int
    losses: int
    p: float  # of a sign test without ties (exact, two-sided)
    adjusted: float  # after Holm, over all pairs and measures of the report


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings of a judge."""

    # mean rating by entry and measure, in shares of 100
    entries: Mapping[str, Mapping[str, Estimate]]
    pairs: Sequence[RatedPair]
    agreement: Mapping[str, Estimate]  # by measure, how often both orders give the same preference
    pairs_of_answers: int
    unrated: int  # those without ratings in an order


def rated(ratings: Sequence[PairRating]) -> Rated | None:
    """Summarise the pairs rated in both orders; None without any ratings."""
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
    """Tables of ratings. `found`: the ratings; may be None."""
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
        ReportItems(
            [
                _("{name}: {meaning}.").format(name=_(name), meaning=_(meaning))
                for name, meaning in (_MEASURES[one] for one in measures)
            ]
        ),
        ReportText(
            _(
                "How often the judge has the same preference in both orders (first better, "
                "second better, or equal):"
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
    """Ratings of an entry in all pairs and orders, by question."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in ratings:
        if name in (one.first, one.second):
            place = int(name == one.second)
            found[one.question] += [
                scores[measure][place] / _FULL for scores in (one.as_named, one.swapped)
            ]
    return list(found.values())


def _agreement(ratings: Iterable[PairRating], measure: str) -> Estimate | None:
    """How often a judge has the same preference in both orders; two empty answers do not count."""
    same: dict[str, list[float]] = defaultdict(list)
    for one in (one for one in ratings if one.spent.calls):
        signs = [_sign(_gap(scores[measure])) for scores in (one.as_named, one.swapped)]
        same[one.question].append(float(signs[0] == signs[1]))
    return score(list(same.values()))


def _gap(scores: tuple[int, int]) -> int:
    first, second = scores
    return first - second


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
