"""A row of a list that is written for the width which the list has."""

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

if TYPE_CHECKING:
    from textual.css.styles import RulesMap


class AdaptiveRow(Visual):
    """What an option of a list shows; only rows that are in view are written."""

    HEIGHT: ClassVar[int] = 1
    """In cells, whatever the width."""

    @abstractmethod
    def write(self, width: int) -> Content:
        """Write `HEIGHT` lines, none wider than `width` cells."""

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """Write it for a width."""
        return self.write(width).render_strips(width, height, style, options)

    def get_optimal_width(self, _rules: "RulesMap", container_width: int) -> int:
        """Whatever there is."""
        return container_width

    def get_height(self, _rules: "RulesMap", _width: int) -> int:
        """Always the same."""
        return self.HEIGHT
