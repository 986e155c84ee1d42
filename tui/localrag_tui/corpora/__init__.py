"""Corpora: adding, indexing, choosing, overview, and the first run."""
