"""The conversation: its turns and the cursor in them; before the first question, how to begin."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import OptionList, Static

from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag.ops.conversations.types import Turn
from localrag.search.types import Filters
from localrag.text.harmless import one_line
from localrag_tui.ask.asking import AnswerProgress
from localrag_tui.ask.pieces import live, pieces, question
from localrag_tui.blocks import TurnPiece
from localrag_tui.corpora.work import CorpusRow, overview
from localrag_tui.shell.base import finish
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.listing import Listing, Valued
from localrag_tui.shell.paragraph import BrokenText, Paragraph
from localrag_tui.shown import content, palette

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag_tui.app import Workbench


class PieceView(Paragraph):
    """A paragraph; a click puts the cursor there, a click on a number opens the citation."""

    @dataclass
    class Cited(Message):
        """A citation number was clicked."""

        view: "PieceView"
        number: int

    @dataclass
    class Neared(Message):
        """The place of a passage was clicked."""

        view: "PieceView"
        passage_id: str
        start: int

    @dataclass
    class Reached(Message):
        """The paragraph was clicked."""

        view: "PieceView"

    def __init__(self, piece: TurnPiece, turn_view: "TurnView") -> None:
        super().__init__(piece.content, classes=piece.kind)
        self.piece = piece
        self.turn_view = turn_view

    def action_cite(self, number: int) -> None:
        self.post_message(self.Cited(self, number))

    def action_near(self, passage_id: str, start: int) -> None:
        self.post_message(self.Neared(self, passage_id, start))

    def on_click(self, event: Click) -> None:
        if self.piece.step and "@click" not in event.style.meta:
            self.post_message(self.Reached(self))


class TurnView(Vertical):
    """A question with its outcome."""

    def __init__(self, turn: Turn, progress: AnswerProgress | None = None, limit: str = "") -> None:
        super().__init__()
        self.turn = turn
        self.progress = progress
        self._limit = limit

    def compose(self) -> ComposeResult:
        if self.progress is None:
            yield from (PieceView(piece, self) for piece in self._pieces())
        else:
            yield from (PieceView(piece, self) for piece in question(self.turn.query, self._limit))
            yield PieceView(TurnPiece(live(self.progress), "live"), self)

    def _pieces(self) -> list[TurnPiece]:
        if not self._limit:
            return pieces(self.turn)
        lifting = " → ".join(key_of(self.app, id_) for id_ in ("ask.limit", "filters.clear"))
        return pieces(self.turn, self._limit, lifting)

    @property
    def steps(self) -> list[PieceView]:
        return [view for view in self.children if isinstance(view, PieceView) and view.piece.step]

    @property
    def laid_out(self) -> bool:
        """Whether all of it has a place on the screen."""
        children = self.children
        return bool(children) and all(view.virtual_region.width for view in children)

    @property
    def answer_row(self) -> int:
        """The first row of the outcome, from the top of the turn."""
        below = self.query_children(".state, .live")
        return below.first().virtual_region.y if below else 0

    def show_progress(self) -> None:
        """Show the progress of the answer, if there is news."""
        if self.progress is not None and self.progress.changed:
            self.progress.changed = False
            # Many times a second: a new layout only for another number of rows.
            for view in self.query(".live").results(Paragraph):
                view.show(live(self.progress))

    async def end(self, turn: Turn) -> None:
        self.turn, self.progress = turn, None
        await finish(self.recompose())


# Turns shown at first, and added when the reader scrolls up.
_PAGE = 8


class Earlier(Static):
    """The number of earlier turns."""


class Transcript(VerticalScroll):
    """Turns below each other; of a long conversation only the last ones at first.

    Attributes:
        here: the paragraph under the cursor, if any.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", N_("Previous claim"), id="transcript.up", show=False),
        Binding("down", "go(1)", N_("Next claim"), id="transcript.down", show=False),
        Binding("enter", "open", N_("Source"), id="transcript.open", show=False),
        *(
            Binding(
                str(n),
                f"cite({n})",
                N_("Source"),
                id=f"transcript.cite{n}",
                show=n == 1,
                key_display="1-9",
            )
            for n in range(1, 10)
        ),
        Binding("c", "copy", N_("Copy"), id="transcript.copy"),
        Binding("e", "evidence", N_("Evidence"), id="transcript.evidence"),
        Binding("a", "again", N_("Ask again"), id="transcript.again", show=False),
    ]

    @dataclass
    class At(Message):
        """The cursor is on a turn, at these citations."""

        turn: Turn
        citations: tuple[int, ...]

    @dataclass
    class Open(Message):
        """Open the source of a citation, from 1."""

        turn: Turn
        number: int

    @dataclass
    class OpenNear(Message):
        """Open a passage named in a turn, at a quotation."""

        turn: Turn
        passage_id: str
        start: int

    @dataclass
    class Copy(Message):
        """Copy a citation, from 1."""

        turn: Turn
        number: int

    @dataclass
    class Again(Message):
        """Ask the question of a turn again."""

        turn: Turn

    class Evidence(Message):
        """Go to the evidence."""

    def __init__(self) -> None:
        super().__init__()
        self.here: PieceView | None = None
        self.limits: dict[Filters, str] = {}
        self._above: list[Turn] = []
        # The scroll position of the newest turn; at another one the user has scrolled.
        self._put = 0.0
        self._put_wanted = False

    def compose(self) -> ComposeResult:
        yield Earlier()

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._after_layout, immediate=True)

    @property
    def turns(self) -> list[Turn]:
        return [*self._above, *(view.turn for view in self._views())]

    @property
    def turn(self) -> Turn | None:
        """The turn under the cursor, else the last one."""
        if self.here is not None and self.here.is_attached:
            return self.here.turn_view.turn
        views = self._views()
        return views[-1].turn if views else None

    async def show(self, turns: Sequence[Turn]) -> None:
        """Show a conversation, at its last question."""
        self.here = None
        await finish(self.query(TurnView).remove())
        self._above = list(turns[:-_PAGE])
        await self.mount_all(self._view(turn) for turn in turns[-_PAGE:])
        self._tell_above()
        self._show_newest()

    async def begin(self, turn: Turn, progress: AnswerProgress) -> TurnView:
        """Show a question in progress, and go there."""
        views = self._views()
        # Turns far above cost time at every new layout.
        while len(views) >= 3 * _PAGE:
            self._above.append(views[0].turn)
            await finish(views.pop(0).remove())
        view = self._view(turn, progress)
        await self.mount(view)
        self._leave()
        self._tell_above()
        self._show_newest()
        return view

    def allow_focus(self) -> bool:
        return True

    def view_of(self, progress: AnswerProgress) -> TurnView | None:
        return next((view for view in self._views() if view.progress is progress), None)

    def follow(self, view: TurnView) -> None:
        """Keep a growing turn in view, unless the user has scrolled."""
        if view.progress is not None and view.progress.changed and self.scroll_y == self._put:
            self._show_newest()

    async def end(self, view: TurnView, turn: Turn) -> None:
        """Show the outcome of a question; scroll to its beginning, unless the user has scrolled."""
        follows = self._put_wanted or self.scroll_y == self._put
        await view.end(turn)
        if follows:
            self._show_newest()

    async def bring_earlier(self) -> None:
        """Show some earlier turns; the view stays in place."""
        if not self._above:
            return
        turns = self._above[-_PAGE:]
        del self._above[-_PAGE:]
        self._put_wanted = False
        first, before = self._views()[0], self.virtual_size.height
        await self.mount_all([self._view(turn) for turn in turns], before=first)
        self._tell_above()

        def keep_place() -> None:
            grown = self.virtual_size.height - before
            self.scroll_to(y=self.scroll_y + grown, animate=False)

        self.call_after_refresh(keep_place)

    async def action_go(self, by: int) -> None:
        """Go to the next claim or the previous one; or scroll."""
        steps = [step for view in self._views() for step in view.steps]
        at = steps.index(self.here) + by if self.here in steps else self._nearest(steps, by)
        if 0 <= at < len(steps):
            self._reach(steps[at])
        else:
            self.scroll_relative(y=by * 3, animate=False)
            if by < 0 and self.scroll_y == 0:
                await self.bring_earlier()

    def action_open(self) -> None:
        """Open the source of the claim under the cursor, or the passage named there."""
        if self.here is not None and (near := self.here.piece.near):
            self.post_message(self.OpenNear(self.here.turn_view.turn, near.passage_id, near.start))
        elif self.here is not None and self.here.piece.citations:
            self.action_cite(self.here.piece.citations[0])
        else:
            self.action_cite(1)

    def action_cite(self, number: int) -> None:
        if self.turn is not None:
            self.post_message(self.Open(self.turn, number))

    def action_copy(self) -> None:
        if self.turn is not None:
            cited = self.here.piece.citations if self.here is not None else ()
            self.post_message(self.Copy(self.turn, cited[0] if cited else 1))

    def action_again(self) -> None:
        if self.turn is not None:
            self.post_message(self.Again(self.turn))

    def action_evidence(self) -> None:
        self.post_message(self.Evidence())

    def on_piece_view_reached(self, event: PieceView.Reached) -> None:
        self._reach(event.view)

    def on_piece_view_cited(self, event: PieceView.Cited) -> None:
        self.post_message(self.Open(event.view.turn_view.turn, event.number))

    def on_piece_view_neared(self, event: PieceView.Neared) -> None:
        turn = event.view.turn_view.turn
        self.post_message(self.OpenNear(turn, event.passage_id, event.start))

    @on(Click, "Earlier")
    async def _bring(self, event: Click) -> None:
        event.stop()
        await self.bring_earlier()

    def _view(self, turn: Turn, progress: AnswerProgress | None = None) -> TurnView:
        return TurnView(turn, progress, self.limits.get(turn.query.filters, ""))

    def _views(self) -> list[TurnView]:
        return [view for view in self.children if isinstance(view, TurnView)]

    def _show_newest(self) -> None:
        self._put_wanted = True
        self.call_after_refresh(self._put_newest)

    def _put_newest(self) -> None:
        views = self._views()
        # A new turn has no place before the next layout.
        if not views or not self._put_wanted or not views[-1].laid_out:
            return
        self._put_wanted = False
        newest = views[-1]
        answer = newest.answer_row - self.size.height // 2
        top = newest.virtual_region.y + max(0, answer)
        self.scroll_to(y=top, animate=False, immediate=True)
        self._put = self.scroll_y

    def _after_layout(self, _screen: object) -> None:
        if self._put_wanted:
            self.call_later(self._put_newest)

    def _nearest(self, steps: list[PieceView], by: int) -> int:
        """The first step in view when going down, the last one when going up."""
        inside = [place for place, step in enumerate(steps) if self.region.overlaps(step.region)]
        if not inside:
            return -1
        return inside[0] if by > 0 else inside[-1]

    def _reach(self, step: PieceView) -> None:
        self._leave()
        self.here = step
        # Both in one paint: a changed paragraph out of view would cost another.
        step.scroll_visible(animate=False, immediate=True)
        step.add_class("-here")
        self.post_message(self.At(step.turn_view.turn, step.piece.citations))

    def _leave(self) -> None:
        if self.here is not None:
            self.here.remove_class("-here")
        self.here = None

    def _tell_above(self) -> None:
        count = len(self._above)
        earlier = self.query_one(Earlier)
        earlier.set_class(count > 0, "-some")
        words = ngettext("{n} earlier question", "{n} earlier questions", count).format(n=count)
        earlier.update(Content(words))


