"""Other wordings of a provision: its states, side by side, and as another one has it read."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from localrag.harmless import Layout
from localrag.history import History, headline
from localrag.history.comparing import Difference
from localrag.language import N_, _
from localrag.reading import wording
from localrag_tui.screen import Dialogue
from localrag_tui.shown import content, harmless, one_line
from localrag_tui.source.links import AsRead
from localrag_tui.widgets.paragraph import Paragraph


class StatesDialogue(Dialogue):
    """A provision through the states of its law, the latest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="states.copy"),
        Binding("enter", "leave", N_("Close"), id="states.close"),
    ]

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history

    def body(self) -> ComposeResult:
        yield Static(Content(one_line(self._history.title)), classes="heading")
        with VerticalScroll():
            if len(self._history.versions) == 1:
                yield Paragraph(content(_("The corpus has one state of this law.")))
            for version in reversed(self._history.versions):
                yield Paragraph(content(one_line(headline(version))), classes="period")
                for difference in version.change.lines if version.change else ():
                    yield from _side_by_side(difference)
            for fact in self._history.notes:
                yield Paragraph(content(one_line(str(fact))), classes="period")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        """Copy all of it, what went behind a minus and what came behind a plus."""
        lines = [self._history.title]
        for version in reversed(self._history.versions):
            lines += ["", headline(version)]
            for difference in version.change.lines if version.change else ():
                lines += [f"- {difference.before.text}"] if difference.before else []
                lines += [f"+ {difference.after.text}"] if difference.after else []
        lines += ["", *map(str, self._history.notes)]
        self.bench.copy(harmless("\n".join(lines)))


def _side_by_side(difference: Difference) -> ComposeResult:
    before, after = difference.before, difference.after
    if difference.place:
        yield Static(content(one_line(difference.place)), classes="place")
    with Horizontal():
        yield Paragraph(content(before.text if before else ""), classes="before")
        yield Paragraph(content(after.text if after else ""), classes="after")


_OF_LAW = "$foreground-muted"
# Rows that are shown above the first words that are replaced.
_ABOVE = 3


class AsReadDialogue(Dialogue):
    """A provision as another one has it read; gives back True where that one is to be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="as_read.copy"),
        Binding("enter", "open", N_("To what reads it so"), id="as_read.open"),
    ]

    def __init__(self, found: AsRead) -> None:
        super().__init__()
        self._found = found

    def body(self) -> ComposeResult:
        text = self._found.text
        yield Paragraph(content(self._found.title), classes="heading")
        yield Paragraph(content(wording.made_by_code(text)), classes="mark")
        with VerticalScroll():
            yield Paragraph(self._read, classes="read")
            if text.left_out:
                yield Paragraph(content(self._left_out), classes="left")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.call_after_refresh(self._go_to_first)

    def _go_to_first(self) -> None:
        """Show the first words that are replaced: a long provision may have them far below."""
        rows = Layout(self._read.plain, self.query_one(".read").content_size.width)
        first = self._read.plain.find("【")
        if first >= 0:
            self.query_one(VerticalScroll).scroll_to(y=rows.row_of(first) - _ABOVE, animate=False)

    def action_open(self) -> None:
        """Go to the provision that has it read so."""
        self.dismiss(True)

    def action_copy(self) -> None:
        """Copy all of it, what is made by code marked so."""
        text = self._found.text
        read = "".join(map("".join, wording.as_read(text)))
        parts = [wording.made_by_code(text), f"「{read.strip()}」（{self._found.title}）"]
        self.bench.copy(harmless("\n\n".join(filter(None, [*parts, self._left_out]))))

    @property
    def _read(self) -> Content:
        """The text, the words that are replaced standing out."""
        parts = [
            (content(read, "bold $text-accent" * bool(of_law)), content(of_law, _OF_LAW))
            for read, of_law in wording.as_read(self._found.text)
        ]
        return Content.assemble(*(part for pair in parts for part in pair))

    @property
    def _left_out(self) -> str:
        """The readings that were not made, a line each."""
        lines = ["".join(wording.replacement(words)) for words in self._found.text.left_out]
        return "\n".join([wording.not_made(), *lines]) if lines else ""
