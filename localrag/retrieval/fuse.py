"""Stage `fuse`: one ranking out of those by words, by meaning and by name."""

from localrag.config import RetrievalConfig
from localrag.retrieval.units import Scores, relative_to_best
from localrag_indexes.fusion import convex_combination, reciprocal_rank_fusion

STAGE = "fuse"

# A unit that shares no word with the question has a BM25 score of 0. A cosine has no such point:
# those of one model lie close together, far from 0, so that they are measured from the least found.
_FLOORS = (0.0, None)


def fuse(words: Scores, meaning: Scores, settings: RetrievalConfig) -> dict[str, float]:
    """The units of both rankings with a score relative to the best, 0 to 1.

    Two rankings are fused by their scores or by their ranks, as the settings say. One alone keeps
    its scores.
    """
    if not words or not meaning:
        return relative_to_best(words or meaning)
    if settings.fusion == "ranks":
        return by_ranks(words, meaning, settings)
    weights = (settings.lexical_weight, settings.dense_weight)
    return relative_to_best(convex_combination((words, meaning), weights, _FLOORS))


def by_ranks(words: Scores, meaning: Scores, settings: RetrievalConfig) -> dict[str, float]:
    """Fuse by ranks, whatever the settings say, with their weights; relative to the best."""
    rankings = [sorted(scores, key=lambda unit: -scores[unit]) for scores in (words, meaning)]
    weights = [settings.lexical_weight, settings.dense_weight]
    return relative_to_best(reciprocal_rank_fusion(rankings, weights, settings.fusion_k))
