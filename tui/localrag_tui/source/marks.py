"""What is marked in a document: spans in reading order, and how they look on one another."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from rich.segment import Segment
from rich.style import Style
from textual.widget import Widget

from localrag_tui.source.sheet import MarkedSpan

Span = tuple[int, int]
"""Where something begins and ends, in characters."""


class Stretch(Protocol):
    """A part of a text, such as a row of it."""

    @property
    def start(self) -> int:
        """Where it begins."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...


def touching(spans: Sequence[Span], stretch: Stretch) -> Iterator[int]:
    """The numbers of the spans that have something in a part of the text."""
    number = bisect_right(spans, (stretch.start, 0))
    while number > 0 and spans[number - 1][1] > stretch.start:
        number -= 1
    while number < len(spans) and spans[number][0] < stretch.end:
        yield number
        number += 1


def within(spans: Sequence[Span], stretch: Stretch) -> list[Span]:
    """The spans that have something in a part of the text."""
    return [spans[number] for number in touching(spans, stretch)]


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

    def of(self, row: Stretch) -> Iterator[MarkedSpan]:
        """What of it may lie on a row, that which covers the rest last."""
        yield from (MarkedSpan(*self.links[n], LINK) for n in touching(self.links, row))
        yield MarkedSpan(*self.quote, QUOTE)
        yield from (MarkedSpan(*self.found[n], FOUND) for n in touching(self.found, row))
        if self.chosen is not None:
            yield MarkedSpan(*self.links[self.chosen], CHOSEN)
        if self.current is not None:
            yield MarkedSpan(*self.found[self.current], CURRENT)


SELECTED = "selected"


class Ink:
    """The styles of a page by the marks that lie on one another, each mixed once.

    Args:
        page: whose component classes they are, ``page--<mark>``.
    """

    def __init__(self, page: Widget) -> None:
        self._page = page
        self._parts: dict[str, Style] = {}
        self._mixed: dict[tuple[str, ...], Style] = {}

    def of(self, *marks: str) -> Style:
        """How plain text looks under some marks, that which covers the others last."""
        style = self._mixed.get(marks)
        if style is None:
            style = self._mixed[marks] = sum(map(self._part, marks), self._page.rich_style)
        return style

    def segments(self, text: str, row: Stretch, marks: Sequence[MarkedSpan]) -> Iterator[Segment]:
        """A part of a text, cut where marks begin and end; the last mark covers the others."""
        cuts = {at for mark in marks for at in mark[:2] if row.start < at < row.end}
        for start, end in pairwise(sorted({row.start, row.end, *cuts})):
            lying = (what for first, last, what in marks if first <= start and end <= last)
            yield Segment(text[start:end], self.of(*lying))

    def dry(self) -> None:
        """Forget the colours: the theme has changed."""
        self._parts.clear()
        self._mixed.clear()

    def _part(self, mark: str) -> Style:
        """What a mark changes; it leaves out what it does not say."""
        if mark not in self._parts:
            self._parts[mark] = self._looked_up(mark)
        return self._parts[mark]

    def _looked_up(self, mark: str) -> Style:
        if mark == SELECTED:
            return self._page.screen.get_component_rich_style("screen--selection")
        name = f"page--{mark}"
        style = self._page.get_component_rich_style(name, partial=True)
        if style.bgcolor is None:
            return style
        # Mixed with what it stands on: a terminal knows no transparency.
        return style + Style(bgcolor=self._page.get_component_rich_style(name).bgcolor)
