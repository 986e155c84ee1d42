"""The line below the conversation: what answers, and what it costs."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from localrag_tui.ask.ways import DEFAULT_READER
from localrag_tui.i18n import _
from localrag_tui.shown import content, one_line


class StatusLine(Horizontal):
    """Corpus, method and model on the left, tokens and seconds on the right."""

    DEFAULT_CSS: ClassVar[str] = """
    StatusLine {
        height: 1; background: $panel; color: $foreground-muted; padding: 0 1;
        #with { width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
        #cost { width: auto; padding: 0 0 0 2; text-wrap: nowrap; }
    }
    """

    class Pressed(Message):
        """Something else is to answer."""

    def compose(self) -> ComposeResult:
        """The two halves."""
        yield Static(id="with")
        yield Static(id="cost")

    def answer_with(self, corpus: str, method: str, model: str) -> None:
        """Say what answers the next question; "" for the default reader and for no model."""
        from localrag_tui.ask.wording import SEPARATOR

        parts = (corpus, method or _(DEFAULT_READER), model or _("no model"))
        line = SEPARATOR.join(map(one_line, parts))
        self.query_one("#with", Static).update(content(line))

    def show(self, cost: str) -> None:
        """Say what the answer costs, or has cost."""
        shown = self.query_one("#cost", Static)
        if shown.content != (text := content(cost)):
            shown.update(text)

    def on_click(self, event: Click) -> None:
        """Have something else chosen."""
        event.stop()
        self.post_message(self.Pressed())
