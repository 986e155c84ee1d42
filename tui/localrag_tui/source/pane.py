"""The source pane: a document at a quotation, with links and ties."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.library import Library
from localrag_tui.screen import bench_of
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, cure_of
from localrag_tui.source.find import FindBar
from localrag_tui.source.page import DocumentPage, Span
from localrag_tui.source.sheet import (
    Head,
    Sheet,
    TextLink,
    described,
    destination,
    gone,
    links_of,
    opened,
    paragraph_at,
    provision_at,
    quotation,
    read_otherwise,
    wording_of,
)
from localrag_tui.source.ties import Tie, Ties, counts, laws_of, ties_of
from localrag_tui.spot import Spot, VisitHistory

if TYPE_CHECKING:
    from localrag.corpus.browsing import Stand
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Passage
    from localrag.search.provision import Provision
    from localrag_tui.app import Workbench


_BESIDE = 110
# Seconds on a provision before its ties are read.
_STAY = 0.12


class _Body(Container):
    # Its parts cover it.
    BLANK = True


class SourcePane(Widget):
    """Reads documents of a corpus.

    Args:
        library: the corpus; default: the corpus in use at each opening.

    Attributes:
        spot: the opened place, or the provision scrolled to since.
        provision: that provision with its ties; None until read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", N_("Find"), key_display="/", id="source.find"),
        Binding("n", "find_next(1)", N_("Next found"), id="source.find_next", show=False),
        Binding("N", "find_next(-1)", N_("Previous found"), id="source.find_previous", show=False),
        Binding("c", "copy", N_("Copy"), id="source.copy"),
        Binding("C", "copy_paragraph", N_("Copy the paragraph"), id="source.copy_one", show=False),
        Binding("r", "ties", N_("Ties"), id="source.ties"),
        Binding("v", "beside", N_("Beside"), id="source.beside", show=False),
        Binding("h", "states", N_("States of the law"), id="source.states", show=False),
        Binding("backspace,alt+left", "step(-1)", N_("Place before"), id="source.back"),
        Binding("alt+right", "step(1)", N_("Next place"), id="source.forward", show=False),
        Binding("escape", "close_part", N_("Close"), id="source.close", show=False),
    ]

    @dataclass
    class Moved(Message):
        """The reader is at another provision.

        Attributes:
            spot: its beginning, or the opened place in it.
            provision: its ties; None until read, then sent again.
        """

        spot: Spot
        provision: "Provision | None"

    def __init__(self, library: Library | None = None) -> None:
        super().__init__()
        self.spot: Spot | None = None
        self.provision: Provision | None = None
        self.library = library
        self.page = DocumentPage()
        self._head = Head()
        self._ties = Ties()
        self._finder = FindBar()
        self._notice = Paragraph(id="source-notice")
        self._counts = Static(id="source-counts")
        self._opened: Library | None = library
        self._history = VisitHistory()
        self._links: dict[tuple[int, int], TextLink] = {}
        self._known_links: dict[str, tuple[TextLink, ...]] = {}
        self._unit: Stand | None = None
        self._opening = 0

    @property
    def bench(self) -> "Workbench":
        return bench_of(self)

    def compose(self) -> ComposeResult:
        yield self._head
        with _Body(id="source-body"):
            yield self.page
            yield self._ties
        yield self._finder
        yield self._notice
        yield self._counts

    def on_mount(self) -> None:
        self._say_how_to_begin()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= _BESIDE, "-beside")

    async def open(self, spot: Spot, *, preview: bool = False) -> None:
        """Show a place; errors are shown in the pane.

        Args:
            spot: the place.
            preview: whether it is only a preview, left out of the history.
        """
        await self._show(spot, preview=preview)

    async def keep_up(self, quoted: Spot | None = None) -> None:
        """Show the law on the day of the settings, if another day is open.

        Args:
            quoted: the place to open; default: the open provision.
        """
        sheet, unit, library = self.page.sheet, self._unit, self._library
        if sheet is None:
            return
        complaint, top, spot = None, None, Spot(sheet.document.id)
        try:
            day, wording = await library.read(lambda store: wording_of(store, sheet.document.id))
            if day == sheet.day:
                return
            if quoted is not None:
                spot = quoted
            elif wording == sheet.state and self.spot is not None:
                spot, top = self.spot, self.page.top
            elif unit is not None:
                spot = await library.read(lambda store: provision_at(store, sheet, unit))
        except LocalragError as error:
            complaint = error
        # Places in another state differ.
        self._history = VisitHistory()
        await self._show(spot, top, library=library)
        if complaint is not None:
            self._complain(complaint)

    def clear(self) -> None:
        """Show nothing, as at first."""
        # A place being opened comes too late.
        self._opening += 1
        if self._finder.is_open:
            self._finder.action_close()
        self._history, self._links, self._known_links = VisitHistory(), {}, {}
        self._unit = self.spot = self.provision = None
        self.page.clear()
        self._head.clear()
        self._ties.show({})
        self._counts.update("")
        self._say_how_to_begin()
        self.refresh_bindings()

    async def jump(self, target: str) -> None:
        """Show a citation in any spelling, or a passage by its id."""
        from localrag.search.finding import find

        library = self.library or self.bench.library
        try:
            passage = await library.read_names(lambda store, names: find(store, target, names))
        except LocalragError as error:
            self._complain(error)
        else:
            await self._show(Spot.of(passage))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "step":
            return self._history.ahead(int(str(parameters[0]))) is not None
        if action == "find_next":
            # Help lists the keys before anything is found.
            return bool(self._finder.found) or None
        if action == "close_part":
            return self.has_class("-ties") or self._finder.is_open
        if action == "beside":
            # The Read screen has its own two panes.
            return self.spot is not None and self.bench.current_mode != "read"
        if action == "states":
            return self.page.sheet is not None and self.page.sheet.is_law
        return self.page.sheet is not None

    async def action_step(self, by: int) -> None:
        if visit := self._history.ahead(by):
            await self._show(visit.spot, visit.top, library=visit.library, step=by)

    def action_beside(self) -> None:
        if self.spot is not None:
            self.bench.open_spot(self.spot, beside=True)

    def action_find(self) -> None:
        if self.page.sheet is not None:
            self.remove_class("-ties")
            self._finder.open(self.page.sheet.text, self.page.view.start)

    def action_find_next(self, step: int) -> None:
        view = self.page.view
        self._finder.go(step, view.start, view.end)

    def action_ties(self) -> None:
        """Go to the ties of the provision, or back to the page."""
        if self._ties.has_focus:
            self._leave_ties()
            return
        self.add_class("-ties")
        self._ties.focus()
        if self._ties.highlighted is None:
            self._ties.action_first()

    async def action_states(self) -> None:
        """Show the changes of the open article, state by state."""
        from localrag.search.history import history
        from localrag_tui.source.ties import StatesDialogue

        sheet = self.page.sheet
        unit = sheet.unit_at(self.page.view.eye) if sheet else None
        if unit is None:
            return
        passage_id = unit.passage_id
        try:
            found = await self._library.read(lambda store: history(store, passage_id))
        except LocalragError as error:
            self._complain(error)
        else:
            self.bench.push_screen(StatesDialogue(found))

    def action_close_part(self) -> None:
        if self._finder.is_open:
            self._finder.action_close()
        else:
            self._leave_ties()

    async def action_copy(self) -> None:
        """Copy the selection, else the quotation, else the provision, with its citation."""
        page = self.page
        if page.sheet is None:
            return
        view, quote = page.view, page.quote
        quoted = quote[0] <= view.eye < quote[1] or (quote[0] < quote[1] and not page.is_found)
        unit = page.sheet.unit_at(view.eye)
        span = page.selected()
        if span is None and quoted and view.start < quote[1] and quote[0] < view.end:
            span = quote
        if span is None and unit is not None:
            span = unit.start, unit.end
        if span is not None:
            await self._copy(page.sheet, lambda _store: span)

    async def action_copy_paragraph(self) -> None:
        sheet, eye = self.page.sheet, self.page.view.eye
        if sheet is not None:
            await self._copy(sheet, lambda store: paragraph_at(store, sheet, eye))

    async def _copy(self, sheet: Sheet, span: "Callable[[CorpusStore], Span]") -> None:
        try:
            copied = await self._library.read(
                lambda store: quotation(store, sheet.document.id, *span(store))
            )
        except LocalragError as error:
            self._complain(error)
        else:
            self.bench.copy(copied)

    def on_document_page_scrolled(self, event: DocumentPage.Scrolled) -> None:
        event.stop()
        page = self.page
        # A message about the old place, during the layout of the next.
        if page.sheet is None or page.is_on_the_way:
            return
        view = page.view
        unit = page.sheet.unit_at(view.eye)
        self._head.show(page.sheet, unit, view.eye)
        if unit != self._unit:
            start, passage = (unit.start, unit.passage_id) if unit else (view.eye, "")
            self._arrive(unit, Spot(page.sheet.document.id, start, start, passage))
        self._look(page.sheet)

    def on_document_page_followed(self, event: DocumentPage.Followed) -> None:
        event.stop()
        link = self._links.get(event.span)
        if link is not None:
            self._go(lambda store: destination(store, link.reference))

    def on_ties_chosen(self, event: Ties.Chosen) -> None:
        event.stop()
        if event.tie.reads and self.provision is not None:
            self._read_otherwise(event.tie, self.provision.passage)
        else:
            self._go(event.tie.place)

    def on_find_bar_moved(self, event: FindBar.Moved) -> None:
        event.stop()
        self.page.mark_found(self._finder.found, self._finder.current)
        self.refresh_bindings()

    def on_find_bar_left(self, event: FindBar.Left) -> None:
        event.stop()
        self.page.focus()

    def on_click(self, event: object) -> None:
        if getattr(getattr(event, "widget", None), "id", None) == "source-counts":
            self.action_ties()

    @property
    def _library(self) -> Library:
        return self._opened or self.bench.library

    def _go(self, find: "Callable[[CorpusStore], Spot]") -> None:
        library = self._library

        async def go() -> None:
            try:
                spot = await library.read(find)
            except LocalragError as error:
                self._complain(error)
                return
            if self.is_attached:
                self._leave_ties()
                await self._show(spot, library=library)

        self.run_worker(go(), group="go", exclusive=True)

    @work(group="go", exclusive=True)
    async def _read_otherwise(self, tie: Tie, passage: "Passage") -> None:
        """Show a provision as another one reads it (読替え), and go there if wanted."""
        from localrag_tui.source.ties import AsReadDialogue

        library = self._library
        try:
            found = await library.read(
                lambda store: read_otherwise(store, passage, tie.place(store))
            )
        except LocalragError as error:
            self._complain(error)
            return
        if await self.bench.push_screen_wait(AsReadDialogue(found)):
            self._leave_ties()
            await self._show(Spot.of(found.text.by), library=library)

    async def _show(
        self,
        spot: Spot,
        top: int | None = None,
        *,
        library: Library | None = None,
        step: int = 0,
        preview: bool = False,
    ) -> None:
        """Show a place; of several requests only the newest.

        Args:
            spot: the place.
            top: the first character in view.
            library: the corpus; default: `library`, else the corpus in use.
            step: distance in the history; 0 for a new place.
            preview: see `open`.
        """
        self._opening += 1
        number, page = self._opening, self.page
        library, before = library or self.library or self.bench.library, page.sheet
        try:
            library = await self._library_with(spot, library)
            same = before if library is self._opened else None
            sheet, passage = await library.read(lambda store: opened(store, spot, same))
        except LocalragError as error:
            if number == self._opening:
                self._complain(error)
            return
        # The parts of a closed pane go first.
        if number != self._opening or not page.is_attached:
            return
        if step:
            self._history.step(step, page.top)
        else:
            self._history.enter(spot, library, page.top, preview=preview)
        if sheet is not before:
            self._known_links = {}
            if self._finder.is_open:
                self._finder.action_close()
        self._opened = library
        self._tell("")
        if spot.passage_id and passage is None:
            self._complain(gone(spot.passage_id))
        last = len(sheet.text)
        start, end = min(spot.start, last), min(spot.end, last)
        unit = sheet.unit_at(start)
        around = unit.start if unit and unit.start <= start else start
        self._arrive(unit, spot)
        # The ties of the old place must not stay.
        self._counts.update(Content(""), layout=False)
        self._ties.clear_options()
        named = (passage.start, passage.end) if passage else (start, end)
        await page.open(sheet, (start, end), named, around=around, top=top)
        if page.is_attached:
            self._head.show(sheet, unit, start)
            self.refresh_bindings()

    async def _library_with(self, spot: Spot, library: Library) -> Library:
        """The corpus on a day with the quoted state."""
        if spot.state:
            document = spot.document_id
            _day, wording = await library.read(lambda store: wording_of(store, document))
            if wording != spot.state:
                return self.bench.library_of(library.corpus, spot.state)
        return library

    def _arrive(self, unit: "Stand | None", spot: Spot) -> None:
        self._unit, self.spot, self.provision = unit, spot, None
        self.post_message(self.Moved(spot, None))

    # A worker makes its coroutine at its start: none is left unawaited.
    @work(group="look", exclusive=True)
    async def _look(self, sheet: Sheet) -> None:
        """Read the links around the view, then the ties of the provision."""
        page, unit, library = self.page, self._unit, self._library
        try:
            if sheet.is_law:
                await self._mark_links(sheet)
            if unit is None or self.provision is not None:
                return
            await asyncio.sleep(_STAY)
            provision = await library.read(lambda store: described(store, unit.passage_id))
            laws = await library.read(lambda store: laws_of(store, unit.passage_id))
        except LocalragError as error:
            # The left provision may not exist on another day.
            if unit == self._unit and sheet is page.sheet:
                self._complain(error)
            return
        here = unit == self._unit and sheet is page.sheet and self.is_attached
        if here and self.spot is not None:
            self.provision = provision
            ties = ties_of(provision) | ({"laws": laws} if laws else {})
            self._ties.show(ties)
            self._counts.update(counts(ties), layout=False)
            self.post_message(self.Moved(self.spot, provision))

    async def _mark_links(self, sheet: Sheet) -> None:
        view = self.page.view
        margin = view.end - view.start
        units = list(sheet.units_in(view.start - margin, view.end + margin))
        known = self._known_links
        new = [unit for unit in units if unit.passage_id not in known]
        document = sheet.document.id
        if new:
            found = await self._library.read(
                lambda store: [links_of(store, document, [unit.locator]) for unit in new]
            )
            known.update(zip((unit.passage_id for unit in new), found, strict=True))
        if sheet is self.page.sheet:
            links = (link for unit in units for link in known[unit.passage_id])
            self._links = {(link.start, link.end): link for link in links}
            self.page.mark_links(list(self._links))

    def _leave_ties(self) -> None:
        self.remove_class("-ties")
        self.page.focus()

    def _say_how_to_begin(self) -> None:
        key = key_of(self.app, "app.jump")
        self._tell(_("Nothing is open yet: {key} goes to a provision.").format(key=key))

    def _complain(self, error: LocalragError) -> None:
        # A closed pane shows nothing.
        if self.is_attached:
            self._tell(error.cause, cure_of(error))

    def _tell(self, cause: str, cure: str = "") -> None:
        self._notice.set_class(bool(cause), "-told")
        style = "$error" if cure else "$foreground-muted"
        self._notice.show(
            Content("\n").join(part for part in (content(cause, style), content(cure)) if part)
        )