# More offered questions would cover the text above.
_OFFERED = 5


async def questions_for(bench: "Workbench", corpus: str) -> tuple[str, ...]:
    """Questions answered by a corpus: the question of the sample, and starting questions.

    Raises:
        LocalragError: the corpus cannot be read.
    """
    from localrag.ops.overview import starting_questions
    from localrag.sample import ANSWERED_BY, QUESTION

    library, place = bench.library_of(corpus), bench.workspace.corpus(corpus)

    def found(store: "CorpusStore") -> tuple[str, ...]:
        own = () if store.by_id(ANSWERED_BY) is None else (QUESTION,)
        return (*own, *starting_questions(place, store, _OFFERED))[:_OFFERED]

    return await library.read(found)


class Examples(Listing):
    """Questions to begin with; Enter or a click asks one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Ask this"), id="ask.example"),
    ]

    @dataclass
    class Asked(Message):
        """Ask a question."""

        question: str

    def offer(self, questions: Sequence[str]) -> None:
        self.clear_options()
        self.add_options(Valued(BrokenText(content(one_line(one))), one) for one in questions)
        self.highlighted = 0 if questions else None
        self.set_class(bool(questions), "-known")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        assert isinstance(event.option, Valued)
        self.post_message(self.Asked(event.option.value))


class EmptyConversation(Vertical):
    """How to begin."""

    def compose(self) -> ComposeResult:
        yield Paragraph(id="begin")
        yield Static(_("for example (Tab, Enter):"), id="hint")
        yield Examples()

    async def look(self, bench: "Workbench") -> None:
        """Look at the chosen corpus, and show the next step."""
        from localrag_tui.corpora.work import changes

        name = bench.corpus
        job = next((job for job in bench.jobs.running if changes(job, name)), None)
        if job is not None:
            self._offer(())
            shows = _("{key} shows how far it is.").format(key=key_of(bench, "app.jobs"))
            self._say(_lines(f"{job.title} …", shows))
            return
        rows = await asyncio.to_thread(overview, bench.workspace)
        row = next((row for row in rows if row.name == name), None)
        self._say(_words(bench, name, row))
        ready = row is not None and row.index == "fresh"
        try:
            self._offer(await questions_for(bench, name) if ready else ())
        except LocalragError as error:
            bench.tell(error)

    def _offer(self, questions: Sequence[str]) -> None:
        self.query_one("#hint").set_class(bool(questions), "-known")
        self.query_one(Examples).offer(questions)

    def _say(self, words: Content) -> None:
        self.query_one("#begin", Paragraph).show(words)


def _words(bench: "Workbench", name: str, row: CorpusRow | None) -> Content:
    if row is None:
        choose = key_of(bench, "ask.choose")
        return _lines(
            _("There is no corpus “{name}” yet.").format(name=name),
            palette(_("Try the sample corpus")),
            palette(_("Add documents")),
            _("{key} chooses another corpus.").format(key=choose),
        )
    if row.problem:
        return _lines(_("The corpus cannot be opened."), row.problem)
    if row.index == "missing":
        return _lines(
            _("The corpus “{name}” is not indexed yet: nothing can be found in it.").format(
                name=name
            ),
            palette(_("Index the corpus")),
        )
    documents = ngettext(
        "Ask about the {n:,} document of “{name}”.",
        "Ask about the {n:,} documents of “{name}”.",
        row.documents,
    ).format(n=row.documents, name=name)
    hints = [
        _("Quotations are word for word; a model's claims are checked against the cited text."),
        _("Up walks through the questions asked before; {key} brings a conversation back.").format(
            key=key_of(bench, "ask.conversations")
        ),
    ]
    if row.index != "fresh":
        hints.insert(
            0,
            _("Its index is unusable or incomplete.") + " " + palette(_("Index the corpus")),
        )
    return _lines(documents, *hints)


def _lines(first: str, *more: str) -> Content:
    lines = [content(first, "bold"), *(content(line, "$foreground-muted") for line in more)]
    return Content("\n\n").join(lines)
