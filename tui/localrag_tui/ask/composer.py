"""Where questions are written."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from localrag.durable import replace_text
from localrag.errors import BusyError, StorageError
from localrag.language import N_, _
from localrag_tui.ask.typing_area import OptionsArea, QuestionArea
from localrag_tui.shown import cut, one_line

if TYPE_CHECKING:
    from localrag.retrieval.types import Query


class Unsent(NamedTuple):
    """A question on its way.

    Attributes:
        text: of the question.
        options: a line each.
    """

    text: str = ""
    options: str = ""


class UnsentFile:
    """Keeps it in a folder of the workspace; what cannot be read or written is done without.

    Every open workbench has a file of its own there, and takes over that of one that has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._held = ExitStack()
        self._kept = Unsent()
        self._writing = asyncio.Lock()

    async def read(self) -> Unsent:
        """What was kept the last time."""
        self._kept = await asyncio.to_thread(self._take_over)
        return self._kept

    async def write(self, unsent: Unsent) -> None:
        """Keep it, where it is another one than before."""
        async with self._writing:
            if unsent != self._kept:
                self._kept = unsent
                await asyncio.to_thread(self._write, unsent)

    def close(self) -> None:
        """Leave what is kept to the next workbench."""
        self._held.close()

    def _take_over(self) -> Unsent:
        # Locks are only looked at where there is something: nothing is imported for none.
        with suppress(OSError, StorageError):
            self._claim(sorted(self._folder.glob("*.json")))
        return _read(self._path) if self._path is not None else Unsent()

    def _write(self, unsent: Unsent) -> None:
        # It only saves typing; the question itself is written down when it is asked.
        with suppress(OSError, StorageError):
            if self._path is None:
                numbered = (self._folder / f"{number}.json" for number in count(1))
                self._claim(path for path in numbered if not path.exists())
            if self._path is not None:
                _write(self._path, unsent)

    def _claim(self, paths: Iterable[Path]) -> None:
        """Take the first of these that no other workbench has."""
        for path in paths:
            from localrag.durable import locked

            with suppress(BusyError):
                self._held.enter_context(locked(path.with_suffix(".lock"), BusyError(path.name)))
                self._path = path
                return


