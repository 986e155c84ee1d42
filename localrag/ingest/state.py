"""How the index of a corpus stands to its store."""

from enum import StrEnum

from localrag.corpus.model import ARTICLES, PASSAGES
from localrag.corpus.store import CorpusStore
from localrag.workspace import CorpusPaths, Workspace
from localrag_indexes.analysis import Analyzer
from localrag_indexes.errors import IndexingError, IndexVersionError
from localrag_indexes.generations import current
from localrag_indexes.manifest import Manifest

LAYERS = (ARTICLES, PASSAGES)
"""Layers that are searched by their words: what is cited and read as a whole."""


class IndexState(StrEnum):
    """How the BM25 index of a corpus stands to its store."""

    FRESH = "fresh"
    BEHIND = "behind"
    MISSING = "missing"
    OUTDATED = "outdated"
    DAMAGED = "damaged"


def index_state(workspace: Workspace, corpus: str, *, deep: bool = False) -> IndexState:
    """Tell whether the BM25 index of a corpus can be used as it is.

    Args:
        workspace: where the corpus lies.
        corpus: its name.
        deep: compare every byte with its checksum, not only sizes.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: the store is damaged.
    """
    place = workspace.corpus(corpus)
    with CorpusStore.open(place.store, read_only=True) as store:
        return state(place, store, deep=deep)


def state(place: CorpusPaths, store: CorpusStore, *, deep: bool = False) -> IndexState:
    """Tell the same of a store that is open; see `index_state`."""
    folder = current(place.bm25)
    if folder is None:
        return IndexState.MISSING
    try:
        manifest = Manifest.read(folder)
        manifest.verify(folder, deep=deep)
    except IndexVersionError:
        return IndexState.OUTDATED
    except IndexingError:
        return IndexState.DAMAGED
    if manifest.analyzer != Analyzer().id or manifest.extra.get("layers") != list(LAYERS):
        return IndexState.OUTDATED
    if manifest.extra.get("unlinked"):
        return IndexState.BEHIND  # The references of some statutes are still to be found.
    built_from = (manifest.extra.get("stamp"), store.links_generation)
    return IndexState.FRESH if built_from == (store.stamp, store.generation) else IndexState.BEHIND
