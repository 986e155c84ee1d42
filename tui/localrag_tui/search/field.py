"""The field of the search."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Paste
from textual.message import Message

from localrag.language import N_, _
from localrag_tui.shown import harmless
from localrag_tui.widgets.text_field import TextField

MAX_CHARACTERS = 1_000
"""Longest search, in characters: what is longer is a document."""


class SearchField(TextField):
    """One line; what is pasted becomes one line too, and what does not fit is told."""

    DEFAULT_CSS: ClassVar[str] = """
    SearchField, SearchField:focus {
        height: 1;
        border: none;
        padding: 0 2;
        background: $panel;
        background-tint: $foreground 0%;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "go_down", N_("Results"), id="search.results"),
    ]

    class Left(Message):
        """The user goes on to the results."""

    def __init__(self, value: str) -> None:
        super().__init__(value, max_length=MAX_CHARACTERS, select_on_focus=False)
        self.placeholder = _("Search: words, a provision or a question")

    def action_go_down(self) -> None:
        """Go to the results."""
        self.post_message(self.Left())

    def on_paste(self, event: Paste) -> None:
        """Put in all lines as one."""
        event.stop()
        event.prevent_default()
        text = " ".join(harmless(event.text).split())
        room = MAX_CHARACTERS - len(self.value) + len(self.selected_text)
        if len(text) > room:
            self.notify(
                _("Of {n:,} characters {room:,} fit into a search.\nThe rest was left out.").format(
                    n=len(text), room=room
                ),
                severity="warning",
                markup=False,
            )
        self.replace(text[:room], *self.selection)
