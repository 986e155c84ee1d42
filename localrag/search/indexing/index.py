"""Indexing: everything derived from the store (links of statutes, words, vectors)."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from errno import ENOSPC
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, cast

from localrag.corpus.config import Config, Provisions, embedder_name
from localrag.corpus.inference.opening import embedder_id, named, open_embedder
from localrag.corpus.ingest.events import FINDING_REFERENCES, INDEXING, Event, FileFailed, Listener
from localrag.corpus.links import ReferenceRow
from localrag.corpus.store import CorpusStore, Definition
from localrag.corpus.types import ARTICLES, Document
from localrag.corpus.workspace import CorpusPaths, Workspace, writing
from localrag.errors import InputError, ModelUnusable, NoWorkers, StorageError
from localrag.language import N_
from localrag.search.indexing.embedding import KeptVectors, embed
from localrag.search.question.everyday import predicted_fingerprint, predicted_questions
from localrag.search.units import (
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
from localrag_indexes.bm25 import BM25Index, TextEntry, build, update
from localrag_indexes.errors import IndexingError, PackageMissing, WorkerNotStarted
from localrag_indexes.manifest import current, new_generation, sweep
from localrag_indexes.parallel import Executor, Workers, map_stream
from localrag_models.errors import BackendMissing, Cure

if TYPE_CHECKING:
    from localrag.law.names import LawNames
    from localrag_models.embedding import Embedder


# Looking for the names of this many changed laws takes as long as reading every law.
_MANY = 200


def link(store: CorpusStore, *, rebuild: bool, workers: int, on_event: Listener) -> tuple[int, int]:
    """Bring the stored references and definitions up to date with the statutes.

    A statute's references depend on its text and on the names of all laws. So it reads changed
    statutes, and statutes with an added, removed or reassigned name of a law. A
    `FileFailed` reports a statute that fails; the rest continues. Returns the numbers of references
    and of definitions found.
    """
    from localrag.law.names import LawNames

    names, before = LawNames.from_rows(store.laws()), LawNames.from_rows(store.linked_names())
    every = store.law_states()
    keys = every if rebuild or not before.rows else _to_read(store, every, before, names)
    find = FindLinks(store.path, names)
    watch = Stopwatch(on_event)

    def found() -> Iterator[tuple[int, tuple[ReferenceRow, ...], tuple[Definition, ...]]]:
        for done, (key, links) in enumerate(map_stream(find, keys, workers), start=1):
            if links.failure:
                # Not stored as found: the next indexing tries again.
                on_event(FileFailed(links.law_id, links.failure))
            else:
                yield key, links.references, links.definitions
            watch(FINDING_REFERENCES, done, len(keys))

    with closing(find):
        return store.replace_links(found(), everything=len(keys) == len(every))


def _to_read(
    store: CorpusStore, every: list[int], before: "LawNames", names: "LawNames"
) -> list[int]:
    """The keys of the states of laws with outdated references."""
    changed = {
        law_id
        for law_id in before.rows.keys() | names.rows.keys()
        if before.rows.get(law_id) != names.rows.get(law_id)
    }
    if len(changed) > _MANY:
        return every
    unlinked = set(store.law_states(unlinked=True))
    if not changed:
        return sorted(unlinked)
    words = _changed_names(before, names, changed)
    related = {
        relative
        for of in (before, names)
        for law_id in changed
        for relative in (*of.parents(law_id), *of.orders(law_id))
    }
    return [
        key for key in every if key in unlinked or _names_one(store.read_words(key), words, related)
    ]


def _changed_names(
    before: "LawNames", names: "LawNames", changed: Collection[str]
) -> tuple[str, ...]:
    """The names and numbers that mean other laws than before."""
    others = {
        name
        for name in before.names.keys() | names.names.keys()
        if set(before.names.get(name, ())) != set(names.names.get(name, ()))
    }
    rows = [of.rows[law_id] for of in (before, names) for law_id in changed if law_id in of.rows]
    return tuple(others | {row.law_num for row in rows if row.law_num})


def _names_one(words: tuple[str, str], names: tuple[str, ...], related: Collection[str]) -> bool:
    law_id, text = words
    return law_id in related or any(name in text for name in names)


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one statute; `failure` is the reason for none."""

    law_id: str
    references: tuple[ReferenceRow, ...] = ()
    definitions: tuple[Definition, ...] = ()
    failure: InputError | None = None


