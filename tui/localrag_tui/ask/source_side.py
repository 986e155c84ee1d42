"""The evidence of the answer with its source, beside the conversation or over it."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical

from localrag.conversations.types import Turn
from localrag.errors import LocalragError, NotFoundError
from localrag.language import _
from localrag_tui.ask.evidence import Evidence, Place, Places
from localrag_tui.screen import bench_of
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

# Seconds for which a row is highlighted before its source is read: arrows are held down.
_PAUSE = 0.2


class SourceSide(Vertical):
    """Shows the source of whatever passage is looked at."""

    DEFAULT_CSS: ClassVar[str] = """
    SourceSide { width: 1fr; height: 1fr; }
    SourceSide SourcePane { height: 3fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._wanted: Place | None = None

    def compose(self) -> ComposeResult:
        """The evidence above its source."""
        yield Evidence()
        yield SourcePane()

    @property
    def bench(self) -> "Workbench":
        """The application."""
        return bench_of(self)

    @property
    def evidence(self) -> Evidence:
        """The lists above."""
        return self.query_one(Evidence)

    def show(self, turn: Turn | None) -> None:
        """Show the evidence of a turn; an answer without any leaves no source of another one.

        Args:
            turn: None where there is none: nothing is shown.
        """
        self.evidence.show(turn)
        answered = turn is None or turn.answer is not None
        if answered and self.evidence.current is None and self._wanted is not None:
            self._wanted = None
            self.workers.cancel_group(self, "source")
            self.query_one(SourcePane).clear()

    def open_citation(self, turn: Turn, number: int) -> bool:
        """Show the source of a citation, a number from 1, and go there; false for none."""
        self.evidence.show(turn)
        place = self.evidence.point(number)
        if place is None:
            return False
        self._look(place, chosen=True)
        return True

    @work(group="source", exclusive=True)
    async def open_spot(self, spot: Spot) -> None:
        """Show a place of the corpus in use, and go there."""
        pane = self.query_one(SourcePane)
        pane.library = self.bench.library
        await pane.open(spot)
        pane.page.focus()

    def copy(self, place: Place) -> None:
        """Put a quotation with its citation into the clipboard."""
        self._copy(place)

    def on_show(self) -> None:
        """Show the source of what was highlighted while it could not be seen."""
        place = self.evidence.current
        if place is not None and place != self._wanted:
            self._look(place, chosen=False)

    def on_places_looked(self, event: Places.Looked) -> None:
        """Show the source of what is highlighted, and go to that of what was chosen."""
        event.stop()
        # The row of a citation that was opened is highlighted too.
        if event.chosen or (self.display and event.place != self._wanted):
            self._look(event.place, chosen=event.chosen)

    def on_places_copy(self, event: Places.Copy) -> None:
        """Copy what is highlighted."""
        event.stop()
        self.copy(event.place)

    def _look(self, place: Place, *, chosen: bool) -> None:
        self._wanted = place
        # The latest wins.
        self._open(place, chosen=chosen)

    @work(group="source", exclusive=True)
    async def _open(self, place: Place, *, chosen: bool) -> None:
        if not chosen:
            await asyncio.sleep(_PAUSE)
        try:
            library = self.bench.library_of(place.corpus)
            passage = await library.read(lambda store: store.by_id(place.passage_id))
            if passage is None:
                raise _gone(place)
        except LocalragError as error:
            self.bench.tell(error)
            return
        spot = Spot.of(passage)
        if place.citation is not None:
            spot = Spot.quoted(place.citation, passage)
        pane = self.query_one(SourcePane)
        # A conversation may have been put to several corpora.
        pane.library = library
        await pane.open(spot, preview=not chosen)
        if chosen:
            pane.page.focus()

    @work(group="copy")
    async def _copy(self, place: Place) -> None:
        from localrag.provision import citation_of
        from localrag_tui.source.links import quotation

        citation = place.citation
        try:
            library = self.bench.library_of(place.corpus)
            passage = await library.read(lambda store: store.by_id(place.passage_id))
            if passage is None:
                raise _gone(place)
            if citation is None:
                text = await library.read(lambda store: citation_of(store, passage))
            elif citation.verified:
                text = await library.read(
                    lambda store: quotation(
                        store, passage.document_id, citation.start, citation.end
                    )
                )
            else:
                raise NotFoundError(
                    _("The quotation was rejected: it does not stand in its source."),
                    _("Copy from the source itself."),
                )
        except LocalragError as error:
            self.bench.tell(error)
            return
        self.bench.copy(text)


def _gone(place: Place) -> NotFoundError:
    return NotFoundError(
        _("The corpus “{corpus}” no longer holds {passage}.").format(
            corpus=place.corpus, passage=place.passage_id
        ),
        _("Ask the question again (a)."),
    )
