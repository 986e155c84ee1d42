"""The states of a provision: what changed in each, before and after side by side."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from localrag.history import Difference, History, headline
from localrag.language import N_, _
from localrag_tui.screen import Dialogue
from localrag_tui.shown import content, harmless, one_line
from localrag_tui.widgets.paragraph import Paragraph


class StatesDialogue(Dialogue):
    """A provision through the states of its law, the latest first."""

    CSS: ClassVar[str] = """
    StatesDialogue > .box {
        width: 130; max-width: 98%; height: auto; max-height: 94%;
        background: $surface; padding: 1 1;
        .heading { padding: 0 1 1 1; }
        VerticalScroll { height: auto; max-height: 100%; padding: 0 1; }
        .period { height: auto; margin: 1 0 0 0; text-style: bold; }
        .place { height: auto; color: $foreground-muted; }
        Horizontal { height: auto; }
        Horizontal > Paragraph { width: 1fr; height: auto; padding: 0 1 0 0; }
        .before { color: $text-error; }
        .after { color: $text-success; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="states.copy"),
        Binding("enter", "leave", N_("Close"), id="states.close"),
    ]

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history

    def body(self) -> ComposeResult:
        yield Static(Content(harmless(self._history.title)), classes="heading")
        with VerticalScroll():
            if len(self._history.versions) == 1:
                yield Paragraph(content(_("The corpus has one state of this law.")))
            for version in reversed(self._history.versions):
                yield Paragraph(content(one_line(headline(version))), classes="period")
                for difference in version.change.lines if version.change else ():
                    yield from _side_by_side(difference)

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
        self.bench.copy(harmless("\n".join(lines)))


def _side_by_side(difference: Difference) -> ComposeResult:
    before, after = difference.before, difference.after
    if difference.place:
        yield Static(content(one_line(difference.place)), classes="place")
    with Horizontal():
        yield Paragraph(content(before.text if before else ""), classes="before")
        yield Paragraph(content(after.text if after else ""), classes="after")
