"""Two runs over the same questions, compared."""

from localrag.evaluation.comparison.comparing import Comparison, EntryComparison, as_json, compare
from localrag.evaluation.comparison.text import markdown

__all__ = ["Comparison", "EntryComparison", "as_json", "compare", "markdown"]
