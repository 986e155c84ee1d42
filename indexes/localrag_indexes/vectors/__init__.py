"""An index of vectors: exact where that is fast, a graph (HNSW) above, exact-match filters."""

from localrag_indexes.fusion import Scored
from localrag_indexes.vectors.build import VectorEntry, build
from localrag_indexes.vectors.index import VectorIndex, check, memory_needed

__all__ = [
    "Scored",
    "VectorEntry",
    "VectorIndex",
    "build",
    "check",
    "memory_needed",
]
