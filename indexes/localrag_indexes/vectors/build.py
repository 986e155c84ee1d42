"""Building a vector index."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localrag_indexes.errors import IndexingError
from localrag_indexes.manifest import IndexManifest, describe_files
from localrag_indexes.vectors import layout
from localrag_indexes.vectors.index import Graph, VectorIndex, check
from localrag_indexes.vectors.layout import TableWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Rebuild the graph when more than this share of its vectors is of no use: they slow down every
# search. Adding a vector costs the same in an old graph and in a new one.
_MOST_TAKEN_OUT = 0.2
# Tolerance for the square of a length: rounding of float32 and of float16 models.
_LENGTH_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """A text to index, embedded."""

    # number of the passage, any 64-bit signed integer. A long passage has an entry for each window
    key: int
    # identifies the embedded text; all have the same length. Entries with the same digest share the
    # vector of the first
    digest: bytes
    vector: "NDArray[np.float32]"  # float32, shape ``(d,)``, of length 1
    # values for filters, compared as strings; write dates as ISO dates
    attributes: Mapping[str, str | int]


def build(
    folder: Path,
    entries: Iterable[VectorEntry],
    *,
    model: str,
    dimension: int,
    attributes: Sequence[str],
    previous: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> IndexManifest:
    """Build an index of `entries`, read as a stream, in an empty `folder`.

    Vectors are written at once. An interrupted build leaves a folder without a manifest.
    `dimension` is the length of a vector, and `model` the id of the embedder, also for queries.
    `attributes` names those for filters; an entry may miss some. If it is cheaper, new vectors are
    added to a copy of the graph of `previous`, an undamaged index of this model. With one thread
    the same entries make the same graph. `on_progress` gets the vectors in the graph and the
    vectors it will have. `extra` is kept in the manifest, beside ``model``, ``dimension`` and
    ``vectors`` (how many). Raises `IndexNotWritten`, `IndexTooLarge` or `PackageMissing`.
    """
    layout.require("numpy")
    table = TableWriter(attributes)
    with layout.writing(folder):
        digests = _write_vectors(folder / layout.VECTORS, entries, dimension, table)
        layout.save(folder / layout.DIGESTS, _digest_array(digests))
        table.write(folder, len(digests))
    if len(digests) * dimension > layout.EXACT_NUMBERS:
        check(len(digests), dimension)
        with layout.writing(folder):
            _make_graph(folder, digests, model, dimension, previous, threads, on_progress)
    with layout.writing(folder):
        manifest = IndexManifest(
            kind=layout.KIND,
            count=len(table),
            attributes=tuple(attributes),
            files=describe_files(folder),
            extra={
                **(extra or {}),
                "model": model,
                "dimension": dimension,
                "vectors": len(digests),
            },
        )
        manifest.write(folder)
    return manifest


def _write_vectors(
    path: Path, entries: Iterable[VectorEntry], dimension: int, table: TableWriter
) -> list[bytes]:
    """Write the vector of each distinct text and enter every row; return the digests."""
    import numpy as np

    places: dict[bytes, int] = {}
    kind = np.dtype("<f4")
    with path.open("wb") as file:
        layout.write_header(file, (0, dimension), kind)
        for entry in entries:
            place = places.get(entry.digest)
            if place is None:
                place = places[entry.digest] = len(places)
                file.write(_checked(entry, dimension).tobytes())
            table.add(place, entry.key, entry.attributes)
        file.seek(0)
        layout.write_header(file, (len(places), dimension), kind)
    return list(places)


def _checked(entry: VectorEntry, dimension: int) -> "NDArray[np.float32]":
    import numpy as np

    vector = np.asarray(entry.vector, "<f4")
    if vector.shape != (dimension,):
        raise ValueError(f"the vector of {entry.key} has shape {vector.shape}, not ({dimension},)")
    length = float(vector @ vector)
    if not abs(length - 1) <= _LENGTH_TOLERANCE:  # Holds for a NaN too.
        raise ValueError(f"the vector of {entry.key} is not of length 1 ({length**0.5})")
    return vector


def _digest_array(digests: list[bytes]) -> "NDArray[np.uint8]":
    import numpy as np

    width = len(digests[0]) if digests else 1
    if any(len(digest) != width for digest in digests):
        raise ValueError("digests are not of one length")
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, width)


def _make_graph(
    folder: Path,
    digests: list[bytes],
    model: str,
    dimension: int,
    previous: Path | None,
    threads: int,
    on_progress: Callable[[int, int], None] | None,
) -> None:
    import numpy as np

    vectors = layout.load(folder / layout.VECTORS, "<f4", (len(digests), dimension))
    carried = _carried_on(previous, digests, model, dimension) if previous else None
    graph, labels = carried or (Graph.empty(dimension), np.full(len(digests), -1, np.int64))
    new = np.flatnonzero(labels < 0)
    labels[new] = np.arange(graph.count, graph.count + len(new))

    def tell(done: int) -> None:
        if on_progress is not None:
            on_progress(done, len(new))

    tell(0)
    graph.add(vectors, new, threads, tell)
    graph.save(folder / layout.GRAPH)
    layout.save(folder / layout.LABELS, labels)


def _carried_on(
    previous: Path, digests: list[bytes], model: str, dimension: int
) -> "tuple[Graph, NDArray[np.int64]] | None":
    """Remove the vanished vectors from the graph of an earlier index."""
    import numpy as np

    try:
        with VectorIndex.open(previous, model=model, dimension=dimension) as old:
            found, texts = old.graph(), old.digests()
    except IndexingError:
        return None
    if found is None:
        return None
    graph, old_labels = found
    known = dict(zip(texts, old_labels.tolist(), strict=True))
    labels = np.array([known.pop(digest, -1) for digest in digests], np.int64)
    # The rest of `known` has vanished now, the rest of the old labels before.
    taken_out = graph.count - np.count_nonzero(labels >= 0)
    if taken_out > _MOST_TAKEN_OUT * len(digests):
        return None
    graph.take_out(np.fromiter(known.values(), np.int64, len(known)))
    return graph, labels
