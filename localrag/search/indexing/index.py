"""Indexing: derives references, the BM25 index and the vectors from the store."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from errno import ENOSPC
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, cast

from localrag.corpus.config import Config, Provisions
from localrag.corpus.inference.opening import embedder_id, embedder_name, named, open_embedder
from localrag.corpus.ingest.events import INDEXING, Event, FileFailed, Listener
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES
from localrag.corpus.workspace import CorpusPaths, Workspace, writing
from localrag.errors import ModelUnusable, NoWorkers, StorageError
from localrag.language import N_
from localrag.law.predicted import fingerprint, predicted_questions
from localrag.search.indexing.embedding import KeptVectors, embed
from localrag.search.indexing.linking import link
from localrag.search.indexing.state import (
    ATTRIBUTES,
    LAYERS,
    IndexState,
    attributes,
    index_state,
    origin,
    state,
    vector_state,
)
from localrag.text.progress import Stopwatch, ignore
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.bm25.build import TextEntry, build, update
from localrag_indexes.errors import IndexingError, PackageMissing, WorkerNotStarted
from localrag_indexes.manifest import current, new_generation, sweep
from localrag_indexes.parallel import Executor, Workers
from localrag_models.errors import BackendMissing, Cure

if TYPE_CHECKING:
    from localrag_models.embedding import Embedder


# Shares of the passages of a corpus: with more changes, or more deleted entries since the last full
# build, the index is built from scratch. Deleted entries still count in term weights.
_MUCH, _STALE = 0.2, 0.05
# With fewer passages, starting processes takes longer than analysing.
_WORTH_PROCESSES = 2_000

__all__ = ["HERE", "LAYERS", "Elsewhere", "IndexReport", "IndexState", "index", "index_state"]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another place for the heavy work of indexing.

    Attributes:
        analysis: analyses text; None for processes of this machine.
        opener: opens the embedder; None to open it here.
        at_once: batches embedded at the same time.
    """

    analysis: Executor | None = None
    opener: "Callable[[Workspace, Config], Embedder | None] | None" = None
    at_once: int = 1


