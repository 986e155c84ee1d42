"""The page: the wrapped text of a document with its marks, scrolled freely."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import Any, ClassVar, NamedTuple, Protocol

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from localrag.language import N_
from localrag.text.harmless import NARROWEST, Layout, Row, cells
from localrag_tui.source.sheet import CAPTION, HEADING, NUMBER, MarkedSpan, Sheet

Span = tuple[int, int]
"""Start and end, in characters."""


class Stretch(Protocol):
    """A part of a text, such as a row."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def touching(spans: Sequence[Span], stretch: Stretch) -> Iterator[int]:
    """The indexes of the spans that overlap a part of the text."""
    number = bisect_right(spans, (stretch.start, 0))
    while number > 0 and spans[number - 1][1] > stretch.start:
        number -= 1
    while number < len(spans) and spans[number][0] < stretch.end:
        yield number
        number += 1


def within(spans: Sequence[Span], stretch: Stretch) -> list[Span]:
    """The spans that overlap a part of the text."""
    return [spans[number] for number in touching(spans, stretch)]


LINK, QUOTE, FOUND, CHOSEN, CURRENT = "link", "quote", "found", "chosen", "current"


@dataclass
class Marks:
    """Marked spans of a document.

    Attributes:
        quote: the quotation; empty if both ends are equal, as for `passage`.
    """

    quote: Span = (0, 0)
    passage: Span = (0, 0)
    links: Sequence[Span] = ()
    chosen: int | None = None
    found: Sequence[Span] = ()
    current: int | None = None

    def of(self, row: Stretch) -> Iterator[MarkedSpan]:
        """The marks of a row, the topmost last."""
        yield from (MarkedSpan(*self.links[n], LINK) for n in touching(self.links, row))
        yield MarkedSpan(*self.quote, QUOTE)
        yield from (MarkedSpan(*self.found[n], FOUND) for n in touching(self.found, row))
        if self.chosen is not None:
            yield MarkedSpan(*self.links[self.chosen], CHOSEN)
        if self.current is not None:
            yield MarkedSpan(*self.found[self.current], CURRENT)


SELECTED = "selected"


class Ink:
    """The styles of a page by overlapping marks, each computed once.

    Args:
        page: the page, with component classes ``page--<mark>``.
    """

    def __init__(self, page: Widget) -> None:
        self._page = page
        self._parts: dict[str, Style] = {}
        self._mixed: dict[tuple[str, ...], Style] = {}

    def of(self, *marks: str) -> Style:
        """The style under some marks, the topmost last."""
        style = self._mixed.get(marks)
        if style is None:
            style = self._mixed[marks] = sum(map(self._part, marks), self._page.rich_style)
        return style

    def segments(self, text: str, row: Stretch, marks: Sequence[MarkedSpan]) -> Iterator[Segment]:
        """A part of a text, cut at the ends of marks; the last mark is on top."""
        cuts = {at for mark in marks for at in mark[:2] if row.start < at < row.end}
        for start, end in pairwise(sorted({row.start, row.end, *cuts})):
            lying = (what for first, last, what in marks if first <= start and end <= last)
            yield Segment(text[start:end], self.of(*lying))

    def dry(self) -> None:
        self._parts.clear()
        self._mixed.clear()

    def _part(self, mark: str) -> Style:
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
        # Blended with the background: terminals have no transparency.
        return style + Style(bgcolor=self._page.get_component_rich_style(name).bgcolor)


_OPENED = "opened"
_PARTS = (HEADING, CAPTION, NUMBER, LINK, QUOTE, FOUND, CHOSEN, CURRENT, _OPENED)
# A bar before the rows of the opened passage; a blank after every row.
_BAR, _NO_BAR, _MARGIN = "▌ ", "  ", 3
# Seconds of rest before the parts around the page follow, and between two updates while scrolling:
# a key waits for the page only.
_REST, _PACE = 0.08, 0.24
# Drawn rows kept: some screens full.
_DRAWN = 400


class View(NamedTuple):
    """The text in view, and the place of the reader.

    The place is the last found word, else the opened passage, else near the top.
    """

    start: int
    end: int
    eye: int


