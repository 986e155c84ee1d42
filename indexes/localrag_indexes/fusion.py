"""Fusing the rankings of several searches into one."""

from collections.abc import Sequence

from localrag_indexes.scored import Scored


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int]], weights: Sequence[float] | None = None, k: int = 60
) -> list[Scored]:
    """Score each key by the sum of ``weight / (k + rank)`` over the rankings that hold it.

    Args:
        rankings: keys, best first; within one ranking a repeated key counts at its best rank.
        weights: one per ranking; all 1 by default.
        k: dampens the lead of the first ranks.

    Returns:
        Every key once, best first, ties in the order of the keys.

    Raises:
        ValueError: there are not as many weights as rankings.
    """
    scores: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return sorted(
        (Scored(key, score) for key, score in scores.items()),
        key=lambda scored: (-scored.score, scored.key),
    )
