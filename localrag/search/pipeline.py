"""The search: read the question, then run `STEPS`.

A step gets the `Search` of the steps before it, adds to it and records its work.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from localrag.corpus.config import Config, RetrievalConfig
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, TRIPLES, Locator
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError
from localrag.language import N_, _
from localrag.law.typed import written_out
from localrag.search import edges, query, ranking
from localrag.search.edges import Filler, Neighbour, Seed
from localrag.search.query import analyzer, scope_of
from localrag.search.reading import RESOLVE, Reading, Resolved, Retrieval, read
from localrag.search.search import Searchable, SearchModels, Trail
from localrag.search.types import Hit, Link, LinkKind, Query, Reason, StageListener
from localrag.search.units import (
    Admission,
    Scores,
    add,
    article_unit,
    by_ranks,
    fuse,
    left,
    relative_to_best,
    standing,
    target_of,
)
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import ignore
from localrag_indexes.bm25 import BM25Index

FUSE = "fuse"
"""The step name of the fused ranking: words, meaning and names together."""

# Units expanded from without being named; the weight of their score.
_EXPANDED = 5
_EXPANDED_SHARE = 0.4
# Score of a neighbour whose own words do not match.
_UNMATCHED = 0.4
# A unit placed first gets slightly more than the best score, one placed behind slightly less.
_FIRST, _BEHIND = 1.01, 0.999
_RELATIONS = {
    LinkKind.FILLS: FactKind.FILLS_IN,
    LinkKind.PUNISHES: FactKind.PUNISHES,
}


@dataclass
class Search:
    """The state of a search, passed from step to step.

    Attributes:
        corpus: the corpus searched.
        settings: of the search.
        reading: the question, read.
        admission: which documents may be found.
        trail: the record of the steps.
        words, meaning: units with their scores by words and by meaning.
        found: units by words and meaning together, relative to the best.
        total: units with their final scores.
        reasons: why a unit was chosen, if its score is not the only reason.
        links: provisions that answer for other units.
        hits: the best units after the last step.
    """

    corpus: Searchable
    settings: RetrievalConfig
    reading: Reading
    admission: Admission
    trail: Trail
    words: Scores = field(default_factory=dict)
    meaning: Scores = field(default_factory=dict)
    found: dict[str, float] = field(default_factory=dict)
    total: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, Reason] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    hits: tuple[Hit, ...] = ()

    @property
    def named(self) -> Scores:
        """The units named in the question."""
        return self.reading.resolved.units

    @property
    def of_provisions(self) -> bool:
        """Whether the question seeks provisions rather than other documents."""
        titled = self.corpus.names.title
        best = max(self.words, key=self.words.__getitem__, default="").rpartition("#")[0]
        return bool(titled(best)) if best else self.corpus.store.is_of_laws

    def drop_what_is_left_out(self, scores: dict[str, float]) -> None:
        """Remove units excluded by the question."""
        for unit in self.reading.resolved.not_asked_for:
            scores.pop(unit, None)


def name_provisions(search: Search) -> None:
    """Step `resolve`: add the provisions named in the question, with notes on day and laws."""
    reading = search.reading
    search.reasons = dict(reading.resolved.reasons)
    known = standing(search.corpus.store, reading.query.filters)
    events = [*known, *reading.scope.events, *reading.resolved.events]
    search.trail.record(RESOLVE, search.named, search.reasons, events)


def search_words(search: Search) -> None:
    """Step `lexical`: add units by BM25, with the words of question and statutes.

    Predicted questions are searched only if provisions are sought. In a corpus with other documents
    they would rank laws above the page asked for.
    """
    if not search.settings.lexical:
        search.trail.record(ranking.WORDS, {}, events=[Fact(FactKind.LEXICAL_OFF)])
        return
    corpus, everyday = search.corpus, search.reading.everyday

    def by_words(questions: BM25Index | None, asked: Query) -> dict[str, float]:
        matches = ranking.lexical(corpus.store, corpus.index, asked, everyday, questions)
        return ranking.weigh(matches, asked, corpus.names, everyday)

    if corpus.questions is None or not corpus.store.is_of_laws:
        search.words = _searched(search.reading, partial(by_words, None))
    if corpus.questions is not None and search.of_provisions:
        search.words = _searched(search.reading, partial(by_words, corpus.questions))
    search.trail.record(ranking.WORDS, search.words, wordings=everyday)


def search_meaning(search: Search) -> None:
    """Step `dense`: add the units with the nearest vectors, if the corpus has vectors."""
    models = search.corpus.models
    if models.dense is not None and search.settings.dense != "off":
        by_meaning = partial(
            models.dense.search, search.corpus.store, provisions=search.of_provisions
        )
        search.meaning = _searched(search.reading, by_meaning)
        search.trail.record(ranking.MEANING, search.meaning)
    elif models.without_dense:
        search.trail.record(ranking.MEANING, {}, events=[models.without_dense])


def fuse_rankings(search: Search) -> None:
    """Step `fuse`: one ranking of words, meaning and the provisions named."""
    words, meaning, provisions = search.words, search.meaning, search.of_provisions
    search.found = fuse(words, meaning, search.settings, provisions=provisions)
    search.drop_what_is_left_out(search.found)
    search.trail.record(FUSE, add(search.found, search.named), search.reasons)


def reread(search: Search) -> None:
    """Step `rerank`: rescore the best units with a reranker, if one is set."""
    model = search.corpus.models.rerank
    if model is None or search.settings.rerank == "off":
        return
    found, events = model.rerank(
        search.corpus.store, search.reading.query, search.found, search.settings.rerank_depth
    )
    search.found = search.reading.scope.first(relative_to_best(found))
    search.trail.record(ranking.RERANK, add(search.found, search.named), search.reasons, events)


def follow_edges(search: Search) -> None:
    """Step `expand`: add provisions linked to those found (penalties, orders, references).

    Raises:
        StoreError: a stored reference cannot be read.
    """
    reading, store, filters = search.reading, search.corpus.store, search.reading.query.filters
    fused = add(search.found, search.named)
    seeds = _seeds(reading.resolved, fused)
    reached = edges.neighbours(store, seeds, search.admission)
    search.total = add(
        fused,
        {
            unit: neighbour.strength * (search.found.get(unit, 0.0) + _UNMATCHED)
            for unit, neighbour in reached.items()
        },
    )
    connected = {unit: Reason(to.relation, to.other) for unit, to in reached.items()}
    search.reasons = connected | search.reasons
    if search.settings.follow_titles and (not filters.layers or PASSAGES in filters.layers):
        best, scores = _best(fused), relative_to_best(fused)
        pages = edges.pages_named(store, search.corpus.titles, best, scores, search.admission)
        search.reasons = _follow(search.total, pages, search.found) | search.reasons
    events = _link(search, seeds, relative_to_best(fused)) if reading.is_of_law else []
    search.reasons |= {
        link.unit: Reason(_RELATIONS[link.kind], link.other)
        for link in search.links
        if link.unit != link.other
    }
    for unit in reversed(reading.resolved.meaning.units):
        search.total[unit] = _FIRST * max(search.total.values(), default=1.0)
    search.drop_what_is_left_out(search.total)
    if not fused:
        events = [*events, *left(store, filters)]
    ranked = reading.scope.first(search.total)
    search.hits = search.trail.record(edges.STAGE, ranked, search.reasons, events)
    edges.require_undamaged(store, reached, search.hits)


STEPS: tuple[Callable[[Search], None], ...] = (
    name_provisions,
    search_words,
    search_meaning,
    fuse_rankings,
    reread,
    follow_edges,
)
"""The steps of a search, in order."""


class Retriever(Searchable):
    """Finds passages of one corpus. Open it to read, and close it."""

    def __init__(
        self,
        store: CorpusStore,
        index: BM25Index,
        settings: RetrievalConfig,
        models: SearchModels,
        questions: BM25Index | None = None,
    ) -> None:
        super().__init__(store, index, models, questions)
        self._settings = settings

    @classmethod
    def open(cls, workspace: Workspace, corpus: str, config: Config) -> Self:
        """Open a corpus for searching. Models are loaded with the first question.

        Raises:
            NotFoundError: there is no such corpus.
            StoreError, IndexUnusable, ModelUnusable: something cannot be used; the error names the
                cure.
            UsageError: the settings leave no way to search, or need a missing model.
        """
        place = workspace.corpus(corpus)
        with ExitStack() as opened:
            store = opened.enter_context(
                CorpusStore.open(place.store, read_only=True, as_of=config.retrieval.day)
            )
            index = opened.enter_context(ranking.open_index(place))
            questions = ranking.open_questions(place)
            if questions is not None:
                opened.enter_context(questions)
            meaning, without = ranking.open_dense(workspace, place, config)
            models = SearchModels(meaning, without, ranking.open_rerank(workspace, config))
            if not config.retrieval.lexical and meaning is None:
                raise UsageError(
                    N_(
                        "Search by words is switched off (retrieval.lexical), and there is none by "
                        "meaning: {why}."
                    ),
                    N_("Switch one of them on."),
                    why=without or _("no embedder is in use"),
                )
            opened.pop_all()
        return cls(store, index, config.retrieval, models, questions)

    def close(self) -> None:
        """Release the store, the indexes and the models."""
        self.models.close()
        self.index.close()
        if self.questions is not None:
            self.questions.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def k(self) -> int:
        """The default number of hits."""
        return self._settings.k

    @property
    def has_dense(self) -> bool:
        """Whether search by meaning is available."""
        return self.models.dense is not None

    @property
    def has_rerank(self) -> bool:
        """Whether a reranker is available."""
        return self.models.rerank is not None

    def search(
        self,
        asked: Query,
        k: int | None = None,
        settings: RetrievalConfig | None = None,
        on_stage: StageListener = ignore,
    ) -> Retrieval:
        """Run all steps for one question.

        Args:
            asked: the question.
            k: number of hits; by default the setting ``retrieval.k``.
            settings: replace those of the open corpus; a step without a model stays off.
            on_stage: called after each step; an exception from it ends the search.

        Returns:
            At most `k` hits, best first, and the record of every step.

        Raises:
            UsageError: the question has no word or is too long.
            IndexUnusable: the index is damaged.
        """
        settings = settings or self._settings
        asked = self._checked(asked, settings)
        with self.store.holding():
            admission = Admission(self.store, asked.filters)
            reading = read(asked, self, admission)
            trail = Trail(self.store, k or settings.k, asked.filters, on_stage, reading.scope)
            search = Search(self, settings, reading, admission, trail)
            for step in STEPS:
                step(search)
        return _retrieval(search)

    def _checked(self, asked: Query, settings: RetrievalConfig) -> Query:
        """The query with its document ids resolved; raises as `query.checked`."""
        asked = query.checked(asked, settings)
        documents = tuple(dict.fromkeys(map(self.store.id_of, asked.filters.documents)))
        if documents == asked.filters.documents:
            return asked
        return replace(asked, filters=replace(asked.filters, documents=documents))

    def absent(self, asked: Query) -> tuple[str, ...]:
        """The laws named in the question and missing from the corpus. Runs no search."""
        asked = replace(asked, text=written_out(asked.text, self.names))
        return scope_of(asked, self.names, self.store, self.orders).absent

    def rank(self, asked: Query, k: int | None = None, *, words: bool, meaning: bool) -> Retrieval:
        """Search by words, by meaning, or by both fused by rank, without the other steps.

        Published methods call this lexical, dense and hybrid search. Without vectors or a model,
        words replace meaning, with a note.

        Args:
            asked: the question.
            k: number of hits returned and recorded; by default the setting ``retrieval.k``.
            words: search by words; bare BM25 scores.
            meaning: search by meaning.

        Raises:
            UsageError: the question has no word or is too long.
            IndexUnusable: an index is damaged.
            ModelUnusable: a model failed.
        """
        asked = self._checked(asked, self._settings)
        trail = Trail(self.store, k or self._settings.k, asked.filters)
        by_words, by_meaning, hits = self._ranked(trail, asked, words=words, meaning=meaning)
        if by_words and by_meaning:
            hits = trail.record(FUSE, by_ranks(by_words, by_meaning, self._settings))
        return Retrieval(hits, trail.trace, Reading(asked))

    def known(self, name: str, predicate: str, asked: Query, k: int) -> Retrieval:
        """Search the triples by subject and predicate, and by meaning.

        Matches of both subject and predicate come first. Without vectors, words replace meaning, as
        in `rank`.

        Args:
            name: of the subject, in any spelling.
            predicate: the property asked for.
            asked: the same as a question, for the search by meaning.
            k: number of hits returned and recorded.

        Raises:
            UsageError: the question has no word or is too long.
            IndexUnusable: an index is damaged.
            ModelUnusable: a model failed.
        """
        from localrag.search import predicates

        asked = self._checked(asked, self._settings)
        trail = Trail(self.store, k, asked.filters)
        admission = Admission(self.store, asked.filters)
        of_subject, events = predicates.triples_of(self.store, name, predicate, admission)
        trail.record(predicates.STAGE, of_subject, events=events)
        triples = replace(asked, filters=replace(asked.filters, layers=(TRIPLES,)))
        by_words, by_meaning, _ = self._ranked(trail, triples, words=False, meaning=True)
        found = predicates.join(of_subject, relative_to_best(by_meaning or by_words))
        return Retrieval(trail.record(FUSE, found), trail.trace, Reading(asked))

    def rerank(self, asked: Query, hits: Sequence[Hit], k: int) -> Retrieval:
        """Reorder hits with the reranker; without one, keep their order.

        Args:
            asked: the question.
            hits: best first, no passage twice.
            k: number of hits returned.

        Raises:
            ModelUnusable: the model failed.
        """
        trail = Trail(self.store, k, asked.filters)
        scores = {hit.passage.id: 1 / rank for rank, hit in enumerate(hits, 1)}
        events = [Fact(FactKind.NO_RERANKER)]
        if self.models.rerank is not None:
            scores, events = self.models.rerank.rerank(self.store, asked, scores, len(scores))
        hits = trail.record(ranking.RERANK, scores, events=events)
        return Retrieval(hits, trail.trace, Reading(asked))

    def _ranked(
        self, trail: Trail, asked: Query, *, words: bool, meaning: bool
    ) -> tuple[Scores, Scores, tuple[Hit, ...]]:
        """Both scores of `rank`, and its final hits."""
        by_words: Scores = {}
        by_meaning: Scores = {}
        hits: tuple[Hit, ...] = ()
        if meaning and self.models.dense is not None:
            by_meaning = self.models.dense.search(self.store, asked)
            hits = trail.record(ranking.MEANING, by_meaning)
        elif meaning:
            trail.record(ranking.MEANING, {}, events=[Fact(FactKind.WORDS_FOR_MEANING)])
        if words or self.models.dense is None:
            matches = ranking.lexical(self.store, self.index, asked)
            by_words = {unit: match.score for unit, match in matches.items()}
            hits = trail.record(ranking.WORDS, by_words)
        return by_words, by_meaning, hits


def _retrieval(search: Search) -> Retrieval:
    reading = search.reading
    if reading.punishing:
        reading.resolved.asked_for += (target_of(link.unit) for link in search.links)
    cited = (
        target
        for target in dict.fromkeys(reading.resolved.cited)
        if search.trail.shows(article_unit(target.law_id, target.locator))
    )
    return Retrieval(search.hits, search.trail.trace, reading, tuple(cited), tuple(search.links))


def _searched(reading: Reading, search: Callable[[Query], dict[str, float]]) -> dict[str, float]:
    """The scores of a search. Hits inside the laws named come first, relative to their best."""
    everywhere = search(reading.sought)
    if not reading.scope.circles:
        return everywhere
    within = [
        relative_to_best(add(*(relative_to_best(search(one)) for one in queries)))
        for queries in reading.scope.searches(reading.sought)
    ]
    return reading.scope.join(within, relative_to_best(everywhere))


def _link(search: Search, seeds: Sequence[Seed], found: Scores) -> list[Fact]:
    """Add penalties and implementing provisions of the seeds; return their notes.

    Args:
        search: gets the links and their scores.
        seeds: provisions to start from.
        found: units found, relative to the best.
    """
    reading, store, admission = search.reading, search.corpus.store, search.admission
    if reading.penalty is None:
        filler = Filler(store, admission, reading)
        search.links = filler.links(seeds)
        _place(search.total, search.links)
        return filler.events
    doing = f"{reading.penalty.doing}\n{ranking.in_law(reading.everyday)}"
    terms = frozenset(analyzer().terms(doing))
    penalties = edges.penalties(store, reading, terms, found, admission)
    best = max(search.total.values(), default=0.0)
    for penalty in penalties:
        unit = penalty.link.unit
        search.total[unit] = max(search.total.get(unit, 0.0), best + penalty.strength)
    search.links = [penalty.link for penalty in penalties]
    return []


def _seeds(resolved: Resolved, fused: Scores) -> list[Seed]:
    """The provisions to expand from: those named, and the best of the fused ranking."""
    seeds = [
        Seed(target.law_id, target.locator, score, named=True)
        for target, score in resolved.targets.items()
        if target.locator != Locator()
    ]
    named = resolved.units
    for unit in _best({unit: score for unit, score in fused.items() if unit not in named}):
        found = target_of(unit)
        strength = _EXPANDED_SHARE * fused[unit]
        seeds.append(Seed(found.law_id, found.locator, strength, named=False))
    return seeds


def _best(scores: Scores) -> list[str]:
    return sorted(scores, key=lambda unit: -scores[unit])[:_EXPANDED]


def _follow(
    total: dict[str, float], pages: Mapping[str, Neighbour], found: Scores
) -> dict[str, Reason]:
    """Raise pages named by hits to just below those hits; return the reason for each."""
    before = dict(total)
    reasons: dict[str, Reason] = {}
    for unit, page in pages.items():
        own = before.get(unit, 0.0)
        gained = own + page.strength * (found.get(unit, 0.0) + _UNMATCHED)
        place = min(gained, before[page.other] * _BEHIND)
        if place > own:
            total[unit] = place
            reasons[unit] = Reason(page.relation, page.other)
    return reasons


def _place(total: dict[str, float], links: Sequence[Link]) -> None:
    """Place linked provisions first or just behind their source, as each link says."""
    for link in links:
        first = max(total.values(), default=1.0)
        place = first * _FIRST if link.comes_first else total.get(link.other, first) * _BEHIND
        total[link.unit] = max(total.get(link.unit, 0.0), place)
