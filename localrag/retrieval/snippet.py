"""The part of a passage that shows best why it was found."""

from dataclasses import dataclass

from localrag.retrieval.model import Query
from localrag.retrieval.query import analyzer, full_text
from localrag_indexes.highlight import best_window, highlight


@dataclass(frozen=True, slots=True)
class Snippet:
    """A window on a passage's text.

    Attributes:
        start, end: span of the window in the passage's text, in characters.
        highlights: spans in the passage's text, inside the window, that match the question.
    """

    start: int
    end: int
    highlights: tuple[tuple[int, int], ...]


def snippet(query: Query, text: str, size: int) -> Snippet:
    """The window of at most `size` characters that shows most of the question's terms."""
    terms = set(analyzer().terms(full_text(query)))
    start, end = best_window(text, terms, analyzer(), size)
    spans = highlight(text[start:end], terms, analyzer())
    return Snippet(start, end, tuple((start + a, start + b) for a, b in spans))
