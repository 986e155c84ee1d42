"""The graph over the vectors, hnswlib with its gaps closed, and the memory that it takes.

hnswlib checks neither that a file was written whole nor that one it reads is what it wrote, and
gives up on a search that finds fewer than it was asked for. Malkov and Yashunin (2020), Efficient
and robust approximate nearest neighbor search using Hierarchical Navigable Small World graphs.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil

from localrag_indexes.errors import UNREADABLE, IndexDamaged, IndexNotWritten, IndexTooLarge
from localrag_indexes.vectors import layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_M = 16
_EF_CONSTRUCTION = 200
_EF = 256
"""Breadth of a search. Half of it is enough for clustered vectors; those without any structure
(Gaussian, 32 dimensions inside 384) need it for a recall@10 of 0.99."""
_BATCH = 2000
"""Vectors between two words of progress, and between two chances for Ctrl-C."""
# Per vector, besides its numbers: neighbours in the graph, bookkeeping of hnswlib; measured.
_GRAPH_BYTES = 300
# Per vector: digest, key and attributes here (212 measured), and about as much with the caller.
_TABLE_BYTES = 500
# Vectors on their way into the graph.
_BATCH_BYTES = 32_000_000


class Graph:
    """Labelled vectors, joined to their neighbours. Labels count up from 0 and never return."""

    def __init__(self, native: Any, dimension: int) -> None:
        self._native = native
        self._dimension = dimension

    @classmethod
    def empty(cls, dimension: int) -> Self:
        """Make a graph without vectors."""
        native = _native(dimension)
        native.init_index(1, M=_M, ef_construction=_EF_CONSTRUCTION)
        return cls(native, dimension)

    @classmethod
    def load(cls, path: Path, dimension: int) -> Self:
        """Read a file that `save` wrote; the caller has checked that it is unchanged.

        Raises:
            IndexDamaged: it is no graph.
            IndexTooLarge: memory ran out.
        """
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
        """Vectors ever added, also those taken out again: the next label."""
        return int(self._native.get_current_count())

    def add(
        self,
        vectors: "NDArray[np.float32]",
        places: "NDArray[np.int64]",
        threads: int,
        on_progress: Callable[[int], None],
    ) -> None:
        """Add the vectors at some places, labelled from `count` on in the order of the places.

        Args:
            vectors: shape ``(n, d)``.
            places: rows of it.
            threads: to work with; with 1 the result is always the same.
            on_progress: called with the number added so far.

        Raises:
            IndexTooLarge: memory ran out.
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
        """Let no search find these any more; they still lead the way to others."""
        for label in labels.tolist():
            self._native.mark_deleted(label)

    def save(self, path: Path) -> None:
        """Write the graph.

        Raises:
            IndexNotWritten: the disk is full.
        """
        self._native.save_index(str(path))
        if not path.exists() or path.stat().st_size != self._native.index_file_size():
            raise IndexNotWritten(path.parent, path.name)

    def nearest(
        self, vector: "NDArray[np.float32]", n: int, admitted: bytes | None
    ) -> "NDArray[np.int64] | None":
        """Find the labels of the `n` vectors nearest to one, best first.

        Args:
            vector: shape ``(d,)``.
            n: how many.
            admitted: for each label 1 if it may be found, else 0; None: all of them.

        Returns:
            None where the graph did not lead to as many.
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
    """Bytes that building an index takes, at most.

    Args:
        count: vectors.
        dimension: numbers in each.
    """
    needed = count * _TABLE_BYTES
    if count * dimension > layout.EXACT_NUMBERS:
        needed += count * (4 * dimension + _GRAPH_BYTES) + _BATCH_BYTES
    return needed


def memory_free() -> int:
    """Bytes that this process can still get without swapping."""
    free = psutil.virtual_memory().available
    group = Path("/sys/fs/cgroup")
    try:
        # What a control group (version 2) leaves, where it sets a limit.
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):
        return free
    return max(min(free, limit - used), 0)


def check(count: int, dimension: int) -> None:
    """Make sure that an index of this size can be built here, before vectors are made for it.

    Raises:
        IndexTooLarge: it takes more memory than there is.
        PackageMissing: numpy, or for a graph hnswlib, is not installed.
    """
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
