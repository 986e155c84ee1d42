"""The colours of a page: how a character looks on which several marks lie."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.widget import Widget

from localrag_tui.source.sheet import Part
from localrag_tui.source.spans import Stretch

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

    def segments(self, text: str, row: Stretch, marks: Sequence[Part]) -> Iterator[Segment]:
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
