"""The Search screen: what a corpus holds on some words, as they are typed."""

import asyncio
from datetime import date
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Paste
from textual.message import Message
from textual.widgets import Input

from localrag.corpus.types import Label
from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.retrieval.types import Filters, Query
from localrag_tui.library import Library
from localrag_tui.screen import WorkbenchScreen
from localrag_tui.search.facets import Facets, FilterChips, facets, in_words, kept
from localrag_tui.search.filters import FilterDialogue
from localrag_tui.search.found import FoundView, index_notice
from localrag_tui.shell.look import sheets
from localrag_tui.shown import harmless
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.widgets.text_field import TextField
from localrag_tui.work.jobs import Job, State
from localrag_tui.work.latest import Latest

MAX_CHARACTERS = 1_000
"""Longest search, in characters: what is longer is a document."""


class SearchField(TextField):
    """One line; what is pasted becomes one line too, and what does not fit is told."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "go_down", N_("To the results"), id="search.results"),
    ]

    class Left(Message):
        """The user goes on to the results."""

    def __init__(self, value: str) -> None:
        super().__init__(value, max_length=MAX_CHARACTERS, select_on_focus=False)
        self.placeholder = _("Search: words, a provision or a question")

    def action_go_down(self) -> None:
        """Go to the results."""
        self.post_message(self.Left())

    def on_paste(self, event: Paste) -> None:
        """Put in all lines as one."""
        event.stop()
        event.prevent_default()
        text = " ".join(harmless(event.text).split())
        room = MAX_CHARACTERS - len(self.value) + len(self.selected_text)
        if len(text) > room:
            self.notify(
                _("Of {n:,} characters {room:,} fit into a search.\nThe rest was left out.").format(
                    n=len(text), room=room
                ),
                severity="warning",
                markup=False,
            )
        self.replace(text[:room], *self.selection)


class SearchWithin(Message):
    """Only documents that are so are to be searched."""

    def __init__(self, labels: tuple[Label, ...]) -> None:
        super().__init__()
        self.labels = labels


# Seconds without a key after which the hit under the cursor is shown beside the list.
_PREVIEWED_AFTER = 0.3
# The same while somebody types, who may still be looking for the next character.
_PREVIEWED_AFTER_TYPING = 1.0
# Seconds without a key after which the search is written down.
_REMEMBERED_AFTER = 1.0


class SearchScreen(WorkbenchScreen):
    """A field, the filters, and the hits; the source beside them, or over them where it is narrow.

    The class ``-reading`` is there while the source is open, ``-stages`` while the stages are.
    """

    CSS_PATH = sheets("parts", "source", "search")
    MODE: ClassVar[str] = "search"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "field", N_("Search field"), id="search.field", show=False),
        Binding("f", "filters", N_("Filters"), id="search.filters"),
        Binding("x", "clear_filters", N_("No filters"), id="search.clear"),
        Binding("s", "stages", N_("Stages"), id="search.stages"),
        Binding("c", "copy", N_("Copy citation"), id="search.copy"),
        Binding("escape", "leave", N_("Back"), id="search.leave", show=False),
    ]
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012 - Textual's own
        (0, "-narrow"),
        (100, "-normal"),
        (140, "-beside"),
        (160, "-wide"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._known: Facets | None = None
        self._has_hits = False
        self._arrived = True
        self._searched: tuple[Library, date, Facets, str] | None = None
        self._filters = self.bench.memory.choices.filters
        self._field = SearchField(self.bench.memory.choices.search)
        self._chips = FilterChips()
        self._found = FoundView(lambda: self.bench.library)
        self._source = SourcePane()
        self._opened = Latest(self._source.open)

    def body(self) -> ComposeResult:
        yield self._field
        yield self._chips
        with Horizontal(id="searching"):
            yield self._found
            yield self._source

    def on_mount(self) -> None:
        """Typing searches at once; what is indexed meanwhile is found without a further key."""
        self._field.focus()
        self._stop_listening = self.bench.jobs.listen(self._job_told)

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_screen_resume(self) -> None:
        """Look what can be searched: the corpus may be another one now."""
        if self._arrived:
            # Who comes from another screen to search for something else types over it.
            self._field.select_all()
        self._prepare()

    def on_screen_suspend(self) -> None:
        """Tell leaving for another screen from a dialogue over this one."""
        self._arrived = self.app.current_mode != self.MODE

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        if action == "clear_filters":
            return self._filters != Filters()
        if action in ("stages", "copy"):
            return self._found.chosen is not None
        return True

    def on_resize(self) -> None:
        if self._source.spot is None:
            self._show_beside()

    def action_field(self) -> None:
        self.remove_class("-reading")
        self._field.focus()
        self._field.select_all()

    def action_leave(self) -> None:
        """Leave what was opened last: the source, the stages, the hits; then clear the field."""
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self._found.enter()
        elif self._found.shows_stages:
            self.action_stages()
        elif not self._field.has_focus:
            self._field.focus()
        else:
            self._field.clear()

    @work(exclusive=True, group="stages")
    async def action_stages(self) -> None:
        self.set_class(await self._found.toggle_stages(), "-stages")

    @work(exclusive=True, group="filters")
    async def action_filters(self) -> None:
        """Narrow the search."""
        try:
            library = self.bench.library
            known = await library.read_names(facets)
        except LocalragError as error:
            self.bench.tell(error)
            return
        dialogue = FilterDialogue(library, known, self._filters)
        chosen = await self.app.push_screen_wait(dialogue)
        if isinstance(chosen, Filters):
            self._use(chosen)

    def action_clear_filters(self) -> None:
        self._use(Filters())

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        """Copy the citation of the hit under the cursor."""
        from localrag.provision import citation_of

        hit = self._found.chosen
        if hit is None:
            return
        try:
            self.bench.copy(
                await self.bench.library.read(lambda store: citation_of(store, hit.passage))
            )
        except LocalragError as error:
            self.bench.tell(error)

    def _use(self, filters: Filters) -> None:
        self._filters = filters
        self.refresh_bindings()
        self._chips.show(in_words(filters, self._known) if self._known else {})
        self._search()

    @work(exclusive=True, group="prepare")
    async def _prepare(self) -> None:
        """Look what the corpus in use holds; filters by what it does not hold are dropped."""
        try:
            library = self.bench.library
            filters = self._filters
            known = await library.read_names(lambda store, names: facets(store, names, filters))
            place = self.bench.workspace.corpus(library.corpus)
            notice = await library.read(lambda store: index_notice(store, place))
            day = await library.read(lambda store: store.as_of)
        except LocalragError as error:
            self._searched = None
            self._found.fail(error)
            return
        searched = (library, day, known, notice)
        # A dialogue that was closed leaves the cursor where it is.
        if searched == self._searched:
            return
        self._searched = searched
        self._known = known
        self._found.notice(notice)
        self._use(kept(self._filters, known))
        await self._source.keep_up()

    def _search(self) -> None:
        query = Query(self._field.value, filters=self._filters)
        self.run_worker(self._found.search(query), group="search")
        self._remember()

    @work(exclusive=True, group="remember")
    async def _remember(self) -> None:
        await asyncio.sleep(_REMEMBERED_AFTER)
        self.bench.memory.remember(search=self._field.value, filters=self._filters)

    @work(exclusive=True, group="preview")
    async def _show_beside(self) -> None:
        """Show the hit under the cursor where the source stands beside it."""
        typing = self._field.has_focus
        await asyncio.sleep(_PREVIEWED_AFTER_TYPING if typing else _PREVIEWED_AFTER)
        hit = self._found.chosen
        if hit is not None and self._source.display:
            # A worker of its own: what is being opened is not broken off by the next key.
            self.run_worker(self._opened.want(Spot.of(hit.passage)), group="open")

    def _job_told(self, job: Job, event: object) -> None:
        if event is None and job.state is State.DONE and self.is_current:
            self._prepare()

    @on(Input.Changed, "SearchField")
    def _typed(self) -> None:
        # Opening what is about to change would hold up what is found.
        self.workers.cancel_group(self, "preview")
        self._search()

    @on(SearchField.Left)
    def action_to_hits(self) -> None:
        """Go to what was found."""
        self._found.enter()

    @on(SearchWithin)
    def _search_within(self, event: SearchWithin) -> None:
        event.stop()
        self._use(Filters(where=event.labels))
        self.action_field()

    @on(FilterChips.Pressed)
    def _chips_pressed(self) -> None:
        self.action_filters()

    @on(FoundView.Looked)
    def _looked(self) -> None:
        if (self._found.chosen is not None) is not self._has_hits:
            self._has_hits = not self._has_hits
            self.refresh_bindings()
        self.set_class(self._found.shows_stages, "-stages")
        if self.focused is None and not self.has_class("-reading"):
            self._field.focus()
        self._show_beside()

    @on(FoundView.Opened)
    def _opened_hit(self, event: FoundView.Opened) -> None:
        self.post_message(OpenSpot(Spot.of(event.hit.passage)))

    @on(OpenSpot)
    def _read(self, event: OpenSpot) -> None:
        event.stop()
        self.add_class("-reading")
        self.run_worker(self._opened.want(event.spot), group="open")
        self._source.page.focus()
