"""The fields for a question and its options, and the line below them."""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, Paste
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from localrag.corpus.durable import replace_text
from localrag.errors import BusyError, StorageError
from localrag.language import N_, _
from localrag.text.harmless import cut, harmless, one_line

if TYPE_CHECKING:
    from localrag.search.types import Query


class QuestionHistory:
    """Earlier questions, as the field walks through them.

    An edited entry keeps its text until a question is asked.
    """

    def __init__(self, questions: Sequence[str] = ()) -> None:
        self._questions = list(questions)
        self._changed: dict[int, str] = {}
        self._at = len(self._questions)

    def older(self, text: str) -> str | None:
        """Keep `text` and go one question back; None at the oldest."""
        return self._go(-1, text)

    def newer(self, text: str) -> str | None:
        """Keep `text` and go one question forward, at last to the unsent text."""
        return self._go(1, text)

    def add(self, question: str) -> None:
        """Add a new question; the next walk starts after it."""
        if question not in self._questions[-1:]:
            self._questions.append(question)
        self._changed.clear()
        self._at = len(self._questions)

    def _go(self, by: int, text: str) -> str | None:
        to = self._at + by
        if not 0 <= to <= len(self._questions):
            return None
        self._changed[self._at] = text
        self._at = to
        asked = self._questions[to] if to < len(self._questions) else ""
        return self._changed.get(to, asked)


MOST_CHARACTERS, MOST_LINES = 60_000, 1_000
"""Limits of an edited text; a question may hold less."""
_BREAK = "\N{WORD JOINER}\n"
_LONGEST = 400
_LONG = re.compile(rf"[^\n]{{{_LONGEST}}}(?=[^\n])")


def broken(text: str) -> str:
    """Break long lines, so that editing stays fast."""
    return _LONG.sub(lambda line: line[0] + _BREAK, text)


def whole(text: str) -> str:
    """Remove the breaks of `broken`."""
    return text.replace(_BREAK, "").replace(_BREAK[0], "")


class Fitted(NamedTuple):
    """A text of editable size."""

    text: str
    cut: bool
    joined: bool


def fitted(text: str, characters: int, lines: int) -> Fitted:
    """Fit a text into so many characters and lines (at least one)."""
    kept = harmless(text[: max(0, characters)].replace("\r\n", "\n").replace("\r", "\n"))
    *first, last = kept.split("\n", max(0, lines - 1))
    whole_lines = "\n".join([*first, last.replace("\n", " ")])
    return Fitted(whole_lines, len(text) > characters, "\n" in last)


# Textual uses these keys to select, scroll or move; here they open screens, scroll the conversation
# or act on the whole text.
_TAKEN = ("f6", "f7", "pageup", "pagedown", "ctrl+a", "ctrl+u")


_NAMED: dict[str, tuple[str | None, str]] = {
    "undo": ("ask.undo", N_("Undo")),
    "redo": ("ask.redo", N_("Redo")),
}


def _of_textual() -> Iterator[Binding]:
    """Textual's own keys of a text area, without the taken ones."""
    for binding in TextArea.BINDINGS:
        assert isinstance(binding, Binding)
        if keys := ",".join(key for key in binding.key.split(",") if key not in _TAKEN):
            # Help lists only actions with an id.
            of_textual = (binding.id, binding.description)
            id_, description = _NAMED.get(binding.action, of_textual)
            yield replace(binding, key=keys, id=id_, description=description)


