"""The evidence of an answer: cited passages, and the hits of every stage."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, TabbedContent, TabPane, Tabs
from textual.widgets.option_list import Option

from localrag.answer.types import Answer, Citation
from localrag.answer.wording import beside, by_model, of_passage
from localrag.errors import LocalragError, NotFoundError
from localrag.language import N_, _, ngettext
from localrag.ops.conversations.types import Turn
from localrag.search.types import Hit, StageRecord
from localrag.text.harmless import one_line
from localrag_tui.screen import bench_of
from localrag_tui.shown import content, note, provenance, stage
from localrag_tui.source.pane import SourcePane
from localrag_tui.source.sheet import cited, quotation
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Passage
    from localrag_tui.app import Workbench


# Characters of a quotation in the list; its width cuts further.
_SNIPPET = 200


class EvidencePlace(NamedTuple):
    """A passage in the lists.

    Attributes:
        citation: the quotation from it; None for a mere hit.
    """

    corpus: str
    passage_id: str
    citation: Citation | None = None


class Places(OptionList):
    """A list of passages; the highlighted one is shown, Enter goes there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Source"), id="evidence.open"),
        *(Binding(str(n), f"take({n})", show=False, id=f"evidence.cite{n}") for n in range(1, 10)),
        Binding("c", "copy", N_("Copy"), id="evidence.copy"),
    ]

    @dataclass
    class Looked(Message):
        """A passage was highlighted or chosen."""

        place: EvidencePlace
        chosen: bool

    @dataclass
    class Copy(Message):
        """Copy a quotation."""

        place: EvidencePlace

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id, markup=False)
        self._places: list[EvidencePlace | None] = []

    @property
    def current(self) -> EvidencePlace | None:
        return self._place(self.highlighted)

    def fill(self, rows: list[tuple[Content, EvidencePlace | None]]) -> None:
        """Show other passages; a row without a place is a heading."""
        self._places = [place for _row, place in rows]
        self.clear_options()
        self.add_options(Option(row, disabled=place is None) for row, place in rows)

    def point(self, number: int) -> EvidencePlace | None:
        """Highlight passage number `number`, from 1, and return it; None if missing."""
        rows = [row for row, place in enumerate(self._places) if place is not None]
        if number > len(rows):
            return None
        self.highlighted = rows[number - 1]
        return self.current

    def action_take(self, number: int) -> None:
        if self.point(number) is not None:
            self.action_select()

    def action_copy(self) -> None:
        if (place := self.current) is not None:
            self.post_message(self.Copy(place))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._tell(event, chosen=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._tell(event, chosen=True)

    def _tell(self, event: OptionList.OptionMessage, *, chosen: bool) -> None:
        event.stop()
        # An old row of a list filled again.
        if event.option_index == self.highlighted:
            place = self._place(event.option_index)
            if place is not None:
                self.post_message(self.Looked(place, chosen=chosen))

    def _place(self, row: int | None) -> EvidencePlace | None:
        return self._places[row] if row is not None and row < len(self._places) else None


class Evidence(Vertical):
    """The evidence of one turn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "other", N_("Search hits"), id="evidence.other", key_display="← →"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._turn: Turn | None = None

    def compose(self) -> ComposeResult:
        with TabbedContent():
            with TabPane(_("Citations"), id="cited"):
                yield Places(id="citations")
            with TabPane(_("Search hits"), id="found"):
                yield Places(id="hits")

    def on_mount(self) -> None:
        self.query_one(Tabs).can_focus = False

    def action_other(self) -> None:
        tabs = self.query_one(TabbedContent)
        tabs.active = "found" if tabs.active == "cited" else "cited"
        self.call_after_refresh(self.enter)

    def show(self, turn: Turn | None) -> None:
        """Show the evidence of a turn; nothing without an answer."""
        if turn is self._turn:
            return
        self._turn = turn
        self._fill_citations(turn)
        self._fill_hits(turn)

    @property
    def current(self) -> EvidencePlace | None:
        return self._list.current

    def point(self, number: int) -> EvidencePlace | None:
        """Highlight a citation, from 1, and return it; without citations, a hit."""
        self.query_one(TabbedContent).active = "cited"
        return self.query_one("#citations", Places).point(number)

    def enter(self) -> None:
        self._list.focus()

    def on_tabbed_content_tab_activated(self) -> None:
        self._fill_hits(self._turn)

    @property
    def _list(self) -> Places:
        return self.query_one(f"#{self.query_one(TabbedContent).active} Places", Places)

    def _fill_citations(self, turn: Turn | None) -> None:
        answer = turn.answer if turn is not None else None
        corpus = turn.corpus if turn is not None else ""
        rows: list[tuple[Content, EvidencePlace | None]] = []
        if answer is not None and answer.citations:
            rows = [
                (_row(number, citation), EvidencePlace(corpus, citation.passage_id, citation))
                for number, citation in enumerate(answer.citations, 1)
            ]
        elif answer is not None and (hits := hits_of_matter(answer)):
            found = content(_("Nothing is cited. The search came nearest in:"), "$foreground-muted")
            rows = [
                (found, None),
                *((_hit(hit), EvidencePlace(corpus, hit.passage.id)) for hit in hits),
            ]
        elif answer is not None:
            # An empty list would look unfinished.
            told = (
                _("Nothing is cited. The search hits list passages of other laws.")
                if answer.trace.stages and answer.trace.stages[-1].hits
                else _("Nothing is cited, and nothing was found.")
            )
            rows = [(content(told, "$foreground-muted"), None)]
        listed = self.query_one("#citations", Places)
        listed.fill(rows)
        listed.point(1)

    def _fill_hits(self, turn: Turn | None) -> None:
        # With many options there are hundreds of hits, rarely looked at.
        if self.query_one(TabbedContent).active != "found":
            return
        stages = turn.answer.trace.stages if turn is not None and turn.answer is not None else ()
        corpus = turn.corpus if turn is not None else ""
        rows: list[tuple[Content, EvidencePlace | None]] = []
        for record in stages:
            rows.append((_heading(record), None))
            rows += ((_scored(hit), EvidencePlace(corpus, hit.passage.id)) for hit in record.hits)
        self.query_one("#hits", Places).fill(rows)


def hits_of_matter(answer: Answer) -> Sequence[Hit]:
    """Hits in the laws named by the question; none if such a law is missing.

    Below the name of a missing law, a hit of another law could pass for an answer.
    """
    if answer.absent or not answer.trace.stages:
        return ()
    return [hit for hit in answer.trace.stages[-1].hits if not hit.beside]


def _scored(hit: Hit) -> Content:
    return Content.styled(f"{hit.rank:>3} {hit.score:>7.3f}  ", "$foreground-muted") + _hit(hit)


def _hit(hit: Hit) -> Content:
    told = (
        str(hit.reason or ""),
        by_model(hit),
        beside() if hit.beside else "",
        of_passage(hit.passage),
    )
    reason = "".join(f"  ({one_line(words)})" for words in filter(None, told))
    return content(one_line(hit.passage.header)) + content(reason, "$foreground-muted")


def _row(number: int, citation: Citation) -> Content:
    rejected = Content() if citation.verified else content(_("rejected: "), "bold $error")
    snippet = one_line(" ".join(citation.quote[:_SNIPPET].split()))
    told = provenance(citation)
    return Content.assemble(
        (f"[{number}] ", "bold $primary" if citation.verified else "strike $error"),
        rejected,
        content(one_line(citation.label or citation.passage_id), "$accent"),
        content(f"  {told}" if told else "", "$foreground-muted"),
        "\n    ",
        content(snippet, "$foreground-muted"),
    )


def _heading(record: StageRecord) -> Content:
    hits = ngettext("{n} hit", "{n} hits", len(record.hits)).format(n=len(record.hits))
    name = " · ".join(filter(None, (stage(record.stage), record.subject)))
    text = Content.assemble(
        content(one_line(name), "bold $foreground"),
        content(f"  {hits}, {record.seconds * 1000:.1f} ms", "$foreground-muted"),
    )
    for event in record.events:
        text += content("\n" + _("note: {event}").format(event=note(event)), "$foreground-muted")
    return text


# Seconds before the source of a highlighted row is read: arrows are held down.
_PAUSE = 0.2


class SourceSide(Vertical):
    """The evidence, and below it the source of the highlighted passage."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: EvidencePlace | None = None

    def compose(self) -> ComposeResult:
        yield Evidence()
        yield SourcePane()

    @property
    def bench(self) -> "Workbench":
        return bench_of(self)

    @property
    def evidence(self) -> Evidence:
        return self.query_one(Evidence)

    def show(self, turn: Turn | None) -> None:
        """Show the evidence of a turn; the source of another answer goes."""
        self.evidence.show(turn)
        answered = turn is None or turn.answer is not None
        if answered and self.evidence.current is None and self._wanted is not None:
            self._wanted = None
            self.workers.cancel_group(self, "source")
            self.query_one(SourcePane).clear()

    def open_citation(self, turn: Turn, number: int) -> bool:
        """Go to the source of a citation, from 1; False if there is no such citation."""
        self.evidence.show(turn)
        place = self.evidence.point(number)
        if place is None:
            return False
        self._look(place, chosen=True)
        return True

    def open_near(self, turn: Turn, passage_id: str, start: int) -> None:
        """Go to a passage named in an answer, at the quotation that starts there."""
        self.evidence.show(turn)
        answer = turn.answer
        quoted = (*answer.quotations, *answer.citations) if answer else ()
        there = (one for one in quoted if (one.passage_id, one.start) == (passage_id, start))
        self._look(EvidencePlace(turn.corpus, passage_id, next(there, None)), chosen=True)

    @work(group="day", exclusive=True)
    async def keep_up(self) -> None:
        """Show the law on the day of the settings; a quotation keeps its own day."""
        spot, place = None, self._wanted
        if place is not None:
            with suppress(LocalragError):
                library = self.bench.library_of(place.corpus)
                spot = await library.read(lambda store: _spot_of(store, place))
        await self.query_one(SourcePane).keep_up(spot)

    def open_spot(self, spot: Spot) -> None:
        # The highlighted row must not open after this place.
        self._wanted = self.evidence.current
        self._open_spot(spot)

    @work(group="source", exclusive=True)
    async def _open_spot(self, spot: Spot) -> None:
        pane = self.query_one(SourcePane)
        pane.library = self.bench.library
        await pane.open(spot)
        pane.page.focus()

    def copy(self, place: EvidencePlace) -> None:
        self._copy(place)

    def on_show(self) -> None:
        place = self.evidence.current
        if place is not None and place != self._wanted:
            self._look(place, chosen=False)

    def on_places_looked(self, event: Places.Looked) -> None:
        """Show the source of the highlighted passage; go to the source of a chosen one."""
        event.stop()
        # Opening a citation highlights its row, too.
        if event.chosen or (self.display and event.place != self._wanted):
            self._look(event.place, chosen=event.chosen)

    def on_places_copy(self, event: Places.Copy) -> None:
        event.stop()
        self.copy(event.place)

    def _look(self, place: EvidencePlace, *, chosen: bool) -> None:
        self._wanted = place
        # The latest wins.
        self._open(place, chosen=chosen)

    @work(group="source", exclusive=True)
    async def _open(self, place: EvidencePlace, *, chosen: bool) -> None:
        if not chosen:
            await asyncio.sleep(_PAUSE)
        library = self.bench.library_of(place.corpus)
        spot = await library.read(lambda store: _spot_of(store, place))
        pane = self.query_one(SourcePane)
        # A conversation may use several corpora.
        pane.library = library
        await pane.open(spot, preview=not chosen)
        if chosen:
            pane.page.focus()

    @work(group="copy")
    async def _copy(self, place: EvidencePlace) -> None:
        from localrag.corpus.rows import state_id
        from localrag.search.provision import citation_of

        citation = place.citation

        def copied(store: "CorpusStore") -> str:
            if citation is None:
                return citation_of(store, _passage_of(store, place))
            if not citation.verified:
                raise NotFoundError(
                    _("The quotation was rejected: it is not in its source."),
                    _("Copy from the source itself."),
                )
            spot = _spot_of(store, place)
            return quotation(store, state_id(spot.document_id, spot.state), spot.start, spot.end)

        library = self.bench.library_of(place.corpus)
        text = await library.read(copied)
        self.bench.copy(text)


def _spot_of(store: "CorpusStore", place: EvidencePlace) -> Spot:
    """Where a passage is; a citation in the state it quotes. Raises `_gone`."""
    if place.citation is None:
        return Spot.of(_passage_of(store, place))
    spot = cited(store, place.citation)
    if spot is None:
        raise _gone(place)
    return spot


def _passage_of(store: "CorpusStore", place: EvidencePlace) -> "Passage":
    passage = store.by_id(place.passage_id)
    if passage is None:
        raise _gone(place)
    return passage


def _gone(place: EvidencePlace) -> NotFoundError:
    return NotFoundError(
        _("The corpus “{corpus}” no longer holds {passage}.").format(
            corpus=place.corpus, passage=place.passage_id
        ),
        _("Ask the question again (a)."),
    )
