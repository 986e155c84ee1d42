"""The Search screen: hits while typing, the stages, the source beside them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Paste
from textual.message import Message
from textual.widgets import ContentSwitcher, Input, OptionList, Static

from localrag.corpus.types import Label
from localrag.errors import LocalragError, StoreError
from localrag.language import N_, _, ngettext
from localrag.search.types import Filters, Hit, Query, Trace
from localrag.text.facts import Fact
from localrag.text.harmless import harmless
from localrag_tui.library import Library
from localrag_tui.screen import WorkbenchScreen
from localrag_tui.search.filters import (
    CorpusValues,
    FilterChips,
    FilterDialogue,
    facets,
    in_words,
    kept,
)
from localrag_tui.search.results import (
    Results,
    StageColumns,
    explain,
    journey,
    left_out,
    short_place,
)
from localrag_tui.shell.base import Latest
from localrag_tui.shell.form import TextField
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import cure_of, looked_up, palette
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.work.jobs import Job, State

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.workspace import CorpusPaths
    from localrag.law.names import LawNames


def index_notice(store: "CorpusStore", place: "CorpusPaths") -> str:
    """The problem of the index before a search; "" if it is up to date."""
    from localrag.search.units import IndexState, state

    found = state(place, store)
    if found is IndexState.FRESH:
        return ""
    if found is IndexState.BEHIND:
        words = _("The index is out of date: newer documents are not found.")
    else:
        words = _("The corpus has no usable index.")
    return f"{words} {palette(_('Index the corpus'))}"


class Guidance(VerticalScroll, can_focus=False):
    """A heading, and advice below it."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self._title = Paragraph(id="guidance-title")
        self._lines = Paragraph(id="guidance-lines")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._lines

    def invite(self, corpus: str) -> None:
        self._say(
            _("Type to search {corpus}").format(corpus=corpus),
            [
                _("Words in Japanese or English: 公開買付け 義務"),
                _("A provision, found by its number: 金商法27条の36"),
                _("A question, found by its words."),
            ],
        )

    def nothing(self, filters: Filters) -> None:
        lines = [
            _("Fewer words, or others for the same thing, find more."),
            _("Enter the name of a law with the number of its article to go there: {key}.").format(
                key=key_of(self.app, "app.jump")
            ),
        ]
        if filters != Filters():
            words = _("The filters leave out a part of the corpus: Tab, then {key}, removes them.")
            key = key_of(self.app, "search.clear")
            lines.insert(0, words.format(key=key))
        self._say(_("Nothing was found"), lines)

    def failure(self, error: LocalragError) -> None:
        lines = [harmless(cure_of(error))] if error.remedy else []
        if isinstance(error, StoreError):
            lines.insert(0, palette(_("Add documents"), _("Choose the corpus")))
        self._say(harmless(error.cause), lines, is_error=True)

    def _say(self, title: str, lines: Sequence[str], *, is_error: bool = False) -> None:
        self.set_class(is_error, "-error")
        self._title.show(Content(title))
        self._lines.show(Content("\n".join(lines)))


HITS = 50
"""Hits of a search."""

# More than the seconds to paint a list.
_PAINTED_AFTER = 0.05


