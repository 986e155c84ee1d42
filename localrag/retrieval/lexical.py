"""Stage `lexical`: BM25 over headers and texts."""

from collections.abc import Collection
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.retrieval.model import Filters, Query
from localrag.retrieval.query import analyzer, full_text
from localrag_indexes.bm25 import BM25Index

STAGE = "lexical"

_DEPTH = 200
"""Units that later stages choose from."""
# Terms of a question that are looked up: bounds the cost of a search, whatever its length.
_TERMS = 40


class Found(NamedTuple):
    """How well the words of a unit agree with the question, and where the unit stands."""

    score: float
    header: str


def lexical(store: Lookups, index: BM25Index, query: Query) -> dict[str, Found]:
    """The units whose header or text shares terms with the question, best first."""
    terms = index.most_informative(analyzer().terms(full_text(query)), _TERMS)
    hits = index.search(terms, _DEPTH, where=_where(query.filters), between=_between(query.filters))
    headings = store.headings([hit.key for hit in hits])
    found = {}
    for key, score in hits:
        # A passage removed since the index was built is passed over.
        if key in headings:
            unit, header = headings[key]
            found[unit] = Found(score, header)
    return found


def _where(filters: Filters) -> dict[str, Collection[str]]:
    allowed = {
        "document": filters.documents,
        "kind": filters.kinds,
        "law_type": filters.law_types,
        "layer": filters.layers,
    }
    return {name: values for name, values in allowed.items() if values}


def _between(filters: Filters) -> dict[str, tuple[str, str]]:
    if filters.date_from or filters.date_to:
        return {"date": (filters.date_from, filters.date_to)}
    return {}
