"""Embedding: bring the vectors of a corpus up to date with its store.

A passage is embedded window by window, and a window is known by the digest of the model and its
text. Windows in the current index, or kept for the next one, are not embedded again: a killed run
continues where it stopped.

Of a provision only the opening is embedded, unless the settings say otherwise. Its heading and
first words say enough, and 327 laws take minutes instead of hours.

New vectors are kept in SQLite until the index is built. A batch is stored as a whole or not at all,
and a full disk is an error. Flushing a batch takes milliseconds, embedding it seconds.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import apsw

from localrag.corpus.config import Provisions
from localrag.corpus.database import connect
from localrag.corpus.durable import make_folder, open_file
from localrag.corpus.ingest.events import EMBEDDING, JOINING, SPLITTING, EmbeddingPlanned, Listener
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, Passage
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import StorageError
from localrag.language import N_
from localrag.search.units import ATTRIBUTES, LAYERS, attributes, origin
from localrag.text.progress import Stopwatch
from localrag_indexes.errors import IndexDamaged, IndexingError
from localrag_indexes.manifest import current, new_generation
from localrag_indexes.parallel import map_threads
from localrag_models.errors import ModelDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_indexes.vectors import VectorEntry
    from localrag_models.embedding import Embedder

    Vector = NDArray[np.float32]

_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors"
    " (key INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, vector BLOB NOT NULL)"
)
_COMPANIONS = ("", "-wal", "-shm")


class KeptVectors:
    """Vectors by the digest of their text; one process at a time, which holds the corpus's lock.

    ``with`` opens the file and creates it if missing.

    Raises:
        StorageError: it cannot be opened, read or written (all methods).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: apsw.Connection | None = None

    @classmethod
    def of(cls, folder: Path, model: str) -> Self:
        """The vectors kept in a folder for one embedder.

        Each embedder has its own file: after a test of another model, earlier work is still there.
        """
        name = hashlib.blake2b(model.encode(), digest_size=6).hexdigest()
        return cls(folder / f"journal-{name}.sqlite")

    def digests(self) -> set[bytes]:
        with self._errors():
            return {digest for (digest,) in self._connection.execute("SELECT digest FROM vectors")}

    def vector(self, digest: bytes) -> "NDArray[np.float32]":
        """The stored vector of a text, shape ``(d,)``."""
        import numpy as np

        with self._errors():
            stored: bytes = self._connection.execute(
                "SELECT vector FROM vectors WHERE digest = ?", (digest,)
            ).get
        return np.frombuffer(stored, "<f4")

    def append(self, digests: Sequence[bytes], vectors: "NDArray[np.float32]") -> None:
        """Store the vectors of some texts, all of them or none."""
        rows = [
            (digest, vector.astype("<f4").tobytes())
            for digest, vector in zip(digests, vectors, strict=True)
        ]
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(
                    "INSERT OR IGNORE INTO vectors (digest, vector) VALUES (?, ?)", rows
                )
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def discard(self) -> None:
        """Delete the file, if any: an index now has all its vectors."""
        self._close()
        with self._errors():
            for companion in _COMPANIONS:
                self._path.with_name(self._path.name + companion).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        with self._errors():
            make_folder(self._path.parent)
            open_file(self._path, "ab").close()
            self._opened = connect(self._path)
            try:
                for setting in ("journal_mode = WAL", "synchronous = FULL", "temp_store = MEMORY"):
                    self._opened.execute(f"PRAGMA {setting}")
                self._opened.execute(_TABLE)
            except BaseException:
                self._close()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def _connection(self) -> apsw.Connection:
        assert self._opened is not None
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as error:
            raise StorageError(
                N_("Finished vectors cannot be stored in {path} ({problem})."),
                N_("Free space on the disk; if the file is damaged, delete it."),
                path=self._path,
                problem=error,
            ) from error


class Window(NamedTuple):
    """A window of a text, and its digest."""

    digest: bytes
    text: str


_Split = Callable[[Passage], list[Window]]

