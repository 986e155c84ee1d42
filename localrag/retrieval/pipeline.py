"""The retrieval pipeline: the stages in their order, each one recorded."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from math import log
from typing import NamedTuple, Self

from localrag.config import Config, RetrievalConfig
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Locator
from localrag.errors import UsageError
from localrag.facts import Fact, FactKind
from localrag.language import N_, _
from localrag.progress import ignore
from localrag.question.as_of import dates_in
from localrag.question.asked import penalty_asked, without_politeness
from localrag.question.english_citations import english_places
from localrag.question.everyday import EverydayWord, wordings
from localrag.question.laws import without_names
from localrag.retrieval import dense, expand, lexical, penal, query, rerank, resolve, subject
from localrag.retrieval.captions import compounds
from localrag.retrieval.dense import Dense
from localrag.retrieval.expand import Neighbour, Seed
from localrag.retrieval.fill import Filler
from localrag.retrieval.query import analyzer
from localrag.retrieval.rerank import Rerank
from localrag.retrieval.resolve import Resolved
from localrag.retrieval.scope import NO_LAWS, OrdersUnder, Scope, scope_of, weighted
from localrag.retrieval.titles import Titles
from localrag.retrieval.trail import Reason, StageListener, Trail
from localrag.retrieval.types import Hit, Link, LinkKind, Query, Retrieval
from localrag.retrieval.units import (
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
from localrag.statutes.names import LawNames
from localrag.statutes.provisions import RememberedProvisions, StoredProvisions
from localrag.statutes.resolver import CitationResolver
from localrag.statutes.typed import written_out
from localrag.workspace import Workspace
from localrag_indexes.bm25 import BM25Index

FUSE = "fuse"
"""The stage that makes one ranking of those by words, by meaning and by name."""

# Units found by their words alone that are expanded from, and the share of their score they count.
_EXPANDED = 5
_EXPANDED_SHARE = 0.4
# What a neighbour gains even where its own words do not match.
_UNMATCHED = 0.4
# A name of which every word stands in one passage of twenty or more tells none of them apart.
_TELLING = log(20)
# Characters of the longest question that is taken for one a person types.
_TYPED = 200
# What comes first by its link has a little more than the best, what stands beside a little less.
_FIRST, _BEHIND = 1.01, 0.999
_RELATIONS = {
    LinkKind.FILLS: FactKind.FILLS_IN,
    LinkKind.PUNISHES: FactKind.PUNISHES,
}


class Retriever:
    """Finds passages of one corpus; open for reading, to be closed.

    Attributes:
        store: the corpus store the passages come from.
        models: what of the search rests on models.
    """

    def __init__(
        self,
        store: CorpusStore,
        index: BM25Index,
        settings: RetrievalConfig,
        models: "SearchModels",
    ) -> None:
        self.store = store
        self._index = index
        self._settings = settings
        self.models = models

    @classmethod
    def open(cls, workspace: Workspace, corpus: str, config: Config) -> Self:
        """Open a corpus for searching; models are loaded when the first question needs them.

        Raises:
            NotFoundError: there is no such corpus.
            StoreError, IndexUnusable, ModelUnusable: something cannot be used; the cure is named.
            UsageError: the settings leave no way to search, or switch on what has no model.
        """
        place = workspace.corpus(corpus)
        with ExitStack() as opened:
            store = opened.enter_context(
                CorpusStore.open(place.store, read_only=True, as_of=config.retrieval.day)
            )
            index = opened.enter_context(lexical.open_index(place))
            meaning, without = dense.open_dense(workspace, place, config)
            models = SearchModels(meaning, without, rerank.open_rerank(workspace, config))
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
        return cls(store, index, config.retrieval, models)

    def close(self) -> None:
        """Let go of store, indexes and models."""
        self.models.close()
        self._index.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def k(self) -> int:
        """Hits that a search gives back where no other number is asked for."""
        return self._settings.k

    @property
    def has_dense(self) -> bool:
        """Whether search by meaning can take part."""
        return self.models.dense is not None

    @property
    def has_rerank(self) -> bool:
        """Whether a reranker can take part."""
        return self.models.rerank is not None

    def inverse_document_frequency(self, term: str) -> float:
        """How much a term says in this corpus."""
        return query.inverse_document_frequency(
            self._index.count, self._index.document_frequency(term)
        )

    def search(
        self,
        asked: Query,
        k: int | None = None,
        settings: RetrievalConfig | None = None,
        on_stage: StageListener = ignore,
    ) -> Retrieval:
        """Run all stages for one question.

        Args:
            asked: the question.
            k: how many hits to give back; the setting ``retrieval.k`` by default.
            settings: others than those the corpus was opened with; a stage without a model stays
                without.
            on_stage: told what each stage did, as soon as it has ended; what it raises ends the
                search.

        Returns:
            At most `k` hits, best first, and the record of every stage.

        Raises:
            UsageError: the question holds no word or is too long.
            IndexUnusable: the index turned out to be damaged.
        """
        settings = settings or self._settings
        asked = self._checked(asked, settings)
        with self.store.holding():
            return self._search(asked, k, settings, on_stage)

    def _search(
        self,
        asked: Query,
        k: int | None,
        settings: RetrievalConfig,
        on_stage: StageListener,
    ) -> Retrieval:
        laws_apply = not asked.filters.layers or ARTICLES in asked.filters.layers
        admission = Admission(self.store, asked.filters)

        scope, resolved = NO_LAWS, Resolved()
        if laws_apply:
            asked = replace(asked, text=written_out(asked.text, self.names))
            scope = scope_of(asked, self.names, self.store, self.orders)
            resolved = resolve.resolve(
                self._resolver(), self.store, asked, self.names, admission, scope
            )
            scope = scope.with_cited(target.law_id for target in resolved.targets)
            asked = replace(asked, text=resolved.text)
        trail = Trail(self.store, k or settings.k, asked.filters, on_stage, scope)
        named = resolved.units
        reasons = resolved.reasons
        known = standing(self.store, asked.filters)
        trail.record(resolve.STAGE, named, reasons, [*known, *scope.events, *resolved.events])

        sought = self._sought(asked, scope) if laws_apply else _Sought(asked)
        found = self._found(sought, scope, settings, trail)
        for unit in resolved.not_asked_for:
            found.pop(unit, None)
        trail.record(FUSE, add(found, named), reasons)

        if self.models.rerank is not None and settings.rerank != "off":
            found, events = self.models.rerank.rerank(
                self.store, asked, found, settings.rerank_depth
            )
            found = scope.first(relative_to_best(found))
            trail.record(rerank.STAGE, add(found, named), reasons, events)

        fused = add(found, named)
        seeds = _seeds(resolved, fused)
        reached = expand.neighbours(self.store, seeds, asked.text, admission)
        gained = {
            unit: neighbour.strength * (found.get(unit, 0.0) + _UNMATCHED)
            for unit, neighbour in reached.items()
        }
        reasons = {unit: Reason(to.relation, to.other) for unit, to in reached.items()} | reasons
        total = add(fused, gained)
        if settings.follow_titles and (
            not asked.filters.layers or PASSAGES in asked.filters.layers
        ):
            pages = expand.pages_named(
                self.store, self._titles, _best(fused), relative_to_best(fused), admission
            )
            reasons = _follow(total, pages, found) | reasons
        links: list[Link] = []
        unfilled: list[Fact] = []
        if sought.is_of_law:
            links, unfilled = self._linked(sought, seeds, fused, total, admission)
        if sought.punishing:
            resolved.asked_for += (target_of(link.unit) for link in links)
        reasons |= {
            link.unit: Reason(_RELATIONS[link.kind], link.other)
            for link in links
            if link.unit != link.other
        }
        for unit in reversed(resolved.meaning.units):
            total[unit] = _FIRST * max(total.values(), default=1.0)
        for unit in resolved.not_asked_for:
            total.pop(unit, None)
        if not fused:
            unfilled = [*unfilled, *left(self.store, asked.filters)]
        hits = trail.record(expand.STAGE, scope.first(total), reasons, unfilled)
        expand.require_undamaged(self.store, reached, hits)
        return Retrieval(
            hits,
            trail.trace,
            tuple(resolved.asked_for),
            tuple(resolved.missing),
            scope.laws,
            tuple(links),
            sought.doing,
            tuple(
                target
                for target in dict.fromkeys(resolved.cited)
                if trail.shows(article_unit(target.law_id, target.locator))
            ),
            resolved.meaning.definitions,
            resolved.undefined,
            asked.text,
        )

    def _checked(self, asked: Query, settings: RetrievalConfig) -> Query:
        """The query, its documents by the ids that they have; raises as `query.checked`."""
        asked = query.checked(asked, settings)
        documents = tuple(dict.fromkeys(map(self.store.id_of, asked.filters.documents)))
        if documents == asked.filters.documents:
            return asked
        return replace(asked, filters=replace(asked.filters, documents=documents))

    def absent(self, asked: Query) -> tuple[str, ...]:
        """The laws that a question names and the corpus lacks; nothing is searched for."""
        asked = replace(asked, text=written_out(asked.text, self.names))
        return scope_of(asked, self.names, self.store, self.orders).absent

    def rank(self, asked: Query, k: int | None = None, *, words: bool, meaning: bool) -> Retrieval:
        """Search by words, by meaning, or by both fused by rank, and nothing else.

        What published methods call lexical, dense and hybrid search. Where the corpus has no
        vectors or the settings no model for them, words stand in for the meaning, which is told.

        Args:
            asked: the question.
            k: how many hits to give back, and to record of every stage; the setting
                ``retrieval.k`` by default.
            words: search by words; bare BM25 scores.
            meaning: search by meaning.

        Raises:
            UsageError: the question holds no word or is too long.
            IndexUnusable: an index turned out to be damaged.
            ModelUnusable: a model failed.
        """
        asked = self._checked(asked, self._settings)
        trail = Trail(self.store, k or self._settings.k, asked.filters)
        by_words, by_meaning, hits = self._ranked(trail, asked, words=words, meaning=meaning)
        if by_words and by_meaning:
            hits = trail.record(FUSE, by_ranks(by_words, by_meaning, self._settings))
        return Retrieval(hits, trail.trace)

    def known(self, name: str, predicate: str, asked: Query, k: int) -> Retrieval:
        """Search the triples: by subject and predicate, and by meaning.

        What agrees in both subject and predicate comes first. Where the corpus has no vectors,
        words stand in for the meaning, as in `rank`.

        Args:
            name: of the subject, in whatever spelling.
            predicate: what is asked of it.
            asked: the same as a question, searched for by meaning in the layer of triples.
            k: how many hits to give back, and to record of every stage.

        Raises:
            UsageError: the question holds no word or is too long.
            IndexUnusable: an index turned out to be damaged.
            ModelUnusable: a model failed.
        """
        asked = self._checked(asked, self._settings)
        trail = Trail(self.store, k, asked.filters)
        admission = Admission(self.store, asked.filters)
        of_subject, events = subject.triples_of(self.store, name, predicate, admission)
        trail.record(subject.STAGE, of_subject, events=events)
        triples = replace(asked, filters=replace(asked.filters, layers=(TRIPLES,)))
        by_words, by_meaning, _ = self._ranked(trail, triples, words=False, meaning=True)
        found = subject.join(of_subject, relative_to_best(by_meaning or by_words))
        return Retrieval(trail.record(FUSE, found), trail.trace)

    def rerank(self, asked: Query, hits: Sequence[Hit], k: int) -> Retrieval:
        """Order hits anew with the model for it; without one they keep their order.

        Args:
            asked: what they are compared with.
            hits: best first, no passage twice.
            k: how many to give back.

        Raises:
            ModelUnusable: the model failed.
        """
        trail = Trail(self.store, k, asked.filters)
        scores = {hit.passage.id: 1 / rank for rank, hit in enumerate(hits, 1)}
        events = [Fact(FactKind.NO_RERANKER)]
        if self.models.rerank is not None:
            scores, events = self.models.rerank.rerank(self.store, asked, scores, len(scores))
        return Retrieval(trail.record(rerank.STAGE, scores, events=events), trail.trace)

    def _ranked(
        self, trail: Trail, asked: Query, *, words: bool, meaning: bool
    ) -> tuple[Scores, Scores, tuple[Hit, ...]]:
        """Search by words and by meaning as `rank` does; both scores, and the hits of the last."""
        by_words: Scores = {}
        by_meaning: Scores = {}
        hits: tuple[Hit, ...] = ()
        if meaning and self.models.dense is not None:
            by_meaning = self.models.dense.search(self.store, asked)
            hits = trail.record(dense.STAGE, by_meaning)
        elif meaning:
            trail.record(dense.STAGE, {}, events=[Fact(FactKind.WORDS_FOR_MEANING)])
        if words or self.models.dense is None:
            matches = lexical.lexical(self.store, self._index, asked)
            by_words = {unit: match.score for unit, match in matches.items()}
            hits = trail.record(lexical.STAGE, by_words)
        return by_words, by_meaning, hits

    def _sought(self, asked: Query, scope: Scope) -> "_Sought":
        """What a question seeks in laws; the question itself where the corpus has none.

        Options are put in the words of the law, and so is a question that is longer than a person
        types: they are searched for as they stand.
        """
        if not self.names.rows or asked.options or len(asked.text) > _TYPED:
            return _Sought(asked)
        text = without_politeness(asked.text)
        # 令和 of a date and Art. of a citation mean nothing else, as the names of laws do not.
        names = [(law.start, law.end) for law in scope.laws]
        besides = (*names, *dates_in(asked.text))
        besides += tuple((one.start, one.end) for one in english_places(asked.text))
        everyday = wordings(asked.text, besides, compounds(self.store))
        penalty = penalty_asked(text, everyday)
        doing = penalty.doing if penalty else ""
        words = doing or text
        ids: tuple[str, ...] = ()
        if doing and not analyzer().terms(without_names(doing, scope.laws)):
            ids = tuple(dict.fromkeys(law_id for law in scope.laws for law_id in law.law_ids))
        asked = replace(asked, text=words)
        return _Sought(
            asked,
            # What only asks is no word of the matter: 罰せられ, 教え.
            tuple(one for one in everyday if any(map(str.isalnum, words[one.start : one.end]))),
            doing,
            is_of_law=True,
            punishing=ids,
            of_a_body=penalty is not None and penalty.of_a_body,
        )

    def _linked(
        self,
        sought: "_Sought",
        seeds: Sequence[Seed],
        found: Scores,
        total: dict[str, float],
        admission: Admission,
    ) -> tuple[list[Link], list[Fact]]:
        """What punishes or fills in what was found, with the place it gains in the total.

        And what the user should know of it.
        """
        found = relative_to_best(found)
        if not sought.doing:
            question = sought.query.text
            filler = Filler(self.store, self.names, admission, question, sought.everyday, found)
            links = filler.links(seeds)
            _place(total, links)
            return links, filler.events
        doing = f"{sought.doing}\n{lexical.in_law(sought.everyday)}"
        terms = frozenset(analyzer().terms(doing))
        of_a_body = sought.of_a_body
        penalties = penal.of_laws(self.store, sought.punishing, admission, of_a_body=of_a_body)
        if not penalties:
            penalties = penal.penalties(self.store, found, terms, admission)
            if of_a_body:
                penalties = penal.of_bodies(self.store, penalties, admission)
        best = max(total.values(), default=0.0)
        for penalty in penalties:
            unit = penalty.link.unit
            total[unit] = max(total.get(unit, 0.0), best + penalty.strength)
        return [penalty.link for penalty in penalties], []

    def _found(
        self,
        sought: "_Sought",
        scope: Scope,
        settings: RetrievalConfig,
        trail: Trail,
    ) -> dict[str, float]:
        """Search by words and by meaning, as far as switched on; scores relative to the best."""
        asked, everyday = sought.query, sought.everyday
        words: dict[str, float] = {}
        if settings.lexical:
            words = _searched(scope, asked, partial(self._by_words, everyday=everyday))
            trail.record(lexical.STAGE, words, wordings=everyday)
        else:
            events = [Fact(FactKind.LEXICAL_OFF)]
            trail.record(lexical.STAGE, words, events=events)
        meaning: dict[str, float] = {}
        if self.models.dense is not None and settings.dense != "off":
            meaning = _searched(scope, asked, partial(self.models.dense.search, self.store))
            trail.record(dense.STAGE, meaning)
        elif self.models.without_dense:
            trail.record(dense.STAGE, meaning, events=[self.models.without_dense])
        # Beside other documents, what is sought is of the kind that its words find best.
        best = max(words, key=words.__getitem__, default="").rpartition("#")[0]
        return fuse(words, meaning, settings, provisions=bool(self.names.title(best)))

    def _by_words(self, asked: Query, everyday: Sequence[EverydayWord]) -> dict[str, float]:
        matches = lexical.lexical(self.store, self._index, asked, everyday)
        return lexical.weigh(matches, asked, self.names, self.store.headings_alone, everyday)

    @cached_property
    def names(self) -> LawNames:
        """The names of the laws of the corpus."""
        return LawNames.from_rows(self.store.laws())

    @cached_property
    def _titles(self) -> Titles:
        return Titles(self.store.titles(), self._says_something)

    def _says_something(self, name: str) -> bool:
        terms = analyzer().terms(name)
        return any(self.inverse_document_frequency(term) > _TELLING for term in terms)

    @cached_property
    def orders(self) -> OrdersUnder:
        """The orders and ordinances under the acts of the corpus."""
        return OrdersUnder(self.store, self.names)

    def _resolver(self) -> CitationResolver:
        # A question and its options cite the same laws: they are looked at once for all of it.
        provisions = RememberedProvisions(StoredProvisions(self.store, self.names))
        return CitationResolver(self.names, provisions)


class _Sought(NamedTuple):
    """What is searched for.

    Attributes:
        query: the question; without the words for the penalty where it asks for one.
        everyday: its everyday words, which statutes say otherwise.
        doing: the text of such a query; empty where the question asks for no penalty.
        is_of_law: whether it was read as a question that laws answer.
        punishing: ids of the laws all of whose penalties are asked for, no doing being named.
        of_a_body: whether the penalty of the legal person is asked for, not the doer's.
    """

    query: Query
    everyday: tuple[EverydayWord, ...] = ()
    doing: str = ""
    is_of_law: bool = False
    punishing: tuple[str, ...] = ()
    of_a_body: bool = False


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


def _searched(
    scope: Scope,
    asked: Query,
    search: Callable[[Query], dict[str, float]],
) -> dict[str, float]:
    """What a search finds; where laws are named in each of them first, relative to its best."""
    everywhere = search(asked)
    if not scope.circles:
        return everywhere
    within = []
    for queries, circle in scope.searches(asked):
        found = relative_to_best(add(*(relative_to_best(search(query)) for query in queries)))
        within.append(weighted(found, circle))
    return scope.join(within, relative_to_best(everywhere))


def _seeds(resolved: Resolved, fused: Scores) -> list[Seed]:
    """The provisions to expand from: those named, and the best of those found by their words."""
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
    """The units to expand from, best first."""
    return sorted(scores, key=lambda unit: -scores[unit])[:_EXPANDED]


def _follow(
    total: dict[str, float], pages: Mapping[str, Neighbour], found: Scores
) -> dict[str, Reason]:
    """Raise the pages that hits name, at most to right behind those; why, for each one raised."""
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
    """Put what fills in another provision first, or right behind it: as the link says."""
    for link in links:
        first = max(total.values(), default=1.0)
        place = first * _FIRST if link.comes_first else total.get(link.other, first) * _BEHIND
        total[link.unit] = max(total.get(link.unit, 0.0), place)
