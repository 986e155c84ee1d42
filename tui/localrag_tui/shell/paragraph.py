"""A paragraph with the line breaks of the source pane."""

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.content import Content
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Static

from localrag.text.harmless import NARROWEST, Layout

if TYPE_CHECKING:
    from textual.css.styles import RulesMap


class Paragraph(Static):
    """Text of any language; Textual breaks at ideographic blanks and before 、 or 」."""

    def __init__(
        self,
        text: Content = Content(""),  # noqa: B008 - it never changes
        *,
        id: str | None = None,  # noqa: A002 - Textual's own
        classes: str | None = None,
    ) -> None:
        super().__init__(BrokenText(text), id=id, classes=classes)
        self._text = text

    def show(self, text: Content) -> None:
        """Show another text, with a new layout only for another number of rows."""
        before, self._text = self._text, text
        width = self.content_size.width
        grows = not width or _rows(text.plain, width) != _rows(before.plain, width)
        self.update(BrokenText(text), layout=grows)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        return selection.extract(self._text.plain), "\n"


class BrokenText(Visual):
    """The text of a paragraph, also for lists."""

    def __init__(self, text: Content) -> None:
        self._text = text.expand_tabs()

    def __str__(self) -> str:
        return self._text.plain

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        if width < NARROWEST:
            return []
        text, plain = self._selected(options), self._text.plain
        strips = []
        for row in list(Layout(plain, width))[:height]:
            # Textual counts a selection in lines of the text and their characters.
            line, column = plain.count("\n", 0, row.start), row.start - _begin(plain, row.start)
            segments = []
            piece = text[row.start : row.end]
            for part, ink in piece.render(style, end="", parse_style=options.get_style):
                rich = (style + ink).rich_style_with_offset(column, line)
                segments.append(Segment(part, rich))
                column += len(part)
            strips.append(Strip(segments))
        return strips

    def get_optimal_width(self, rules: "RulesMap", container_width: int) -> int:
        return self._text.get_optimal_width(rules, container_width)

    def get_height(self, _rules: "RulesMap", width: int) -> int:
        return _rows(self._text.plain, width)

    def _selected(self, options: RenderOptions) -> Content:
        text, start = self._text, 0
        if options.selection is None or options.selection_style is None:
            return text
        for number, line in enumerate(text.plain.split("\n")):
            if (span := options.selection.get_span(number)) is not None:
                end = len(line) if span[1] == -1 else span[1]
                text = text.stylize(options.selection_style, start + span[0], start + end)
            start += len(line) + 1
        return text


def _begin(plain: str, position: int) -> int:
    return plain.rfind("\n", 0, position) + 1


@lru_cache(maxsize=256)
def _rows(plain: str, width: int) -> int:
    return len(Layout(plain, width)) if width >= NARROWEST else 0
