"""The retrieval pipeline: the stages in their order, each one recorded."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple, Self

from localrag.config import Config
from localrag.corpus.lookups import Lookups
from localrag.corpus.model import ARTICLES, Locator, Passage
from localrag.corpus.store import CorpusStore
from localrag.errors import IndexUnusable
from localrag.retrieval import expand, lexical, prior, query, resolve
from localrag.retrieval.admission import Admission
from localrag.retrieval.expand import Seed
from localrag.retrieval.model import Hit, Query, Retrieval, StageRecord, Trace
from localrag.retrieval.resolve import Resolved
from localrag.retrieval.units import Scores, add, relative_to_best
from localrag.statutes.names import LawNames
from localrag.statutes.resolver import Resolver
from localrag.statutes.stored import StoredProvisions
from localrag.workspace import Workspace
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.errors import IndexingError
from localrag_indexes.generations import current

FUSE = "fuse"

# Units found by their words alone that are expanded from, and the share of their score they count.
_EXPANDED = 5
_EXPANDED_SHARE = 0.4
# What a neighbour gains even where its own words do not match.
_UNMATCHED = 0.4


class Retriever:
    """Finds passages of one corpus; open for reading, to be closed.

    Attributes:
        store: the corpus store the passages come from.
    """

    def __init__(self, store: CorpusStore, index: BM25Index, config: Config) -> None:
        self.store = store
        self._index = index
        self._settings = config.retrieval

    @classmethod
    def open(cls, workspace: Workspace, corpus: str, config: Config) -> Self:
        """Open a corpus for searching.

        Raises:
            NotFoundError: there is no such corpus.
            StoreError, IndexUnusable: store or index cannot be used; the cure is named.
        """
        place = workspace.corpus(corpus)
        store = CorpusStore.open(place.store, read_only=True)
        try:
            folder = current(place.bm25)
            if folder is None:
                raise IndexUnusable(
                    f"The corpus {corpus!r} has no index that can be used.",
                    f"localrag index --corpus {corpus}",
                )
            try:
                index = BM25Index.open(folder, analyzer=query.analyzer().id)
            except IndexingError as error:
                raise IndexUnusable(
                    f"The index of corpus {corpus!r} cannot be used ({error}).",
                    f"localrag index --rebuild --corpus {corpus}",
                ) from error
        except BaseException:
            store.close()
            raise
        return cls(store, index, config)

    def close(self) -> None:
        """Let go of store and index."""
        self._index.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def inverse_document_frequency(self, term: str) -> float:
        """How much a term says in this corpus."""
        return query.inverse_document_frequency(
            self._index.count, self._index.document_frequency(term)
        )

    def search(self, asked: Query, k: int | None = None) -> Retrieval:
        """Run all stages for one question.

        Args:
            asked: the question.
            k: how many hits to give back; the setting ``retrieval.k`` by default.

        Returns:
            At most `k` hits, best first, and the record of every stage.

        Raises:
            UsageError: the question holds no word or is too long.
            IndexUnusable: the index turned out to be damaged.
        """
        query.check(asked)
        trail = _Trail(self.store, k or self._settings.k)
        laws_apply = not asked.filters.layers or ARTICLES in asked.filters.layers
        admission = Admission(self.store, asked.filters)

        resolved = Resolved()
        if laws_apply:
            resolved = resolve.resolve(self._resolver, self.store, asked, admission)
        named = resolved.units
        reasons = {unit: Reason("named:", words) for unit, words in resolved.words.items()}
        trail.record(resolve.STAGE, named, reasons, resolved.events)

        found = prior.weigh(lexical.lexical(self.store, self._index, asked), asked, self._names)
        trail.record(lexical.STAGE, found)

        words = relative_to_best(found)
        fused = add(words, named)
        trail.record(FUSE, fused, reasons)

        seeds = _seeds(resolved, fused)
        reached = expand.neighbours(self.store, seeds, asked.text, admission)
        gained = {
            unit: neighbour.strength * (words.get(unit, 0.0) + _UNMATCHED)
            for unit, neighbour in reached.items()
        }
        reasons = {unit: Reason(to.relation, to.other) for unit, to in reached.items()} | reasons
        hits = trail.record(expand.STAGE, add(fused, gained), reasons)
        return Retrieval(hits, trail.trace, tuple(resolved.asked_for), tuple(resolved.missing))

    @cached_property
    def _names(self) -> LawNames:
        return LawNames.from_rows(self.store.laws())

    @cached_property
    def _resolver(self) -> Resolver:
        return Resolver(self._names, StoredProvisions(self.store, self._names))


def _seeds(resolved: Resolved, fused: Scores) -> list[Seed]:
    """The provisions to expand from: those named, and the best of those found by their words."""
    seeds = [
        Seed(target.law_id, target.locator, score, named=True)
        for target, score in resolved.targets.items()
        if target.locator != Locator()
    ]
    named = resolved.units
    best = sorted((unit for unit in fused if unit not in named), key=lambda unit: -fused[unit])
    for unit in best[:_EXPANDED]:
        law_id, _, path = unit.rpartition("#")
        strength = _EXPANDED_SHARE * fused[unit]
        seeds.append(Seed(law_id, Locator.parse(path), strength, named=False))
    return seeds


class Reason(NamedTuple):
    """Why a unit was chosen: a relation, and the unit or the words it holds with."""

    relation: str
    other: str


class _Trail:
    """Records the stages of one search as they end."""

    def __init__(self, store: Lookups, k: int) -> None:
        self._store = store
        self._k = k
        self._passages: dict[str, Passage | None] = {}
        self._stages: list[StageRecord] = []
        self._since = perf_counter()

    @property
    def trace(self) -> Trace:
        """The stages so far."""
        return Trace(tuple(self._stages))

    def record(
        self,
        stage: str,
        scores: Scores,
        reasons: Mapping[str, Reason] = MappingProxyType({}),
        events: Sequence[str] = (),
    ) -> tuple[Hit, ...]:
        """End a stage: its best units become its hits."""
        hits: list[Hit] = []
        for unit in sorted(scores, key=lambda unit: -scores[unit]):
            passage = self._passage(unit)
            if passage is not None:
                rank = len(hits) + 1
                reason = self._words(reasons[unit]) if unit in reasons else ""
                hits.append(Hit(passage, scores[unit], rank, stage, reason))
            if len(hits) == self._k:
                break
        now = perf_counter()
        self._stages.append(StageRecord(stage, tuple(hits), now - self._since, tuple(events)))
        self._since = now
        return tuple(hits)

    def _words(self, reason: Reason) -> str:
        other = self._passage(reason.other)
        return f"{reason.relation} {other.header if other else reason.other}"

    def _passage(self, unit: str) -> Passage | None:
        if unit not in self._passages:
            self._passages[unit] = self._store.by_id(unit)
        return self._passages[unit]
