"""Scored hits, and ways to fuse the rankings of several searches."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)
T = TypeVar("T")


class Scored(NamedTuple):
    """The key of an entry and its score. Higher is better; only scores of one search compare."""

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
    """Score each key by the sum of ``weight / (k + rank)`` over the rankings with it, best first.

    Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion outperforms Condorcet and individual
    Rank Learning Methods, section 2. The weights are the usual extension, 1 by default. Ties keep
    the order of the rankings. Raises `ValueError` if the numbers of weights and rankings differ.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))


def convex_combination(
    searches: Sequence[Mapping[Key, float]],
    weights: Sequence[float],  # one per search, at least 0; only their proportions matter
    floors: Sequence[float | None],
) -> dict[Key, float]:
    """Score each key by the weighted mean of its scores, each scaled to the range 0 to 1.

    0 is the floor of the search, 1 its best score. A key missing in a search gets 0. Unlike
    ranks, this keeps how far one key is ahead of the next. A floor of None is the lowest score
    found. A search with a single score counts it as 1. The best come first, ties in the order of
    the searches. Empty if all weights are 0.

    Bruch, Gai and Ingber 2023, An Analysis of Fusion Functions for Hybrid Retrieval, ACM
    Transactions on Information Systems 42(1), doi 10.1145/3596512. Raises `ValueError` if numbers
    of arguments differ.
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
