"""The line below the conversation: what answers, and what it costs."""

from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from localrag.language import _
from localrag_tui.ask.ways import DEFAULT_READER
from localrag_tui.shown import cut, one_line

_GAP = 2


class StatusLine(Widget):
    """Corpus, method and model on the left, tokens and seconds on the right.

    One widget: while an answer is made the cost changes many times a second, and lays out nothing.
    """

    DEFAULT_CSS: ClassVar[str] = """
    StatusLine {
        height: 1; background: $panel; color: $foreground-muted; padding: 0 1;
        text-wrap: nowrap;
    }
    """

    class Pressed(Message):
        """Something else is to answer."""

    def __init__(self) -> None:
        super().__init__()
        self._with = self._limit = self._cost = ""

    def answer_with(self, corpus: str, method: str, model: str) -> None:
        """Say what answers the next question; "" for the default reader and for no model."""
        from localrag_tui.ask.wording import SEPARATOR

        parts = (corpus, method or _(DEFAULT_READER), model or _("no model"))
        self._with = SEPARATOR.join(map(one_line, parts))
        self.refresh()

    def limit(self, words: str) -> None:
        """Say what the next question is limited to; "" for nothing."""
        self._limit = one_line(words)
        self.refresh()

    def show(self, cost: str) -> None:
        """Say what the answer costs, or has cost."""
        cost = one_line(cost)
        if cost != self._cost:
            self._cost = cost
            self.refresh()

    def render(self) -> Content:
        """Both; what answers gives way where there is no room."""
        room = max(0, self.content_size.width - cell_len(self._cost) - _GAP)
        left = set_cell_size(cut(" · ".join(filter(None, (self._limit, self._with))), room), room)
        limit = len(self._limit)
        return Content.assemble(
            (left[:limit], "bold $accent"), left[limit:], " " * _GAP, self._cost
        )

    def on_click(self, event: Click) -> None:
        """Have something else chosen."""
        event.stop()
        self.post_message(self.Pressed())
