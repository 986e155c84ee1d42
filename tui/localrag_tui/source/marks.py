"""What is marked in a document, besides what its lines are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from localrag_tui.source.sheet import Part
from localrag_tui.source.spans import Span, Stretch, touching

LINK, QUOTE, FOUND, CHOSEN, CURRENT = "link", "quote", "found", "chosen", "current"


@dataclass
class Marks:
    """Spans of a document that stand out.

    Attributes:
        quote: what was quoted; nothing where both ends are the same, as with the next.
        passage: what was opened.
        links: what can be followed, in reading order.
        chosen: which of them is.
        found: what was searched for, in reading order.
        current: which of that is looked at.
    """

    quote: Span = (0, 0)
    passage: Span = (0, 0)
    links: Sequence[Span] = ()
    chosen: int | None = None
    found: Sequence[Span] = ()
    current: int | None = None

    def of(self, row: Stretch) -> Iterator[Part]:
        """What of it may lie on a row, that which covers the rest last."""
        yield from (Part(*self.links[n], LINK) for n in touching(self.links, row))
        yield Part(*self.quote, QUOTE)
        yield from (Part(*self.found[n], FOUND) for n in touching(self.found, row))
        if self.chosen is not None:
            yield Part(*self.links[self.chosen], CHOSEN)
        if self.current is not None:
            yield Part(*self.found[self.current], CURRENT)