class TypingArea(TextArea, inherit_bindings=False):
    """A text area as high as its text; it stays fast with very long texts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+a", "select_all", N_("Select all"), id="ask.select_all", show=False),
        Binding("ctrl+u", "clear_all", N_("Delete all"), id="ask.clear", show=False),
        *_of_textual(),
    ]

    def __init__(self, *, placeholder: str, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
            placeholder=placeholder,
        )

    @property
    def typed(self) -> str:
        return whole(self.text)

    def put(self, text: str) -> None:
        """Replace the text; the cursor goes to its end."""
        self.load_text(broken(self._fitted(text, MOST_CHARACTERS, MOST_LINES)))
        self.move_cursor(self.document.end)

    def action_clear_all(self) -> None:
        self.clear()

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, if it is in the text.

        Textual scrolls in the middle of an undo, when the cursor is past the end.
        """
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    def on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        characters = MOST_CHARACTERS - len(self.typed) + len(whole(self.selected_text))
        lines = MOST_LINES - self.document.line_count
        pasted = broken(self._fitted(event.text, characters, lines))
        self._type(pasted)

    def _fitted(self, text: str, characters: int, lines: int) -> str:
        """Fit a text, and show a notice about dropped parts."""
        kept = fitted(text, characters, lines)
        if kept.cut:
            told = _("Of {n:,} characters {room:,} fit here.\nThe rest was left out.")
            told = told.format(n=len(text), room=max(0, characters))
            self.notify(told, severity="warning", markup=False)
        if kept.joined:
            told = _("More than {n:,} lines do not fit here.\nThe last ones were joined.")
            self.notify(told.format(n=MOST_LINES), severity="warning", markup=False)
        return kept.text

    def _type(self, text: str) -> None:
        done = self.replace(text, *self.selection, maintain_selection_offset=False)
        self.move_cursor(done.end_location)

    def _row(self) -> int:
        return self.wrapped_document.location_to_offset(self.cursor_location).y


