"""Units: the passages that retrieval ranks.

What a person cites and reads as a whole is an article, or a passage of an ordinary document. These
are indexed; a reference to a paragraph counts for its article. A unit is named by the id of its
passage, and every stage gives scores to units.
"""

from collections.abc import Mapping

from localrag.corpus.types import Locator

Scores = Mapping[str, float]
"""Scores by unit; higher is better."""


def article_unit(law_id: str, locator: Locator) -> str:
    """The unit a statute place belongs to: its article, or its division where that has none."""
    return f"{law_id}#{Locator(locator.division, locator.article).path}"


def relative_to_best(scores: Scores) -> dict[str, float]:
    """The scores divided by the highest of them, so that they can be added to others."""
    best = max(scores.values(), default=0.0)
    return {unit: score / best for unit, score in scores.items()} if best > 0 else {}


def add(*scores: Scores) -> dict[str, float]:
    """The sum of several scores, unit by unit."""
    total: dict[str, float] = {}
    for part in scores:
        for unit, score in part.items():
            total[unit] = total.get(unit, 0.0) + score
    return total
