"""A field of a form: its label, what is filled in, and what is wrong with it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Select, Static

from localrag.errors import LocalragError
from localrag_tui.shown import content
from localrag_tui.widgets.path_input import PathInput
from localrag_tui.widgets.text_field import TextField


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

    DEFAULT_CSS: ClassVar[str] = """
    Field {
        height: auto;
        .label { height: auto; color: $foreground-muted; }
        .about, .wrong { height: auto; display: none; }
        .about { color: $foreground-muted; }
        .wrong { color: $text-error; }
        Input { background: $panel; }
        Select.-textual-compact > SelectCurrent { padding: 0 1; }
        SelectCurrent .arrow { color: $foreground; }
        SelectionList { height: auto; border: none; background: $panel; padding: 0 1; }
        SelectionList:focus { border: none; }
        &.-beside {
            layout: grid; grid-size: 2; grid-columns: 18 1fr; grid-rows: auto;
            .about, .wrong { column-span: 2; padding: 0 0 0 18; }
        }
    }
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
        if widget is None:
            kind = PathInput if is_path else TextField
            widget = kind(value, placeholder=hint, id=name)
        if isinstance(widget, Input):
            widget.compact = True
        self.widget = widget

    def compose(self) -> ComposeResult:
        """The label, the widget, the two lines below."""
        yield Static(Content(self._label), classes="label")
        yield self.widget
        yield Static(classes="about")
        yield Static(classes="wrong")

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
        self._say(".about", text)

    def tell(self, error: LocalragError | None) -> None:
        """Say what is wrong; None for nothing."""
        self._say(".wrong", f"{error.cause} {error.cure}".rstrip() if error else "")

    def _say(self, place: str, text: str) -> None:
        line = self.query_one(place, Static)
        line.display = bool(text)
        line.update(content(text))
