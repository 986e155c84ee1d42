"""What is searched: a corpus, its names and its models."""

from functools import cached_property
from math import log
from typing import NamedTuple

from localrag.corpus.store import CorpusStore
from localrag.facts import Fact
from localrag.retrieval import query
from localrag.retrieval.dense import Dense
from localrag.retrieval.query import analyzer
from localrag.retrieval.rerank import Rerank
from localrag.retrieval.scope import OrdersUnder
from localrag.retrieval.titles import Titles
from localrag.statutes.names import LawNames
from localrag.statutes.provisions import RememberedProvisions, StoredProvisions
from localrag.statutes.resolver import CitationResolver
from localrag_indexes.bm25 import BM25Index

# A name of which every word stands in one passage of twenty or more tells none of them apart.
_TELLING = log(20)


class SearchModels(NamedTuple):
    """What of the search rests on models.

    Attributes:
        dense: search by meaning; None where it takes no part.
        without_dense: why it takes none, if the user should know.
        rerank: reranking; None where it takes no part.
    """

    dense: Dense | None = None
    without_dense: Fact | None = None
    rerank: Rerank | None = None

    def close(self) -> None:
        """Let go of them."""
        for model in (self.dense, self.rerank):
            if model is not None:
                model.close()


class Searchable:
    """One corpus, open for searching, and what is known of it once it is asked for.

    Attributes:
        store: the corpus store the passages come from.
        index: of their words.
        models: what of the search rests on models.
    """

    def __init__(self, store: CorpusStore, index: BM25Index, models: SearchModels) -> None:
        self.store = store
        self.index = index
        self.models = models

    def inverse_document_frequency(self, term: str) -> float:
        """How much a term says in this corpus."""
        return query.inverse_document_frequency(
            self.index.count, self.index.document_frequency(term)
        )

    @cached_property
    def names(self) -> LawNames:
        """The names of the laws of the corpus."""
        return LawNames.from_rows(self.store.laws())

    @cached_property
    def orders(self) -> OrdersUnder:
        """The orders and ordinances under the acts of the corpus."""
        return OrdersUnder(self.store, self.names)

    @cached_property
    def titles(self) -> Titles:
        """The titles of its documents."""
        return Titles(self.store.titles(), self._says_something)

    def resolver(self) -> CitationResolver:
        """Resolves citations; a question and its options cite the same laws, looked at once."""
        provisions = RememberedProvisions(StoredProvisions(self.store, self.names))
        return CitationResolver(self.names, provisions)

    def _says_something(self, name: str) -> bool:
        terms = analyzer().terms(name)
        return any(self.inverse_document_frequency(term) > _TELLING for term in terms)
