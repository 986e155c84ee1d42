"""Stage `lexical`: BM25 over headers and texts."""

from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.errors import IndexUnusable
from localrag.retrieval.admission import between, where
from localrag.retrieval.model import Query
from localrag.retrieval.query import analyzer, full_text
from localrag.workspace import CorpusPaths
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.errors import IndexingError
from localrag_indexes.generations import current

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
    hits = index.search(terms, _DEPTH, where=where(query.filters), between=between(query.filters))
    headings = store.headings([hit.key for hit in hits])
    found = {}
    for key, score in hits:
        # A passage removed since the index was built is passed over.
        if key in headings:
            unit, header = headings[key]
            found[unit] = Found(score, header)
    return found


def open_index(place: CorpusPaths) -> BM25Index:
    """Open the BM25 index of a corpus.

    Raises:
        IndexUnusable: it is missing or cannot be used; the cure is named.
    """
    folder = current(place.bm25)
    if folder is None:
        raise IndexUnusable(
            f"The corpus {place.name!r} has no index that can be used.",
            f"localrag index --corpus {place.name}",
        )
    try:
        return BM25Index.open(folder, analyzer=analyzer().id)
    except IndexingError as error:
        raise IndexUnusable(
            f"The index of corpus {place.name!r} cannot be used ({error}).",
            f"localrag index --rebuild --corpus {place.name}",
        ) from error
