"""A dialogue with a few fields, and a field: what is wrong is said, and nothing is lost."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Select, Static
from textual.widgets.button import ButtonVariant

from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _
from localrag_tui.screen import Dialogue
from localrag_tui.shown import content
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.widgets.text_field import PathInput, TextField
from localrag_tui.wording import cure_of


class Field(Vertical):
    """A label, what is filled in, and beneath it what it does or what is wrong.

    Args:
        name: its key among the values of a form, and the id of what is filled in.
        label: what stands above it, or before it where the class ``-beside`` is set.
        value: what stands in it at first.
        is_path: paths are completed.
        hint: shown while it is empty.
        widget: what is filled in where that is no line of text; its id is `name`.
    """

    def __init__(
        self,
        name: str,
        label: str,
        value: str = "",
        *,
        is_path: bool = False,
        hint: str = "",
        widget: Widget | None = None,
    ) -> None:
        super().__init__(name=name)
        self._label = label
        self._explained = False
        if widget is None:
            kind = PathInput if is_path else TextField
            widget = kind(value, placeholder=hint, id=name)
        if isinstance(widget, Input):
            widget.compact = True
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield Static(Content(self._label), classes="label")
        yield self.widget
        yield Paragraph(classes="about")
        yield Paragraph(classes="wrong")

    def on_mount(self) -> None:
        """Paint the whole screen when choices are closed: what they covered by half, too."""
        if isinstance(self.widget, Select):
            self.watch(self.widget, "expanded", self._paint_anew, init=False)

    def _paint_anew(self) -> None:
        self.call_after_refresh(self.screen.refresh)

    @property
    def value(self) -> str:
        """What is filled in or chosen; of anything but a line or a choice nothing."""
        match self.widget:
            case Input():
                return self.widget.value.strip()
            case Select():
                return str(self.widget.value)
            case _:
                return ""

    def explain(self, text: str) -> None:
        """Say what it does; "" for nothing."""
        self._explained = bool(text)
        self._say(".about", text)

    def tell(self, error: LocalragError | None) -> None:
        """Say what is wrong, in the place of what it does; None for nothing."""
        self.query_one(".about").display = self._explained and error is None
        self._say(".wrong", f"{error.cause} {cure_of(error)}".rstrip() if error else "")

    def _say(self, place: str, text: str) -> None:
        line = self.query_one(place, Paragraph)
        line.display = bool(text)
        line.show(content(text))


class WrongField(UsageError):  # noqa: N818 - the name says what is wrong
    """What is filled into a field is wrong.

    Attributes:
        field: its name.
    """

    def __init__(self, field: str, error: UsageError) -> None:
        super().__init__(*error.args, **error.fields)
        self.field = field


class Form(Dialogue):
    """Asks for a few values; gives them back as a `dict` by name of the field.

    Args:
        title: what is asked.
        text: what there is to know before answering.
        go: the word on the button.
        fields: what is asked for; without any it is a question of yes or no.
        check: looks at the values, in a thread; what it raises is shown, a `WrongField` at its
            field, and the form stays.
        leave: the word on the other button; "" for "Leave".
        danger: whether what is agreed to cannot be undone.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # A field takes Enter too, but tells nobody in the footer.
        Binding("enter", "submit", N_("Go on"), id="form.submit", priority=True),
        Binding("enter", "turn_back", N_("Leave"), id="form.turn_back", priority=True),
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
        yield Paragraph(content(self._title), classes="heading")
        if self._text:
            yield Paragraph(content(self._text), classes="text")
        yield from self._fields
        yield Paragraph(classes="problem")
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
        turns_back = self.focused is not None and self.focused.id == "leave"
        if action == "turn_back":
            return turns_back
        if action == "submit" and (turns_back or isinstance(self.focused, Select | OptionList)):
            return False
        return super().check_action(action, parameters)

    @on(Button.Pressed, "#leave")
    def action_turn_back(self) -> None:
        """Leave by the other button."""
        self.action_leave()

    @on(Button.Pressed, "#go")
    def action_submit(self) -> None:
        """Check what is filled in, and go on."""
        self._submitted()

    def complain(self, error: LocalragError) -> None:
        """Say what is wrong where it is seen: at its field, else at the end of the form."""
        wrong = error.field if isinstance(error, WrongField) else None
        for field in self.query(Field):
            field.tell(error if field.name == wrong else None)
            if field.name == wrong:
                field.widget.focus(scroll_visible=False)
                field.scroll_visible(animate=False)
        problem = self.query_one(".problem")
        if wrong is None:
            super().complain(error)
            problem.scroll_visible(animate=False)
        else:
            problem.remove_class("-told")

    @work(exclusive=True)
    async def _submitted(self) -> None:
        values = {field.name or "": field.value for field in self.query(Field)}
        try:
            await asyncio.to_thread(self._check, values)
        except LocalragError as error:
            self.complain(error)
            return
        self.dismiss(values)
