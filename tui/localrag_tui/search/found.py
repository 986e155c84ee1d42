"""What was found: the hits, or each stage's ranking, or what to do where there is nothing."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import ContentSwitcher, OptionList, Static

from localrag.errors import LocalragError, StoreError
from localrag.facts import Fact
from localrag.language import _, ngettext
from localrag.retrieval.types import Filters, Hit, Query, Trace
from localrag_tui.library import Library
from localrag_tui.search.results import Results, explain, short_place
from localrag_tui.search.stages import StageColumns, journey, left_out
from localrag_tui.shell.keys import bench_key, key_of
from localrag_tui.shown import harmless
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.wording import cure_of, looked_up, palette
from localrag_tui.work.latest import Latest

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames
    from localrag.workspace import CorpusPaths


def index_notice(store: "CorpusStore", place: "CorpusPaths") -> str:
    """What a user has to know of the index before searching; "" where it is as it should be."""
    from localrag.ingest.state import IndexState, state

    found = state(place, store)
    if found is IndexState.FRESH:
        return ""
    if found is IndexState.BEHIND:
        words = _("The index is behind: what was added since is not found.")
    else:
        words = _("The corpus has no index that can be used.")
    return f"{words} {palette(_('Index the corpus'))}"


class Guidance(VerticalScroll, can_focus=False):
    """A heading, and below it what to do."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self._title = Paragraph(id="guidance-title")
        self._lines = Paragraph(id="guidance-lines")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._lines

    def invite(self, corpus: str) -> None:
        """Say what can be typed."""
        self._say(
            _("Type to search {corpus}").format(corpus=corpus),
            [
                _("Words in Japanese or English: 公開買付け 義務"),
                _("A provision, found by its number: 金商法27条の36"),
                _("A question, found by its words."),
            ],
        )

    def nothing(self, filters: Filters) -> None:
        """Say that nothing was found, and what to try."""
        lines = [
            _("Fewer words, or others for the same thing, find more."),
            _("Enter the name of a law with the number of its article to go there: {key}.").format(
                key=bench_key(self.app, "app.jump")
            ),
        ]
        if filters != Filters():
            words = _("The filters leave out a part of the corpus: Tab, then {key}, removes them.")
            key = key_of(self.app, type(self.screen), "search.clear")
            lines.insert(0, words.format(key=key))
        self._say(_("Nothing was found"), lines)

    def failure(self, error: LocalragError) -> None:
        """Say why there can be no search, and what to do about it."""
        lines = [harmless(cure_of(error))] if error.remedy else []
        if isinstance(error, StoreError):
            lines.insert(0, palette(_("Add documents"), _("Choose the corpus")))
        self._say(harmless(error.cause), lines, is_error=True)

    def _say(self, title: str, lines: Sequence[str], *, is_error: bool = False) -> None:
        self.set_class(is_error, "-error")
        self._title.show(Content(title))
        self._lines.show(Content("\n".join(lines)))


HITS = 50
"""How many passages a search gives."""

# Seconds that painting a list takes, by far.
_PAINTED_AFTER = 0.05


class FoundView(Vertical):
    """Searches, and shows what is found.

    Args:
        library: gives the corpus in use.

    Attributes:
        chosen: the hit under the cursor.
    """

    class Looked(Message):
        """Another hit is under the cursor; None where there is none."""

        def __init__(self, hit: Hit | None) -> None:
            super().__init__()
            self.hit = hit

    class Opened(Message):
        """A hit is to be read."""

        def __init__(self, hit: Hit) -> None:
            super().__init__()
            self.hit = hit

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
        # Held, not looked up: a search may end while the screen is taken down.
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
        """Whether the rankings of the stages stand in the place of the list."""
        return self._switcher.current == "stages"

    async def search(self, query: Query) -> None:
        """Search; of what is asked while another search runs only the newest is searched for."""
        await self._searches.want(query)

    def notice(self, text: str) -> None:
        """Tell something that holds for every search; "" where there is nothing to tell."""
        self._notice = text
        self._tell()

    def fail(self, error: LocalragError) -> None:
        """Show why there can be no search."""
        self._clear()
        self._guidance.failure(error)

    def enter(self) -> None:
        """Put the cursor into what is shown, if there is anything."""
        if self.shows_stages:
            self._stages.enter()
        elif self._hits:
            self._results.focus()

    async def toggle_stages(self) -> bool:
        """Show each stage's ranking, or the list of hits again; tells whether stages are shown."""
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
        # The analyzer knows what a word is; a blank or a bracket is none.
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
        """Tell of the hits in view what takes a while to find out."""
        # First they are painted: what runs in a thread takes its turns from that.
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
        """Say below how the chosen passage moved, or what was left out, and the figures."""
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
        # Nothing has to be laid out anew at every key, but where the note has more rows or fewer.
        self._note.show(note)
        self._figures.update(Content(figures), layout=False)

    def _look(self, hit: Hit | None) -> None:
        self.chosen = hit
        self.post_message(self.Looked(hit))
        if self.shows_stages:
            self._tell()

    @on(Results.Scrolled)
    def _scrolled(self, event: Results.Scrolled) -> None:
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
            self.post_message(self.Opened(self.chosen))

    @on(StageColumns.Marked)
    def _hit_marked(self, event: StageColumns.Marked) -> None:
        event.stop()
        self._look(event.hit)

    @on(StageColumns.Chosen)
    def _hit_chosen(self, event: StageColumns.Chosen) -> None:
        event.stop()
        self.post_message(self.Opened(event.hit))
