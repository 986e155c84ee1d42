"""Fields, the form for all questions, and asking for a file to write."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Paste
from textual.geometry import Size
from textual.reactive import Reactive
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Select, Static
from textual.widgets.button import ButtonVariant

from localrag.errors import FileExistsAlready, LocalragError, NotFoundError, UsageError
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag_tui.screen import Dialogue
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, cure_of

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_LONGEST = 2_000
"""Characters; a much longer line would slow down every key."""


class TextField(Input):
    """Textual's own, with harmless text, cut at `max_length` characters."""

    # A longer line moves nothing: no new layout.
    virtual_size = Reactive(Size(0, 0))

    def __init__(self, value: str = "", *, max_length: int = _LONGEST, **others: Any) -> None:
        super().__init__(one_line(value[:max_length]), max_length=max_length, **others)

    def validate_value(self, value: str) -> str:
        return one_line(value[: self.max_length])

    def on_paste(self, event: Paste) -> None:
        """Insert the first line, as far as it fits."""
        event.prevent_default()
        event.stop()
        lines = event.text.splitlines()
        start, end = sorted(self.selection)
        room = (self.max_length or 0) - len(self.value) + end - start
        self.replace(one_line(lines[0][: max(0, room)] if lines else ""), start, end)


_LOOKED_AT = 5_000
"""Most entries of a folder looked at for a suggestion."""


class PathSuggester(Suggester):
    """Suggests files and folders; reads a folder in a thread."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(completed, value)


class PathInput(TextField):
    """A path, completed while typing."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own
        super().__init__(value, placeholder=placeholder, id=id, suggester=PathSuggester())

    @property
    def path(self) -> Path:
        """The typed path; ``~`` is the home of the user."""
        return as_path(self.value)


def as_path(typed: str) -> Path:
    """A typed or pasted path without quotation marks; ``~`` is home, an unknown user is kept."""
    text = typed.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path.expanduser raises


def as_day(typed: str) -> str:
    """A day (2020-04-01, 2020年4月1日, 令和二年四月一日) in ISO; "" for none, else UsageError."""
    if not typed.strip():
        return ""
    from localrag.text.dates import read_day

    if day := read_day(typed):
        return day.isoformat()
    raise UsageError(
        _("{date} is not a date.").format(date=typed.strip()),
        _("Write it as 2024-04-01 or 令和6年4月1日."),
    )


def existing(typed: str) -> Path:
    """The typed file or folder. Raises `UsageError` or `NotFoundError`."""
    if not typed.strip():
        raise UsageError(_("No file or folder is named."))
    path = as_path(typed)
    if not path.exists():
        raise NotFoundError(
            _("There is no {path}.").format(path=typed),
            _("Check the path; the right arrow accepts the suggestion."),
        )
    return path


def completed(typed: str) -> str | None:
    """The first path beginning with the typed text; folders end with a slash."""
    folder, _, begun = typed.rpartition("/")
    if not typed or not (folder or typed.startswith("/")) or not begun:
        return None
    try:
        with os.scandir(as_path(folder + "/")) as entries:
            looked_at = (entry for _, entry in zip(range(_LOOKED_AT), entries, strict=False))
            fitting = [entry for entry in looked_at if entry.name.startswith(begun)]
            first = min(fitting, key=lambda entry: entry.name, default=None)
            if first is None or not first.name.isprintable():
                return None
            return f"{folder}/{first.name}{'/' if first.is_dir() else ''}"
    except (OSError, ValueError):
        return None


