"""localrag answers questions from local corpora with checked quotations, on one workstation."""

__version__ = "0.1.0"
