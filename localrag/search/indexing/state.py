"""Whether the indexes of a corpus match its store, and the lock of its writer."""

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

from localrag.corpus.config import Provisions
from localrag.corpus.states import DocumentInfo
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Document
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.law import predicted
from localrag_indexes.analysis import Analyzer
from localrag_indexes.errors import IndexingError, IndexVersionError
from localrag_indexes.manifest import IndexManifest, current

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
    if questions.extra.get("questions") != predicted.fingerprint():
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
