"""A vector index: exact search if it is small, a graph (HNSW) if it is large."""

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
