"""The line to find words in the page, in any width and case."""

import asyncio
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from localrag.language import N_, _
from localrag_indexes.analysis.normalize import (
    normalize,
    normalize_with_offsets,
    original_span,
)
from localrag_tui.shell.base import Latest
from localrag_tui.shell.form import TextField


def find_all(text: str, words: str) -> list[tuple[int, int]]:
    """The places of some words in a text, in order, as spans in characters.

    Words compare as in a search: ＡＢＣ is abc, ｶﾞ is ガ. Blanks and line feeds may separate them.
    """
    wanted = normalize(words).split()
    if not wanted:
        return []
    normal, offsets = _normalized(text)
    pattern = re.compile(r"\s+".join(map(re.escape, wanted)))
    found = (original_span(offsets, *match.span()) for match in pattern.finditer(normal))
    return list(dict.fromkeys(found))


# The open page is searched at every key.
@lru_cache(maxsize=1)
def _normalized(text: str) -> tuple[str, Sequence[int]]:
    return normalize_with_offsets(text)


class FindBar(Horizontal):
    """Finds words while they are typed; the newest words win.

    Attributes:
        current: index of the current one, if any.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", N_("Read there"), id="find.read", priority=True),
        # Before the keys that scroll the field.
        Binding("down", "go(1)", N_("Next"), id="find.next", priority=True),
        Binding("up", "go(-1)", N_("Previous"), id="find.previous", show=False, priority=True),
        Binding("escape", "close", N_("Close"), id="find.close"),
    ]

    class Moved(Message):
        """Other words were found, or another place is current."""

    class Left(Message):
        """The search is done: go back to the page."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.found: list[tuple[int, int]] = []
        self.current: int | None = None
        self._from = 0
        self._finding = Latest(self._find)

    def compose(self) -> ComposeResult:
        yield Static(Content("/"), id="find-mark")
        yield TextField(id="find-words", placeholder=_("find in this document"), compact=True)
        yield Static(id="find-count")

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self, text: str, position: int) -> None:
        """Search a text, from a position."""
        self.text, self._from = text, position
        self.add_class("-open")
        field = self.query_one(Input)
        field.focus()
        field.select_all()
        self._look(field.value)

    def action_close(self) -> None:
        self.remove_class("-open")
        self.found, self.current = [], None
        self.post_message(self.Moved())
        self.post_message(self.Left())

    def action_go(self, step: int) -> None:
        if self.current is None:
            return
        self.current = (self.current + step) % len(self.found)
        self._tell()

    def go(self, step: int, start: int, end: int) -> None:
        """Go to the next or previous place; after scrolling, from the view.

        Args:
            step: 1 or -1.
            start: the first character in view.
            end: the character after the last one.
        """
        if self.current is not None and not start <= self.found[self.current][0] < end:
            ahead = bisect_left(self.found, (start,))
            self.current = (ahead if step > 0 else ahead - 1) % len(self.found)
            self._tell()
        else:
            self.action_go(step)

    def action_read(self) -> None:
        self.post_message(self.Left())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self._look(event.value)

    def _look(self, words: str) -> None:
        self.run_worker(self._finding.want(words), group="find")

    async def _find(self, words: str) -> None:
        found = await asyncio.to_thread(find_all, self.text, words)
        if self._finding.overtaken or not self.is_open:
            return
        ahead = bisect_left(found, (self._from,))
        self.found = found
        self.current = ahead % len(found) if found else None
        self._tell()

    def _tell(self) -> None:
        count = ""
        if self.query_one(Input).value.strip():
            at = 0 if self.current is None else self.current + 1
            count = f"{at:,} / {len(self.found):,}" if self.found else _("no match")
        self.query_one("#find-count", Static).update(Content(count))
        self.post_message(self.Moved())
