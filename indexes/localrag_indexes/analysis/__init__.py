"""Text analysis: from text to the terms of indexes and queries."""

from localrag_indexes.analysis.analyzer import Analyzer, Token

__all__ = ["Analyzer", "Token"]
