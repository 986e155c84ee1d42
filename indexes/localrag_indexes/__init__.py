"""A small search engine: text analysis, BM25, fusion, manifests of what lies on disk."""
