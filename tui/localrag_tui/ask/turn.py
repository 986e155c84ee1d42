"""One turn of a conversation on the screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click
from textual.message import Message

from localrag.conversations.types import Turn
from localrag_tui.ask.pieces import Piece, live, pieces, question
from localrag_tui.ask.progress import Progress
from localrag_tui.widgets.paragraph import Paragraph


class PieceView(Paragraph):
    """A paragraph of a turn; a click on it goes there, one on a number opens the citation."""

    class Cited(Message):
        """The number of a citation was clicked."""

        def __init__(self, view: "PieceView", number: int) -> None:
            super().__init__()
            self.view = view
            self.number = number

    class Reached(Message):
        """The paragraph was clicked."""

        def __init__(self, view: "PieceView") -> None:
            super().__init__()
            self.view = view

    def __init__(self, piece: Piece, turn_view: "TurnView") -> None:
        super().__init__(piece.content, classes=piece.kind)
        self.piece = piece
        self.turn_view = turn_view

    def action_cite(self, number: int) -> None:
        """Open a citation."""
        self.post_message(self.Cited(self, number))

    def on_click(self, event: Click) -> None:
        """Go to the paragraph."""
        if self.piece.step and "@click" not in event.style.meta:
            self.post_message(self.Reached(self))


class TurnView(Vertical):
    """A question with what has become of it.

    Args:
        turn: as it is written down.
        progress: of the answer that is being made for it; None where none is.
        limit: what the question is limited to, in words.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TurnView {
        height: auto;
        padding: 0 1 1 1;
        .question { border-left: outer $primary; padding: 0 1; margin: 0 0 0 0; }
        .reading { border-left: outer $primary; padding: 0 1; }
        .option { border-left: outer $primary; padding: 0 1 0 3; }
        .state, .live { margin: 1 0 0 0; padding: 0 1; }
        .cure, .draft, .result, .claim, .quotation, .computed, .note { padding: 0 1; }
        .result, .quotation { margin: 1 0 0 0; }
        .meta { padding: 0 1; margin: 1 0 0 0; }
        PieceView.-here { background: $primary 15%; }
    }
    """

    def __init__(self, turn: Turn, progress: Progress | None = None, limit: str = "") -> None:
        super().__init__()
        self.turn = turn
        self.progress = progress
        self._limit = limit

    def compose(self) -> ComposeResult:
        """The pieces of the turn as it is now."""
        if self.progress is None:
            yield from (PieceView(piece, self) for piece in pieces(self.turn, self._limit))
        else:
            yield from (PieceView(piece, self) for piece in question(self.turn.query, self._limit))
            yield Paragraph(live(self.progress), classes="live")

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
        await self.recompose()
