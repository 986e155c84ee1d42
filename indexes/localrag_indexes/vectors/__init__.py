"""An index of vectors: exact where that is fast, a graph (HNSW) above, exact-match filters."""

from localrag_indexes.fusion import Scored
from localrag_indexes.vectors.build import Entry, build
from localrag_indexes.vectors.graph import check, memory_needed
from localrag_indexes.vectors.index import VectorIndex

__all__ = [
    "Entry",
    "Scored",
    "VectorIndex",
    "build",
    "check",
    "memory_needed",
]
