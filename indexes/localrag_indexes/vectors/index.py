"""A vector index, open for searching, and its graph."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil

from localrag_indexes.errors import (
    CHANGED,
    UNREADABLE,
    IndexDamaged,
    IndexNotWritten,
    IndexTooLarge,
    IndexVersionError,
)
from localrag_indexes.fusion import Scored
from localrag_indexes.manifest import IndexManifest
from localrag_indexes.vectors import layout
from localrag_indexes.vectors.layout import RowTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Places = NDArray[np.int64]


_M = 16
_EF_CONSTRUCTION = 200
_EF = 256
"""Breadth of a search. Clustered vectors need half of it. Vectors without any structure
(Gaussian, 32 dimensions inside 384) need all of it for a recall@10 of 0.99."""
_BATCH = 2000
"""Vectors between two progress reports, and between two chances for Ctrl-C."""
# Per vector, besides its numbers: neighbours in the graph, bookkeeping of hnswlib; measured.
_GRAPH_BYTES = 300
# Per vector: digest, key and attributes here (212 measured), and about as much in the caller.
_TABLE_BYTES = 500
# Vectors on their way into the graph.
_BATCH_BYTES = 32_000_000


class Graph:
    """Labelled vectors, joined to their neighbours. Labels count up from 0 and are never reused."""

    def __init__(self, native: Any, dimension: int) -> None:
        self._native = native
        self._dimension = dimension

    @classmethod
    def empty(cls, dimension: int) -> Self:
        native = _native(dimension)
        native.init_index(1, M=_M, ef_construction=_EF_CONSTRUCTION)
        return cls(native, dimension)

    @classmethod
    def load(cls, path: Path, dimension: int) -> Self:
        """Read a file of `save`; the caller has checked its checksum. Raises `IndexDamaged`."""
        native = _native(dimension)
        try:
            native.load_index(str(path))
        except MemoryError as error:
            raise IndexTooLarge(path.stat().st_size, memory_free()) from error
        except RuntimeError as error:
            raise IndexDamaged(path, UNREADABLE, why=error) from error
        return cls(native, dimension)

    @property
    def count(self) -> int:
        """Vectors ever added, removed ones included: the next label."""
        return int(self._native.get_current_count())

    def add(
        self,
        vectors: "NDArray[np.float32]",
        places: "NDArray[np.int64]",
        threads: int,
        on_progress: Callable[[int], None],
    ) -> None:
        """Add vectors, shape ``(n, d)``, at places, rows of it; labels count on from `count`.

        With one thread the result is always the same. Raises `IndexTooLarge` if memory ran out.
        """
        import numpy as np

        first = self.count
        try:
            self._native.resize_index(max(first + len(places), 1))
            for start in range(0, len(places), _BATCH):
                part = vectors[places[start : start + _BATCH]]
                labels = np.arange(first + start, first + start + len(part))
                self._native.add_items(part, labels, num_threads=threads)
                on_progress(start + len(part))
        except (MemoryError, RuntimeError) as error:
            needed = memory_needed(first + len(places), self._dimension)
            raise IndexTooLarge(needed, memory_free()) from error

    def take_out(self, labels: "NDArray[np.int64]") -> None:
        """Hide these vectors from searches; they still connect others."""
        for label in labels.tolist():
            self._native.mark_deleted(label)

    def save(self, path: Path) -> None:
        """Write the graph. Raises `IndexNotWritten` if the disk is full."""
        self._native.save_index(str(path))
        if not path.exists() or path.stat().st_size != self._native.index_file_size():
            raise IndexNotWritten(path.parent, path.name)

    def nearest(
        self, vector: "NDArray[np.float32]", n: int, admitted: bytes | None
    ) -> "NDArray[np.int64] | None":
        """Find the labels of the `n` nearest vectors to one of shape ``(d,)``, best first.

        `admitted` has 1 for each allowed label. None if the graph did not lead to as many.
        """
        import numpy as np

        self._native.set_ef(max(_EF, 2 * n))
        chosen = {} if admitted is None else {"filter": admitted.__getitem__}
        try:
            labels, _ = self._native.knn_query(vector, n, num_threads=1, **chosen)
        except RuntimeError:
            return None
        return labels[0].astype(np.int64)  # type: ignore[no-any-return]


def memory_needed(count: int, dimension: int) -> int:
    """The most bytes for building an index of `count` vectors."""
    needed = count * _TABLE_BYTES
    if count * dimension > layout.EXACT_NUMBERS:
        needed += count * (4 * dimension + _GRAPH_BYTES) + _BATCH_BYTES
    return needed


def memory_free() -> int:
    """Bytes of free memory for this process, without swapping."""
    free = psutil.virtual_memory().available
    group = Path("/sys/fs/cgroup")
    try:
        # A control group (version 2) may set a lower limit.
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):
        return free
    return max(min(free, limit - used), 0)


def check(count: int, dimension: int) -> None:
    """Make sure that an index of this size fits, before its vectors are made."""
    layout.require("numpy")
    if count * dimension > layout.EXACT_NUMBERS:
        layout.require("hnswlib")
    needed, free = memory_needed(count, dimension), memory_free()
    if needed > free:
        raise IndexTooLarge(needed, free)


def _native(dimension: int) -> Any:
    layout.require("hnswlib")
    import hnswlib

    return hnswlib.Index("ip", dimension)


# With more numbers left after the filters, the graph is faster than comparing all.
_FEW_NUMBERS = layout.EXACT_NUMBERS // 4
# Texts per wanted key at first, and the factor for each further try: a long passage has several
# texts.
_PER_KEY, _MORE = 2, 4
# Beyond this many texts, comparing all is as fast as the graph.
_MOST_BY_GRAPH = 1000
# From this share of the vectors on, comparing all is faster than gathering some.
_SCATTERED = 0.25
# Vectors compared at a time: few enough that numpy starts no threads. Reading memory takes most of
# the time, and on a busy machine waiting for threads took ten times as long.
_TOGETHER = 512


@dataclass(frozen=True)
class VectorSearch:
    """One search: the vectors, the query, and the rows passing the filters."""

    vectors: "NDArray[np.float32]"  # shape ``(n, d)``
    table: RowTable  # of the rows
    query: "NDArray[np.float32]"  # shape ``(d,)``
    rows: "NDArray[np.bool_] | None"  # which rows pass the filters; None for all
    places: "Places | None"  # the places of these rows, ascending; None for all

    @property
    def available(self) -> int:
        return len(self.vectors if self.places is None else self.places)

    def best(self, k: int, graph: "LabelledGraph | None") -> list[Scored]:
        n = _PER_KEY * k
        while True:
            found = None
            if graph is not None and n <= min(_MOST_BY_GRAPH, self.available):
                found = graph.nearest(self.query, n, self.places)
            if found is None:
                found = self._nearest(n)
            hits = self._hits(found)
            if len(hits) >= k or n >= self.available:
                return hits[:k]
            n *= _MORE

    def _nearest(self, n: int) -> "Places":
        """Find the `n` most similar texts, and those as similar as the last of them."""
        import numpy as np

        similar = self._similarities
        chosen = np.arange(len(similar))
        if n < len(similar):
            chosen = np.flatnonzero(similar >= np.partition(similar, -n)[-n])
        return chosen if self.places is None else self.places[chosen]

    @cached_property
    def _similarities(self) -> "NDArray[np.float32]":
        """The similarity of every passing text, in the order of the places."""
        if self.places is None:
            return self._compared(None)
        if len(self.places) > _SCATTERED * len(self.vectors):
            return self._compared(None)[self.places]
        return self._compared(self.places)

    def _compared(self, places: "Places | None") -> "NDArray[np.float32]":
        """Similarities of the texts at some places, of all by default."""
        import numpy as np

        found = np.empty(len(self.vectors if places is None else places), np.float32)
        for start in range(0, len(found), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            vectors = self.vectors[part if places is None else places[part]]
            np.matmul(vectors, self.query, out=found[part])
        return found

    def _hits(self, places: "Places") -> list[Scored]:
        import numpy as np

        # The score is the same number whichever way the text was found. A matrix product would
        # start threads for these few.
        similar = np.einsum("nd,d->n", self.vectors[places], self.query, dtype=np.float64)
        starts, ends = self.table.starts[places], self.table.starts[places + 1]
        sizes = ends - starts
        rows = np.arange(sizes.sum()) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        scores = np.repeat(similar.astype(np.float32), sizes)
        if self.rows is not None:
            passing = self.rows[rows]
            rows, scores = rows[passing], scores[passing]
        keys = self.table.keys[rows]
        order = np.lexsort((keys, -scores))
        _, first = np.unique(keys[order], return_index=True)
        best = order[np.sort(first)]
        return [
            Scored(key, score)
            for key, score in zip(keys[best].tolist(), scores[best].tolist(), strict=True)
        ]


class LabelledGraph:
    """A graph addressed by places. `labels`: of each place, shape ``(n,)``."""

    def __init__(self, graph: Graph, labels: "NDArray[np.int64]") -> None:
        import numpy as np

        self._graph = graph
        self._labels = labels
        self._places = np.full(graph.count, -1, np.int64)
        self._places[labels] = np.arange(len(labels))

    def nearest(
        self, query: "NDArray[np.float32]", n: int, places: "Places | None"
    ) -> "Places | None":
        """Find `n` of the most similar texts among some places; None if the graph has fewer."""
        import numpy as np

        admitted = None
        if places is not None:
            marks = np.zeros(self._graph.count, np.uint8)
            marks[self._labels[places]] = 1
            admitted = marks.tobytes()
        labels = self._graph.nearest(query, n, admitted)
        return None if labels is None else self._places[labels]


class VectorIndex:
    """An index open for searching. Files are mapped; the graph is read when it is first needed.

    The same index always answers the same query with the same hits and scores.
    """

    def __init__(
        self, folder: Path, manifest: IndexManifest, vectors: "NDArray[np.float32]", table: RowTable
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.vectors = vectors
        self._table = table

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        model: str | None = None,
        dimension: int | None = None,
        deep: bool = False,
    ) -> Self:
        """Open the index in `folder`, as `Bm25Index.open` does. Raises `PackageMissing`, too."""
        layout.require("numpy")
        manifest = IndexManifest.read(folder)
        if manifest.kind != layout.KIND:
            raise IndexVersionError(folder, "kind", manifest.kind, layout.KIND)
        for what, wanted in (("model", model), ("dimension", dimension)):
            if wanted is not None and manifest.extra.get(what) != wanted:
                raise IndexVersionError(folder, what, manifest.extra.get(what), wanted)
        manifest.verify(folder, deep=deep)
        with _damage_named(folder):
            shape = (manifest.extra["vectors"], manifest.extra["dimension"])
            vectors = layout.load(folder / layout.VECTORS, "<f4", shape)
            table = RowTable.open(folder, manifest.count, shape[0], manifest.attributes)
        return cls(folder, manifest, vectors, table)

    @property
    def count(self) -> int:
        return self.manifest.count

    @property
    def model(self) -> str:
        return str(self.manifest.extra["model"])

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def search(
        self,
        vector: "ArrayLike",  # of the query, shape ``(d,)``, of length 1
        k: int,
        *,
        where: Mapping[str, Collection[str]] | None = None,
        between: Mapping[str, tuple[str, str]] | None = None,
        among: Collection[int] | None = None,  # only these keys may be found; None for all
        exact: bool = False,
    ) -> list[Scored]:
        """Find the `k` keys with the texts most similar to a query, by cosine, best first.

        `between` gives the lowest and highest value of each attribute, both included, compared as
        strings; an empty one sets no bound. Ties keep the order of keys. Raises `ValueError`,
        `IndexDamaged` or `IndexTooLarge`.
        """
        query = self._query(vector)
        for name in [*(where or {}), *(between or {})]:
            if name not in self.manifest.attributes:
                raise ValueError(f"the index has no attribute {name!r}")
        with _damage_named(self.folder):
            rows = self._table.admitted(where or {}, between or {}, among)
            places = None if rows is None else self._table.places(rows)
            search = VectorSearch(self.vectors, self._table, query, rows, places)
            if k <= 0 or not search.available:
                return []
            few = places is not None and search.available * self.dimension <= _FEW_NUMBERS
            return search.best(k, None if exact or few else self._graph)

    def of(self, where: Mapping[str, Collection[str]]) -> "NDArray[np.float32]":
        """The vectors of the entries after a filter, shape ``(n, d)``. Raises `IndexDamaged`."""
        import numpy as np

        with _damage_named(self.folder):
            rows = self._table.admitted(where, {})
            places = np.repeat(np.arange(len(self.vectors)), np.diff(self._table.starts))
            return self.vectors[places if rows is None else places[rows]]

    def digests(self) -> list[bytes]:
        """List the digests of the texts, in the order of `vectors`. Raises `IndexDamaged`."""
        found = layout.load(self.folder / layout.DIGESTS, "|u1", (len(self.vectors), None))
        return [row.tobytes() for row in found]

    def entries(self) -> Iterator[tuple[int, int]]:
        """Yield the key of each entry, with the place of its text in `vectors`."""
        starts = self._table.starts.tolist()
        for place, (start, end) in enumerate(pairwise(starts)):
            for key in self._table.keys[start:end].tolist():
                yield key, place

    def graph(self) -> "tuple[Graph, NDArray[np.int64]] | None":
        """Load the graph and the label of each vector, shape ``(n,)``; every byte is checked first.

        None if the index is too small for a graph, or was deleted since. Raises `IndexDamaged` or
        `IndexTooLarge`.
        """
        path = self.folder / layout.GRAPH
        if layout.GRAPH not in self.manifest.files or not path.exists():
            return None
        parts = {name: self.manifest.files[name] for name in (layout.GRAPH, layout.LABELS)}
        replace(self.manifest, files=parts).verify(self.folder, deep=True)
        labels = layout.load(self.folder / layout.LABELS, "<i8", (len(self.vectors),))
        return Graph.load(path, self.dimension), labels

    def close(self) -> None:
        self.__dict__.pop("_graph", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _graph(self) -> LabelledGraph | None:
        found = self.graph()
        return None if found is None else LabelledGraph(*found)

    def _query(self, vector: "ArrayLike") -> "NDArray[np.float32]":
        import numpy as np

        query = np.asarray(vector, np.float32)
        if query.shape != (self.dimension,):
            raise ValueError(
                f"the vector of a query has shape {query.shape}, the index ({self.dimension},)"
            )
        if not np.isfinite(query).all():
            raise ValueError("the vector of a query holds what is no number")
        return query


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    """Turn numpy's errors on damaged numbers into `IndexDamaged`."""
    try:
        yield
    except (LookupError, ValueError, TypeError, OSError) as error:
        # numpy's own message may advise unsafe loading.
        raise IndexDamaged(folder, CHANGED) from error
