"""Choosing the corpus that is asked, read and searched."""

import asyncio
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static

from localrag.language import N_, _
from localrag_tui.corpora.overview import STATES, CorpusRow, overview
from localrag_tui.screen import Dialogue
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import content
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.wording import palette

_COUNT = 16
"""Cells of a column of counts."""


class CorporaList(Listing):
    """The corpora, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Choose"), id="corpora.choose"),
    ]


class ChooseCorpus(Dialogue):
    """The corpora of the workspace; gives back the name of the one that was chosen."""

    CSS: ClassVar[str] = """
    ChooseCorpus > .box {
        width: 92; max-width: 98%; height: auto; max-height: 80%;
        background: $surface; padding: 1 2;
        .heading { margin: 0 0 1 0; }
        CorporaList { height: auto; max-height: 16; }
        .problem { height: auto; color: $text-error; margin: 1 0 0 0; display: none; }
    }
    """

    def compose(self) -> ComposeResult:
        """The list, and below it what is wrong with the corpus under the cursor."""
        with Vertical(classes="box"):
            yield Static(Content(_("Choose the corpus")), classes="heading")
            yield CorporaList()
            yield Static(classes="problem")
        yield KeyBar()

    def on_mount(self) -> None:
        """Look at the corpora."""
        self.query_one(CorporaList).focus()
        self._fill()

    @work
    async def _fill(self) -> None:
        rows = await asyncio.to_thread(overview, self.bench.workspace)
        listing = self.query_one(CorporaList)
        widest = max((cell_len(row.name) for row in rows), default=0)
        listing.add_options(Valued(_line(row, widest), row) for row in rows)
        names = [row.name for row in rows]
        if self.bench.corpus in names:
            listing.highlighted = names.index(self.bench.corpus)
        if not names:
            self._say("\n".join((_("There is no corpus yet."), palette(_("Add documents")))))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say what is wrong with the corpus."""
        assert isinstance(event.option, Valued)
        self._say(event.option.value.problem)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the corpus back; one that cannot be opened is not chosen."""
        assert isinstance(event.option, Valued)
        row = event.option.value
        if row.problem:
            self.app.bell()
        else:
            self.dismiss(row.name)

    def _say(self, problem: str) -> None:
        line = self.query_one(".problem", Static)
        line.update(content(problem))
        line.display = bool(problem)


def _line(row: CorpusRow, widest: int) -> Content:
    name = (set_cell_size(row.name, widest), "bold")
    if row.problem:
        return Content.assemble(name, "  ", (_("damaged"), "$text-error"))
    counts = (
        _("{n} documents").format(n=f"{row.documents:,}"),
        _("{n} passages").format(n=f"{row.passages:,}"),
    )
    style = "$text-success" if row.index == "fresh" else "$text-warning"
    return Content.assemble(
        name,
        *(" " * max(2, _COUNT - cell_len(count)) + count for count in counts),
        "  ",
        (_(STATES[row.index]), style),
    )
