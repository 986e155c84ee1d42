"""Text analysis: from text to the terms that indexes and queries are made of."""

from localrag_indexes.analysis.analyzer import Analyzer, Token

__all__ = ["Analyzer", "Token"]
