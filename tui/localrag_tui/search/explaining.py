"""What is told of a hit besides its rank: the words that match, the headings it stands under."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.retrieval.types import Hit, Query

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore

# A row of a wide screen, and what is cut off before the first match.
_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Explained:
    """What became known of a hit.

    Attributes:
        text: the part of its passage that matches best.
        marks: spans in `text` that match.
        place: the headings that a provision stands under, from the outermost (編・章・節).
    """

    text: str
    marks: tuple[tuple[int, int], ...]
    place: tuple[str, ...]


def explain(
    store: "CorpusStore", query: Query, hits: Sequence[Hit], overtaken: Callable[[], bool]
) -> list[Explained]:
    """Explain hits, a few milliseconds each, until nobody wants to know any more."""
    explained = []
    for hit in hits:
        if overtaken():
            break
        explained.append(_explained(store, query, hit))
    return explained


def _explained(store: "CorpusStore", query: Query, hit: Hit) -> Explained:
    from localrag.provision import headings
    from localrag.retrieval.query import snippet

    text = hit.passage.text
    # The header of another document is made of its headings.
    place = headings(store, hit.passage) if hit.passage.locator.path else ()
    window = snippet(query, text, _CHARACTERS)
    return Explained(
        text[window.start : window.end],
        tuple((start - window.start, end - window.start) for start, end in window.highlights),
        place,
    )
