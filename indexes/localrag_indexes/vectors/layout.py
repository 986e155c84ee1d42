"""The files of a vector index, and when it has a graph.

::

    vectors.npy   float32 (n, d)   a vector of each distinct text; its row number is its place
    digests.npy   uint8 (n, b)     digest of each text
    starts.npy    int64 (n + 1,)   the rows of place p are starts[p]:starts[p + 1]
    keys.npy      int64 (r,)       key of each row, ascending within a place
    codes.npy     int32 (a, r)     attributes of each row, as numbers in values.json; -1: none
    values.json                    the values of each attribute, by its name
    labels.npy    int64 (n,)       what the graph calls each place      } only where
    graph.bin                      the graph, in hnswlib's own format   } there is a graph

Texts that are the same share a place: a graph of equal vectors falls apart into islands that a
search does not leave.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localrag_indexes.errors import IndexDamaged, IndexNotWritten, PackageMissing

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
"""Numbers (vectors x dimension) up to which every vector is compared, and no graph is built.

43,690 vectors of 384: some 5 ms a query, a fraction of what embedding the question takes. From
about 10,000 on a graph answers faster, but loading it takes as long as some twenty queries."""


def require(package: str) -> None:
    """Make sure that a package of the extra `dense` is installed.

    Raises:
        PackageMissing: it is not.
    """
    if find_spec(package) is None:
        raise PackageMissing(package, "dense")


def write_header(file: Any, shape: tuple[int, ...], kind: "np.dtype[Any]") -> None:
    """Write the head of a ``.npy`` file; its length does not depend on the first axis."""
    from numpy.lib import format as npy

    npy.write_array_header_1_0(
        file, {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    )


def save(path: Path, array: "NDArray[Any]") -> None:
    """Write a ``.npy`` file; unlike numpy's own writer it notices a disk that is full."""
    import numpy as np

    array = np.ascontiguousarray(array)
    with path.open("wb") as file:
        write_header(file, array.shape, array.dtype)
        file.write(array.reshape(-1).view(np.uint8).data)


def load(path: Path, kind: str, shape: tuple[int | None, ...]) -> "NDArray[Any]":
    """Map a ``.npy`` file into memory.

    Args:
        path: the file.
        kind: of the numbers, as numpy writes it ("<f4").
        shape: None where any length will do.

    Raises:
        IndexDamaged: it cannot be read, or holds anything but numbers of this kind and shape.
    """
    import numpy as np

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        # numpy's own words may advise to load the file unsafely.
        raise IndexDamaged(path, "it cannot be read as numbers") from error
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != np.dtype(kind):
        raise IndexDamaged(path, f"{array.dtype} {array.shape} instead of {kind} {shape}")
    return np.asarray(array)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn what the system raises on files that cannot be written into `IndexNotWritten`."""
    try:
        yield
    except OSError as error:
        raise IndexNotWritten(folder, error.strerror or str(error)) from error
