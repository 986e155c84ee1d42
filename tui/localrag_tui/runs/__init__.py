"""Batches and evaluations: progress, start, stop, resume, failures, the report."""