class FoundView(Vertical):
    """Searches, and shows the hits."""

    @dataclass
    class LookedAt(Message):
        """Another hit is under the cursor, or none."""

        hit: Hit | None

    @dataclass
    class HitOpened(Message):
        """Open a hit."""

        hit: Hit

    def __init__(self, library: Callable[[], Library]) -> None:
        super().__init__()
        self.chosen: Hit | None = None
        self._library = library
        self._hits: tuple[Hit, ...] = ()
        self._trace = Trace()
        self._searches = Latest(self._search)
        self._explanations = Latest(self._explain)
        self._query = Query("")
        self._notice = ""
        # Attributes, not queries: a search may end while the screen is removed.
        self._guidance = Guidance(id="guidance")
        self._results = Results(id="results")
        self._stages = StageColumns(id="stages")
        self._switcher = ContentSwitcher(initial="guidance")
        self._note = Paragraph(Content(""), id="note")
        self._figures = Static(id="figures")

    def compose(self) -> ComposeResult:
        with self._switcher:
            yield self._guidance
            yield self._results
            yield self._stages
        with Horizontal(id="status"):
            yield self._note
            yield self._figures

    @property
    def shows_stages(self) -> bool:
        return self._switcher.current == "stages"

    async def search(self, query: Query) -> None:
        """Search; of queries during another search only the newest is searched for."""
        await self._searches.want(query)

    def notice(self, text: str) -> None:
        self._notice = text
        self._tell()

    def fail(self, error: LocalragError) -> None:
        self._clear()
        self._guidance.failure(error)

    def enter(self) -> None:
        if self.shows_stages:
            self._stages.enter()
        elif self._hits:
            self._results.focus()

    async def toggle_stages(self) -> bool:
        """Show the stages, or the hits again; True if stages are shown."""
        if self.shows_stages:
            self._switcher.current = "results"
            self._results.look_at(self.chosen)
        elif self._hits:
            await self._show_stages()
            self._switcher.current = "stages"
        self._tell()
        self.enter()
        return self.shows_stages

    async def _search(self, query: Query) -> None:
        # Blanks and brackets are no words.
        if not any(map(str.isalnum, query.text)):
            self._clear()
            self._guidance.invite(self._library().corpus)
            return
        try:
            found = await self._library().search(query, HITS)
            self._hits, self._trace = found.hits, found.trace
            await self._show(query)
        except LocalragError as error:
            self.fail(error)

    async def _show(self, query: Query) -> None:
        hits = self._hits
        self._results.show(hits, self._trace.stages)
        if not hits:
            self._look(None)
            self._switcher.current = "guidance"
            self._guidance.nothing(query.filters)
        elif self.shows_stages:
            await self._show_stages()
        else:
            self._switcher.current = "results"
        self._tell()
        self._query = query
        self._ask_for_explanations()

    async def _show_stages(self) -> None:
        records = self._trace.stages

        def places(_: "CorpusStore", names: "LawNames") -> dict[str, str]:
            passages = {hit.passage.id: hit.passage for of in records for hit in of.hits}
            return {id_: short_place(passage, names) for id_, passage in passages.items()}

        chosen = self.chosen.passage.id if self.chosen else ""
        await self._stages.show(records, await self._library().read_names(places), chosen)

    async def _explain(self, query: Query) -> None:
        # Paint first: a thread slows it down.
        await asyncio.sleep(_PAINTED_AFTER)
        if self._searches.busy:
            return
        hits, wanted = self._results.hits, self._results.unexplained
        part = [hits[index] for index in wanted]
        phrases = [phrase for word in self._trace.wordings for phrase in word.phrases]
        try:
            explained = await self._library().read(
                lambda store: explain(store, query, phrases, part, lambda: self._searches.busy)
            )
        except LocalragError as error:
            self.fail(error)
            return
        if self._results.hits is hits:
            self._results.explain(dict(zip(wanted, explained, strict=False)))

    def _ask_for_explanations(self) -> None:
        if self._results.unexplained:
            self.run_worker(self._explanations.want(self._query), group="explain")

    def _clear(self) -> None:
        self._hits, self._trace = (), Trace()
        self._switcher.current = "guidance"
        self._look(None)
        self._tell()

    def _tell(self) -> None:
        chosen = self.chosen
        moved = self.shows_stages and chosen
        self._note.set_class(bool(moved), "-journey")
        if moved:
            points = _("The figures are points; the first of each step has 100.")
            way = journey(self._trace.stages, moved.passage.id)
            note = Content.assemble(way, "\n", (points, "$foreground-muted"))
        else:
            besides = looked_up(self._trace.wordings)
            told: list[Fact | str] = [*filter(None, [self._notice]), *self._trace.events, *besides]
            note = left_out(told)
        figures = ""
        if self._hits:
            milliseconds = sum(stage.seconds for stage in self._trace.stages) * 1000
            count = ngettext("{n} hit", "{n} hits", len(self._hits)).format(n=len(self._hits))
            figures = f"{count} · {milliseconds:.0f} ms"
        # A new layout only if the note has another number of rows.
        self._note.show(note)
        self._figures.update(Content(figures), layout=False)

    def _look(self, hit: Hit | None) -> None:
        self.chosen = hit
        self.post_message(self.LookedAt(hit))
        if self.shows_stages:
            self._tell()

    @on(Results.ListScrolled)
    def _scrolled(self, event: Results.ListScrolled) -> None:
        event.stop()
        self._ask_for_explanations()

    @on(Results.OptionHighlighted)
    def _hit_looked_at(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._look(self._results.chosen)

    @on(Results.OptionSelected)
    def _hit_taken(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.chosen is not None:
            self.post_message(self.HitOpened(self.chosen))

    @on(StageColumns.Marked)
    def _hit_marked(self, event: StageColumns.Marked) -> None:
        event.stop()
        self._look(event.hit)

    @on(StageColumns.HitTaken)
    def _hit_chosen(self, event: StageColumns.HitTaken) -> None:
        event.stop()
        self.post_message(self.HitOpened(event.hit))


MAX_CHARACTERS = 1_000
"""Longest search, in characters; a longer text is a document."""


class SearchField(TextField):
    """One line; pasted lines are joined, and a notice names dropped text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "screen.to_hits", N_("To the results"), id="search.results"),
    ]

    def __init__(self, value: str) -> None:
        super().__init__(value, max_length=MAX_CHARACTERS, select_on_focus=False)
        self.placeholder = _("Search: words, a provision or a question")

    def on_paste(self, event: Paste) -> None:
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


@dataclass
class SearchWithin(Message):
    """Search only documents with these labels."""

    labels: tuple[Label, ...]


# Seconds without a key before the hit under the cursor is shown beside the list.
_PREVIEWED_AFTER = 0.3
# The same while typing: the next character may take longer.
_PREVIEWED_AFTER_TYPING = 1.0
# Seconds without a key before the search is remembered.
_REMEMBERED_AFTER = 1.0


class SearchScreen(WorkbenchScreen):
    """A field, filters and hits; the source (``-reading``) beside them; stages (``-stages``)."""

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
        self._known: CorpusValues | None = None
        self._has_hits = False
        self._arrived = True
        self._searched: tuple[Library, date, CorpusValues, str] | None = None
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
        self._field.focus()
        self._stop_listening = self.bench.jobs.listen(self._job_told)

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_screen_resume(self) -> None:
        if self._arrived:
            # After another screen, typing replaces the old search.
            self._field.select_all()
        self._prepare()

    def on_screen_suspend(self) -> None:
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
        """Close what was opened last: source, stages, hits; then clear the field."""
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
        library = self.bench.library
        known = await library.read_names(facets)
        dialogue = FilterDialogue(library, known, self._filters)
        chosen = await self.app.push_screen_wait(dialogue)
        if isinstance(chosen, Filters):
            self._use(chosen)

    def action_clear_filters(self) -> None:
        self._use(Filters())

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        from localrag.search.provision import citation_of

        hit = self._found.chosen
        if hit is None:
            return
        self.bench.copy(
            await self.bench.library.read(lambda store: citation_of(store, hit.passage))
        )

    def _use(self, filters: Filters) -> None:
        self._filters = filters
        self.refresh_bindings()
        self._chips.show(in_words(filters, self._known) if self._known else {})
        self._search()

    @work(exclusive=True, group="prepare")
    async def _prepare(self) -> None:
        """Read the values in the corpus; filters missing from it are dropped."""
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
        # A closed dialogue leaves the cursor in place.
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
        """Show the hit under the cursor in the source beside the list."""
        typing = self._field.has_focus
        await asyncio.sleep(_PREVIEWED_AFTER_TYPING if typing else _PREVIEWED_AFTER)
        hit = self._found.chosen
        if hit is not None and self._source.display:
            # Its own worker: the next key does not cancel it.
            self.run_worker(self._opened.want(Spot.of(hit.passage)), group="open")

    def _job_told(self, job: Job, event: object) -> None:
        if event is None and job.state is State.DONE and self.is_current:
            self._prepare()

    @on(Input.Changed, "SearchField")
    def _typed(self) -> None:
        # Opening an old hit would delay the search.
        self.workers.cancel_group(self, "preview")
        self._search()

    def action_to_hits(self) -> None:
        self._found.enter()

    @on(SearchWithin)
    def _search_within(self, event: SearchWithin) -> None:
        event.stop()
        self._use(Filters(where=event.labels))
        self.action_field()

    @on(FoundView.LookedAt)
    def _looked(self) -> None:
        if (self._found.chosen is not None) is not self._has_hits:
            self._has_hits = not self._has_hits
            self.refresh_bindings()
        self.set_class(self._found.shows_stages, "-stages")
        if self.focused is None and not self.has_class("-reading"):
            self._field.focus()
        self._show_beside()

    @on(FoundView.HitOpened)
    def _opened_hit(self, event: FoundView.HitOpened) -> None:
        self.post_message(OpenSpot(Spot.of(event.hit.passage)))

    @on(OpenSpot)
    def _read(self, event: OpenSpot) -> None:
        event.stop()
        self.add_class("-reading")
        self.run_worker(self._opened.want(event.spot), group="open")
        self._source.page.focus()
