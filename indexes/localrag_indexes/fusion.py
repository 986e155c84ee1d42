"""What searches answer with, and fusing the rankings of several into one."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)
T = TypeVar("T")


class Scored(NamedTuple):
    """The key of an entry and its score; higher is better, comparable within one answer only."""

    key: int
    score: float


def in_turn(rankings: Iterable[Iterable[T]]) -> Iterator[T]:
    """Yield the best of each ranking, then the second best of each, and so on."""
    nothing = object()
    for row in zip_longest(*rankings, fillvalue=nothing):
        yield from (one for one in row if one is not nothing)  # type: ignore[misc]


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[Key]], weights: Sequence[float] | None = None, k: int = 60
) -> dict[Key, float]:
    """Score each key by the sum of ``weight / (k + rank)`` over the rankings that hold it.

    Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion outperforms Condorcet and individual
    Rank Learning Methods, section 2; the weights are the usual extension.

    Args:
        rankings: keys, best first; within one ranking a repeated key counts at its best rank.
        weights: one per ranking; all 1 by default.
        k: dampens the lead of the first ranks.

    Returns:
        Every key once with its score, best first; ties in the order in which the rankings, one
        after the other, name them.

    Raises:
        ValueError: there are not as many weights as rankings.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))


def convex_combination(
    searches: Sequence[Mapping[Key, float]],
    weights: Sequence[float],
    floors: Sequence[float | None],
) -> dict[Key, float]:
    """Score each key by the weighted mean of its scores, each brought to the range 0 to 1.

    A score is measured from the floor of its search up to the best of its search; a key that a
    search lacks has 0 there. Unlike ranks this keeps how far one key is ahead of the next.

    Bruch, Gai and Ingber 2023, An Analysis of Fusion Functions for Hybrid Retrieval, ACM
    Transactions on Information Systems 42(1), doi 10.1145/3596512: a convex combination of scores
    normalised from their least, or from the least that the measure allows, up to their best.

    Args:
        searches: the scores of each search, higher is better.
        weights: one per search, none negative; only their proportions matter.
        floors: one per search, the score of what has nothing of what is searched for; None takes
            the least that the search gave. A search that gave one score alone counts it 1.

    Returns:
        Every key once with its score, 0 to 1, best first; ties in the order in which the searches,
        one after the other, name them. Empty where all weights are 0.

    Raises:
        ValueError: there are not as many weights or floors as searches.
    """
    total = sum(weights)
    scores: dict[Key, float] = {}
    for search, weight, floor in zip(searches, weights, floors, strict=True):
        if not search or not total:
            continue
        best, least = max(search.values()), min(search.values()) if floor is None else floor
        for key, score in search.items():
            share = (score - least) / (best - least) if best > least else 1.0
            scores[key] = scores.get(key, 0.0) + weight / total * share
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))