class FindLinks:
    """Finds the links of one statute; can be pickled, and each process opens the store itself."""

    def __init__(self, path: Path, names: "LawNames") -> None:
        self._path = path
        self._names = names
        self._store: CorpusStore | None = None

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def __call__(self, key: int) -> Links:
        """Read a state of a statute and find its references and definitions."""
        if self._store is None:
            self._store = CorpusStore.open(self._path, read_only=True)
        document = self._store.read(key)
        try:
            return _links(document, self._names)
        except Exception as error:  # noqa: BLE001 - one odd text must not keep all from being found
            problem = InputError(
                N_("Its references and definitions could not be found ({name}: {problem})."),
                N_("It can be searched all the same."),
                name=type(error).__name__,
                problem=str(error),
            )
            return Links(document.id, failure=problem)


def _links(document: Document, names: "LawNames") -> Links:
    from localrag.law.definitions import extract_definitions
    from localrag.law.references import extract_references

    return Links(
        document.id,
        tuple(map(ReferenceRow.of, extract_references(document, names))),
        tuple(extract_definitions(document)),
    )


# Shares of the passages. The index is built from nothing if more have changed, or if more entries
# have vanished since the last full build: vanished entries still count in the weights of terms.
_MUCH, _STALE = 0.2, 0.05
# Analysing fewer passages takes less time than starting processes.
_WORTH_PROCESSES = 2_000

__all__ = ["HERE", "LAYERS", "Elsewhere", "IndexReport", "IndexState", "index", "index_state"]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Other machines for the heavy work of indexing.

    Attributes:
        analysis: analyses text; None for processes of this machine.
        opener: opens the embedder of the settings; None to open it here.
        at_once: batches of windows embedded at the same time.
    """

    analysis: Executor | None = None
    opener: "Callable[[Workspace, Config], Embedder | None] | None" = None
    at_once: int = 1


HERE = Elsewhere()
"""Everything is done on this machine."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of an `index`.

    Attributes:
        skipped: everything was up to date; the counts are 0.
        passages: whose words were newly indexed; 0 if only vectors were made.
        references, definitions: found in the statutes.
        failed: statutes without references because of an error. They can be searched.
        embedded: newly embedded windows of passages.
        vectors: rows of the vector index, if it was built.
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
    """Bring references, definitions, the BM25 index and the vectors up to date with the store.

    The old indexes stay in use until the new ones are complete, also if a build fails or is killed.
    Words come first: they are indexed even if the embedder fails.

    Args:
        workspace: of the corpus.
        corpus: its name.
        rebuild: rebuild everything; texts are not embedded again.
        workers: processes, and threads of the graph. With more than 1 the calling script needs the
            usual ``if __name__ == "__main__"`` guard.
        embedder: makes vectors; without one they stay as they are.
        provisions: the part of each provision to embed.
        elsewhere: other machines for the heavy work.
        on_event: called with `Progress`, `EmbeddingPlanned` and `FileFailed`, in this process.

    Raises:
        NotFoundError: there is no such corpus.
        BusyError: another process is writing to the corpus.
        StorageError: the disk is full or read-only, or there is not enough memory.
        StoreError: the store is damaged.
        ModelUnusable: the embedder fails. Words are indexed, finished vectors are kept.
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
    """Do the same as `index` with the embedder of the settings, else the installed one.

    The model is loaded only if vectors are missing; words are indexed even if it is not installed.
    Without `workers` the settings give their number.
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
    """An embedder before loading."""

    id: str
    load: "Callable[[], AbstractContextManager[Embedder]]"
    provisions: Provisions
    at_once: int


def _newest(place: CorpusPaths) -> CorpusStore:
    # Indexing does not depend on a day.
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
    # Every byte is compared: after a failed search, "up to date" must be true.
    found = state(place, store, deep=True)
    if not rebuild and found is IndexState.FRESH:
        # A build killed at its very end leaves the old index beside the new one.
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
    """Bring the vectors up to date; return the report with their counts."""
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
    """The current index, and the changes of the store since it was built.

    Attributes:
        folder: of the index.
        gone: first and last key of each run of vanished entries.
        added: keys of new passages.
        stale: vanished entries, earlier ones included.
    """

    folder: Path
    gone: list[tuple[int, int]]
    added: set[int]
    stale: int


def _previous(place: CorpusPaths, store: CorpusStore) -> _Previous | None:
    """The current index, if it was built from this store and little has changed since."""
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
        # There may be millions of keys: only different ones are kept.
        for key, had, has in _compared(index.keys(), store.distinct(LAYERS)):
            if not had:
                added.add(key)
            elif has:
                in_run = False
            else:
                now += 1
                # No remaining key is between the keys of a run, so one condition removes it.
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
    """Build the index of words, from the current one if possible; return how many were added."""
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
            extra={"questions": predicted_fingerprint()},
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
    """Say in errors of the model: the words are indexed."""
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
    """The predicted questions of each provision, by its key, for an index of their own.

    Among the words of the provisions they would change the frequencies of terms.
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
