"""Go to a provision: what is typed is found while it is typed, Enter goes there."""

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from localrag.language import N_, _
from localrag_tui.jump.finder import Finder
from localrag_tui.screen import Dialogue
from localrag_tui.shown import harmless

if TYPE_CHECKING:
    from localrag_tui.source.pane import SourcePane


class JumpDialogue(Dialogue):
    """Gives back the `Spot` that was chosen.

    A place without a law is one of the law that is read on the screen below.
    """

    CSS: ClassVar[str] = """
    JumpDialogue {
        align: center top;
        & > .box { width: 76; max-width: 100%; max-height: 90%; margin-top: 2; padding: 1 1 0 1; }
        .heading { padding: 0 1; margin: 0 0 1 0; }
        Finder { height: auto; max-height: 100%; }
        Finder.-typed { height: auto; }
        Finder OptionList { max-height: 10; }
        #preview {
            height: auto; max-height: 5; padding: 0 1; background: $panel; color: $foreground;
            display: none;
        }
        #preview.-filled { display: block; }
    }
    JumpDialogue.-wide > .box, JumpDialogue.-normal > .box { width: 90; margin-top: 4; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # The field takes Enter too, but tells nobody in the footer.
        Binding("enter", "submit", N_("Go there"), id="jump.submit", priority=True),
    ]

    def action_submit(self) -> None:
        """Go to what is typed."""
        self.query_one(Finder).submit()

    def body(self) -> ComposeResult:
        """The field with its offers, and how the one looked at begins."""
        yield Static(_("Go to a provision"), classes="heading")
        yield Finder(self._law_in_view())
        yield Static(id="preview")

    def on_mount(self) -> None:
        """Typing goes into the field at once."""
        self.query_one(Input).focus()

    @on(Finder.Looked)
    def _preview(self, event: Finder.Looked) -> None:
        text = event.offer.preview if event.offer else ""
        preview = self.query_one("#preview", Static)
        preview.set_class(bool(text), "-filled")
        preview.update(Content(harmless(text)))

    @on(Finder.Chosen)
    def _chosen(self, event: Finder.Chosen) -> None:
        self.dismiss(event.spot)

    def _law_in_view(self) -> str:
        panes = cast("list[SourcePane]", [*self.app.screen_stack[-2].query("SourcePane")])
        read = sorted(panes, key=lambda pane: not pane.has_focus_within)
        return next((pane.spot.document_id for pane in read if pane.spot), "")