class Field(Vertical):
    """A label, a widget (by default a line of text), beneath it a description or an error."""

    def __init__(
        self,
        name: str,
        label: str,
        value: str = "",
        *,
        is_path: bool = False,
        hint: str = "",
        about: str = "",
        beside: bool = False,
        widget: Widget | None = None,
    ) -> None:
        super().__init__(name=name, classes="-beside" if beside else "")
        self._label = label
        self._about = about
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
        self.explain(self._about)
        if isinstance(self.widget, Select):
            self.watch(self.widget, "expanded", self._paint_anew, init=False)

    def _paint_anew(self) -> None:
        self.call_after_refresh(self.screen.refresh)

    @property
    def value(self) -> str:
        """The text or choice; "" for other widgets."""
        match self.widget:
            case Input():
                return self.widget.value.strip()
            case Select():
                return str(self.widget.value)
            case _:
                return ""

    def explain(self, text: str) -> None:
        self._about = text
        self._say(".about", text)

    def tell(self, error: LocalragError | None) -> None:
        self.query_one(".about").display = bool(self._about) and error is None
        self._say(".wrong", f"{error.cause} {cure_of(error)}".rstrip() if error else "")

    def _say(self, place: str, text: str) -> None:
        line = self.query_one(place, Paragraph)
        line.display = bool(text)
        line.show(content(text))


class WrongField(UsageError):  # noqa: N818 - the name says what is wrong
    """The value of a field is wrong."""

    def __init__(self, field: str, error: UsageError) -> None:
        super().__init__(*error.args, **error.fields)
        self.field = field


class Form(Dialogue):
    """Asks for a few values; returns them as a `dict` by name of the field.

    Without fields it is a question of yes or no. `check` runs in a thread. Its error is shown, a
    `WrongField` at its field, and the form stays.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # The field takes Enter, too, but shows nothing in the footer.
        Binding("enter", "submit", N_("Go on"), id="form.submit", priority=True),
        Binding("enter", "turn_back", N_("Leave"), id="form.turn_back", priority=True),
        Binding("tab", "app.focus_next", N_("Next field"), id="form.next"),
        Binding("ctrl+s", "save", N_("Save"), id="settings.save"),
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
        saves: bool = False,
    ) -> None:
        super().__init__(classes="-saves" if saves else "")
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
        if self._fields:
            self._fields[0].widget.focus()
        else:
            self.query_one("#leave" if self._danger else "#go").focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Enter to a list of choices."""
        turns_back = self.focused is not None and self.focused.id == "leave"
        if action == "turn_back":
            return turns_back
        if action == "submit" and (turns_back or isinstance(self.focused, Select | OptionList)):
            return False
        if action == "save":
            return self.has_class("-saves")
        return super().check_action(action, parameters)

    def action_save(self) -> None:
        self.query_one("#go", Button).press()

    @on(Button.Pressed, "#leave")
    def action_turn_back(self) -> None:
        self.action_leave()

    @on(Button.Pressed, "#go")
    def action_submit(self) -> None:
        self._submitted()

    def complain(self, error: LocalragError) -> None:
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


Write = Callable[[Path, bool], None]
"""Writes a file, and replaces one only if allowed (`FileExistsAlready`)."""


async def save(bench: "Workbench", title: str, proposed: Callable[[], Path], write: Write) -> None:
    """Ask for a file until it is written, or the user leaves; `proposed` runs in a thread."""
    path = await asyncio.to_thread(proposed)
    written = False

    def check(values: dict[str, str]) -> None:
        nonlocal path, written
        if not values["path"]:
            raise UsageError(_("No file is named."))
        path = as_path(values["path"]).absolute()
        with suppress(FileExistsAlready):
            write(path, False)
            written = True

    while not written:
        fields = [Field("path", _("File"), str(path), is_path=True)]
        form = Form(title, go=_("Export"), fields=fields, check=check)
        if await bench.push_screen_wait(form) is None:
            return
        if not written:
            replacing = Form(
                _("Replace the file that is there?"),
                str(path),
                go=_("Replace"),
                check=lambda _values: write(path, True),
                danger=True,
            )
            written = await bench.push_screen_wait(replacing) is not None
    bench.notify(one_line(str(path)), title=_("Exported to"), markup=False)


def working_folder() -> Path:
    """The working folder; the home of the user if it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()
