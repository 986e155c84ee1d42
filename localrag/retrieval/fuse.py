"""Stage `fuse`: one ranking out of those by words, by meaning and by name."""

from localrag.config import RetrievalConfig
from localrag.retrieval.units import Scores, relative_to_best
from localrag_indexes.fusion import convex_combination, reciprocal_rank_fusion

STAGE = "fuse"

# A unit that shares no word with the question has a BM25 score of 0. A cosine has no such point:
# those of one model lie close together, far from 0, so that they are measured from the least found.
_FLOORS = (0.0, None)
# What meaning counts for provisions, of what it does for other passages. Chosen on the lawyers'
# questions that may be looked at: at 1 it costs one right answer in fifteen, for the vocabulary,
# the captions and the law named tell more of a statute than its meaning does; at a fifth next to
# none, and provisions are found that no word leads to.
_OF_PROVISIONS = 0.2


def fuse(
    words: Scores, meaning: Scores, settings: RetrievalConfig, *, provisions: bool = False
) -> dict[str, float]:
    """The units of both rankings with a score relative to the best, 0 to 1.

    Two rankings are fused by their scores or by their ranks, as the settings say. One alone keeps
    its scores.

    Args:
        words: the ranking by words.
        meaning: the ranking by meaning.
        settings: which fusion, and its weights.
        provisions: whether what is searched for are provisions of statutes.
    """
    if not words or not meaning:
        return relative_to_best(words or meaning)
    if provisions:
        less = _OF_PROVISIONS * settings.dense_weight
        settings = settings.model_copy(update={"dense_weight": less})
    if settings.fusion == "ranks":
        return by_ranks(words, meaning, settings)
    weights = (settings.lexical_weight, settings.dense_weight)
    return relative_to_best(convex_combination((words, meaning), weights, _FLOORS))


def by_ranks(words: Scores, meaning: Scores, settings: RetrievalConfig) -> dict[str, float]:
    """Fuse by ranks, whatever the settings say, with their weights; relative to the best."""
    rankings = [sorted(scores, key=lambda unit: -scores[unit]) for scores in (words, meaning)]
    weights = [settings.lexical_weight, settings.dense_weight]
    return relative_to_best(reciprocal_rank_fusion(rankings, weights, settings.fusion_k))
