"""A field for a line of text that may come from anywhere."""

from typing import Any

from textual.events import Paste
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from localrag_tui.shown import one_line

_LONGEST = 2_000
"""Characters; a much longer line would hold up every key."""


class TextField(Input):
    """Textual's own, whose text does nothing to a terminal and has an end.

    Args:
        value: what stands there at first.
        max_length: in characters; what goes beyond it is cut.
        others: as `Input` takes them.
    """

    # A key makes the line longer, and moves nothing on the screen: it is not laid out again.
    virtual_size = Reactive(Size(0, 0))

    def __init__(self, value: str = "", *, max_length: int = _LONGEST, **others: Any) -> None:
        super().__init__(one_line(value[:max_length]), max_length=max_length, **others)

    def validate_value(self, value: str) -> str:
        """Keep what may stand there, however it was set."""
        return one_line(value[: self.max_length])

    def on_paste(self, event: Paste) -> None:
        """Put in the first line, as much of it as there is room for."""
        event.prevent_default()
        event.stop()
        lines = event.text.splitlines()
        start, end = sorted(self.selection)
        room = (self.max_length or 0) - len(self.value) + end - start
        self.replace(one_line(lines[0][: max(0, room)] if lines else ""), start, end)
