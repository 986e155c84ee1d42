"""Datasets, methods run over them, and reports."""
