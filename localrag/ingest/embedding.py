"""Embedding: the vectors of a corpus brought up to date with its store.

A passage is embedded window by window, and a window is known by the digest of the model and its
text. What the index in use or the journal holds is not embedded again, so a run that was killed
goes on where it stopped, and a change of the corpus costs what has changed.

Of a provision of a statute the opening is enough, unless the settings say otherwise: its heading
and first words say what it is about, and 327 laws take minutes instead of hours.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from localrag.config import Provisions
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, Passage
from localrag.ingest.attributes import ATTRIBUTES, attributes
from localrag.ingest.events import EMBEDDING, JOINING, SPLITTING, EmbeddingPlanned, Listener
from localrag.ingest.journal import Journal
from localrag.ingest.state import LAYERS, origin
from localrag.progress import Stopwatch
from localrag.workspace import CorpusPaths
from localrag_indexes.errors import IndexDamaged, IndexingError
from localrag_indexes.generations import current, new_generation
from localrag_models.errors import ModelDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_indexes.vectors import Entry
    from localrag_models.embedding import Embedder

    Vector = NDArray[np.float32]

# The windows of a passage, each after its digest.
_Split = Callable[[Passage], list[tuple[bytes, str]]]

# Windows embedded between two commits: what a kill can cost, and how often progress is told. They
# are of about the same length, for a processor computes the padding of the shorter ones too.
_BATCH = 64
# Windows read ahead, to be sorted by length.
_AHEAD = 2048
# Passages read from the store at a time.
_READ = 200
_DIGEST_BYTES = 16
# Characters of a provision that are embedded as its opening, beside the header.
_OPENING = 80


@dataclass(frozen=True, slots=True)
class Embedded:
    """What `embed` did.

    Attributes:
        windows: newly embedded.
        vectors: rows of the index: one for each window of each passage.
    """

    windows: int
    vectors: int


@dataclass(frozen=True, slots=True)
class _Planned:
    """A passage with the digests of its windows."""

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
) -> Embedded:
    """Bring the vectors of a corpus up to date; the caller holds its lock.

    Until the last moment the old vectors stay in place and answer.

    Args:
        place: where the corpus lies.
        store: the corpus, open.
        embedder: the model.
        on_event: called with `EmbeddingPlanned` and `Progress`.
        provisions: what is embedded of the provisions of statutes.
        rebuild: build the graph anew; texts are not embedded again.
        threads: of the graph.

    Raises:
        ModelError: the model fails; what is embedded by then is kept for the next run.
        IndexingError: the index cannot be built, or memory would not suffice.
        StorageError: the disk is full or the folder cannot be written.
    """
    from localrag_indexes import vectors

    def split(passage: Passage) -> list[tuple[bytes, str]]:
        opening = passage.layer == ARTICLES and provisions == "openings"
        text = passage.text[:_OPENING] if opening else passage.text
        windows = embedder.windows(text, passage.header)
        return [(_digest(embedder.id, window), window) for window in windows]

    plan = list(_plan(store, split, on_event))
    known, discarded = _known(place, embedder)
    with Journal.of(place, embedder.id) as journal:
        texts = {digest for passage in plan for digest in passage.digests}
        missing = texts - known.keys() - journal.digests()
        pending = [passage.key for passage in plan if not missing.isdisjoint(passage.digests)]
        needed = vectors.memory_needed(len(texts), embedder.dimension)
        on_event(EmbeddingPlanned(len(missing), len(pending), embedder.id, needed, discarded))
        vectors.check(len(texts), embedder.dimension)
        _embed(_windows(store, split, pending, missing), len(missing), embedder, journal, on_event)
        with new_generation(place.vectors) as folder:
            manifest = vectors.build(
                folder,
                _entries(plan, known, journal),
                model=embedder.id,
                dimension=embedder.dimension,
                attributes=ATTRIBUTES,
                previous=None if rebuild else current(place.vectors),
                threads=threads,
                on_progress=partial(Stopwatch(on_event), JOINING),
                extra=origin(store) | {"provisions": provisions},
            )
        journal.discard()
    return Embedded(len(missing), manifest.count)


def _plan(store: CorpusStore, split: _Split, on_event: Listener) -> Iterator[_Planned]:
    total, done = store.count(LAYERS), 0
    watch = Stopwatch(on_event)
    for document in store.documents():
        about = {layer: attributes(document, layer) for layer in LAYERS}
        for key, passage in store.passages(document_id=document.id):
            if passage.layer in about:
                digests = tuple(digest for digest, _ in split(passage))
                yield _Planned(key, digests, about[passage.layer])
                done += 1
                watch(SPLITTING, done, total)


def _digest(model: str, window: str) -> bytes:
    content = f"{model}\0{window}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _known(place: CorpusPaths, embedder: "Embedder") -> "tuple[dict[bytes, Vector], str]":
    """The vectors of the index in use, if it is of this model and every byte is as it was written.

    Returns:
        The vectors by digest, and the damage for which there are none.
    """
    from localrag_indexes.vectors import VectorIndex

    folder = current(place.vectors)
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
) -> Iterator[tuple[bytes, str]]:
    """Yield the windows that are missing, once each, with their digests."""
    seen: set[bytes] = set()
    for start in range(0, len(passages), _READ):
        read = store.by_keys(passages[start : start + _READ])
        for passage in read.values():
            for digest, window in split(passage):
                if digest in missing and digest not in seen:
                    seen.add(digest)
                    yield digest, window


def _embed(
    windows: Iterator[tuple[bytes, str]],
    total: int,
    embedder: "Embedder",
    journal: Journal,
    on_event: Listener,
) -> None:
    """Embed windows batch by batch; each is in the journal before progress is told."""
    done = 0
    watch = Stopwatch(on_event)
    while ahead := sorted(islice(windows, _AHEAD), key=lambda window: len(window[1])):
        for start in range(0, len(ahead), _BATCH):
            batch = ahead[start : start + _BATCH]
            texts = [text for _, text in batch]
            journal.append([digest for digest, _ in batch], _vectors(embedder, texts))
            done += len(batch)
            watch(EMBEDDING, done, total)


def _vectors(embedder: "Embedder", windows: Sequence[str]) -> "NDArray[np.float32]":
    """Embed windows and make sure that what comes back can be compared."""
    import numpy as np

    found = embedder.embed_passages(windows)
    lengths = np.linalg.norm(found, axis=-1)
    if found.shape != (len(windows), embedder.dimension) or not np.allclose(lengths, 1, atol=1e-3):
        raise ModelDamaged(
            f"The model {embedder.id} gave vectors that are not {len(windows)} x "
            f"{embedder.dimension} numbers of length 1.",
            "Check its file: localrag models verify",
        )
    return found


def _entries(
    plan: Iterable[_Planned], known: "Mapping[bytes, Vector]", journal: Journal
) -> "Iterator[Entry]":
    from localrag_indexes.vectors import Entry

    for passage in plan:
        for digest in passage.digests:
            vector = known[digest] if digest in known else journal.vector(digest)
            yield Entry(passage.key, digest, vector, passage.attributes)
