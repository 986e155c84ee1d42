"""How much memory a vector index takes, and how much there is."""

import os
from pathlib import Path

from localrag_indexes.errors import IndexTooLarge
from localrag_indexes.vectors import layout

# Per vector, besides its numbers: neighbours in the graph, bookkeeping of hnswlib; measured.
_GRAPH_BYTES = 300
# Per vector: digest, key and attributes here (212 measured), and about as much with the caller.
_TABLE_BYTES = 500
# Vectors on their way into the graph.
_BATCH_BYTES = 32_000_000


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


def memory_free() -> int | None:
    """Bytes that this process can still get without swapping; None where that cannot be told."""
    known = [free for free in (_of_machine(), _of_container()) if free is not None]
    return min(known, default=None)


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
    if free is not None and needed > free:
        raise IndexTooLarge(needed, free)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, LookupError):
        return _free_pages()


def _free_pages() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _of_container() -> int | None:
    """What a control group (version 2) leaves; None where it sets no limit."""
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):
        return None
    return max(limit - used, 0)
