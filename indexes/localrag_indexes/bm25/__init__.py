"""A BM25 index on Tantivy: header and body as separate weighted fields, exact-match filters.

`localrag_indexes.bm25.build` makes one; who searches does not import it.
"""

from localrag_indexes.bm25.index import BM25Index
from localrag_indexes.fusion import Scored

__all__ = ["BM25Index", "Scored"]
