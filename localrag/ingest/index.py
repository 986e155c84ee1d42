"""Indexing: what can be derived from the store, derived anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from time import perf_counter

from localrag.corpus.store import CorpusStore
from localrag.errors import StorageError
from localrag.ingest.events import Event, FileFailed, Listener, Progress, ignore
from localrag.ingest.extraction import extract
from localrag.ingest.lock import writing
from localrag.ingest.state import LAYERS, IndexState, index_state, state
from localrag.workspace import CorpusPaths, Workspace
from localrag_indexes import bm25
from localrag_indexes.analysis import Analyzer
from localrag_indexes.errors import IndexingError
from localrag_indexes.generations import new_generation, sweep

ATTRIBUTES = ("document", "kind", "law_type", "layer", "date")
"""What hits can be filtered by."""

__all__ = ["LAYERS", "IndexReport", "IndexState", "index", "index_state"]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an `index` did.

    Attributes:
        skipped: the index was up to date and nothing was done; the counts are 0 then.
        passages: indexed.
        references, definitions: found in the statutes.
        failed: statutes whose references could not be found, and why; they can be searched.
        generation: of the store, as indexed.
        seconds: wall time.
    """

    skipped: bool
    passages: int
    references: int
    definitions: int
    generation: int
    seconds: float
    failed: tuple[FileFailed, ...] = ()


def index(
    workspace: Workspace,
    corpus: str,
    *,
    rebuild: bool = False,
    workers: int = 1,
    on_event: Listener = ignore,
) -> IndexReport:
    """Bring references, definitions and the BM25 index up to date with the store.

    Until the last moment the old index stays in place and answers; a build that fails or is
    killed leaves it there.

    Args:
        workspace: where the corpus lies.
        corpus: its name.
        rebuild: also when the index is up to date.
        workers: processes; with more than 1 the calling script needs the usual
            ``if __name__ == "__main__"`` guard.
        on_event: called with `Progress` and `FileFailed`, in this process.

    Raises:
        NotFoundError: there is no such corpus.
        BusyError: another process is writing to the corpus.
        StorageError: the disk is full or read-only.
        StoreError: the store is damaged.
    """
    started = perf_counter()
    place = workspace.corpus(corpus)
    place.require()  # Before the lock makes the folder of an unknown corpus.
    with writing(place), CorpusStore.open(place.store) as store:
        generation = store.generation
        if not rebuild and state(place, store) is IndexState.FRESH:
            sweep(place.bm25)  # A build killed at its very end left the old index beside the new.
            return IndexReport(True, 0, 0, 0, generation, perf_counter() - started)
        failed: list[FileFailed] = []

        def listen(event: Event) -> None:
            if isinstance(event, FileFailed):
                failed.append(event)
            on_event(event)

        with _failures_named(place):
            references, definitions = extract(store, workers=workers, on_event=listen)
            store.checkpoint()
            passages = _build(place, store, len(failed), workers, on_event)
    seconds = perf_counter() - started
    return IndexReport(False, passages, references, definitions, generation, seconds, tuple(failed))


def _build(
    place: CorpusPaths, store: CorpusStore, unlinked: int, workers: int, on_event: Listener
) -> int:
    total = store.count(LAYERS)
    origin = {
        "stamp": store.stamp,
        "generation": store.generation,
        "layers": list(LAYERS),
        "unlinked": unlinked,
    }
    with new_generation(place.bm25) as folder:
        manifest = bm25.build(
            folder,
            _entries(store),
            analyzer=Analyzer(),
            attributes=ATTRIBUTES,
            workers=workers,
            on_progress=lambda done: on_event(Progress("terms", done, total)),
            extra=origin,
        )
    return manifest.count


@contextmanager
def _failures_named(place: CorpusPaths) -> Iterator[None]:
    try:
        yield
    except (IndexingError, OSError) as error:
        cure = "Free space on the disk or memory, then: localrag index"
        if isinstance(error, OSError) and error.errno != ENOSPC:
            cure = (
                f"Check the permissions of {place.indexes}, or delete it: it is made anew by "
                f"localrag index --corpus {place.name}"
            )
        raise StorageError(
            f"The index of corpus {place.name!r} could not be built ({error}).", cure
        ) from error


def _entries(store: CorpusStore) -> Iterator[bm25.Entry]:
    for document in store.documents():
        about = {
            "document": document.id,
            "kind": document.kind,
            "law_type": document.metadata.get("law_type"),
            "date": document.metadata.get("date"),
        }
        attributes = {name: value for name, value in about.items() if value}
        for key, passage in store.passages(document_id=document.id):
            if passage.layer in LAYERS:
                yield bm25.Entry(
                    key, passage.header, passage.text, attributes | {"layer": passage.layer}
                )
