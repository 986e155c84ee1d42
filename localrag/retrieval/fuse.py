"""Stage `fuse`: one ranking out of those by words, by meaning and by name."""

from localrag.config import RetrievalConfig
from localrag.retrieval.units import Scores, relative_to_best
from localrag_indexes.fusion import reciprocal_rank_fusion

STAGE = "fuse"


def fuse(words: Scores, meaning: Scores, settings: RetrievalConfig) -> dict[str, float]:
    """The units of both rankings with a score relative to the best, 0 to 1.

    Two rankings are fused by their ranks, since BM25 scores and cosines have no common scale.
    One alone keeps its scores.
    """
    if not words or not meaning:
        return relative_to_best(words or meaning)
    rankings = [sorted(scores, key=lambda unit: -scores[unit]) for scores in (words, meaning)]
    weights = [settings.lexical_weight, settings.dense_weight]
    return relative_to_best(reciprocal_rank_fusion(rankings, weights, settings.fusion_k))
