"""A small search engine: text analysis, BM25, fusion, manifests of the files on disk."""
