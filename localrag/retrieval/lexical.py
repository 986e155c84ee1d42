"""Stage `lexical`: BM25 over headers and texts."""

from collections.abc import Sequence
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.errors import IndexUnusable
from localrag.question.everyday import EverydayWord
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
# What the words of the law count that stand in for everyday ones: less than the user's own words.
_STANDING_IN = 0.7


class Found(NamedTuple):
    """How well the words of a unit agree with the question, and where the unit stands."""

    score: float
    header: str


def lexical(
    store: Lookups, index: BM25Index, query: Query, wordings: Sequence[EverydayWord] = ()
) -> dict[str, Found]:
    """The units whose header or text shares terms with the question, best first.

    Args:
        store: where they are.
        index: of their terms.
        query: the question.
        wordings: its everyday words, which are also looked up as the law has them.
    """
    allowed, bounds = where(query.filters), between(query.filters)
    scores: dict[int, float] = {}
    for text, weight in ((full_text(query), 1.0), (in_law(wordings), _STANDING_IN)):
        terms = index.most_informative(analyzer().terms(text), _TERMS)
        for key, score in index.search(terms, _DEPTH, where=allowed, between=bounds):
            scores[key] = scores.get(key, 0.0) + weight * score
    headings = store.headings(scores)
    found = {}
    for key, score in sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:_DEPTH]:
        # A passage removed since the index was built is passed over.
        if key in headings:
            unit, header = headings[key]
            found[unit] = Found(score, header)
    return found


def in_law(wordings: Sequence[EverydayWord]) -> str:
    """What statutes say instead of everyday words, a line a phrase."""
    return "\n".join(phrase for wording in wordings for phrase in wording.phrases)


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
