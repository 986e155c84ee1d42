"""Evaluation: datasets, methods run over them, and reports that can be believed."""