# Windows between two commits: the most lost by a kill, and the pace of progress. They have
# about the same length, because a processor also computes the padding of shorter ones.
_BATCH = 64
# Windows read ahead, to be sorted by length.
_AHEAD = 2048
# Passages read from the store at a time.
_READ = 200
_DIGEST_BYTES = 16
# Characters of a provision in its opening, beside the header.
_OPENING = 80


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result of `embed`.

    Attributes:
        windows: newly embedded.
        vectors: rows of the index, one for each window of each passage.
    """

    windows: int
    vectors: int


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """An entry to embed: its key and the digests of its windows."""

    key: int
    digests: tuple[bytes, ...]
    attributes: Mapping[str, str]


def embed(
    place: CorpusPaths,
    store: CorpusStore,
    embedder: "Embedder",
    on_event: Listener,
    *,
    provisions: Provisions = "openings",
    rebuild: bool = False,
    threads: int = 1,
    at_once: int = 1,
) -> Embedded:
    """Bring the vectors of a corpus up to date; the caller holds its lock.

    The old vectors stay in use until the new ones are complete. `provisions` is the part of each
    provision to embed, `threads` belong to the graph, and `at_once` is the number of batches
    embedded at the same time. With `rebuild` the graph is built again, but no text is embedded
    again.

    Raises:
        ModelError: the model fails; finished vectors are kept for the next run.
        IndexingError: the index cannot be built, or would need too much memory.
        StorageError: the disk is full or the folder cannot be written.
    """

    def split(passage: Passage) -> list[Window]:
        opening = passage.layer == ARTICLES and provisions == "openings"
        text = passage.text[:_OPENING] if opening else passage.text
        return windows_of(embedder, text, passage.header)

    return embed_planned(
        place.vectors,
        list(_plan(store, split, on_event)),
        partial(_windows, store, split),
        embedder,
        on_event,
        attributes=ATTRIBUTES,
        extra=origin(store) | {"provisions": provisions},
        rebuild=rebuild,
        threads=threads,
        at_once=at_once,
    )


def windows_of(embedder: "Embedder", text: str, header: str = "") -> list[Window]:
    """The windows of a text for an embedder, each after its digest."""
    windows = embedder.windows(text, header)
    return [Window(_digest(embedder.id, window), window) for window in windows]


def embed_planned(
    root: Path,
    plan: Sequence[PlannedEntry],
    read: Callable[[Sequence[int], Collection[bytes]], Iterator[Window]],
    embedder: "Embedder",
    on_event: Listener,
    *,
    attributes: Sequence[str],
    extra: Mapping[str, object],
    rebuild: bool = False,
    threads: int = 1,
    at_once: int = 1,
) -> Embedded:
    """Build a vector index; vectors in the current index, or kept, are used again.

    `root` has the generations of the index and the kept vectors. `plan` lists the entries, and
    `read` yields the wanted windows of the entries with some keys. The rest is as for `embed`.
    """
    from localrag_indexes import vectors

    known, discarded = _known(root, embedder)
    with KeptVectors.of(root, embedder.id) as kept:
        texts = {digest for entry in plan for digest in entry.digests}
        missing = texts - known.keys() - kept.digests()
        pending = [entry.key for entry in plan if not missing.isdisjoint(entry.digests)]
        needed = vectors.memory_needed(len(texts), embedder.dimension)
        on_event(EmbeddingPlanned(len(missing), len(pending), embedder.id, needed, discarded))
        vectors.check(len(texts), embedder.dimension)
        _embed(read(pending, missing), len(missing), embedder, kept, at_once, on_event)
        with new_generation(root) as folder:
            manifest = vectors.build(
                folder,
                _entries(plan, known, kept),
                model=embedder.id,
                dimension=embedder.dimension,
                attributes=attributes,
                previous=None if rebuild else current(root),
                threads=threads,
                on_progress=partial(Stopwatch(on_event), JOINING),
                extra=extra,
            )
        kept.discard()
    return Embedded(len(missing), manifest.count)


def _plan(store: CorpusStore, split: _Split, on_event: Listener) -> Iterator[PlannedEntry]:
    total = store.count(LAYERS)
    watch = Stopwatch(on_event)
    every = store.distinct_passages(LAYERS)
    for done, (document, key, passage) in enumerate(every, start=1):
        digests = tuple(window.digest for window in split(passage))
        yield PlannedEntry(key, digests, attributes(document, passage.layer))
        watch(SPLITTING, done, total)


def _digest(model: str, window: str) -> bytes:
    content = f"{model}\0{window}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _known(root: Path, embedder: "Embedder") -> "tuple[dict[bytes, Vector], str]":
    """The vectors of the current index, if it is undamaged and of this model."""
    from localrag_indexes.vectors import VectorIndex

    folder = current(root)
    if folder is None:
        return {}, ""
    try:
        index = VectorIndex.open(folder, model=embedder.id, dimension=embedder.dimension, deep=True)
        return dict(zip(index.digests(), index.vectors, strict=True)), ""
    except IndexDamaged as error:
        return {}, str(error)
    except IndexingError:
        return {}, ""


def _windows(
    store: CorpusStore, split: _Split, passages: Sequence[int], missing: Collection[bytes]
) -> Iterator[Window]:
    """Yield the missing windows, once each, with their digests."""
    seen: set[bytes] = set()
    for start in range(0, len(passages), _READ):
        read = store.by_keys(passages[start : start + _READ])
        for passage in read.values():
            for window in split(passage):
                if window.digest in missing and window.digest not in seen:
                    seen.add(window.digest)
                    yield window


def _embed(
    windows: Iterator[Window],
    total: int,
    embedder: "Embedder",
    kept: KeptVectors,
    at_once: int,
    on_event: Listener,
) -> None:
    """Embed windows batch by batch; each batch is stored before its progress is reported."""
    done = 0
    watch = Stopwatch(on_event)
    for batch, vectors in map_threads(partial(_vectors, embedder), _batches(windows), at_once):
        kept.append([window.digest for window in batch], vectors)
        done += len(batch)
        watch(EMBEDDING, done, total)


def _batches(windows: Iterator[Window]) -> Iterator[list[Window]]:
    while ahead := sorted(islice(windows, _AHEAD), key=lambda window: len(window.text)):
        for start in range(0, len(ahead), _BATCH):
            yield ahead[start : start + _BATCH]


def _vectors(embedder: "Embedder", windows: Sequence[Window]) -> "NDArray[np.float32]":
    """Embed windows, and check the vectors."""
    import numpy as np

    found = embedder.embed_passages([window.text for window in windows])
    lengths = np.linalg.norm(found, axis=-1)
    if found.shape != (len(windows), embedder.dimension) or not np.allclose(lengths, 1, atol=1e-3):
        raise ModelDamaged(
            f"The model {embedder.id} gave vectors that are not {len(windows)} x "
            f"{embedder.dimension} numbers of length 1.",
            "Check its file: localrag models verify",
        )
    return found


def _entries(
    plan: Iterable[PlannedEntry], known: "Mapping[bytes, Vector]", kept: KeptVectors
) -> "Iterator[VectorEntry]":
    from localrag_indexes.vectors import VectorEntry

    for entry in plan:
        for digest in entry.digests:
            vector = known[digest] if digest in known else kept.vector(digest)
            yield VectorEntry(entry.key, digest, vector, entry.attributes)
