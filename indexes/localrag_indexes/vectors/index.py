"""An index of vectors, open for searching."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from localrag_indexes.errors import IndexDamaged, IndexVersionError
from localrag_indexes.manifest import Manifest
from localrag_indexes.scored import Scored
from localrag_indexes.vectors import layout
from localrag_indexes.vectors.graph import Graph
from localrag_indexes.vectors.search import LabelledGraph, Search
from localrag_indexes.vectors.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

# Numbers a filter may leave for all of them to be compared; with more, the graph is faster.
_FEW_NUMBERS = layout.EXACT_NUMBERS // 4


class VectorIndex:
    """An index made by `build`; files are mapped, and the graph is read when it is first needed.

    The same index answers the same query always with the same hits and scores.

    Attributes:
        vectors: of each distinct text, shape ``(n, d)``.
    """

    def __init__(
        self, folder: Path, manifest: Manifest, vectors: "NDArray[np.float32]", table: Table
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
        """Open the index in `folder`.

        Args:
            folder: where it lies.
            model: id of the embedder that will make the queries' vectors, to be checked.
            dimension: of these vectors, to be checked.
            deep: compare the checksum of every file, not only its size (0.6 s per gigabyte).

        Raises:
            IndexMissing, IndexDamaged, IndexVersionError, PackageMissing: as their names say.
        """
        layout.require("numpy")
        manifest = Manifest.read(folder)
        if manifest.kind != layout.KIND:
            raise IndexVersionError(folder, "kind", manifest.kind, layout.KIND)
        for what, wanted in (("model", model), ("dimension", dimension)):
            if wanted is not None and manifest.extra.get(what) != wanted:
                raise IndexVersionError(folder, what, manifest.extra.get(what), wanted)
        manifest.verify(folder, deep=deep)
        with _damage_named(folder):
            shape = (manifest.extra["vectors"], manifest.extra["dimension"])
            vectors = layout.load(folder / layout.VECTORS, "<f4", shape)
            table = Table.open(folder, manifest.count, shape[0], manifest.attributes)
        return cls(folder, manifest, vectors, table)

    @property
    def count(self) -> int:
        """Number of entries."""
        return self.manifest.count

    @property
    def model(self) -> str:
        """Id of the embedder."""
        return str(self.manifest.extra["model"])

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def search(
        self,
        vector: "ArrayLike",
        k: int,
        *,
        where: Mapping[str, Collection[str]] | None = None,
        between: Mapping[str, tuple[str, str]] | None = None,
        exact: bool = False,
    ) -> list[Scored]:
        """Find the `k` keys with the texts most similar to a query, best first.

        Args:
            vector: of the query, shape ``(d,)``, of length 1.
            k: how many keys at most.
            where: for each attribute named, the values allowed.
            between: for each attribute named, the lowest and highest value allowed, both
                included, compared as strings; an empty one is no bound.
            exact: compare with every vector, also where there is a graph.

        Returns:
            Each key once, with the cosine of its most similar text, ties in the order of the keys.

        Raises:
            ValueError: an attribute the index does not have, or a vector of another dimension.
            IndexDamaged: a file has changed since the index was opened or built.
            IndexTooLarge: the graph does not fit into memory.
        """
        query = self._query(vector)
        for name in [*(where or {}), *(between or {})]:
            if name not in self.manifest.attributes:
                raise ValueError(f"the index has no attribute {name!r}")
        with _damage_named(self.folder):
            rows = self._table.admitted(where or {}, between or {})
            places = None if rows is None else self._table.places(rows)
            search = Search(self.vectors, self._table, query, rows, places)
            if k <= 0 or not search.available:
                return []
            few = places is not None and search.available * self.dimension <= _FEW_NUMBERS
            return search.best(k, None if exact or few else self._graph)

    def digests(self) -> list[bytes]:
        """List the digests of the texts, in the order of `vectors`.

        Raises:
            IndexDamaged: they are not what was written.
        """
        found = layout.load(self.folder / layout.DIGESTS, "|u1", (len(self.vectors), None))
        return [row.tobytes() for row in found]

    def graph(self) -> "tuple[Graph, NDArray[np.int64]] | None":
        """Load the graph, every byte of it checked before native code sees it.

        Returns:
            The graph and the label it knows each vector by, shape ``(n,)``; None where the index
            is too small for a graph, or was superseded and deleted since it was opened.

        Raises:
            IndexDamaged: it is not what was written.
            IndexTooLarge: it does not fit into memory.
        """
        path = self.folder / layout.GRAPH
        if layout.GRAPH not in self.manifest.files or not path.exists():
            return None
        parts = {name: self.manifest.files[name] for name in (layout.GRAPH, layout.LABELS)}
        replace(self.manifest, files=parts).verify(self.folder, deep=True)
        labels = layout.load(self.folder / layout.LABELS, "<i8", (len(self.vectors),))
        return Graph.load(path, self.dimension), labels

    def close(self) -> None:
        """Let go of the files and of the graph."""
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
    """Turn what numpy raises on numbers that are not what was written into `IndexDamaged`."""
    try:
        yield
    except (LookupError, ValueError, TypeError, OSError) as error:
        # numpy's own words may advise to load the file all the same.
        raise IndexDamaged(folder, "its content has changed") from error
