"""Rows without end: only those in view are read."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import work
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from localrag.language import N_, _

_LONGEST_ID, _LONGEST_OUTCOME = 16, 18
"""Cells at most: the question has all others."""
_AHEAD = 100
"""Rows read together, before and after those in view too; no screen shows more."""


class RowPlace(NamedTuple):
    """A row of one of the files of a run."""

    part: int
    number: int


class Cells(NamedTuple):
    """What is shown of a row; harmless text."""

    number: str
    id: str
    outcome: str
    text: str


Fetch = Callable[[Sequence[RowPlace]], Awaitable[Mapping[RowPlace, Cells]]]


class RowList(ScrollView, can_focus=True):
    """A list of rows, each on one line.

    Attributes:
        cursor: the row that Enter opens.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--muted"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", id="rows.up", show=False),
        Binding("down", "move(1)", id="rows.down", show=False),
        Binding("pageup", "page(-1)", id="rows.page_up", show=False),
        Binding("pagedown", "page(1)", id="rows.page_down", show=False),
        Binding("home", "first", id="rows.first", show=False),
        Binding("end", "last", id="rows.last", show=False),
        Binding("enter", "open", N_("Open"), id="rows.open"),
    ]

    cursor: reactive[int] = reactive(0)

    class Opened(Message):
        """A row was chosen."""

        def __init__(self, rows: "RowList", place: RowPlace) -> None:
            super().__init__()
            self.rows = rows
            self.place = place

    def __init__(self, nothing: str, *, id: str) -> None:  # noqa: A002 - as every widget has it
        super().__init__(id=id)
        self._nothing = nothing
        self._places: Sequence[RowPlace] = ()
        self._cells: dict[RowPlace, Cells] = {}
        self._fetch: Fetch | None = None
        self._wanted = -1
        # Cells of the ids and of the outcomes, as far as they are read.
        self._widths = (0, 0)

    def show(self, places: Sequence[RowPlace], fetch: Fetch, *, anew: bool) -> None:
        """Show these rows.

        Args:
            places: in order.
            fetch: reads some of them; those it cannot read are left out.
            anew: whether they are others than those before; else some were added.
        """
        self._fetch = fetch
        if anew or len(places) < len(self._places):
            self._cells.clear()
            self.cursor = 0
            self.scroll_home(animate=False, immediate=True)
        self._places = places
        self._wanted = -1
        self._want(self.scroll_offset.y)
        self.virtual_size = Size(self.size.width, len(places))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row, or that there is none."""
        width = self.size.width
        index = self.scroll_offset.y + y
        if index >= len(self._places):
            text = _(self._nothing) if not self._places and y == 0 else ""
            return self._strip(set_cell_size(f" {text}", width), "rows--muted")
        place = self._places[index]
        cells = self._cells.get(place)
        if cells is None:
            self._want(index)
            cells = Cells(str(place.number), "", "", "…")
        ids, outcomes = self._widths
        head = f" {cells.number:>6}  {set_cell_size(cells.id, ids)}{'  ' if ids else ''}"
        kind = f"{set_cell_size(cells.outcome, outcomes)}  "
        if index == self.cursor:
            return self._strip(set_cell_size(head + kind + cells.text, width), "rows--cursor")
        base = self.rich_style
        muted = base + self.get_component_rich_style("rows--muted", partial=True)
        return Strip([Segment(head + kind, muted), Segment(cells.text, base)]).adjust_cell_length(
            width, base
        )

    def watch_cursor(self) -> None:
        """Keep the cursor in view."""
        self.scroll_to_region(
            Region(0, self.cursor, 1, 1), animate=False, immediate=True, force=True
        )
        self.refresh()

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._places))

    def on_click(self, event: Click) -> None:
        index = self.scroll_offset.y + event.get_content_offset_capture(self).y
        if index == self.cursor:
            self.action_open()
        elif index < len(self._places):
            self.cursor = index

    def action_move(self, by: int) -> None:
        self.cursor = max(0, min(self.cursor + by, len(self._places) - 1))

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.action_move(len(self._places))

    def action_open(self) -> None:
        if self._places:
            self.post_message(self.Opened(self, self._places[self.cursor]))

    def _strip(self, text: str, name: str) -> Strip:
        style = self.rich_style + self.get_component_rich_style(name, partial=True)
        return Strip([Segment(text, style)])

    def _want(self, index: int) -> None:
        first = index - index % _AHEAD
        if first != self._wanted:
            self._wanted = first
            self._read(self._places[max(0, first - _AHEAD) : first + 2 * _AHEAD])

    @work(exclusive=True, group="rows")
    async def _read(self, places: Sequence[RowPlace]) -> None:
        if self._fetch is None:
            return
        # Not all of a hundred thousand rows that were scrolled over are kept.
        cells = self._cells = dict(await self._fetch(places))
        self._widths = (
            min(_LONGEST_ID, max((cell_len(one.id) for one in cells.values()), default=0)),
            min(
                _LONGEST_OUTCOME, max((cell_len(one.outcome) for one in cells.values()), default=0)
            ),
        )
        self.refresh()
