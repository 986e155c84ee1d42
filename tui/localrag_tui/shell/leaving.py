"""Leaving while something runs: it is asked first."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from localrag.language import N_, _, ngettext
from localrag_tui.screen import Dialogue
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import one_line

_CONSEQUENCE = N_(
    "They stop when you leave. What they have finished is kept, and they can be resumed."
)


class LeaveDialogue(Dialogue):
    """Says what runs and that it can be resumed; gives back True where the user leaves."""

    CSS: ClassVar[str] = """
    LeaveDialogue > .box {
        width: 70; max-width: 96%; height: auto; max-height: 90%;
        padding: 1 2;
        Static { height: auto; margin: 0 0 1 0; }
        Horizontal { height: auto; align-horizontal: right; }
        Button { margin: 0 0 0 1; }
    }
    """

    def compose(self) -> ComposeResult:
        """What runs, and the two ways."""
        running = self.bench.jobs.running
        head = ngettext("{n} job is running.", "{n} jobs are running.", len(running))
        titles = "\n".join(f"· {one_line(job.title)}" for job in running)
        with Vertical(classes="box"):
            yield Static(Content.styled(head.format(n=len(running)), "bold"))
            yield Static(Content(titles))
            yield Static(Content(_(_CONSEQUENCE)))
            with Horizontal():
                yield Button(_("Stay"), id="stay", variant="primary")
                yield Button(_("Stop and leave"), id="quit")
        yield KeyBar()

    def on_mount(self) -> None:
        """Staying is the default."""
        self.query_one("#stay").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Stay, or leave."""
        self.dismiss(True if event.button.id == "quit" else None)
