"""The files of a vector index, and when it has a graph.

::

    vectors.npy   float32 (n, d)   the vector of each distinct text; its row number is its place
    digests.npy   uint8 (n, b)     digest of each text
    starts.npy    int64 (n + 1,)   the rows of place p are starts[p]:starts[p + 1]
    keys.npy      int64 (r,)       key of each row, ascending within a place
    codes.npy     int32 (a, r)     attributes of each row, as numbers in values.json; -1: none
    values.json                    the values of each attribute, by its name
    labels.npy    int64 (n,)       label of each place in the graph     } only with
    graph.bin                      the graph, in hnswlib's own format   } a graph

Equal texts share a place: a graph of equal vectors falls apart into islands, and a search never
leaves its island.
"""

import json
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from localrag_indexes.errors import N_, IndexDamaged, IndexNotWritten, PackageMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND = "vectors"
VECTORS = "vectors.npy"
DIGESTS = "digests.npy"
STARTS = "starts.npy"
KEYS = "keys.npy"
CODES = "codes.npy"
VALUES = "values.json"
LABELS = "labels.npy"
GRAPH = "graph.bin"

EXACT_NUMBERS = 2**24
"""Numbers (vectors x dimension) up to which every vector is compared and no graph is built.
43,690 vectors of 384 take about 5 ms a query, a fraction of embedding the question. From
about 10,000 on a graph answers faster, but loading it takes as long as 20 queries."""


def require(package: str) -> None:
    """Make sure that a package is installed. Raises `PackageMissing` if it is not."""
    if find_spec(package) is None:
        raise PackageMissing(package)


def write_header(file: Any, shape: tuple[int, ...], kind: "np.dtype[Any]") -> None:
    """Write the head of a ``.npy`` file; its size does not depend on the first axis."""
    from numpy.lib import format as npy

    npy.write_array_header_1_0(
        file, {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    )


def save(path: Path, array: "NDArray[Any]") -> None:
    """Write a ``.npy`` file; unlike numpy's own writer, it notices a full disk."""
    import numpy as np

    array = np.ascontiguousarray(array)
    with path.open("wb") as file:
        write_header(file, array.shape, array.dtype)
        file.write(array.reshape(-1).view(np.uint8).data)


def load(path: Path, kind: str, shape: tuple[int | None, ...]) -> "NDArray[Any]":
    """Map a ``.npy`` file; None in `shape` accepts any length. Raises `IndexDamaged`."""
    import numpy as np

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        # numpy's own message may advise unsafe loading.
        raise IndexDamaged(path, N_("index file {file} cannot be read as numbers")) from error
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != np.dtype(kind):
        raise IndexDamaged(
            path,
            N_("index file {file} holds {found} instead of {expected}"),
            found=f"{array.dtype} {array.shape}",
            expected=f"{kind} {shape}",
        )
    return np.asarray(array)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn the system's errors on writing into `IndexNotWritten`."""
    try:
        yield
    except OSError as error:
        raise IndexNotWritten(folder, error.strerror or str(error)) from error


class TableWriter:
    """Collects rows in memory, compactly, and writes them."""

    def __init__(self, attributes: Sequence[str]) -> None:
        self._places = array("q")
        self._keys = array("q")
        self._values: dict[str, dict[str, int]] = {name: {} for name in attributes}
        self._codes = [array("i") for _ in attributes]

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, place: int, key: int, attributes: Mapping[str, str | int]) -> None:
        self._places.append(place)
        self._keys.append(key)
        for (name, known), codes in zip(self._values.items(), self._codes, strict=True):
            value = attributes.get(name)
            codes.append(-1 if value is None else known.setdefault(str(value), len(known)))

    def write(self, folder: Path, count: int) -> None:
        import numpy as np

        places = np.frombuffer(self._places, np.int64)
        keys = np.frombuffer(self._keys, np.int64)
        order = np.lexsort((keys, places))
        starts = np.searchsorted(places[order], np.arange(count + 1))
        codes = np.empty((len(self._codes), len(keys)), np.int32)
        for number, column in enumerate(self._codes):
            codes[number] = np.frombuffer(column, np.int32)[order]
        save(folder / STARTS, starts.astype(np.int64))
        save(folder / KEYS, keys[order])
        save(folder / CODES, codes)
        values = {name: list(known) for name, known in self._values.items()}
        (folder / VALUES).write_text(json.dumps(values), encoding="ascii")


class RowTable:
    """The rows of an index, mapped: those of place p are ``starts[p]:starts[p + 1]``."""

    def __init__(
        self,
        keys: "NDArray[np.int64]",
        starts: "NDArray[np.int64]",
        codes: Mapping[str, "NDArray[np.int32]"],
        values: bytes,
    ) -> None:
        self.keys = keys
        self.starts = starts
        self._codes = codes
        self._values_json = values

    @classmethod
    def open(cls, folder: Path, rows: int, count: int, attributes: Sequence[str]) -> Self:
        """Open the table of an index with `rows` rows and `count` texts."""
        codes = load(folder / CODES, "<i4", (len(attributes), rows))
        return cls(
            load(folder / KEYS, "<i8", (rows,)),
            load(folder / STARTS, "<i8", (count + 1,)),
            dict(zip(attributes, codes, strict=True)),
            # Read now, because the folder may be gone when a filter comes; parsed only then.
            (folder / VALUES).read_bytes(),
        )

    def admitted(
        self,
        where: Mapping[str, Collection[str]],
        between: Mapping[str, tuple[str, str]],
        among: Collection[int] | None = None,
    ) -> "NDArray[np.bool_] | None":
        """Mark the rows passing the filters, shape ``(r,)``; None if every row does."""
        import numpy as np

        passing = np.ones(len(self.keys), np.bool_)
        if among is not None:
            passing &= np.isin(self.keys, np.fromiter(among, np.int64, len(among)))
        for name, allowed in where.items():
            wanted = frozenset(allowed)
            passing &= self._holding(name, [value in wanted for value in self._values[name]])
        for name, (low, high) in between.items():
            inside = [low <= v and (not high or v <= high) for v in self._values[name]]
            passing &= self._holding(name, inside)
        return None if passing.all() else passing

    def places(self, rows: "NDArray[np.bool_]") -> "NDArray[np.int64]":
        import numpy as np

        sums = np.concatenate(([0], np.cumsum(rows)))
        return np.flatnonzero(np.diff(sums[self.starts]))

    def _holding(self, name: str, allowed: list[bool]) -> "NDArray[np.bool_]":
        import numpy as np

        return np.array([*allowed, False])[self._codes[name]]

    @cached_property
    def _values(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = json.loads(self._values_json)
        return {name: found[name] for name in self._codes}
