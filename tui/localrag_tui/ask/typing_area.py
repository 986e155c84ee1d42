"""The fields that questions and options are typed in."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.events import Paste
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea

from localrag.language import N_, _
from localrag_tui.shown import harmless


class QuestionHistory:
    """What stands at each step of the walk; what was changed there stays until one is asked.

    Args:
        questions: oldest first.
    """

    def __init__(self, questions: Sequence[str] = ()) -> None:
        self._questions = list(questions)
        self._changed: dict[int, str] = {}
        self._at = len(self._questions)

    def older(self, text: str) -> str | None:
        """Leave `text` and go one question back; None where there is none."""
        return self._go(-1, text)

    def newer(self, text: str) -> str | None:
        """Leave `text` and go one question forward, in the end to what was being typed."""
        return self._go(1, text)

    def add(self, question: str) -> None:
        """Take a question that was asked; the next walk begins after it."""
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
"""Of a text that is edited: more than a question may hold, so that none is cut that could be asked.
"""
_BREAK = "\N{WORD JOINER}\n"
_LONGEST = 400
_LONG = re.compile(rf"[^\n]{{{_LONGEST}}}(?=[^\n])")


def broken(text: str) -> str:
    """The text as it is edited."""
    return _LONG.sub(lambda line: line[0] + _BREAK, text)


def whole(text: str) -> str:
    """The text as it was meant."""
    return text.replace(_BREAK, "").replace(_BREAK[0], "")


class Fitted(NamedTuple):
    """A text that can be edited.

    Attributes:
        text: what there is of it, harmless.
        cut: whether its end was left out.
        joined: whether its last lines were made one.
    """

    text: str
    cut: bool
    joined: bool


def fitted(text: str, characters: int, lines: int) -> Fitted:
    """A text from anywhere, as it fits into so many characters and lines (at least one)."""
    kept = harmless(text[: max(0, characters)].replace("\r\n", "\n").replace("\r", "\n"))
    *first, last = kept.split("\n", max(0, lines - 1))
    whole_lines = "\n".join([*first, last.replace("\n", " ")])
    return Fitted(whole_lines, len(text) > characters, "\n" in last)


# F6 and F7 select text in Textual; here they are screens. Pages are those of the conversation. Keys
# for the start of a line are of little use in a long text: here they are for all of it.
_TAKEN = ("f6", "f7", "pageup", "pagedown", "ctrl+a", "ctrl+u")


_NAMED: dict[str, tuple[str | None, str]] = {
    "undo": ("ask.undo", N_("Undo")),
    "redo": ("ask.redo", N_("Redo")),
}


def _of_textual() -> Iterator[Binding]:
    """Textual's own keys of a text area, without those that are taken."""
    for binding in TextArea.BINDINGS:
        assert isinstance(binding, Binding)
        if keys := ",".join(key for key in binding.key.split(",") if key not in _TAKEN):
            # What has a name stands in the help.
            of_textual = (binding.id, binding.description)
            id_, description = _NAMED.get(binding.action, of_textual)
            yield replace(binding, key=keys, id=id_, description=description)


class TypingArea(TextArea, inherit_bindings=False):
    """A text area that grows with its text, and stays quick with a very long one."""

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
        """The text as it was meant."""
        return whole(self.text)

    def put(self, text: str) -> None:
        """Replace the text, with the cursor behind it."""
        self.load_text(broken(self._fitted(text, MOST_CHARACTERS, MOST_LINES)))
        self.move_cursor(self.document.end)

    def action_clear_all(self) -> None:
        """Delete the whole text, however long; undo brings it back."""
        self.clear()

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, if it is in the text.

        Textual scrolls in the middle of an undo, when the lines are gone and the cursor is not.
        """
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    def on_paste(self, event: Paste) -> None:
        """Put in as much as there is room for."""
        event.prevent_default()
        event.stop()
        characters = MOST_CHARACTERS - len(self.typed) + len(whole(self.selected_text))
        lines = MOST_LINES - self.document.line_count
        pasted = broken(self._fitted(event.text, characters, lines))
        self._type(pasted)

    def _fitted(self, text: str, characters: int, lines: int) -> str:
        """A text as there is room for it; what becomes of the rest is told."""
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
        """Put a text in the place of what is selected, with the cursor behind it."""
        done = self.replace(text, *self.selection, maintain_selection_offset=False)
        self.move_cursor(done.end_location)

    def _row(self) -> int:
        """The row of the cursor, as the text is wrapped."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y


class QuestionArea(TypingArea):
    """Where the question is typed; beyond its first and last row lie the questions before.

    Attributes:
        before: those questions.
        has_options: whether options are typed below it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ask", N_("Ask"), id="ask.send", priority=True),
        Binding("tab", "leave", N_("Options"), id="ask.options"),
        Binding("ctrl+j,shift+enter", "newline", N_("New line"), id="ask.newline", show=False),
    ]

    class Asked(Message):
        """The question is complete."""

    class Left(Message):
        """The options below are wanted."""

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
        """Go up, beyond the first row to the question before."""
        if select or self._row() > 0:
            super().action_cursor_up(select)
        elif (text := self.before.older(self.typed)) is not None:
            self.put(text)

    def action_cursor_down(self, select: bool = False) -> None:
        """Go down, beyond the last row to the question after, in the end to the options."""
        if select or self._row() < self.wrapped_document.height - 1:
            super().action_cursor_down(select)
        elif (text := self.before.newer(self.typed)) is not None:
            self.put(text)
        elif self.has_options:
            self.action_leave()


class OptionsArea(TypingArea):
    """Where the options are typed, a line each; Enter behind the last one asks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "next", N_("Next option"), id="ask.option", priority=True),
        Binding("enter", "ask", N_("Ask"), id="ask.send_options", priority=True),
    ]

    class Left(Message):
        """The question above is wanted."""

    @property
    def options(self) -> tuple[str, ...]:
        """What was typed, without empty lines."""
        return tuple(line.strip() for line in self.typed.splitlines() if line.strip())

    @property
    def rows(self) -> list[int]:
        """The row in which each option begins, as the text is wrapped."""
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
        """Say what Enter does here."""
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
