"""The corpora of the workspace: one is chosen to be asked, read and searched, or removed."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from localrag.language import N_, _, ngettext
from localrag_tui.corpora.work import STATES, CorpusRow, overview
from localrag_tui.screen import Dialogue
from localrag_tui.shown import content
from localrag_tui.widgets.form import Form
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.wording import palette
from localrag_tui.work.job import Job

if TYPE_CHECKING:
    pass

_COUNT = 16
"""Cells of a column of counts."""


class CorporaList(Listing):
    """The corpora, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Choose"), id="corpora.choose"),
        Binding("delete", "screen.remove", N_("Remove"), id="corpora.remove"),
    ]


class CorporaDialogue(Dialogue):
    """The corpora of the workspace; gives back the name of the one that was chosen."""

    CSS: ClassVar[str] = """
    CorporaDialogue > .box {
        width: 92; max-width: 98%; height: auto; max-height: 80%;
        background: $surface; padding: 1 2;
        .heading { margin: 0 0 1 0; }
        CorporaList { height: auto; max-height: 16; }
        .problem { height: auto; color: $text-error; margin: 1 0 0 0; display: none; }
    }
    """

    def body(self) -> ComposeResult:
        yield Static(Content(_("Choose the corpus")), classes="heading")
        yield CorporaList()
        yield Static(classes="problem")

    def on_mount(self) -> None:
        self.query_one(CorporaList).focus()
        self._unlisten = self.bench.jobs.listen(self._after_job)
        self._fill()

    def on_unmount(self) -> None:
        self._unlisten()

    def on_option_list_option_highlighted(self) -> None:
        """Say what is wrong with the corpus."""
        self._say(self._row.problem if self._row else "")

    def on_option_list_option_selected(self) -> None:
        """Give the corpus back; one that cannot be opened is not chosen."""
        if self._row is None or self._row.problem:
            self.app.bell()
        else:
            self.dismiss(self._row.name)

    @work
    async def action_remove(self) -> None:
        from localrag.ingest.remove import remove_corpus

        row, bench = self._row, self.bench
        if row is None:
            return
        documents = ngettext("{n:,} document", "{n:,} documents", row.documents)
        goes = _("Its index and {documents} go for good; your own files stay where they are.")
        form = Form(
            _("Remove the corpus {name}?").format(name=row.name),
            goes.format(documents=documents.format(n=row.documents)),
            go=_("Remove"),
            check=lambda _values: remove_corpus(bench.workspace, row.name),
            danger=True,
        )
        if await self.app.push_screen_wait(form) is not None:
            if bench.memory.choices.corpus == row.name:
                bench.memory.remember(corpus=None)
            self._fill()

    def _after_job(self, _job: Job, event: object) -> None:
        if event is None:
            self._fill()

    @work(exclusive=True, group="fill")
    async def _fill(self) -> None:
        rows = await asyncio.to_thread(overview, self.bench.workspace)
        listing, before = self.query_one(CorporaList), self._row
        widest = max((cell_len(row.name) for row in rows), default=0)
        listing.clear_options()
        listing.add_options(Valued(_line(row, widest), row) for row in rows)
        names = [row.name for row in rows]
        if names:
            used = before.name if before is not None else self.bench.corpus
            listing.highlighted = names.index(used) if used in names else 0
        else:
            self._say("\n".join((_("There is no corpus yet."), palette(_("Add documents")))))

    @property
    def _row(self) -> CorpusRow | None:
        """The corpus under the cursor."""
        option = self.query_one(CorporaList).highlighted_option
        return option.value if isinstance(option, Valued) else None

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