class QuestionArea(TypingArea):
    """The field of the question; above and below lies the history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ask", N_("Ask"), id="ask.send", priority=True),
        Binding("tab", "leave", N_("Options"), id="ask.options"),
        Binding("ctrl+j,shift+enter", "newline", N_("New line"), id="ask.newline", show=False),
    ]

    class Asked(Message):
        """Ask the question."""

    class Left(Message):
        """Go to the options."""

    def __init__(self, *, placeholder: str, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(placeholder=placeholder, id=id)
        self.before = QuestionHistory()
        self.has_options = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.has_options if action == "leave" else super().check_action(action, parameters)

    def action_ask(self) -> None:
        self.post_message(self.Asked())

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_newline(self) -> None:
        self._type("\n")

    def action_cursor_up(self, select: bool = False) -> None:
        """Go up; from the first row to the previous question."""
        if select or self._row() > 0:
            super().action_cursor_up(select)
        elif (text := self.before.older(self.typed)) is not None:
            self.put(text)

    def action_cursor_down(self, select: bool = False) -> None:
        """Go down; from the last row to the next question, at last to the options."""
        if select or self._row() < self.wrapped_document.height - 1:
            super().action_cursor_down(select)
        elif (text := self.before.newer(self.typed)) is not None:
            self.put(text)
        elif self.has_options:
            self.action_leave()


class OptionsArea(TypingArea):
    """The options, one a line; Enter after the last one asks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "next", N_("Next option"), id="ask.option", priority=True),
        Binding("enter", "ask", N_("Ask"), id="ask.send_options", priority=True),
    ]

    class Left(Message):
        """Go to the question."""

    @property
    def options(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.typed.splitlines() if line.strip())

    @property
    def rows(self) -> list[int]:
        """The first row of each option in the wrapped text."""
        return [
            self.wrapped_document.location_to_offset((line, 0)).y
            for line in range(self.document.line_count)
            if self.document.get_line(line).strip()
        ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("next", "ask"):
            return self._at_end == (action == "ask")
        return super().check_action(action, parameters)

    def on_text_area_selection_changed(self) -> None:
        self.refresh_bindings()

    def action_next(self) -> None:
        self._type("\n")

    def action_ask(self) -> None:
        self.post_message(QuestionArea.Asked())

    def action_cursor_up(self, select: bool = False) -> None:
        if select or self._row() > 0:
            super().action_cursor_up(select)
        else:
            self.post_message(self.Left())

    @property
    def _at_end(self) -> bool:
        row, _column = self.cursor_location
        return bool(self.text) and not self.document.get_line(row).strip()


class Unsent(NamedTuple):
    """Text typed but not sent."""

    text: str = ""
    options: str = ""


class UnsentFile:
    """Keeps unsent text in a folder of the workspace; failures are ignored.

    Every open workbench has its own file. It takes over the file of a closed one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._held = ExitStack()
        self._kept = Unsent()
        self._writing = asyncio.Lock()

    async def read(self) -> Unsent:
        self._kept = await asyncio.to_thread(self._take_over)
        return self._kept

    async def write(self, unsent: Unsent) -> None:
        """Keep a text, if it has changed."""
        async with self._writing:
            if unsent != self._kept:
                self._kept = unsent
                await asyncio.to_thread(self._write, unsent)

    def close(self) -> None:
        self._held.close()

    def _take_over(self) -> Unsent:
        # An empty folder imports nothing.
        with suppress(OSError, StorageError):
            self._claim(sorted(self._folder.glob("*.json")))
        return _read(self._path) if self._path is not None else Unsent()

    def _write(self, unsent: Unsent) -> None:
        # Only typing would be lost; asked questions are stored.
        with suppress(OSError, StorageError):
            if self._path is None:
                numbered = (self._folder / f"{number}.json" for number in count(1))
                self._claim(path for path in numbered if not path.exists())
            if self._path is not None:
                _write(self._path, unsent)

    def _claim(self, paths: Iterable[Path]) -> None:
        """Take the first file not held by another workbench."""
        for path in paths:
            from localrag.corpus.durable import locked

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


# From this length on, the number of characters is shown.
_COUNTED_FROM = 2_000
# Seconds between two saves of the unsent text.
_PACE = 0.7


class Composer(Vertical):
    """The field of the question, and the field of its options if the method needs them.

    Unsent text is kept in a file.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "screen.to_answer", N_("Answer (1-9)"), id="ask.answer"),
    ]

    @dataclass
    class Asked(Message):
        """Ask a question."""

        query: "Query"

    def __init__(self, kept: UnsentFile) -> None:
        super().__init__()
        self.question = QuestionArea(placeholder=_("Ask a question"), id="question")
        self._options = OptionsArea(placeholder=_("An option on each line"), id="options")
        self._kept = kept
        self._typed = False

    def compose(self) -> ComposeResult:
        yield self.question

    async def complete(self) -> None:
        """Add the field of the options, and restore unsent text."""
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
        """Clear a question once it is stored, unless the text has changed."""
        self.question.before.add(query.text)
        if self._query == query:
            self._show(Unsent())
            if self._options.has_focus:
                self.question.focus()

    def put(self, query: "Query") -> None:
        self._show(Unsent(query.text, "\n".join(query.options)))

    def on_question_area_asked(self, event: QuestionArea.Asked) -> None:
        event.stop()
        self.post_message(self.Asked(self._query))

    def on_question_area_left(self, event: QuestionArea.Left) -> None:
        event.stop()
        self._options.focus()

    def on_options_area_left(self, event: OptionsArea.Left) -> None:
        event.stop()
        self.question.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Show the length of a long text, and label the options."""
        event.stop()
        self._typed = True
        self.border_title = self._counted()
        if self.choosing:
            self.call_after_refresh(self._label)

    @property
    def _query(self) -> "Query":
        from localrag.search.types import Query

        options = self._options.options if self.choosing else ()
        return Query(self.question.typed.strip(), options)

    def _counted(self) -> str:
        """The length of a long question; "" for others."""
        if len(self.question.typed) + len(self._options.typed) < _COUNTED_FROM:
            return ""
        from localrag.search.query import characters

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

    One widget: during an answer it changes many times a second, without a new layout.
    """

    def __init__(self) -> None:
        super().__init__()
        self._with = self._limit = self._cost = ""

    def answer_with(self, corpus: str, method: str, model: str) -> None:
        parts = (corpus, method or _(DEFAULT_READER), model or _("no model"))
        self._with = " · ".join(map(one_line, parts))
        self.refresh()

    def limit(self, words: str) -> None:
        """Show the limit of the next question; "" for no limit."""
        self._limit = one_line(words)
        self.refresh()

    def show(self, cost: str) -> None:
        """Show the cost of the answer."""
        cost = one_line(cost)
        if cost != self._cost:
            self._cost = cost
            self.refresh()

    def render(self) -> Content:
        room = max(0, self.content_size.width - cell_len(self._cost) - _GAP)
        left = set_cell_size(cut(" · ".join(filter(None, (self._limit, self._with))), room), room)
        limit = len(self._limit)
        return Content.assemble(
            (left[:limit], "bold $accent"), left[limit:], " " * _GAP, self._cost
        )

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.run_action("screen.choose")