def _read(path: Path) -> Unsent:
    try:
        kept = json.loads(path.read_bytes())
        return Unsent(str(kept["text"]), str(kept["options"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Unsent()


def _write(path: Path, unsent: Unsent) -> None:
    if unsent == Unsent():
        path.unlink(missing_ok=True)
    else:
        # Surrogates of a strange paste cannot be encoded.
        replace_text(path, json.dumps(unsent._asdict()))


# From so many characters on their number is shown.
_LONG = 2_000
# Seconds between two times that what was typed is kept.
_PACE = 0.7


class Composer(Vertical):
    """The question and, for a method that chooses between some, its options.

    What is typed is kept in a file until it is asked.

    Attributes:
        question: the field of the question.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "screen.to_answer", N_("Answer (1-9)"), id="ask.answer"),
    ]

    class Asked(Message):
        """A question is to be asked."""

        def __init__(self, query: "Query") -> None:
            super().__init__()
            self.query = query

    def __init__(self, kept: UnsentFile) -> None:
        super().__init__()
        self.question = QuestionArea(placeholder=_("Ask a question"), id="question")
        self._options = OptionsArea(placeholder=_("An option on each line"), id="options")
        self._kept = kept
        self._typed = False

    def compose(self) -> ComposeResult:
        yield self.question

    async def complete(self) -> None:
        """Make the field of the options, and show what was typed the last time."""
        await self.mount(Horizontal(Static(id="labels"), self._options))
        unsent = await self._kept.read()
        if not self.question.text and not self._options.text:
            self._show(unsent)
        self.set_interval(_PACE, self._keep)

    async def on_unmount(self) -> None:
        await self._keep()
        self._kept.close()

    @property
    def choosing(self) -> bool:
        """Whether options are asked for."""
        return self.has_class("-choosing")

    @choosing.setter
    def choosing(self, choosing: bool) -> None:
        self.set_class(choosing, "-choosing")
        self.question.has_options = choosing
        if choosing:
            self._label()
        elif self._options.has_focus:
            self.question.focus()
        self.screen.refresh_bindings()

    def sent(self, query: "Query") -> None:
        """Forget a question that is asked and written down, unless another one is typed here."""
        self.question.before.add(query.text)
        if self._query == query:
            self._show(Unsent())
            if self._options.has_focus:
                self.question.focus()

    def put(self, query: "Query") -> None:
        """Show a question to be asked, perhaps after a change."""
        self._show(Unsent(query.text, "\n".join(query.options)))

    def on_question_area_asked(self, event: QuestionArea.Asked) -> None:
        """Ask what was typed."""
        event.stop()
        self.post_message(self.Asked(self._query))

    def on_question_area_left(self, event: QuestionArea.Left) -> None:
        """Go on with the options."""
        event.stop()
        self._options.focus()

    def on_options_area_left(self, event: OptionsArea.Left) -> None:
        """Go back to the question."""
        event.stop()
        self.question.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Say how long a long text is, and label the options."""
        event.stop()
        self._typed = True
        self.border_title = self._counted()
        if self.choosing:
            self.call_after_refresh(self._label)

    @property
    def _query(self) -> "Query":
        from localrag.retrieval.types import Query

        options = self._options.options if self.choosing else ()
        return Query(self.question.typed.strip(), options)

    def _counted(self) -> str:
        """How long a long question is, as it would be sent; "" of others."""
        if len(self.question.typed) + len(self._options.typed) < _LONG:
            return ""
        from localrag.retrieval.query import characters

        return _("{n:,} characters").format(n=characters(self._query))

    def _show(self, unsent: Unsent) -> None:
        self.question.put(unsent.text)
        self._options.put(unsent.options)

    def _label(self) -> None:
        from localrag.methods.catalogue import LABELS

        rows = dict(zip(self._options.rows or [0], LABELS, strict=False))
        lines = [rows.get(row, "") for row in range(max(rows) + 1)]
        shown = lines[self._options.scroll_offset.y :][: self._options.size.height or 1]
        self.query_one("#labels", Static).update(Content("\n".join(shown)))

    async def _keep(self) -> None:
        if self._typed:
            self._typed = False
            await self._kept.write(Unsent(self.question.typed, self._options.typed))


DEFAULT_READER = N_("default reader")
_GAP = 2


class StatusLine(Widget):
    """Corpus, method and model on the left, tokens and seconds on the right.

    One widget: while an answer is made the cost changes many times a second, and lays out nothing.
    """

    class Pressed(Message):
        """Something else is to answer."""

    def __init__(self) -> None:
        super().__init__()
        self._with = self._limit = self._cost = ""

    def answer_with(self, corpus: str, method: str, model: str) -> None:
        """Say what answers the next question; "" for the default reader and for no model."""
        parts = (corpus, method or _(DEFAULT_READER), model or _("no model"))
        self._with = " · ".join(map(one_line, parts))
        self.refresh()

    def limit(self, words: str) -> None:
        """Say what the next question is limited to; "" for nothing."""
        self._limit = one_line(words)
        self.refresh()

    def show(self, cost: str) -> None:
        """Say what the answer costs, or has cost."""
        cost = one_line(cost)
        if cost != self._cost:
            self._cost = cost
            self.refresh()

    def render(self) -> Content:
        """Both; what answers gives way where there is no room."""
        room = max(0, self.content_size.width - cell_len(self._cost) - _GAP)
        left = set_cell_size(cut(" · ".join(filter(None, (self._limit, self._with))), room), room)
        limit = len(self._limit)
        return Content.assemble(
            (left[:limit], "bold $accent"), left[limit:], " " * _GAP, self._cost
        )

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Pressed())
