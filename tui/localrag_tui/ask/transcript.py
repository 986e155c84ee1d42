"""The conversation: its turns, and the place in them where the reader is."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from localrag.conversations.types import Turn
from localrag.language import N_, ngettext
from localrag.retrieval.types import Filters
from localrag_tui.ask.asking import AnswerProgress
from localrag_tui.ask.pieces import TurnPiece, live, pieces, question
from localrag_tui.shell.base import finish
from localrag_tui.shell.keys import key_of
from localrag_tui.widgets.paragraph import Paragraph


class PieceView(Paragraph):
    """A paragraph of a turn; a click on it goes there, one on a number opens the citation."""

    class Cited(Message):
        """The number of a citation was clicked."""

        def __init__(self, view: "PieceView", number: int) -> None:
            super().__init__()
            self.view = view
            self.number = number

    class Neared(Message):
        """The place of one of the nearest passages was clicked."""

        def __init__(self, view: "PieceView", number: int) -> None:
            super().__init__()
            self.view = view
            self.number = number

    class Reached(Message):
        """The paragraph was clicked."""

        def __init__(self, view: "PieceView") -> None:
            super().__init__()
            self.view = view

    def __init__(self, piece: TurnPiece, turn_view: "TurnView") -> None:
        super().__init__(piece.content, classes=piece.kind)
        self.piece = piece
        self.turn_view = turn_view

    def action_cite(self, number: int) -> None:
        self.post_message(self.Cited(self, number))

    def action_near(self, number: int) -> None:
        self.post_message(self.Neared(self, number))

    def on_click(self, event: Click) -> None:
        if self.piece.step and "@click" not in event.style.meta:
            self.post_message(self.Reached(self))


class TurnView(Vertical):
    """A question with what has become of it.

    Args:
        turn: as it is written down.
        progress: of the answer that is being made for it; None where none is.
        limit: what the question is limited to, in words.
    """

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
            yield Paragraph(live(self.progress), classes="live")

    def _pieces(self) -> list[TurnPiece]:
        if not self._limit:
            return pieces(self.turn)
        from localrag_tui.ask.screen import AskScreen
        from localrag_tui.search.filters import FilterDialogue

        owners = ((AskScreen, "ask.limit"), (FilterDialogue, "filters.clear"))
        lifting = " → ".join(key_of(self.app, owner, id_) for owner, id_ in owners)
        return pieces(self.turn, self._limit, lifting)

    @property
    def steps(self) -> list[PieceView]:
        """What the reader can go to."""
        return [view for view in self.children if isinstance(view, PieceView) and view.piece.step]

    @property
    def laid_out(self) -> bool:
        """Whether all of it has its place on the screen."""
        children = self.children
        return bool(children) and all(view.virtual_region.width for view in children)

    @property
    def answer_row(self) -> int:
        """The row, counted from the top of the turn, in which what became of it begins."""
        below = self.query_children(".state, .live")
        return below.first().virtual_region.y if below else 0

    def show_progress(self) -> None:
        """Show how far the answer has come, if there is news."""
        if self.progress is not None and self.progress.changed:
            self.progress.changed = False
            # Many times a second: the screen is laid out only where there is another row.
            for view in self.query(".live").results(Paragraph):
                view.show(live(self.progress))

    async def end(self, turn: Turn) -> None:
        """Show what has become of the question."""
        self.turn, self.progress = turn, None
        await finish(self.recompose())


# Turns that are shown at once, and that are added when the reader goes further up.
_PAGE = 8


class Earlier(Static):
    """How many turns stand above; a click brings some of them."""

    class Wanted(Message):
        """Earlier turns are wanted."""

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Wanted())


class Transcript(VerticalScroll):
    """Turns one below the other; only the last ones of a long conversation are there at first.

    Attributes:
        here: the paragraph where the reader is; None where they are nowhere.
        limits: what questions were limited to, in words.
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

    class At(Message):
        """The reader has come to a turn, and to what of it rests on these citations."""

        def __init__(self, turn: Turn, citations: tuple[int, ...]) -> None:
            super().__init__()
            self.turn = turn
            self.citations = citations

    class Open(Message):
        """The reader wants to see the source of a citation, a number from 1."""

        def __init__(self, turn: Turn, number: int) -> None:
            super().__init__()
            self.turn = turn
            self.number = number

    class OpenNear(Message):
        """The reader wants to see one of the nearest passages, a number from 1."""

        def __init__(self, turn: Turn, number: int) -> None:
            super().__init__()
            self.turn = turn
            self.number = number

    class Copy(Message):
        """The reader wants a citation in the clipboard, a number from 1."""

        def __init__(self, turn: Turn, number: int) -> None:
            super().__init__()
            self.turn = turn
            self.number = number

    class Again(Message):
        """The reader wants the question of a turn asked once more."""

        def __init__(self, turn: Turn) -> None:
            super().__init__()
            self.turn = turn

    class Evidence(Message):
        """The reader wants to go to the evidence."""

    def __init__(self) -> None:
        super().__init__()
        self.here: PieceView | None = None
        self.limits: dict[Filters, str] = {}
        self._above: list[Turn] = []
        # Where the newest turn was put into view; elsewhere is the reader.
        self._put = 0.0
        self._put_wanted = False

    def compose(self) -> ComposeResult:
        yield Earlier()

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._after_layout, immediate=True)

    @property
    def turns(self) -> list[Turn]:
        """The whole conversation, what stands above included, oldest first."""
        return [*self._above, *(view.turn for view in self._views())]

    @property
    def turn(self) -> Turn | None:
        """The turn where the reader is; the last one where they are nowhere."""
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
        """Show a question that is being answered, and go there."""
        views = self._views()
        # What is far above costs time at every change of the layout.
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
        """Take the focus even where there is nothing to scroll: its keys open citations."""
        return True

    def view_of(self, progress: AnswerProgress) -> TurnView | None:
        """The turn that is being answered with this progress, if it is here."""
        return next((view for view in self._views() if view.progress is progress), None)

    def follow(self, view: TurnView) -> None:
        """Keep a turn that grows in view, unless the reader has gone elsewhere."""
        if view.progress is not None and view.progress.changed and self.scroll_y == self._put:
            self._show_newest()

    async def end(self, view: TurnView, turn: Turn) -> None:
        """Show what has become of a question; who has not gone elsewhere sees its beginning."""
        follows = self._put_wanted or self.scroll_y == self._put
        await view.end(turn)
        if follows:
            self._show_newest()

    async def bring_earlier(self) -> None:
        """Show some of the turns above; what is in view stays where it is."""
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
        """Go to the next claim, or the one before; where there is none, scroll."""
        steps = [step for view in self._views() for step in view.steps]
        at = steps.index(self.here) + by if self.here in steps else self._nearest(steps, by)
        if 0 <= at < len(steps):
            self._reach(steps[at])
        else:
            self.scroll_relative(y=by * 3, animate=False)
            if by < 0 and self.scroll_y == 0:
                await self.bring_earlier()

    def action_open(self) -> None:
        """See the source of the claim where the reader is, or the passage named there."""
        if self.here is not None and self.here.piece.near:
            self.post_message(self.OpenNear(self.here.turn_view.turn, self.here.piece.near))
        elif self.here is not None and self.here.piece.citations:
            self.action_cite(self.here.piece.citations[0])
        else:
            self.action_cite(1)

    def action_cite(self, number: int) -> None:
        if self.turn is not None:
            self.post_message(self.Open(self.turn, number))

    def action_copy(self) -> None:
        """Copy the quotation of the claim where the reader is."""
        if self.turn is not None:
            cited = self.here.piece.citations if self.here is not None else ()
            self.post_message(self.Copy(self.turn, cited[0] if cited else 1))

    def action_again(self) -> None:
        if self.turn is not None:
            self.post_message(self.Again(self.turn))

    def action_evidence(self) -> None:
        self.post_message(self.Evidence())

    def on_piece_view_reached(self, event: PieceView.Reached) -> None:
        """Go to what was clicked."""
        self._reach(event.view)

    def on_piece_view_cited(self, event: PieceView.Cited) -> None:
        """See the source whose number was clicked."""
        self.post_message(self.Open(event.view.turn_view.turn, event.number))

    def on_piece_view_neared(self, event: PieceView.Neared) -> None:
        """See the passage whose place was clicked."""
        self.post_message(self.OpenNear(event.view.turn_view.turn, event.number))

    async def on_earlier_wanted(self) -> None:
        """Show some of the turns above."""
        await self.bring_earlier()

    def _view(self, turn: Turn, progress: AnswerProgress | None = None) -> TurnView:
        return TurnView(turn, progress, self.limits.get(turn.query.filters, ""))

    def _views(self) -> list[TurnView]:
        return [view for view in self.children if isinstance(view, TurnView)]

    def _show_newest(self) -> None:
        """Bring the last question to the top, or as far up as its answer begins in view."""
        self._put_wanted = True
        self.call_after_refresh(self._put_newest)

    def _put_newest(self) -> None:
        views = self._views()
        # What was just mounted may have no place before the next layout.
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
        # Both in one paint; a paragraph out of view that changes would cost one of its own.
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