class DocumentPage(ScrollView, can_focus=True):
    """Shows a `Sheet`; its owner sets the marks.

    Attributes:
        sheet: the document, None before the first.
    """

    ALLOW_SELECT = True
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"page--{part}" for part in _PARTS}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "choose(1)", N_("Link"), id="source.next_link"),
        Binding("left", "choose(-1)", N_("Previous link"), id="source.previous_link", show=False),
        Binding("enter", "follow", N_("Open"), id="source.follow"),
        Binding("up", "scroll_up", N_("Line up"), id="source.up", show=False),
        Binding("down", "scroll_down", N_("Line down"), id="source.down", show=False),
        Binding("pageup", "page_up", N_("Page up"), id="source.page_up", show=False),
        Binding("pagedown", "page_down", N_("Page down"), id="source.page_down", show=False),
        Binding("home", "scroll_home", N_("To the beginning"), id="source.home", show=False),
        Binding("end", "scroll_end", N_("To the end"), id="source.end", show=False),
    ]

    class Scrolled(Message):
        """The view has moved; sent a few times a second."""

    @dataclass
    class Followed(Message):
        """A link is followed."""

        span: Span

    def __init__(self) -> None:
        super().__init__()
        self.sheet: Sheet | None = None
        self._layout_of_text: Layout | None = None
        self._marks = Marks()
        # The first character in view; it stays at the top at any width.
        self._top = 0
        self._target: Span | None = None
        # The opened place: until the page scrolls, the reader is there.
        self._landed, self._landing = (0, 0), False
        self._resting: Timer | None = None
        self._tell_by = 0.0
        self._ink = Ink(self)
        self._drawn: LRUCache[int, Strip] = LRUCache(_DRAWN)

    @property
    def view(self) -> View:
        rows = self._layout_of_text
        if not rows:
            return View(0, 0, 0)
        first = min(self.scroll_offset.y, len(rows) - 1)
        last = min(first + self.size.height, len(rows)) - 1
        found = self._marks.current
        if found is not None and rows[first].start <= self._marks.found[found][0] < rows[last].end:
            return View(rows[first].start, rows[last].end, self._marks.found[found][0])
        top, read = self._landed
        if top == self._top and rows[first].start <= read <= rows[last].end:
            return View(rows[first].start, rows[last].end, read)
        # The end of a document cannot scroll to the top.
        eye = last if first and first >= self.max_scroll_y else min(first + 2, last)
        return View(rows[first].start, rows[last].end, rows[eye].start)

    @property
    def top(self) -> int:
        """The first character in view; pass it to `open` to restore the view."""
        return self._top

    @property
    def links(self) -> Sequence[Span]:
        return self._marks.links

    @property
    def chosen(self) -> int | None:
        return self._marks.chosen

    @property
    def is_on_the_way(self) -> bool:
        """Whether an opened place is not in view yet; `Scrolled` follows."""
        return self._landing

    @property
    def is_found(self) -> bool:
        found = self._marks.current
        return found is not None and self._marks.found[found][0] == self.view.eye

    @property
    def quote(self) -> Span:
        """The highlighted span; empty if both ends are equal."""
        return self._marks.quote

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
            quote: the span to highlight and show.
            passage: the opened span, with a bar beside it.
            around: start of the provision around it, shown if there is room.
            top: the first character in view, to restore a view.
        """
        if sheet is not self.sheet:
            self.sheet, self._layout_of_text = sheet, None
            self._marks = Marks()
            self.screen.clear_selection()
        self._marks.quote, self._marks.passage, self._marks.chosen = quote, passage, None
        self._target, self._landing = (quote[0], around), True
        if top is not None:
            self._target, self._top = None, top
        await self._lay()

    def clear(self) -> None:
        self.sheet, self._layout_of_text = None, None
        self._marks = Marks()
        self._top, self._landed, self._target, self._landing = 0, (0, 0), None, False
        self.virtual_size = Size(0, 0)
        self._redraw()

    def mark_links(self, links: Sequence[Span]) -> None:
        """Underline links; the chosen one stays chosen."""
        marks, view = self._marks, self.view
        chosen = None if marks.chosen is None else marks.links[marks.chosen]
        before, marks.links = marks.links, links
        marks.chosen = links.index(chosen) if chosen in links else None
        if within(before, view) != within(links, view):
            self._redraw()

    def mark_found(self, found: Sequence[Span], current: int | None) -> None:
        """Mark found words, and scroll to the current one."""
        self._marks.found, self._marks.current = found, current
        if current is not None:
            self._reveal(*found[current])
        self._redraw()
        self._tell()

    def selected(self) -> Span | None:
        """The span selected with the mouse."""
        selection, rows = self.text_selection, self._layout_of_text
        if selection is None or not rows:
            return None
        start = 0 if selection.start is None else self._position(selection.start)
        end = len(self._text) if selection.end is None else self._position(selection.end)
        return (start, end) if start < end else None

    def get_selection(self, _selection: Selection) -> tuple[str, str] | None:
        span = self.selected()
        return None if span is None else (self._text[slice(*span)], "\n")

    def selection_updated(self, _selection: Selection | None) -> None:
        self._redraw()

    def action_choose(self, step: int) -> None:
        """Choose the next or previous link, from the view on."""
        view, chosen = self.view, self._marks.chosen
        if chosen is not None and view.start <= self.links[chosen][0] < view.end:
            number = chosen + step
        elif step > 0:
            number = bisect_left(self.links, (view.start, 0))
        else:
            number = bisect_left(self.links, (view.end, 0)) - 1
        if 0 <= number < len(self.links):
            self._marks.chosen = number
            self._reveal(*self.links[number])
            self._redraw()
            self.refresh_bindings()
        else:
            # Only links in view are known: scroll to find more.
            self.scroll_relative(y=step * self.size.height // 2)

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        return action != "follow" or self._marks.chosen is not None

    def action_follow(self) -> None:
        if self._marks.chosen is not None:
            self.post_message(self.Followed(self.links[self._marks.chosen]))

    def on_click(self, event: events.Click) -> None:
        widget, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if widget is not self or offset is None or self.selected():
            return
        at = self._position(offset)
        for number, (start, end) in enumerate(self.links):
            if start <= at < end:
                self._marks.chosen = number
                self.action_follow()
                return

    def on_resize(self) -> None:
        if self.sheet is not None:
            self.run_worker(self._lay(), group="layout", exclusive=True)

    def scroll_to(self, x: float | None = None, y: float | None = None, **how: Any) -> None:
        super().scroll_to(x, y, **{**how, "animate": False})

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)
        if self.vertical_scrollbar.grabbed:
            self.vertical_scrollbar.position = new_value
        rows = self._layout_of_text
        # The page has grown; the reader did not scroll.
        moved = round(old_value) != round(new_value) and old_value <= self.max_scroll_y
        if rows and moved:
            self._top = rows[min(round(new_value), len(rows) - 1)].start
            self._tell()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._ink.dry()
        self._drawn.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint the drawn rows; they have no border or padding."""
        # Until the text is wrapped for a new width, rows are cut or filled.
        top, width, plain = self.scroll_offset.y, self._width + _MARGIN, self._ink.of()
        strips = [self._row(top + y).adjust_cell_length(width, plain) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        number, rows = self.scroll_offset.y + y, self._layout_of_text
        indent = rows[number].indent if rows and number < len(rows) else 0
        return self._row(number).apply_offsets(-len(_BAR) - indent, number)

    def _row(self, number: int) -> Strip:
        strip = self._drawn.get(number)
        if strip is None:
            strip = self._drawn[number] = self._draw(number)
        return strip

    def _draw(self, number: int) -> Strip:
        rows, plain = self._layout_of_text, self._ink.of()
        if rows is None or number >= len(rows):
            return Strip([])
        row = rows[number]
        opened = self._marks.passage[0] < row.end and row.start < self._marks.passage[1]
        segments = [
            Segment(_BAR if opened else _NO_BAR, self._ink.of(_OPENED)),
            Segment(" " * row.indent, plain),
            *self._segments(row, number),
        ]
        return Strip(segments, len(_BAR) + row.indent + cells(self._text[row.start : row.end]))

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width - _MARGIN

    @property
    def _text(self) -> str:
        return "" if self.sheet is None else self.sheet.text

    async def _lay(self) -> None:
        """Wrap the text for the width, and scroll to the wanted place."""
        sheet, width = self.sheet, self._width
        if sheet is None or width < NARROWEST:
            return
        rows = self._layout_of_text
        if rows is not None and rows.width == width and not self._landing:
            # Only the height has changed; the reader may be scrolling.
            self._tell()
            return
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
        self.vertical_scrollbar.position = self.scroll_y
        self._top = top
        if self._landing:
            self._landing = False
            self._landed = (top, self._marks.quote[0])
        self._redraw()
        self._tell()

    def _row_for(self, rows: Layout, position: int, around: int) -> int:
        """The top row to see a place in its context."""
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
        now = monotonic()
        if self._resting is None:
            self._tell_by = now + _PACE
        elif now + _REST < self._tell_by:
            self._resting.stop()
        else:
            return
        self._resting = self.set_timer(_REST, self._tell_now)

    def _tell_now(self) -> None:
        self._resting = None
        self.vertical_scrollbar.position = self.scroll_y
        if not self.is_on_the_way:
            self.post_message(self.Scrolled())

    def _segments(self, row: Row, number: int) -> Iterable[Segment]:
        assert self.sheet is not None
        marks = [*self.sheet.parts(row.start, row.end), *self._marks.of(row)]
        if (selection := self.text_selection) and (span := selection.get_span(number)):
            last = row.end if span[1] < 0 else row.start + span[1]
            marks.append(MarkedSpan(row.start + max(span[0], 0), last, SELECTED))
        return self._ink.segments(self._text, row, marks)

    def _redraw(self) -> None:
        self._drawn.clear()
        self.refresh()
