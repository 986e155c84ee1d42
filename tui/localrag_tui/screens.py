"""The screens: how each is called and reached, what it is for, and where its class stands."""

from pkgutil import resolve_name
from typing import NamedTuple

from textual.screen import Screen

from localrag.language import N_


class ScreenEntry(NamedTuple):
    """A screen; title and text are messages marked with `N_`.

    Attributes:
        key: that leads to it.
        title: in the bar of screens.
        about: what it is for, in its help.
        place: module and class; imported when somebody goes there, not before the first paint.
    """

    key: str
    title: str
    about: str
    place: str

    def make(self) -> Screen[None]:
        """A new one."""
        screen: Screen[None] = resolve_name(self.place)()
        return screen


SCREENS = {
    "ask": ScreenEntry(
        "f2",
        N_("Ask"),
        N_(
            "Ask a question about the corpus: every claim of the answer carries the number of its"
            " citation, and a number opens the source at the quotation."
            " Conversations are kept as they are made."
        ),
        "localrag_tui.ask.screen:AskScreen",
    ),
    "read": ScreenEntry(
        "f3",
        N_("Read"),
        N_(
            "Read a law or a document with what is tied to it: references, delegated orders, terms."
            " Type a name, an abbreviation or a citation to open it."
        ),
        "localrag_tui.browse.screen:ReadScreen",
    ),
    "search": ScreenEntry(
        "f4",
        N_("Search"),
        N_(
            "Search the corpus without asking; results come as you type."
            " Enter or Down leads to them, Enter again opens one."
            " The ranking of every stage can be seen side by side."
        ),
        "localrag_tui.search.screen:SearchScreen",
    ),
    "runs": ScreenEntry(
        "f5",
        N_("Runs"),
        N_(
            "Batches and evaluations: start, stop and resume them, see what failed and why."
            " What has been answered is kept, whatever happens."
        ),
        "localrag_tui.runs.screen:RunsScreen",
    ),
    "models": ScreenEntry(
        "f6",
        N_("Models"),
        N_(
            "The models on this machine, what they take of its memory, and the findings of the"
            " doctor. Without a model, too, one can read, search, and be answered with quotations."
        ),
        "localrag_tui.models.screen:ModelsScreen",
    ),
    "check": ScreenEntry(
        "f7",
        N_("Check"),
        N_(
            "Check what a text says of laws: citations, quotations, figures, names."
            " Name a file or paste the text; what does not hold stands beside it, and Enter opens"
            " the provision. A report can be written."
        ),
        "localrag_tui.check.screen:CheckScreen",
    ),
}
"""All of them by their modes, in the order of the bar."""
