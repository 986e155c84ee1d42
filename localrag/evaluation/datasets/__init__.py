"""Datasets: declarations, files, questions."""
