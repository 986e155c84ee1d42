"""What is searched, a corpus with its names and its models; and the record of one search."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import log
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Label, Passage
from localrag.facts import Fact, FactKind
from localrag.progress import ignore
from localrag.question.everyday import EverydayWord
from localrag.retrieval import query
from localrag.retrieval.dense import Dense
from localrag.retrieval.query import analyzer
from localrag.retrieval.rerank import Rerank
from localrag.retrieval.scope import NO_LAWS, OrdersUnder, Scope
from localrag.retrieval.titles import Titles
from localrag.retrieval.types import Filters, Hit, Reason, StageListener, StageRecord, Trace
from localrag.retrieval.units import Scores
from localrag.statutes.names import LawNames
from localrag.statutes.provisions import RememberedProvisions, StoredProvisions
from localrag.statutes.resolver import CitationResolver
from localrag_indexes.analysis.normalize import letters_of
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


class Trail:
    """Records the stages of one search as they end.

    Args:
        store: where the passages are.
        k: how many hits to record of a stage.
        on_stage: told of each stage; what it raises ends the search.
        scope: tells which hits stand beside the laws that the question names.
        filters: a hit is under the headings that they name and has their phrases; the labels that
            it has from a model are noted.
    """

    def __init__(
        self,
        store: Lookups,
        k: int,
        filters: Filters,
        on_stage: StageListener = ignore,
        scope: Scope = NO_LAWS,
    ) -> None:
        self._store = store
        self._k = k
        self._tell = on_stage
        self._scope = scope
        self._where = filters.where
        self._phrases = [letters_of(phrase) for phrase in filters.phrases]
        self._under = store.facets.spans(filters.where) if filters.where else None
        self._passages: dict[str, Passage | None] = {}
        self._stages: list[StageRecord] = []
        self._since = perf_counter()

    @property
    def trace(self) -> Trace:
        """The stages so far."""
        return Trace(tuple(self._stages))

    def shows(self, unit: str) -> bool:
        """Whether the filters let a unit become a hit."""
        return self._passage(unit) is not None

    def record(
        self,
        stage: str,
        scores: Scores,
        reasons: Mapping[str, Reason] = MappingProxyType({}),
        events: Sequence[Fact] = (),
        wordings: tuple[EverydayWord, ...] = (),
    ) -> tuple[Hit, ...]:
        """End a stage: its best units become its hits."""
        hits: list[Hit] = []
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        best = ranked[: self._k]
        # All at once: hundreds of look-ups would take longer than the search.
        self._look_up([*best, *(reasons[unit].other for unit in best if unit in reasons)])
        for unit in ranked:
            passage = self._passage(unit)
            if passage is not None:
                rank = len(hits) + 1
                hits.append(self._hit(passage, scores[unit], rank, stage, reasons.get(unit)))
            if len(hits) == self._k:
                break
        now = perf_counter()
        record = StageRecord(
            stage, tuple(hits), now - self._since, tuple(events), wordings=wordings
        )
        self._stages.append(record)
        self._tell(self._stages[-1])
        self._since = perf_counter()
        return tuple(hits)

    def _hit(
        self, passage: Passage, score: float, rank: int, stage: str, reason: Reason | None
    ) -> Hit:
        beside = self._scope.is_beside(passage.document_id) or self._scope.is_silent(passage)
        by_model = self._by_model(passage.document_id)
        if reason is None:
            return Hit(passage, score, rank, stage, beside=beside, by_model=by_model)
        other = self._passage(reason.other)
        return Hit(
            passage,
            score,
            rank,
            stage,
            Fact(reason.relation, other=other.header if other else reason.other),
            beside,
            fills=reason.other if reason.relation is FactKind.FILLS_IN else "",
            punishes=reason.other if reason.relation is FactKind.PUNISHES else "",
            by_model=by_model,
        )

    def _by_model(self, document: str) -> tuple[Label, ...]:
        # Without a filter nobody needs the facets, which are read once.
        where = self._where
        return self._store.facets.told_by_model(document, where) if where else ()

    def _passage(self, unit: str) -> Passage | None:
        self._look_up([unit])
        return self._passages[unit]

    def _look_up(self, units: Iterable[str]) -> None:
        unknown = [unit for unit in units if unit not in self._passages]
        if unknown:
            found = self._store.by_ids(unknown)
            wanted = {unit: one for unit, one in found.items() if self._is_wanted(one)}
            self._passages.update((unit, wanted.get(unit)) for unit in unknown)

    def _is_wanted(self, passage: Passage) -> bool:
        """Whether it has the phrases that are wanted, and is under a wanted heading."""
        if self._phrases:
            letters = letters_of(f"{passage.header}\n{passage.text}")
            if not all(phrase in letters for phrase in self._phrases):
                return False
        return self._under is None or any(
            start <= passage.start < end for start, end in self._under.get(passage.document_id, ())
        )
