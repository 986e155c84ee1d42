"""A dialogue with a few fields: what is wrong with one is said below them, and nothing is lost."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.screen import Dialogue
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import harmless
from localrag_tui.widgets.field import Field


class Form(Dialogue):
    """Asks for a few values; gives them back as a `dict` by name of the field.

    Args:
        title: what is asked.
        text: what there is to know before answering.
        go: the word on the button.
        fields: what is asked for; without any it is a question of yes or no.
        check: looks at the values, in a thread; what it raises is shown, and the form stays.
        danger: whether what is agreed to cannot be undone.
    """

    CSS: ClassVar[str] = """
    Form > .box {
        width: 76; max-width: 96%; height: auto; max-height: 94%;
        background: $surface; padding: 1 2;
        .text { height: auto; color: $foreground; margin: 1 0 0 0; }
        Field { margin: 1 0 0 0; }
        #problem { height: auto; color: $text-error; margin: 1 0 0 0; display: none; }
        Horizontal { height: 1; margin: 1 0 0 0; }
        Button { margin: 0 2 0 0; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # A field takes Enter too, but tells nobody in the footer.
        Binding("enter", "submit", N_("Go on"), id="form.submit", priority=True),
        Binding("tab", "app.focus_next", N_("Next field"), id="form.next"),
    ]

    def __init__(
        self,
        title: str,
        text: str = "",
        *,
        go: str,
        fields: Sequence[Field] = (),
        check: Callable[[dict[str, str]], object] = dict,
        danger: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._text, self._go, self._danger = title, text, go, danger
        self._fields = fields
        self._check = check

    def compose(self) -> ComposeResult:
        """The question, the fields, the buttons."""
        with Vertical(classes="box"):
            yield Static(Content(harmless(self._title)), classes="heading")
            if self._text:
                yield Static(Content(harmless(self._text)), classes="text")
            yield from self._fields
            yield Static(id="problem")
            with Horizontal():
                yield Button(
                    Content(self._go),
                    id="go",
                    variant="error" if self._danger else "primary",
                    compact=True,
                )
                yield Button(Content(_("Leave")), id="leave", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin in the first field; what cannot be undone is not the first choice."""
        first = "Input" if self._fields else "#leave" if self._danger else "#go"
        self.query(first).first().focus()

    @on(Button.Pressed, "#leave")
    def _leave(self) -> None:
        self.action_leave()

    @on(Button.Pressed, "#go")
    def action_submit(self) -> None:
        """Check what is filled in, and go on; on the other button, leave."""
        if self.focused is not None and self.focused.id == "leave":
            self.action_leave()
        else:
            self._submitted()

    @work(exclusive=True)
    async def _submitted(self) -> None:
        values = {entry.id or "": entry.value.strip() for entry in self.query(Input)}
        try:
            await asyncio.to_thread(self._check, values)
        except LocalragError as error:
            wrong = self.query_one("#problem", Static)
            wrong.update(Content(harmless(f"{error.cause}\n{error.cure}".strip())))
            wrong.display = True
            return
        self.dismiss(values)
