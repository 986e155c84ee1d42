"""What is loaded, and the memory it takes: measured each second while it is in view."""

import asyncio
from typing import ClassVar

from textual import work
from textual.message import Message
from textual.widgets import Static

from localrag_tui.models.usage import Usage, measure
from localrag_tui.models.wording import memory
from localrag_tui.screen import bench_of

_EVERY = 1.0


class MemoryPane(Static):
    """Two lines on memory.

    Attributes:
        usage: as measured last; None before the first time.
    """

    DEFAULT_CSS: ClassVar[str] = """
    MemoryPane { height: auto; min-height: 2; padding: 0 1; }
    """

    class Measured(Message):
        """The memory was measured for the first time: whether a model fits can be said now."""

    def __init__(self) -> None:
        super().__init__()
        self.usage: Usage | None = None

    def on_mount(self) -> None:
        """Measure from now on."""
        self.set_interval(_EVERY, self._look)
        self._look()

    def _look(self) -> None:
        if self.screen.is_current:
            self._measure()

    @work(exclusive=True)
    async def _measure(self) -> None:
        engine = bench_of(self).engine
        first = self.usage is None
        self.usage = await asyncio.to_thread(measure, engine.pid)
        self.update(memory(self.usage, engine.model))
        if first:
            self.post_message(self.Measured())
