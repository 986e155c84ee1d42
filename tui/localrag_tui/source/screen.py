"""The Read screen: the tree of the corpus, and one or two documents beside it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.events import DescendantFocus
from textual.message import Message
from textual.widgets import Input

from localrag.errors import LocalragError, NotFoundError
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag_tui.jump import Finder
from localrag_tui.screen import KeptState, WorkbenchScreen
from localrag_tui.shell.base import finish
from localrag_tui.shell.form import Form
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, cure_of, palette
from localrag_tui.source.pane import SourcePane
from localrag_tui.source.tree import PlaceTree, Unfolded
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.work.jobs import Job, State


class Panes(Container):
    """One or two source panes; before anything is open, advice."""

    class Turned(Message):
        """Another document or pane is read."""

    def __init__(self) -> None:
        super().__init__()
        self._read: SourcePane | None = None
        # Attributes, not queries: they outlive the removed widgets.
        self._opened: list[SourcePane] = []
        self._spare: SourcePane | None = None

    def compose(self) -> ComposeResult:
        words = _("Choose a law on the left, or type its name or a citation above it.")
        yield Paragraph(content(words), id="hint")

    @property
    def all(self) -> list[SourcePane]:
        return [*self._opened]

    @property
    def read(self) -> SourcePane | None:
        """The pane with the focus, now or last; None before anything is open."""
        return self._read

    @property
    def spots(self) -> list[Spot]:
        return [pane.spot for pane in self.all if pane.spot is not None]

    async def prepare(self) -> None:
        """Make the first pane, hidden until needed."""
        spare = SourcePane()
        spare.display = False
        await self.mount(spare)
        self._spare = spare

    async def show(self, spots: Sequence[Spot]) -> None:
        """Open these places and nothing else; the first is read."""
        for pane in self.all:
            await self._close(pane)
        self._turn_to(None)
        for spot in spots:
            await (await self._add()).open(spot)
        if spots:
            self._turn_to(self.all[0])

    async def open(self, spot: Spot) -> None:
        pane = self._read or await self._add()
        self._turn_to(pane)
        await pane.open(spot)

    async def split(self) -> None:
        """Open the same place in a second pane; close an existing one."""
        if len(self.all) > 1:
            first, second = self.all
            await self._close(second)
            self._turn_to(first)
        elif self.spots:
            (spot,) = self.spots
            pane = await self._add()
            await pane.open(spot)
            self._turn_to(pane)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        pane = next((pane for pane in self.all if pane in event.widget.ancestors_with_self), None)
        if pane is not None and pane is not self._read:
            self._turn_to(pane)

    async def _add(self) -> SourcePane:
        pane, self._spare = self._spare or SourcePane(), None
        if not pane.is_attached:
            await self.mount(pane)
        pane.display = True
        self._opened.append(pane)
        return pane

    async def _close(self, pane: SourcePane) -> None:
        self._opened.remove(pane)
        await finish(pane.remove())

    def _turn_to(self, read: SourcePane | None) -> None:
        self._read, panes = read, self.all
        for pane in panes:
            pane.set_class(pane is read and len(panes) > 1, "-read")
        self.set_class(len(panes) > 1, "-split")
        self.query_one("#hint").display = not panes
        self.post_message(self.Turned())


# Seconds between two saves of the open places.
_NOTED_EVERY = 0.5


class ReadScreen(WorkbenchScreen):
    """The tree on the left, open documents on the right; on a narrow screen one of them."""

    CSS_PATH = sheets("parts", "source", "read")
    MODE: ClassVar[str] = "read"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f3,slash", "name", N_("Find a law"), id="read.name", show=False),
        Binding("v", "split", N_("Beside"), id="read.split"),
        Binding("t", "reveal", N_("In the tree"), id="read.reveal", show=False),
        Binding("escape", "leave", N_("Back"), id="read.leave", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._corpus = ""
        # Generation of the store, and day of its law.
        self._seen: tuple[int, date] | None = None
        self._turn = asyncio.Lock()
        self._noting = False
        self._arrived = True
        self._reads = False
        self._filled = asyncio.Event()

    async def get_ready(self) -> None:
        """Make a pane in advance: the first opening is waited for."""
        await self.query_one(Panes).prepare()

    def body(self) -> ComposeResult:
        with Horizontal(id="reading"):
            with Vertical(id="places"):
                yield Finder()
                yield PlaceTree()
                yield Paragraph(id="nothing")
            yield Panes()

    def kept(self) -> KeptState:
        """The typed text and the unfolded tree; open places are remembered elsewhere."""
        self._note()
        tree = self.query(PlaceTree).first()
        return replace(super().kept(), spot=None, more=tree.unfolded())

    async def regain(self, more: object) -> None:
        await self._filled.wait()
        if isinstance(more, Unfolded):
            await self.query_one(PlaceTree).unfold(more)

    def on_mount(self) -> None:
        self._unlisten = self.bench.jobs.listen(self._after_job)

    def on_resize(self) -> None:
        # After the screen knows its width.
        self.call_next(self._arrange)

    def on_unmount(self) -> None:
        self._unlisten()

    def on_screen_resume(self) -> None:
        """Update the corpus; after another screen, go to the page or to the field."""
        if self._arrived and not self.query_one(Panes).spots:
            self.action_name()
        elif self._arrived:
            self._show_page()
        self._refresh_corpus()

    def on_screen_suspend(self) -> None:
        self._arrived = self.app.current_mode != self.MODE

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        if action in ("split", "reveal"):
            return bool(self.query_one(Panes).spots)
        return True

    def action_name(self) -> None:
        self._look_at(page=False)
        self.query_one(Finder).query_one(Input).focus()

    def action_leave(self) -> None:
        finder, tree = self.query_one(Finder), self.query_one(PlaceTree)
        if finder.typed:
            finder.clear()
            return
        self._look_at(page=False)
        tree.focus()

    @work
    async def action_split(self) -> None:
        async with self._turn:
            panes = self.query_one(Panes)
            await panes.split()
            self._show_page()

    @work
    async def action_reveal(self) -> None:
        if await self._reveal():
            self._look_at(page=False)
            self.query_one(PlaceTree).focus()

    @on(Finder.Typed)
    def _typed(self, event: Finder.Typed) -> None:
        self.query_one("#places").set_class(bool(event.text), "-typed")

    @on(Finder.Chosen)
    def _named(self, event: Finder.Chosen) -> None:
        self.query_one(Finder).clear()
        self._open(event.spot, reveal=True)

    @on(PlaceTree.Chosen)
    def _picked(self, event: PlaceTree.Chosen) -> None:
        self._open(event.spot)

    @on(PlaceTree.Typed)
    def _type_name(self, event: PlaceTree.Typed) -> None:
        self.action_name()
        self.query_one(Finder).query_one(Input).insert_text_at_cursor(event.character)

    @on(PlaceTree.Unwanted)
    def _remove(self, event: PlaceTree.Unwanted) -> None:
        """Remove a document after a question, and index the rest."""
        from localrag.corpus.ingest.remove import remove_documents
        from localrag_tui.corpora.actions import index

        bench, title = self.bench, event.title
        corpus = bench.corpus

        def removed(agreed: object) -> None:
            if agreed is not None:
                self._refresh_corpus()
                index(bench, corpus)

        bench.push_screen(
            Form(
                _("Remove {title}?").format(title=one_line(title.title)),
                _(
                    "It is removed from the corpus {corpus}, and the corpus is indexed again."
                    " Its file stays."
                ).format(corpus=corpus),
                go=_("Remove"),
                check=lambda _values: remove_documents(
                    bench.workspace, corpus, [title.document_id]
                ),
                danger=True,
            ),
            removed,
        )

    @on(OpenSpot)
    def _asked(self, event: OpenSpot) -> None:
        event.stop()
        self._open(event.spot, beside=event.beside)

    @on(Panes.Turned)
    def _turned(self) -> None:
        self._arrange()
        self.refresh_bindings()
        self._moved()

    @on(SourcePane.Moved)
    def _moved(self) -> None:
        read = self.query_one(Panes).read
        self.query_one(Finder).law_id = read.spot.document_id if read and read.spot else ""
        if not self._noting:
            self._noting = True
            self.set_timer(_NOTED_EVERY, self._note)

    @work
    async def _open(self, spot: Spot, *, reveal: bool = False, beside: bool = False) -> None:
        async with self._turn:
            panes = self.query_one(Panes)
            await panes.open(spot)
            if beside and len(panes.all) == 1:
                await panes.split()
            self._show_page()
        if reveal:
            await self._reveal()

    def _show_page(self) -> None:
        read = self.query_one(Panes).read
        if read is not None:
            self._look_at(page=True)
            # A dialogue may be in front by now.
            if self.is_current:
                read.page.focus()

    def _look_at(self, *, page: bool) -> None:
        self._reads = page
        self._arrange()

    def _arrange(self) -> None:
        panes, narrow = self.query_one(Panes), self.has_class("-narrow")
        cramped = narrow or (len(panes.all) > 1 and not self.has_class("-wide"))
        # Not by a class of the screen: all its parts would be styled again.
        self.query_one("#places").display = not (self._reads and cramped)
        panes.display = self._reads or not narrow

    async def _reveal(self) -> bool:
        read = self.query_one(Panes).read
        if read is None or read.spot is None:
            return False
        try:
            await self.query_one(PlaceTree).reveal(read.spot.document_id, read.spot.start)
        except LocalragError as error:
            self.bench.tell(error)
            return False
        return True

    def _after_job(self, job: Job, event: object) -> None:
        if event is None and job.state is not State.RUNNING:
            self._refresh_corpus()

    @work(exclusive=True, group="corpus")
    async def _refresh_corpus(self) -> None:
        """Read the tree if the corpus has changed; reopen the open places."""
        corpus, library = self.bench.corpus, self.bench.library
        try:
            seen = await library.read(lambda store: (store.generation, store.as_of))
            if (corpus, seen) == (self._corpus, self._seen):
                return
            count = await self.query_one(PlaceTree).fill(library)
            self._filled.set()
        except LocalragError as error:
            # Read the earlier corpus again.
            self._seen = None
            missing = isinstance(error, NotFoundError)
            self._show_nothing("" if missing else f"{error.cause}\n{cure_of(error)}")
            return
        self.query_one("#places").remove_class("-nothing")
        if not count:
            self._show_nothing()
        before, self._corpus, self._seen = self._corpus, corpus, seen
        if corpus != before:
            await self._open_remembered(another=bool(before))
        for pane in self.query_one(Panes).all:
            await pane.keep_up()

    async def _open_remembered(self, *, another: bool) -> None:
        places = self.bench.memory.choices.reading.get(self._corpus, ())
        async with self._turn:
            panes = self.query_one(Panes)
            # A requested place is open by now.
            if another or not panes.all:
                await panes.show([Spot(document, start, start) for document, start in places])

    def _show_nothing(self, problem: str = "") -> None:
        empty = _("The corpus {corpus} has no documents yet.").format(corpus=self.bench.corpus)
        ways = map(palette, (_("Try the sample corpus"), _("Add documents")))
        text = problem or "\n".join([empty, "", *ways])
        self.query_one("#nothing", Paragraph).show(content(text))
        self.query_one("#places").add_class("-nothing")

    def _note(self) -> None:
        self._noting = False
        spots = self.query_one(Panes).spots
        reading = {
            **self.bench.memory.choices.reading,
            self._corpus: tuple((spot.document_id, spot.start) for spot in spots),
        }
        self.bench.memory.remember(reading=reading)
