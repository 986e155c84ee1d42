"""A question to begin with, where one is known that the corpus answers."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from localrag.language import N_, _
from localrag_tui.shown import content

if TYPE_CHECKING:
    from localrag_tui.library import Library


async def question_for(library: "Library") -> str:
    """A question that a corpus answers; "" where none is known: only the sample has one.

    Raises:
        LocalragError: the corpus cannot be read.
    """
    from localrag.sample import ANSWERED_BY, QUESTION

    passage = await library.read(lambda store: store.by_id(ANSWERED_BY))
    return QUESTION if passage is not None else ""


class Example(Static, can_focus=True):
    """The question; Enter or a click asks it."""

    DEFAULT_CSS: ClassVar[str] = """
    Example {
        width: auto; max-width: 100%; margin-top: 1; padding: 0 1;
        background: $panel; color: $foreground; display: none;
        &:focus { background: $block-cursor-blurred-background; text-style: bold; }
        &:hover { background: $block-cursor-blurred-background; }
        &.-known { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ask", N_("Ask this"), id="ask.example"),
    ]

    class Asked(Message):
        """The question is to be asked."""

        def __init__(self, question: str) -> None:
            super().__init__()
            self.question = question

    def __init__(self) -> None:
        super().__init__()
        self._question = ""

    def offer(self, question: str) -> None:
        """Offer a question; "" offers none."""
        self._question = question
        self.set_class(bool(question), "-known")
        hint = _("for example (Tab, Enter):")
        self.update(Content.assemble((f"{hint} ", "$foreground-muted"), content(question)))

    def action_ask(self) -> None:
        """Ask it."""
        self.post_message(self.Asked(self._question))

    def on_click(self) -> None:
        """Ask it."""
        self.action_ask()
