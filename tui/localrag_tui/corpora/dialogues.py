"""The corpora of the workspace and the documents of one: chosen, and removed."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag_tui.corpora.work import STATES, CorpusRow, overview
from localrag_tui.screen import Dialogue
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import content, one_line
from localrag_tui.widgets.form import Form
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.widgets.text_field import TextField
from localrag_tui.wording import palette
from localrag_tui.work.job import Job

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore

_COUNT = 16
"""Cells of a column of counts."""
_OFFERED = 200
"""Documents that are listed; words narrow them down."""


class CorporaList(Listing):
    """The corpora, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Choose"), id="corpora.choose"),
        Binding("d", "screen.documents", N_("Documents"), id="corpora.documents"),
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

    def compose(self) -> ComposeResult:
        """The list, and below it what is wrong with the corpus under the cursor."""
        with Vertical(classes="box"):
            yield Static(Content(_("Choose the corpus")), classes="heading")
            yield CorporaList()
            yield Static(classes="problem")
        yield KeyBar()

    def on_mount(self) -> None:
        """Look at the corpora, and again when one was indexed."""
        self.query_one(CorporaList).focus()
        self._unlisten = self.bench.jobs.listen(self._after_job)
        self._fill()

    def on_unmount(self) -> None:
        """Nobody listens any more."""
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
    async def action_documents(self) -> None:
        """Show what the corpus holds."""
        if self._row is not None and not self._row.problem:
            await self.app.push_screen_wait(DocumentsDialogue(self._row.name))

    @work
    async def action_remove(self) -> None:
        """Remove the corpus, after asking."""
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


class DocumentsList(Listing):
    """Documents, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "screen.remove", N_("Remove"), id="documents.remove"),
    ]


class DocumentsDialogue(Dialogue):
    """The documents of a corpus; gives back whether one was removed.

    Args:
        corpus: its name.
    """

    CSS: ClassVar[str] = """
    DocumentsDialogue > .box {
        width: 110; max-width: 96%; height: 90%; max-height: 36;
        background: $surface; padding: 1 2 0 2;
        TextField { background: $panel; margin: 1 0; }
        DocumentsList { height: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
        .more { height: auto; color: $foreground-muted; display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "to_list", N_("To the list"), id="documents.to_list"),
    ]

    def __init__(self, corpus: str) -> None:
        super().__init__()
        self._corpus = corpus
        self._removed = False

    def compose(self) -> ComposeResult:
        """A field for words above the documents whose titles hold them."""
        with Vertical(classes="box"):
            heading = _("Documents of “{name}”").format(name=one_line(self._corpus))
            yield Static(Content(heading), classes="heading")
            yield TextField(placeholder=_("words of the title"), max_length=200, compact=True)
            yield DocumentsList()
            yield Static(classes="more")
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the first documents."""
        self.query_one(TextField).focus()
        self._fill()

    def on_input_changed(self) -> None:
        """Show those whose titles hold what is typed."""
        self._fill()

    def on_input_submitted(self) -> None:
        """Go to the list."""
        self.action_to_list()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The arrow goes to the list from the field alone."""
        if action == "to_list":
            return isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def action_to_list(self) -> None:
        """Choose among the documents."""
        listing = self.query_one(DocumentsList)
        if listing.option_count:
            listing.focus()

    def action_leave(self) -> None:
        """Close; whoever has removed something has it taken out of the index, too."""
        self.dismiss(self._removed)
        if self._removed:
            from localrag_tui.corpora.actions import start_index

            try:
                start_index(self.bench, self._corpus)
            except LocalragError as error:
                self.bench.tell(error)

    @work
    async def action_remove(self) -> None:
        """Remove the document under the cursor, after asking."""
        from localrag.ingest.remove import remove_documents

        option, bench = self.query_one(DocumentsList).highlighted_option, self.bench
        if not isinstance(option, Valued):
            return
        document, title = option.value
        form = Form(
            _("Remove this document?"),
            f"{title}\n\n" + _("It is taken out of the corpus; your own file stays where it is."),
            go=_("Remove"),
            check=lambda _values: remove_documents(bench.workspace, self._corpus, [document]),
            danger=True,
        )
        if await self.app.push_screen_wait(form) is not None:
            self._removed = True
            self._fill()

    @work(exclusive=True, group="fill")
    async def _fill(self) -> None:
        words = self.query_one(TextField).value.casefold().split()
        try:
            found = await self.bench.library_of(self._corpus).read(_holding(words))
        except LocalragError as error:
            self.bench.tell(error)
            return
        listing = self.query_one(DocumentsList)
        place = listing.highlighted or 0
        listing.clear_options()
        for document, title in found[:_OFFERED]:
            line = Content.assemble(
                one_line(title), (f"  {one_line(document)}", "$foreground-muted")
            )
            listing.add_option(Valued(line, (document, title)))
        if found:
            listing.highlighted = min(place, listing.option_count - 1)
        more = self.query_one(".more", Static)
        more.display = len(found) > _OFFERED or not found
        further = _("Further documents: type words of their titles.")
        more.update(Content(further if found else _("No title holds these words.")))


def _holding(words: list[str]) -> "Callable[[CorpusStore], list[tuple[str, str]]]":
    """Documents (id and title) that hold all of some words, one more than are listed."""

    def look(store: "CorpusStore") -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for document in store.documents():
            named = f"{document.title} {document.id}".casefold()
            if all(word in named for word in words):
                found.append((document.id, document.title))
                if len(found) > _OFFERED:
                    break
        return found

    return look


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
