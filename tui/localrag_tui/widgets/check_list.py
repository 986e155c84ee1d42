"""A list of which several are chosen."""

from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widgets import SelectionList

from localrag.language import N_


class CheckList(SelectionList[str]):
    """A `SelectionList` whose boxes are empty where nothing is chosen.

    Textual draws a mark there in the colour of its ground, which is read out, copied, and seen
    where a terminal has colours of its own.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", N_("Choose"), id="list.choose"),
    ]

    def render_line(self, y: int) -> Strip:
        """A choice with its box."""
        strip = super().render_line(y)
        index = self.scroll_offset.y + y
        if index >= self.option_count:
            return strip
        if self.get_option_at_index(index).value in self.selected:
            return strip
        before, mark, *others = strip
        return Strip([before, Segment(" " * len(mark.text), mark.style), *others])
