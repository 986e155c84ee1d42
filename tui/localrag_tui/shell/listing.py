"""Lists of options: plain, with check boxes, and with rows of any width."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.events import MouseMove
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual, VisualType
from textual.widgets import OptionList, SelectionList
from textual.widgets.option_list import Option

from localrag.language import N_

if TYPE_CHECKING:
    from textual.css.styles import RulesMap


class Listing(OptionList):
    """An option list without frame; the cursor changes the background, not the colours."""

    def action_cursor_down(self) -> None:
        """Go to the next option; stay at the last one, where Textual wraps around."""
        before = self.highlighted
        super().action_cursor_down()
        if before is not None and (self.highlighted or 0) < before:
            self.highlighted = before

    def action_cursor_up(self) -> None:
        before = self.highlighted
        super().action_cursor_up()
        if before is not None and (self.highlighted or 0) > before:
            self.highlighted = before


T = TypeVar("T")


class Valued(Option, Generic[T]):
    """An option with a value; a message's index may be wrong when it is read, its value not."""

    def __init__(self, prompt: VisualType, value: T) -> None:
        super().__init__(prompt)
        self.value = value


class CheckList(SelectionList[str]):
    """A `SelectionList` with empty boxes; Textual's hidden mark shows in copies and terminals."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", N_("Choose"), id="list.choose"),
    ]

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        index = self.scroll_offset.y + y
        if index >= self.option_count:
            return strip
        if self.get_option_at_index(index).value in self.selected:
            return strip
        before, mark, *others = strip
        return Strip([before, Segment(" " * len(mark.text), mark.style), *others])


# Cells between a row and the scroll bar.
_BESIDE = 1
# Rows kept for their return into view.
_KEPT = 256


class AdaptiveRow(Visual):
    """The content of an option; only rows in view are written."""

    HEIGHT: ClassVar[int] = 1
    """Lines, for every width."""

    @abstractmethod
    def write(self, width: int) -> Sequence[Content]:
        """Write `HEIGHT` lines of at most `width` cells."""

    def render_strips(
        self, width: int, _height: int | None, style: Style, _options: RenderOptions | None
    ) -> list[Strip]:
        return [
            Strip(line.render_segments(style)).adjust_cell_length(width, style.rich_style)
            for line in self.write(width)
        ]

    def get_optimal_width(self, _rules: "RulesMap", container_width: int) -> int:
        return container_width

    def get_height(self, _rules: "RulesMap", _width: int) -> int:
        return self.HEIGHT


class AdaptiveList(OptionList):
    """A list of rows of one kind, drawn in half the time: each row has the right width.

    Textual asks styles and layout for every line, and wraps it. Here both are asked once a row.
    """

    ROW: ClassVar[type[AdaptiveRow]]
    """The kind of its rows."""

    def __init__(self, *rows: Any, **others: Any) -> None:
        super().__init__(*rows, **others)
        self._width = 0
        self._under_mouse: int | None = None
        self._drawn: dict[int, list[Strip]] = {}
        self._kept: LRUCache[tuple[object, int, Style], list[Strip]] = LRUCache(_KEPT)

    def render_lines(self, crop: Region) -> list[Strip]:
        self._drawn.clear()
        self._width = self.scrollable_content_region.width
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        index, line = divmod(self.scroll_offset.y + y, self.ROW.HEIGHT)
        if index >= self.option_count:
            return super().render_line(y)
        if index not in self._drawn:
            self._drawn[index] = self._draw(index)
        return self._drawn[index][line]

    def on_mouse_move(self, event: MouseMove) -> None:
        self._under_mouse = event.style.meta.get("option")

    def on_leave(self) -> None:
        self._under_mouse = None

    def _draw(self, index: int) -> list[Strip]:
        names = ["option-list--option"]
        if self.highlighted == index:
            names.append("option-list--option-highlighted")
        elif self._under_mouse == index:
            names.append("option-list--option-hover")
        # Textual finds the clicked option by it.
        style = self.get_visual_style(*names) + Style.from_meta({"option": index})
        row = self.get_option_at_index(index).prompt
        key = (row, self._width, style)
        strips = self._kept.get(key)
        if strips is None:
            assert isinstance(row, self.ROW)
            written = row.render_strips(self._width - _BESIDE, None, style, None)
            strips = [strip.extend_cell_length(self._width, style.rich_style) for strip in written]
            self._kept[key] = strips
        return strips
