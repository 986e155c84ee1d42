"""What a newcomer sees first: three ways to begin."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.language import N_, _
from localrag_tui.screen import Dialogue
from localrag_tui.widgets.listing import Listing

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_CHOICES = {
    "sample": (
        N_("Try the sample corpus"),
        N_("Invented laws and pages; added and ready to ask in a few seconds."),
    ),
    "own": (
        N_("Add my own documents"),
        N_("Laws, PDF, Word, text … from a file or folder; they stay as they are."),
    ),
    "leave": (
        N_("Look around first"),
        N_("Documents can be added at any time: Ctrl+P, Add documents."),
    ),
}


class WelcomeList(Listing):
    """The three ways."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Choose"), id="welcome.choose"),
        Binding("1", "take(0)", show=False, id="welcome.sample"),
        Binding("2", "take(1)", show=False, id="welcome.own"),
        Binding("3", "take(2)", show=False, id="welcome.leave"),
    ]

    def action_take(self, place: int) -> None:
        self.highlighted = place
        self.action_select()


class Welcome(Dialogue):
    """Shown where the workspace has no corpus; gives back ``sample``, ``own`` or nothing."""

    CSS: ClassVar[str] = """
    Welcome > .box {
        width: 74; max-width: 96%; height: auto; max-height: 94%;
        background: $surface; padding: 1 2;
        .text { height: auto; margin: 1 0; }
        WelcomeList { height: auto; }
    }
    """

    def body(self) -> ComposeResult:
        yield Static(Content(_("Welcome to localrag")), classes="heading")
        yield Static(
            Content(
                _(
                    "Questions are answered from documents on this machine, with the place"
                    " of every quotation. It works without a model and never uses the"
                    " network unless you pull one."
                )
            ),
            classes="text",
        )
        yield WelcomeList(*(_option(number, name) for number, name in enumerate(_CHOICES, 1)))

    def on_mount(self) -> None:
        choices = self.query_one(WelcomeList)
        choices.highlighted = 0
        choices.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the choice back."""
        self.dismiss(event.option_id if event.option_id != "leave" else None)


def _option(number: int, name: str) -> Option:
    title, about = _CHOICES[name]
    words = Content.assemble(
        (f"{number}  {_(title)}", "bold"), "\n   ", (_(about), "$foreground-muted"), "\n"
    )
    return Option(words, id=name)


async def greet(bench: "Workbench") -> None:
    """Show the three ways where there is no corpus, and go the one that is chosen."""
    from localrag_tui.corpora.actions import add, tell_errors, try_sample

    def go(choice: object) -> None:
        if choice == "sample":
            tell_errors(bench, try_sample)
        elif choice == "own":
            tell_errors(bench, add)

    if not await asyncio.to_thread(bench.workspace.corpora):
        bench.push_screen(Welcome(), go)
