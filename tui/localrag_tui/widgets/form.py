"""A dialogue with a few fields: what is wrong with one is said below them, and nothing is lost."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, OptionList, Select, Static
from textual.widgets.button import ButtonVariant

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.screen import Dialogue
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
        leave: the word on the other button; "" for "Leave".
        danger: whether what is agreed to cannot be undone.
    """

    CSS: ClassVar[str] = """
    Form > .box {
        width: 76;
        Field { margin: 1 0 0 0; }
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
        leave: str = "",
        danger: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._text, self._go, self._danger = title, text, go, danger
        self._leave_word = leave or _("Leave")
        self._fields = fields
        self._check = check

    def body(self) -> ComposeResult:
        """The question, the fields, the buttons."""
        yield Static(Content(harmless(self._title)), classes="heading")
        if self._text:
            yield Static(Content(harmless(self._text)), classes="text")
        yield from self._fields
        yield Static(classes="problem")
        with Horizontal(classes="buttons"):
            variant: ButtonVariant = "error" if self._danger else "primary"
            yield Button(Content(self._go), id="go", variant=variant, compact=True)
            yield Button(Content(self._leave_word), id="leave", compact=True)

    def on_mount(self) -> None:
        """Begin in the first field; what cannot be undone is not the first choice."""
        if self._fields:
            self._fields[0].widget.focus()
        else:
            self.query_one("#leave" if self._danger else "#go").focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Enter to a list of choices, which opens and takes with it."""
        if action == "submit" and isinstance(self.focused, Select | OptionList):
            return False
        return super().check_action(action, parameters)

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
        values = {field.name or "": field.value for field in self.query(Field)}
        try:
            await asyncio.to_thread(self._check, values)
        except LocalragError as error:
            self.complain(error)
            return
        self.dismiss(values)
