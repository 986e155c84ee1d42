"""The page: the whole text of a document, wrapped for the width, scrolled freely."""

import asyncio
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from localrag_tui.i18n import N_
from localrag_tui.source.layout import NARROWEST, Layout, Row
from localrag_tui.source.sheet import CAPTION, HEADING, NUMBER, Part, Sheet
from localrag_tui.source.spans import Span, touching, within

LINK, QUOTE, FOUND, CHOSEN, CURRENT = "link", "quote", "found", "chosen", "current"
_OPENED = "opened"
_PARTS = (HEADING, CAPTION, NUMBER, LINK, QUOTE, FOUND, CHOSEN, CURRENT, _OPENED)
# Before a row stands a bar where it is of what was opened; after it, a blank.
_BAR, _NO_BAR, _MARGIN = "▌ ", "  ", 3
# Between two looks at what is in view, in seconds: held keys ask for no more.
_PACE = 0.08
# Rows that are kept as they were drawn: some screens full.
_DRAWN = 400


class View(NamedTuple):
    """What is in view: a span of the document, and where a reader looks at."""

    start: int
    end: int
    eye: int


class Page(ScrollView, can_focus=True):
    """Shows a `Sheet`; whoever owns it says what is marked.

    Attributes:
        sheet: the document, None before the first.
        links: spans that can be followed, in reading order.
    """

    ALLOW_SELECT = True
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"page--{part}" for part in _PARTS}
    DEFAULT_CSS: ClassVar[str] = """
    Page {
        overflow: hidden scroll;
        background: $background;
        color: $foreground;
        scrollbar-size-vertical: 1;
        & > .page--heading { text-style: bold; color: $primary; }
        & > .page--caption { color: $secondary; }
        & > .page--number { text-style: bold; }
        & > .page--link { text-style: underline; color: $primary; }
        & > .page--opened { color: $accent; }
        & > .page--quote { background: $accent 20%; }
        & > .page--found { background: $secondary 16%; }
        & > .page--chosen { background: $primary; color: $background; text-style: bold; }
        & > .page--current { background: $accent; color: $background; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "choose(1)", N_("Link"), id="source.next_link"),
        Binding("left", "choose(-1)", N_("Previous link"), id="source.previous_link", show=False),
        Binding("enter", "follow", N_("Open"), id="source.follow"),
    ]

    class Scrolled(Message):
        """The reader has moved; told a few times a second."""

    class Followed(Message):
        """A link is followed.

        Attributes:
            span: which of `Page.links`.
        """

        def __init__(self, span: Span) -> None:
            super().__init__()
            self.span = span

    def __init__(self) -> None:
        super().__init__()
        self.sheet: Sheet | None = None
        self.links: Sequence[Span] = ()
        self._layout_of_text: Layout | None = None
        self._quote, self._passage = (0, 0), (0, 0)
        self._found: Sequence[Span] = ()
        self._current: int | None = None
        self._chosen: int | None = None
        # The character at the top, which stays there whatever the width becomes.
        self._top = 0
        self._target: Span | None = None
        # Until it is scrolled, what was opened is what is read: its top, its place.
        self._landed, self._landing = (0, 0), False
        self._told = False
        self._styles: dict[str, Style] = {}
        self._drawn: LRUCache[int, Strip] = LRUCache(_DRAWN)

    @property
    def view(self) -> View:
        """What is in view now."""
        rows = self._layout_of_text
        if not rows:
            return View(0, 0, 0)
        first = min(self.scroll_offset.y, len(rows) - 1)
        last = min(first + self.size.height, len(rows)) - 1
        top, read = self._landed
        if top == self._top and rows[first].start <= read <= rows[last].end:
            return View(rows[first].start, rows[last].end, read)
        # At the end of a document nothing can be scrolled to the top any more.
        eye = last if first and first >= self.max_scroll_y else min(first + 2, last)
        return View(rows[first].start, rows[last].end, rows[eye].start)

    @property
    def top(self) -> int:
        """The first character in view; `open` with it restores the view."""
        return self._top

    @property
    def chosen(self) -> int | None:
        """Which of the links is chosen."""
        return self._chosen

    @property
    def quote(self) -> Span:
        """The span that is highlighted; nothing where both ends are the same."""
        return self._quote

    async def open(
        self,
        sheet: Sheet,
        quote: Span,
        passage: Span,
        *,
        around: int,
        top: int | None = None,
    ) -> None:
        """Show a document at a place.

        Args:
            sheet: the document.
            quote: the span to highlight and to show.
            passage: the span that was opened, to have a bar beside it.
            around: where the provision around it begins, shown too where there is room.
            top: what was the first character in view, to have it there again.
        """
        if sheet is not self.sheet:
            self.sheet, self._layout_of_text = sheet, None
            self.links, self._found, self._current = (), (), None
            self.screen.clear_selection()
        self._quote, self._passage, self._chosen = quote, passage, None
        self._target, self._landing = (quote[0], around), True
        if top is not None:
            self._target, self._top = None, top
        await self._lay()

    def clear(self) -> None:
        """Show nothing."""
        self.sheet, self._layout_of_text = None, None
        self.links, self._found, self._current, self._chosen = (), (), None, None
        self._quote = self._passage = self._landed = (0, 0)
        self._top, self._target = 0, None
        self.virtual_size = Size(0, 0)
        self._redraw()

    def mark_links(self, links: Sequence[Span]) -> None:
        """Underline spans; the one chosen stays so where it is among them."""
        chosen = None if self._chosen is None else self.links[self._chosen]
        before, view = self.links, self.view
        self.links = links
        self._chosen = links.index(chosen) if chosen in links else None
        if within(before, view) != within(links, view):
            self._redraw()

    def mark_found(self, found: Sequence[Span], current: int | None) -> None:
        """Mark what was found; the current one is brought into view."""
        self._found, self._current = found, current
        if current is not None:
            self._reveal(*found[current])
        self._redraw()

    def selected(self) -> Span | None:
        """The span that was selected with the mouse."""
        selection, rows = self.text_selection, self._layout_of_text
        if selection is None or not rows:
            return None
        start = 0 if selection.start is None else self._position(selection.start)
        end = len(self._text) if selection.end is None else self._position(selection.end)
        return (start, end) if start < end else None

    def get_selection(self, _selection: Selection) -> tuple[str, str] | None:
        """What was selected, without the breaks of rows."""
        span = self.selected()
        return None if span is None else (self._text[slice(*span)], "\n")

    def selection_updated(self, _selection: Selection | None) -> None:
        """Show what is selected."""
        self._redraw()

    def action_choose(self, step: int) -> None:
        """Choose the next or the previous link, from the first in view on."""
        view = self.view
        if self._chosen is not None and view.start <= self.links[self._chosen][0] < view.end:
            number = self._chosen + step
        elif step > 0:
            number = bisect_left(self.links, (view.start, 0))
        else:
            number = bisect_left(self.links, (view.end, 0)) - 1
        if 0 <= number < len(self.links):
            self._chosen = number
            self._reveal(*self.links[number])
            self._redraw()
            self.refresh_bindings()
        else:
            # Links are known of what is in view: those beyond are met by going there.
            self.scroll_relative(y=step * self.size.height // 2)

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Offer to follow a link once one is chosen."""
        return action != "follow" or self._chosen is not None

    def action_follow(self) -> None:
        """Follow the chosen link."""
        if self._chosen is not None:
            self.post_message(self.Followed(self.links[self._chosen]))

    def on_click(self, event: events.Click) -> None:
        """Follow the link under the mouse."""
        widget, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if widget is not self or offset is None or self.selected():
            return
        at = self._position(offset)
        for number, (start, end) in enumerate(self.links):
            if start <= at < end:
                self._chosen = number
                self.action_follow()
                return

    def on_resize(self) -> None:
        """Wrap the text anew where its width has changed."""
        if self.sheet is not None:
            self.run_worker(self._lay(), group="layout", exclusive=True)

    def scroll_to(self, x: float | None = None, y: float | None = None, **how: Any) -> None:
        """Scroll at once: a held key is not ahead of what is shown."""
        super().scroll_to(x, y, **{**how, "animate": False})

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Keep the place in mind, and tell of it."""
        super().watch_scroll_y(old_value, new_value)
        rows = self._layout_of_text
        # From beyond the end it was moved by a page that has grown, not by the reader.
        moved = round(old_value) != round(new_value) and old_value <= self.max_scroll_y
        if rows and moved:
            self._top = rows[min(round(new_value), len(rows) - 1)].start
            self._tell()

    def notify_style_update(self) -> None:
        """Draw in the new colours."""
        super().notify_style_update()
        self._styles.clear()
        self._drawn.clear()

    def render_line(self, y: int) -> Strip:
        """Draw a row, or show it again as it was drawn."""
        number = self.scroll_offset.y + y
        strip = self._drawn.get(number)
        if strip is None:
            strip = self._drawn[number] = self._draw(number)
        return strip

    def _draw(self, number: int) -> Strip:
        base, rows = self._style(""), self._layout_of_text
        if rows is None or number >= len(rows):
            return Strip.blank(self.size.width, base)
        row = rows[number]
        opened = self._passage[0] < row.end and row.start < self._passage[1]
        segments = [
            Segment(_BAR if opened else _NO_BAR, base + self._style(_OPENED)),
            Segment(" " * row.indent, base),
            *self._segments(row, number, base),
        ]
        strip = Strip(segments).adjust_cell_length(self.size.width, base)
        # What the mouse selects is told in characters of the row.
        return strip.apply_offsets(-len(_BAR) - row.indent, number)

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width - _MARGIN

    @property
    def _text(self) -> str:
        return "" if self.sheet is None else self.sheet.text

    async def _lay(self) -> None:
        """Wrap for the width there is, and go to the place that is wanted."""
        sheet, width = self.sheet, self._width
        if sheet is None or width < NARROWEST:
            return
        rows = self._layout_of_text
        if rows is None or rows.width != width:
            rows = await asyncio.to_thread(Layout, sheet.text, width, sheet.indents)
            if not self.is_attached or sheet is not self.sheet or width != self._width:
                return
        top = self._top
        self._layout_of_text = rows
        self.virtual_size = Size(width + _MARGIN, len(rows))
        if self._target is not None:
            top = rows[self._row_for(rows, *self._target)].start
            self._target = None
        self.scroll_to(y=rows.row_of(top), immediate=True)
        self._top = top
        if self._landing:
            self._landing = False
            self._landed = (top, self._quote[0])
        self._redraw()
        self._tell()

    def _row_for(self, rows: Layout, position: int, around: int) -> int:
        """The row to put at the top so that a place is seen in its context."""
        row, first = rows.row_of(position), rows.row_of(around)
        if 0 <= row - first < self.size.height * 2 // 3:
            return max(0, first - 1)
        return max(0, row - self.size.height // 3)

    def _reveal(self, start: int, end: int) -> None:
        rows = self._layout_of_text
        if rows is None:
            return
        first, last, top = (
            rows.row_of(start),
            rows.row_of(max(start, end - 1)),
            self.scroll_offset.y,
        )
        if not top <= first <= last < top + self.size.height:
            self.scroll_to(y=first - self.size.height // 3)

    def _position(self, offset: Offset) -> int:
        rows = self._layout_of_text
        if not rows:
            return 0
        row = rows[max(0, min(offset.y, len(rows) - 1))]
        return max(row.start, min(row.start + offset.x, row.end))

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self.set_timer(_PACE, self._tell_now)

    def _tell_now(self) -> None:
        self._told = False
        # On its way to another place it is told of once it is there.
        if not self._landing:
            self.post_message(self.Scrolled())

    def _segments(self, row: Row, number: int, base: Style) -> Iterator[Segment]:
        marks = [(*mark[:2], self._style(mark.what)) for mark in self._marks(row)]
        if (selection := self.text_selection) and (span := selection.get_span(number)):
            last = row.end if span[1] < 0 else row.start + span[1]
            style = self.screen.get_component_rich_style("screen--selection")
            marks.append((row.start + max(span[0], 0), last, style))
        cuts = {at for mark in marks for at in mark[:2] if row.start < at < row.end}
        for start, end in pairwise(sorted({row.start, row.end, *cuts})):
            styles = (style for first, last, style in marks if first <= start and end <= last)
            yield Segment(self._text[start:end], sum(styles, base))

    def _style(self, what: str) -> Style:
        """The style of a mark, which leaves out what it does not say, or of plain text ("")."""
        if what not in self._styles:
            self._styles[what] = self._looked_up(what) if what else self.rich_style
        return self._styles[what]

    def _looked_up(self, what: str) -> Style:
        name = f"page--{what}"
        style = self.get_component_rich_style(name, partial=True)
        if style.bgcolor is None:
            return style
        # Mixed with what it stands on: a terminal knows no transparency.
        return style + Style(bgcolor=self.get_component_rich_style(name).bgcolor)

    def _redraw(self) -> None:
        self._drawn.clear()
        self.refresh()

    def _marks(self, row: Row) -> Iterator[Part]:
        """What is marked in a row, that which covers the rest last."""
        assert self.sheet is not None
        yield from self.sheet.parts(row.start, row.end)
        yield from (Part(*self.links[n], LINK) for n in touching(self.links, row))
        yield Part(*self._quote, QUOTE)
        yield from (Part(*self._found[n], FOUND) for n in touching(self._found, row))
        if self._chosen is not None:
            yield Part(*self.links[self._chosen], CHOSEN)
        if self._current is not None:
            yield Part(*self._found[self._current], CURRENT)
