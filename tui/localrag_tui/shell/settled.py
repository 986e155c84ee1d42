"""A screen that is laid out for the size that the terminal has now."""

from textual.geometry import Size
from textual.screen import Screen, ScreenResultType


class SettledScreen(Screen[ScreenResultType]):
    """Textual's own, but for a terminal that is resized again before it was laid out.

    A layout tells its screen of the new size, and each such message makes a layout of that size:
    two sizes on their way would bring forth one another for ever.
    """

    def _screen_resized(self, size: Size) -> None:
        del size
        super()._screen_resized(self.app.size)
