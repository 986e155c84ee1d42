"""A BM25 index on Tantivy: header and body as separate weighted fields, exact-match filters."""

from localrag_indexes.bm25.build import TextEntry, build, update
from localrag_indexes.bm25.index import BM25Index
from localrag_indexes.fusion import Scored

__all__ = ["BM25Index", "Scored", "TextEntry", "build", "update"]
