"""The filters in use, a chip each, in one line."""

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from localrag.language import N_, _
from localrag_tui.search.facets import ABOUT, TITLES
from localrag_tui.shown import cut

# Cells around the value of a chip: padding, margin, the colon after its title, that it is the only.
_AROUND = 11
_NARROWEST = 8


class FilterChips(Horizontal, can_focus=True):
    """What is filtered by; where nothing is, what can be. A click or Enter edits it."""

    DEFAULT_CSS: ClassVar[str] = """
    FilterChips {
        height: 1;
        padding: 0 1;
        background: $surface;
        &:focus { background: $block-cursor-blurred-background; }
        .chip {
            display: none;
            width: auto;
            margin-right: 2;
            color: $foreground-muted;
            &:hover { color: $foreground; }
            &.-shown { display: block; }
            &.-on { background: $panel; padding: 0 1; }
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "press", N_("Filters"), id="search.edit", show=False),
    ]

    class Pressed(Message):
        """Somebody wants to edit the filters."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}
        self._chips = {facet: Static(id=f"chip-{facet}", classes="chip") for facet in TITLES}

    def compose(self) -> ComposeResult:
        """The chips."""
        yield from self._chips.values()

    def show(self, values: dict[str, str]) -> None:
        """Show what each facet is narrowed to; "" where it is not."""
        self._values = {facet: value for facet, value in values.items() if value}
        self._write()

    def on_resize(self) -> None:
        """Cut the values to what there is room for."""
        self._write()

    def on_click(self, event: Click) -> None:
        """Edit them."""
        event.stop()
        self.action_press()

    def action_press(self) -> None:
        """Edit them."""
        self.post_message(self.Pressed())

    def _write(self) -> None:
        titles = {facet: _(TITLES[facet]) for facet in self._values or TITLES}
        taken = sum(cell_len(title) + _AROUND for title in titles.values())
        room = max(_NARROWEST, (self.size.width - taken) // len(titles))
        for facet, chip in self._chips.items():
            chip.set_class(facet in titles, "-shown")
            chip.set_class(facet in self._values, "-on")
            if facet not in titles:
                continue
            value = self._values.get(facet, "")
            only = _("only {value}").format(value=cut(value, room))
            shown = (only, "bold $accent") if value else _("all")
            chip.update(Content.assemble(f"{titles[facet]}: ", shown))
            chip.tooltip = Content(f"{_(ABOUT[facet])}: {value or _('all')}")