HERE = Elsewhere()
"""Everything on this machine."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of `index`.

    Attributes:
        skipped: everything was current; the counts are 0.
        passages: newly indexed by words; 0 if only vectors were made.
        references, definitions: found in statutes.
        failed: statutes without references, and why; they can be searched.
        embedded: windows newly embedded.
        vectors: rows of the vector index, if built.
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
    embedded: int = 0
    vectors: int = 0


def index(
    workspace: Workspace,
    corpus: str,
    *,
    rebuild: bool = False,
    workers: int = 1,
    embedder: "Embedder | None" = None,
    provisions: Provisions = "openings",
    elsewhere: Elsewhere = HERE,
    on_event: Listener = ignore,
) -> IndexReport:
    """Update references, definitions, the BM25 index and the vectors.

    The old indexes answer until the new ones are complete; a failed or killed build leaves them in
    place. Words are indexed first, whatever happens to the embedder.

    Args:
        workspace: the workspace.
        corpus: its name.
        rebuild: also rebuild current indexes; texts are not embedded again.
        workers: processes, and threads of the graph; with more than 1 the calling script needs
            the usual ``if __name__ == "__main__"`` guard.
        embedder: the model for vectors; without one they are unchanged.
        provisions: the part of a provision to embed.
        elsewhere: another place for the heavy work.
        on_event: called with `Progress`, `EmbeddingPlanned` and `FileFailed`, in this process.

    Raises:
        NotFoundError: there is no such corpus.
        BusyError: another process is writing to the corpus.
        StorageError: the disk is full or read-only, or memory is too small.
        StoreError: the store is damaged.
        ModelUnusable: the embedder failed. Words are indexed; finished vectors are kept for the
            next run.
    """
    started = perf_counter()
    place = workspace.corpus(corpus)
    place.require()  # Before the lock makes the folder of an unknown corpus.
    with writing(place), _newest(place) as store:
        report = _words(
            place,
            store,
            rebuild=rebuild,
            workers=workers,
            analysis=elsewhere.analysis or workers,
            on_event=on_event,
        )
        if embedder is not None:
            source = _Source(
                embedder.id, lambda: nullcontext(embedder), provisions, elsewhere.at_once
            )
            report = _vectors(place, store, source, report, rebuild, workers, on_event)
    return replace(report, seconds=perf_counter() - started)


def index_as_set(
    workspace: Workspace,
    corpus: str,
    config: Config,
    *,
    rebuild: bool = False,
    workers: int = 0,
    elsewhere: Elsewhere = HERE,
    on_event: Listener = ignore,
) -> IndexReport:
    """Run `index` with the embedder of the settings, or the only one installed.

    The model is loaded only for missing vectors; words are indexed even without it. The settings
    give the default of `workers`.
    """
    started = perf_counter()
    workers = workers or config.ingest.processes
    report = index(
        workspace,
        corpus,
        rebuild=rebuild,
        workers=workers,
        elsewhere=elsewhere,
        on_event=on_event,
    )
    if not embedder_name(workspace, config):
        return report
    place = workspace.corpus(corpus)
    with _words_stay(corpus):
        model = embedder_id(workspace, config)
    source = _Source(
        model,
        lambda: cast("Embedder", (elsewhere.opener or open_embedder)(workspace, config)),
        config.embedding.provisions,
        elsewhere.at_once,
    )
    with writing(place), _newest(place) as store:
        report = _vectors(place, store, source, report, rebuild, workers, on_event)
    return replace(report, seconds=perf_counter() - started)


class _Source(NamedTuple):
    """An embedder not loaded yet.

    Attributes:
        id: of the embedder.
        load: loads it.
        provisions: the part of a provision to embed.
        at_once: batches embedded at the same time.
    """

    id: str
    load: "Callable[[], AbstractContextManager[Embedder]]"
    provisions: Provisions
    at_once: int


def _newest(place: CorpusPaths) -> CorpusStore:
    return CorpusStore.open(place.store, as_of=date.max)


def _words(
    place: CorpusPaths,
    store: CorpusStore,
    *,
    rebuild: bool,
    workers: int,
    analysis: Workers,
    on_event: Listener,
) -> IndexReport:
    generation = store.generation
    # Compare every byte: after a failed search, "up to date" must be true.
    found = state(place, store, deep=True)
    if not rebuild and found is IndexState.FRESH:
        # A build killed at its end leaves the old index beside the new one.
        sweep(place.bm25)
        sweep(place.questions)
        return IndexReport(True, 0, 0, 0, generation, 0.0)
    failed: list[FileFailed] = []

    def listen(event: Event) -> None:
        if isinstance(event, FileFailed):
            failed.append(event)
        on_event(event)

    with _failures_named(place):
        references, definitions = link(store, rebuild=rebuild, workers=workers, on_event=listen)
        store.checkpoint()
        previous = None
        if not rebuild and found is IndexState.BEHIND:
            previous = _previous(place, store)
        passages = _build(place, store, previous, len(failed), analysis, on_event)
        store.note_indexed()
    return IndexReport(False, passages, references, definitions, generation, 0.0, tuple(failed))


def _vectors(
    place: CorpusPaths,
    store: CorpusStore,
    source: _Source,
    report: IndexReport,
    rebuild: bool,
    threads: int,
    on_event: Listener,
) -> IndexReport:
    """Update the vectors; return the report with theirs added."""
    if (
        not rebuild
        and vector_state(place, store, source.id, source.provisions, deep=True) is IndexState.FRESH
    ):
        sweep(place.vectors)
        KeptVectors.of(place.vectors, source.id).discard()
        return report
    with _words_stay(place.name), _failures_named(place), source.load() as embedder:
        done = embed(
            place,
            store,
            embedder,
            on_event,
            provisions=source.provisions,
            rebuild=rebuild,
            threads=threads,
            at_once=source.at_once,
        )
    return replace(report, skipped=False, embedded=done.windows, vectors=done.vectors)


class _Previous(NamedTuple):
    """The current index, and the changes of the store since.

    Attributes:
        folder: of the index.
        gone: first and last key of each run of deleted entries.
        added: keys of new passages.
        stale: number of deleted entries, in all.
    """

    folder: Path
    gone: list[tuple[int, int]]
    added: set[int]
    stale: int


def _previous(place: CorpusPaths, store: CorpusStore) -> _Previous | None:
    """The current index, if built from this store with few changes since."""
    folder = current(place.bm25)
    if folder is None:
        return None
    total = store.count(LAYERS)
    added: set[int] = set()
    gone: list[tuple[int, int]] = []
    with BM25Index.open(folder) as index:
        extra = index.manifest.extra
        if extra.get("stamp") != store.indexed_stamp:
            return None  # Another store may have given the same keys to other passages.
        earlier, now = int(extra.get("stale", 0)), 0
        in_run = False
        # Keys are compared one by one; only differences are kept in memory.
        for key, had, has in _compared(index.keys(), store.distinct(LAYERS)):
            if not had:
                added.add(key)
            elif has:
                in_run = False
            else:
                now += 1
                # No key of a run remains, so one condition deletes it.
                first = gone.pop()[0] if in_run else key
                gone.append((first, key))
                in_run = True
            if len(added) + now > _MUCH * total or earlier + now > _STALE * total:
                return None
    return _Previous(folder, gone, added, earlier + now)


def _compared(had: Iterator[int], has: Iterator[int]) -> Iterator[tuple[int, bool, bool]]:
    for key, sources in groupby(merge(((k, 0) for k in had), ((k, 1) for k in has)), itemgetter(0)):
        found = {source for _, source in sources}
        yield key, 0 in found, 1 in found


def _build(
    place: CorpusPaths,
    store: CorpusStore,
    previous: _Previous | None,
    unlinked: int,
    workers: Workers,
    on_event: Listener,
) -> int:
    """Build the BM25 index, from scratch or from the current one; return its new entries."""
    watch = Stopwatch(on_event)
    total = store.count(LAYERS) if previous is None else len(previous.added)
    extra = {**origin(store), "unlinked": unlinked}

    def tell(done: int) -> None:
        watch(INDEXING, done, total)

    with new_generation(place.questions) as folder:
        build(
            folder,
            _questions(store),
            analyzer=Analyzer(),
            attributes=ATTRIBUTES,
            extra={"questions": fingerprint()},
        )
    with new_generation(place.bm25) as folder:
        if previous is None:
            build(
                folder,
                _entries(store),
                analyzer=Analyzer(),
                attributes=ATTRIBUTES,
                workers=workers,
                on_progress=tell,
                extra=extra,
            )
        else:
            update(
                folder,
                previous.folder,
                previous.gone,
                _entries(store, previous.added),
                analyzer=Analyzer(),
                workers=workers if total > _WORTH_PROCESSES else 1,
                on_progress=tell,
                extra={**extra, "stale": previous.stale},
            )
    return total


@contextmanager
def _failures_named(place: CorpusPaths) -> Iterator[None]:
    try:
        yield
    except PackageMissing:
        raise
    except WorkerNotStarted as error:
        raise NoWorkers(error) from error
    except (IndexingError, OSError) as error:
        cure = N_("Free space on the disk or memory, then: localrag index --corpus {corpus}")
        if isinstance(error, OSError) and error.errno != ENOSPC:
            cure = N_("Check the permissions of {folder}, then: localrag index --corpus {corpus}")
        raise StorageError(
            N_("The index of corpus {corpus!r} could not be built ({problem})."),
            cure,
            corpus=place.name,
            problem=error,
            folder=place.indexes,
        ) from error


@contextmanager
def _words_stay(corpus: str) -> Iterator[None]:
    """Add to model errors that words are indexed anyway."""
    try:
        with named(), _package_named():
            yield
    except ModelUnusable as error:
        raise ModelUnusable(
            N_("The words of corpus {corpus!r} are indexed, its vectors are not: {cause}"),
            N_("{cure}. Then go on: localrag index --corpus {corpus}"),
            corpus=corpus,
            cause=error.cause,
            cure=error.cure.rstrip(".。"),
            kind=error.kind,
            transient=error.transient,
        ) from error


@contextmanager
def _package_named() -> Iterator[None]:
    try:
        yield
    except PackageMissing as error:
        raise BackendMissing(error.args[0], Cure.INSTALL_PACKAGE, **error.fields) from error


def _questions(store: CorpusStore) -> Iterator[TextEntry]:
    """Predicted questions by the key of their provision, for an index of their own.

    Mixed with the words of provisions, they would change the weights of words.
    """
    for law, articles in groupby(store.article_keys(), itemgetter(0)):
        about = attributes(store.document(law), ARTICLES)
        for _, path, key in articles:
            if asked := predicted_questions(f"{law}#{path}"):
                yield TextEntry(key, "", "\n".join(asked), about)


def _entries(store: CorpusStore, only: Collection[int] | None = None) -> Iterator[TextEntry]:
    for document, key, passage in store.distinct_passages(LAYERS, only):
        about = attributes(document, passage.layer)
        yield TextEntry(key, passage.header, passage.text, about)
