"""What is likely before any word is compared: weights on units found by their words."""

from localrag.corpus.model import Locator
from localrag.retrieval.model import Query
from localrag.retrieval.query import full_text
from localrag.retrieval.units import Scores
from localrag.statutes.names import LawNames

SUPPLEMENT = "附則"

# Supplementary provisions repeat the words of what they amend or bring into force.
_SUPPLEMENTARY = 0.6
# A question that names a law is about it, its orders and the act it belongs to.
_OTHER_LAW = 0.8


def weigh(scores: Scores, query: Query, names: LawNames) -> dict[str, float]:
    """The scores, less for supplementary provisions and for laws the question is not about.

    Where the question names no law, or speaks of supplementary provisions, nothing is less.
    """
    family = _family(query, names)
    asks_for_supplement = SUPPLEMENT in full_text(query)
    weighed = {}
    for unit, score in scores.items():
        document_id, _, path = unit.rpartition("#")
        if not asks_for_supplement and Locator.parse(path).division.startswith("suppl"):
            score *= _SUPPLEMENTARY
        if family and document_id not in family and document_id in names.rows:
            score *= _OTHER_LAW
        weighed[unit] = score
    return weighed


def _family(query: Query, names: LawNames) -> set[str]:
    named = {law_id for match in names.find_names(query.text) for law_id in match.law_ids}
    related = {
        other for law_id in named for other in (*names.orders(law_id), *names.parents(law_id))
    }
    return named | related
