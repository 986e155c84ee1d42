"""Batches and evaluations: start, stop, resume, failures, report."""
