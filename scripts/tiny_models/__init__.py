"""Tiny models with random weights, for tests and benchmarks: they run like real ones."""
