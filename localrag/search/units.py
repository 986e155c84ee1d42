"""Units: the passages ranked.

A unit is an article, or a passage of an ordinary document; it is indexed, cited and read as a
whole. A reference to a paragraph counts for its article. The id of its passage names a unit.
Filters hold for units; their indexes match the store, or are behind it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from localrag.corpus.config import Provisions, RetrievalConfig
from localrag.corpus.facets import KIND
from localrag.corpus.lookups import Lookups
from localrag.corpus.states import OLD_AFTER, DocumentInfo
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Document, Locator
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import NotFoundError
from localrag.law.resolver import Target
from localrag.search.question.everyday import predicted_fingerprint
from localrag.search.types import Filters
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis import Analyzer
from localrag_indexes.errors import IndexingError, IndexVersionError
from localrag_indexes.fusion import Scored, convex_combination, reciprocal_rank_fusion
from localrag_indexes.manifest import IndexManifest, current

# Names of the filters other than facets; values suggested for each.
_LAW, _TYPE, _DATE = "law", "type", "date"
_SHOWN = 5
# Laws named in one note.
_NAMED = 5
# Without a common word, the BM25 score is 0. Cosines of one model are all far from 0, so they are
# measured from the lowest one found.
_FLOORS = (0.0, None)
# Weight of meaning for provisions relative to other passages: vocabulary, predicted questions and
# laws named say more about statutes. Chosen on the seen questions with a query adapter not fitted
# on them: .75 finds 161 of 184, .4 and .2 find 164; of the 160 older counted questions 154, 153 and
# 149.
_OF_PROVISIONS = 0.4

Scores = Mapping[str, float]
"""Scores by unit; higher is better."""


def article_unit(law_id: str, locator: Locator) -> str:
    """The unit of a place in a statute: its article, or its division without articles."""
    return f"{law_id}#{Locator(locator.division, locator.article).path}"


def target_of(unit: str) -> Target:
    """The provision of a unit; the inverse of `article_unit`."""
    law_id, _, path = unit.rpartition("#")
    return Target(law_id, Locator.parse(path))


def relative_to_best(scores: Scores) -> dict[str, float]:
    """Scores divided by the highest."""
    best = max(scores.values(), default=0.0)
    return {unit: score / best for unit, score in scores.items()} if best > 0 else {}


def add(*scores: Scores) -> dict[str, float]:
    """The sum of several scores, unit by unit."""
    total: dict[str, float] = {}
    for part in scores:
        for unit, score in part.items():
            total[unit] = total.get(unit, 0.0) + score
    return total


def fuse(
    words: Scores, meaning: Scores, settings: RetrievalConfig, *, provisions: bool = False
) -> dict[str, float]:
    """Fuse two rankings into scores relative to the best, 0 to 1.

    The settings choose fusion by scores or by ranks. A single ranking keeps its scores.

    Args:
        words: the ranking by words.
        meaning: the ranking by meaning.
        settings: the fusion and its weights.
        provisions: whether provisions of statutes are sought.
    """
    if not words or not meaning:
        return relative_to_best(words or meaning)
    if provisions:
        less = _OF_PROVISIONS * settings.dense_weight
        settings = settings.model_copy(update={"dense_weight": less})
    if settings.fusion == "ranks":
        return by_ranks(words, meaning, settings)
    weights = (settings.lexical_weight, settings.dense_weight)
    return relative_to_best(convex_combination((words, meaning), weights, _FLOORS))


def by_ranks(words: Scores, meaning: Scores, settings: RetrievalConfig) -> dict[str, float]:
    """Fuse by ranks with the weights of the settings; relative to the best."""
    rankings = [sorted(scores, key=lambda unit: -scores[unit]) for scores in (words, meaning)]
    weights = [settings.lexical_weight, settings.dense_weight]
    return relative_to_best(reciprocal_rank_fusion(rankings, weights, settings.fusion_k))


def on_the_day(
    store: Lookups, search: Callable[[int], Sequence[Scored]], depth: int
) -> list[Scored]:
    """The best index entries in force on the day of the store.

    An index has the texts of all states. Others are skipped, and the search continues until there
    are enough.

    Args:
        store: the corpus store, on a day.
        search: returns the best N entries of an index.
        depth: the number wanted.

    Returns:
        At most `depth` entries, with the keys of the passages shown.
    """
    if not (store.has_states or store.shares_entries):
        return list(search(depth))
    wanted = depth
    while True:
        found = search(wanted)
        keys = store.shown([key for key, _ in found])
        kept = [Scored(keys[key], score) for key, score in found if key in keys]
        if len(kept) >= depth or len(found) < wanted:
            return kept[:depth]
        wanted *= 2


class Admission:
    """Applies filters by document, with a cache for one query."""

    def __init__(self, store: Lookups, filters: Filters) -> None:
        self._store = store
        self._filters = filters
        self._admits_all = replace(filters, phrases=()) == Filters()
        self._answers: dict[str, bool] = {}
        self._where = store.facets.matching(filters.where) if filters.where else None
        self._tells_no_more = replace(filters, where=(), layers=(), phrases=()) == Filters()

    def admits(self, document_id: str) -> bool:
        """Whether passages of this document may be found; False for an unknown document."""
        if self._admits_all:
            return True
        if document_id not in self._answers:
            self._answers[document_id] = self._ask(document_id)
        return self._answers[document_id]

    def _ask(self, document_id: str) -> bool:
        filters = self._filters
        # Most documents need no look-up, the slowest part.
        if self._where is not None and document_id not in self._where:
            return False
        if self._where is not None and self._tells_no_more:
            return True
        try:
            about = self._store.document(document_id)
        except NotFoundError:
            return False
        return _holds(filters, about)


def _holds(filters: Filters, about: DocumentInfo) -> bool:
    """Whether filters admit a document, apart from facets and passages."""
    date = about.metadata.get("date", "")
    return (
        (not filters.documents or about.id in filters.documents)
        and (not filters.kinds or about.kind in filters.kinds)
        and (not filters.law_types or about.metadata.get("law_type") in filters.law_types)
        and (not filters.date_from or date >= filters.date_from)
        and (not filters.date_to or ("" < date <= filters.date_to))
    )


def standing(store: Lookups, filters: Filters) -> Iterator[Fact]:
    """Notes on the day, on several states of a law, and on unsorted documents."""
    if store.has_states:
        yield Fact(FactKind.LAW_OF_DAY, day=store.as_of.isoformat())
    told_for = store.facets.told_for if filters.where else None
    if told_for is not None and told_for != store.stamp:
        yield Fact(FactKind.METADATA_BEHIND)


def old_texts(store: Lookups, document_ids: Iterable[str]) -> list[Fact]:
    """A note naming the laws whose text is old on the day of the store."""
    old = _dated(law for law in _each(store, document_ids) if law.old)
    day = store.as_of.isoformat()
    return [Fact(FactKind.TEXT_OLD, laws=old, months=OLD_AFTER, day=day)] if old else []


def later_texts(store: Lookups, document_ids: Iterable[str]) -> list[Fact]:
    """A note naming the laws whose text was another one on the day of the store."""
    later = _dated(law for law in _each(store, document_ids) if law.before_first or law.not_yet)
    return [Fact(FactKind.TEXT_LATER, laws=later, day=store.as_of.isoformat())] if later else []


def _each(store: Lookups, document_ids: Iterable[str]) -> Iterator[DocumentInfo]:
    return (store.document(id_) for id_ in dict.fromkeys(document_ids))


def _dated(laws: Iterable[DocumentInfo]) -> tuple[str, ...]:
    named = [f"{law.title} ({law.metadata['date']})" for law in laws]
    return (*named[:_NAMED], "…") if len(named) > _NAMED else tuple(named)


def left(store: Lookups, filters: Filters) -> list[Fact]:
    """Notes on an empty result: how many articles each filter matches.

    If all filters together match nothing, the note says what each could be changed to.
    """
    wanted = dict(_wanted(store, filters))
    among = frozenset.intersection(*wanted.values()) if wanted else None
    if not wanted and not filters.layers:
        return []
    if n := store.facets.units(filters.where, among, filters.layers or LAYERS):
        return [Fact(FactKind.FILTERS_LEAVE, n=n)] if filters.where else []
    told = [Fact(FactKind.FILTERS_LEAVE_NOTHING, filters=tuple(_written(filters)))]
    values = tuple(_instead(store, filters, wanted))
    return [*told, Fact(FactKind.FILTERS_WOULD_LEAVE, values=values)] if values else told


def _written(filters: Filters) -> Iterator[str]:
    """The filters as given: facets for ``--where``, others by name."""
    yield from map(str, filters.where)
    named = (
        (_LAW, filters.documents),
        (_TYPE, filters.law_types),
        ("kind", filters.kinds),
        ("layer", filters.layers),
        ("from", (filters.date_from,)),
        ("to", (filters.date_to,)),
    )
    yield from (f"{name}={value}" for name, values in named for value in values if value)


def _wanted(store: Lookups, filters: Filters) -> Iterator[tuple[str, frozenset[str]]]:
    """For each facet, the ids admitted by the filters."""
    where = store.facets.canonical(filters.where)
    for key in dict.fromkeys(label.key for label in where):
        yield key, store.facets.matching(tuple(one for one in where if one.key == key))
    if filters.documents:
        yield _LAW, frozenset(filters.documents)
    of_documents = (
        (_TYPE, Filters(kinds=filters.kinds, law_types=filters.law_types)),
        (_DATE, Filters(date_from=filters.date_from, date_to=filters.date_to)),
    )
    for name, own in of_documents:
        if own != Filters():
            yield name, frozenset(one.id for one in store.documents() if _holds(own, one))


def _instead(
    store: Lookups, filters: Filters, wanted: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    """For each filter, the most frequent values under the others."""
    every = frozenset(one.id for one in store.documents())
    for name in wanted:
        rest = every.intersection(*(ids for other, ids in wanted.items() if other != name))
        if name == _DATE:
            found = (store.document(id_).metadata.get("date", "") for id_ in rest)
            dates = sorted(filter(None, found))
            yield from (f"date={day}" for day in dict.fromkeys(dates[:1] + dates[-1:]))
        elif name != _LAW:
            values = store.facets.among(rest, KIND if name == _TYPE else name)
            yield from (f"{name}={value}" for value, _documents in values.most_common(_SHOWN))
    if filters.layers:
        among = every.intersection(*wanted.values())
        held = (one for one in LAYERS if store.facets.units(filters.where, among, (one,)))
        yield from (f"layer={layer}" for layer in held)


def parts_by_document(filters: Filters) -> dict[str, list[tuple[int, int]]]:
    """The spans of the parts that the filters allow, by document."""
    parts: dict[str, list[tuple[int, int]]] = {}
    for document_id, start, end in filters.parts:
        parts.setdefault(document_id, []).append((start, end))
    return parts


class Conditions(NamedTuple):
    """Conditions of a search in an index; see its arguments."""

    where: Mapping[str, Collection[str]]
    between: Mapping[str, tuple[str, str]]
    among: frozenset[int] | None


def conditions(filters: Filters, store: Lookups) -> Conditions:
    """The conditions of a search in an index.

    Raises:
        UsageError, NotFoundError: the corpus has no document with a facet or value of the filters.
    """
    allowed, among = where(filters, store), None
    if filters.where:
        among = store.facets.keys_under(filters.where, filters.documents)
    parts = parts_by_document(filters)
    # Other laws of the filter are searched as a whole.
    if parts and parts.keys() == set(filters.documents):
        inside = frozenset(store.keys_inside(parts))
        among = inside if among is None else among & inside
    if among is not None:
        # The keys under the headings determine the documents, too.
        del allowed["document"]
    return Conditions(allowed, between(filters, store), among)


def where(filters: Filters, store: Lookups) -> dict[str, Collection[str]]:
    """Allowed values of an index's attributes.

    Raises:
        UsageError, NotFoundError: the corpus has no document with a facet or value of the filters.
    """
    allowed: dict[str, Collection[str]] = {
        "document": filters.documents,
        "kind": filters.kinds,
        "law_type": filters.law_types,
        "layer": filters.layers,
    }
    found = {name: values for name, values in allowed.items() if values}
    if filters.where:
        matching = store.facets.matching(filters.where)
        named = filters.documents
        found["document"] = matching.intersection(named) if named else matching
    return found


def between(filters: Filters, store: Lookups) -> dict[str, tuple[str, str]]:
    """Bounds on an index's attributes.

    None if states of a law share passages: those have the date of one state only, so `Admission`
    keeps the bounds.
    """
    if (filters.date_from or filters.date_to) and not store.has_states:
        return {"date": (filters.date_from, filters.date_to)}
    return {}


LAYERS = (ARTICLES, PASSAGES, TRIPLES)
"""Layers whose words are searched."""


class IndexState(StrEnum):
    """Whether an index matches its store.

    An outdated one was written by another version, or with another analyzer or model.
    """

    FRESH = "fresh"
    BEHIND = "behind"
    MISSING = "missing"
    OUTDATED = "outdated"
    DAMAGED = "damaged"


def index_state(workspace: Workspace, corpus: str, *, deep: bool = False) -> IndexState:
    """Whether the BM25 index of a corpus can be used.

    With `deep` every byte is compared with its checksum, also of files compared before.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: the store is damaged.
    """
    place = workspace.corpus(corpus)
    with CorpusStore.open(place.store, read_only=True) as store:
        return state(place, store, deep=deep)


def state(place: CorpusPaths, store: CorpusStore, *, deep: bool = False) -> IndexState:
    """The same for an open store; see `index_state`."""
    manifest = _manifest(place.bm25, deep=deep)
    if isinstance(manifest, IndexState):
        return manifest
    if manifest.analyzer != Analyzer().id or manifest.extra.get("layers") != list(LAYERS):
        return IndexState.OUTDATED
    if manifest.extra.get("unlinked"):
        return IndexState.BEHIND  # The references of some statutes are still to be found.
    questions = _manifest(place.questions, deep=deep)
    if isinstance(questions, IndexState):
        return IndexState.BEHIND if questions is IndexState.MISSING else questions
    if questions.extra.get("questions") != predicted_fingerprint():
        return IndexState.BEHIND
    built_from = (manifest.extra.get("stamp"), store.links_generation)
    return IndexState.FRESH if built_from == (store.stamp, store.generation) else IndexState.BEHIND


def opened_from(place: CorpusPaths) -> tuple[object, ...]:
    """The state that a `Retriever` reads: store, generations of the indexes, today.

    If it differs, open the retriever again: the corpus was indexed, removed, replaced or prepared
    meanwhile, or a new day began with other states of laws.
    """
    layers = (place.layer_words, place.layer_vectors)
    roots = (place.bm25, place.questions, place.vectors, *layers)
    return place.identity, date.today(), *map(current, roots)


def vector_state(
    place: CorpusPaths,
    store: CorpusStore,
    model: str | None = None,
    provisions: Provisions | None = None,
    *,
    deep: bool = False,
) -> IndexState:
    """Whether the vectors of a corpus can be used; loads no model.

    An empty `model` and None for `provisions` match any index. `deep` is as in `index_state`.
    """
    manifest = _manifest(place.vectors, deep=deep)
    if isinstance(manifest, IndexState):
        return manifest
    if model and manifest.extra.get("model") != model:
        return IndexState.OUTDATED
    if provisions and manifest.extra.get("provisions") != provisions:
        return IndexState.OUTDATED
    built_from = {name: manifest.extra.get(name) for name in origin(store)}
    return IndexState.FRESH if built_from == origin(store) else IndexState.BEHIND


def origin(store: CorpusStore) -> dict[str, Any]:
    """The source of an index built now, for its manifest."""
    return {"stamp": store.stamp, "generation": store.generation, "layers": list(LAYERS)}


def _manifest(root: Path, *, deep: bool) -> IndexManifest | IndexState:
    """The manifest of the current generation, or its error."""
    folder = current(root)
    if folder is None:
        return IndexState.MISSING
    try:
        manifest = IndexManifest.read(folder)
        manifest.verify(folder, deep=deep)
    except IndexVersionError:
        return IndexState.OUTDATED
    except IndexingError:
        return IndexState.DAMAGED
    return manifest


ATTRIBUTES = ("document", "kind", "law_type", "layer", "date")
"""Attributes in every index of a corpus."""


def attributes(document: DocumentInfo | Document, layer: str) -> dict[str, str]:
    """The attributes of the passages of a document in a layer, without empty ones.

    Dates are ISO dates and compare as strings.
    """
    about = {
        "document": document.id,
        "kind": document.kind,
        "law_type": document.metadata.get("law_type"),
        "layer": layer,
        "date": document.metadata.get("date"),
    }
    return {name: value for name, value in about.items() if value}
