"""The rows of a run: a list without end, and one row in full."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag.answer.types import Citation
from localrag.answer.wording import FAILURES
from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.page.answer import label
from localrag.page.blocks import BlockRole, Items
from localrag.text.harmless import harmless, one_line
from localrag_tui.blocks import pieces_of
from localrag_tui.screen import Dialogue
from localrag_tui.search.filters import facet_title, value_title
from localrag_tui.shell.paragraph import BrokenText, Paragraph
from localrag_tui.shown import called, content, flat, provenance

if TYPE_CHECKING:
    from localrag.ops.batch.rows import WrittenRow

_LONGEST_ID, _LONGEST_OUTCOME = 16, 18
"""Most cells; the question gets the rest."""
_AHEAD = 100
"""Rows read at a time, also before and after those in view; no screen shows more."""


class RowPlace(NamedTuple):
    """A row of one of the files of a run."""

    part: int
    number: int


class RowCells(NamedTuple):
    """The harmless text of a row."""

    number: str
    id: str
    outcome: str
    text: str


Fetch = Callable[[Sequence[RowPlace]], Awaitable[Mapping[RowPlace, RowCells]]]


class RowList(ScrollView, can_focus=True):
    """A list of rows, one line each; only those in view are read."""

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

    @dataclass
    class Opened(Message):
        """A row was chosen."""

        rows: "RowList"
        place: RowPlace

    def __init__(self, nothing: str, *, id: str) -> None:  # noqa: A002 - as every widget has it
        super().__init__(id=id)
        self._nothing = nothing
        self._places: Sequence[RowPlace] = ()
        self._cells: dict[RowPlace, RowCells] = {}
        self._fetch: Fetch | None = None
        self._wanted = -1
        # Cells of ids and outcomes, as read so far.
        self._widths = (0, 0)

    def show(self, places: Sequence[RowPlace], fetch: Fetch, *, anew: bool) -> None:
        """Show rows. `anew`: whether they replace the earlier ones; otherwise some were added."""
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
        width = self.size.width
        index = self.scroll_offset.y + y
        if index >= len(self._places):
            text = _(self._nothing) if not self._places and y == 0 else ""
            return self._strip(set_cell_size(f" {text}", width), "rows--muted")
        place = self._places[index]
        cells = self._cells.get(place)
        if cells is None:
            self._want(index)
            cells = RowCells(str(place.number), "", "", "…")
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
        # Of a hundred thousand rows scrolled over, few are kept.
        cells = self._cells = dict(await self._fetch(places))
        self._widths = (
            min(_LONGEST_ID, max((cell_len(one.id) for one in cells.values()), default=0)),
            min(
                _LONGEST_OUTCOME, max((cell_len(one.outcome) for one in cells.values()), default=0)
            ),
        )
        self.refresh()


class AnswerDialogue(Dialogue):
    """A row of the file of answers; returns the place of a chosen citation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "to_citations", N_("Citations"), id="answer.citations"),
        Binding("c", "copy", N_("Copy"), id="answer.copy"),
    ]

    def __init__(self, row: "WrittenRow", corpus: str) -> None:
        super().__init__()
        self._row = row
        self._corpus = corpus
        self._citations: tuple[Citation, ...] = getattr(row, "citations", ())

    def body(self) -> ComposeResult:
        with VerticalScroll():
            for part in _parts(self._row):
                yield Paragraph(part)
            if self._citations:
                options = (_option(n, one) for n, one in enumerate(self._citations, 1))
                yield OptionList(*options)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.call_after_refresh(self._go_to_citations)

    def _go_to_citations(self) -> None:
        if self._citations and not self.query_one(VerticalScroll).max_scroll_y:
            self.query_one(OptionList).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "to_citations":
            return bool(self._citations) and not isinstance(self.focused, OptionList)
        return super().check_action(action, parameters)

    def action_to_citations(self) -> None:
        self.query_one(OptionList).focus()

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        from localrag_tui.source.sheet import cited

        citation = self._citations[event.option_index]
        try:
            spot = await self.bench.library_of(self._corpus).read(
                lambda store: cited(store, citation)
            )
        except LocalragError as error:
            self.bench.tell(error)
            return
        if spot is None:
            self.bench.tell(
                LocalragError(
                    _("The corpus no longer holds {passage}.").format(passage=citation.passage_id),
                    _("It has changed since the question was answered."),
                )
            )
            return
        self.dismiss(spot)

    def action_copy(self) -> None:
        parts = [part.plain for part in _parts(self._row)]
        parts += [
            f"[{n}] {one.label}{_provenance(one)}: {one.quote}"
            for n, one in enumerate(self._citations, 1)
        ]
        self.bench.copy(harmless("\n\n".join(parts)))


def _parts(row: "WrittenRow") -> Iterator[Content]:
    from localrag.ops.batch.document import row_blocks
    from localrag.ops.batch.options import as_called
    from localrag.ops.batch.rows import FailedRow

    parts = [_("row {n}").format(n=row.row), _("id {id}").format(id=row.id) if row.id else ""]
    name = " · ".join(filter(None, parts))
    failed = ""
    if isinstance(row, FailedRow):
        failed = f"  {_('failed')}: {called(row.error.type, FAILURES)}"
    yield Content.assemble((one_line(name), "$foreground-muted"), (failed, "$text-error"))
    question = _("This row could not be read.") if row.question is None else row.question
    options = (f"\n  {letter}  {text}" for letter, text in as_called(row.options, row.labels))
    yield content(question + "".join(options), "bold")
    if isinstance(row, FailedRow):
        cure = (harmless(f"\n{row.error.cure}".rstrip()), "$foreground-muted")
        yield Content.assemble(harmless(row.error.cause), cure)
        return
    if row.where:
        wanted = (f"{facet_title(one.key)} {value_title(one)}" for one in row.where)
        only = _("only: {values}").format(values=_(", ").join(wanted))
        yield Content.styled(only, "$foreground-muted")
    # The citations are a list of their own.
    blocks = (
        block
        for block in row_blocks(row, label)
        if not (isinstance(block, Items) and block.role is BlockRole.CITATIONS)
    )
    yield from (piece.content for piece in pieces_of(blocks, None))


def _option(number: int, citation: Citation) -> Option:
    head = (f"[{number}] {one_line(citation.label)}", "bold")
    told = _provenance(citation)
    if not citation.verified:
        told = f"  {_('rejected')}: {one_line(str(citation.problem or ''))}"
    style = "" if citation.verified else "$text-error"
    return Option(BrokenText(Content.assemble(head, (told, style), "\n", flat(citation.quote))))


def _provenance(citation: Citation) -> str:
    words = provenance(citation)
    return f"  {words}" if words else ""
