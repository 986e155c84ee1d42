"""Datasets: declared as data, brought in, read and checked."""
