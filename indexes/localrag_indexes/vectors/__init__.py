"""An index of vectors: exact where that is fast, a graph (HNSW) above, exact-match filters."""

from localrag_indexes.scored import Scored
from localrag_indexes.vectors.build import Entry, build
from localrag_indexes.vectors.index import VectorIndex
from localrag_indexes.vectors.memory import check, memory_needed

__all__ = [
    "Entry",
    "Scored",
    "VectorIndex",
    "build",
    "check",
    "memory_needed",
]
