"""Stage `lexical`: BM25 over headers and texts."""

from collections.abc import Collection

from localrag.corpus.lookups import Lookups
from localrag.retrieval.model import Filters, Query
from localrag.retrieval.query import analyzer, full_text
from localrag_indexes.bm25 import BM25Index

STAGE = "lexical"

_DEPTH = 200
"""Units that later stages choose from."""
# Terms of a question that are looked up: bounds the cost of a search, whatever its length.
_TERMS = 40


def lexical(store: Lookups, index: BM25Index, query: Query) -> dict[str, float]:
    """Scores of the units whose header or text shares terms with the question."""
    terms = index.most_informative(analyzer().terms(full_text(query)), _TERMS)
    found = index.search(
        terms, _DEPTH, where=_where(query.filters), between=_between(query.filters)
    )
    ids = store.ids([entry.key for entry in found])
    # A passage removed since the index was built is passed over.
    return {ids[key]: score for key, score in found if key in ids}


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
