"""Fusing the rankings of several searches into one."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


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
