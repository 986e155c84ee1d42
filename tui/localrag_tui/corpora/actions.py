"""What can be done with corpora, from the command palette and from the first run."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Select, Static
from textual.widgets.option_list import Option

from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag_tui.corpora.work import (
    SAMPLE,
    STATES,
    CorpusRow,
    add_documents,
    add_sample,
    holds_documents,
    index_corpus,
    overview,
)
from localrag_tui.screen import Dialogue
from localrag_tui.shown import content
from localrag_tui.widgets.form import Field, Form
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.widgets.text_field import as_path, existing
from localrag_tui.wording import palette
from localrag_tui.work.jobs import Job, State

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_FOLLOW = "follow"
_COUNT = 16
"""Cells of a column of counts."""


class CorporaList(Listing):
    """The corpora, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Choose"), id="corpora.choose"),
        Binding("delete,d", "screen.remove", N_("Remove"), id="corpora.remove"),
    ]


class CorporaDialogue(Dialogue):
    """The corpora of the workspace; gives back the name of the one that was chosen."""

    def body(self) -> ComposeResult:
        yield Static(Content(_("Choose the corpus")), classes="heading")
        yield CorporaList()
        yield Paragraph(classes="problem")

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
            if bench.corpus == row.name:
                bench.memory.remember(corpus=None)
                left = bench.workspace.corpora()
                if left and bench.corpus not in left:
                    bench.memory.remember(corpus=left[0])
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
        used = self.bench.corpus
        listing.add_options(
            Valued(_line(row, widest, in_use=row.name == used), row) for row in rows
        )
        names = [row.name for row in rows]
        if names:
            chosen = before.name if before is not None else used
            listing.highlighted = names.index(chosen) if chosen in names else 0
        else:
            self._say("\n".join((_("There is no corpus yet."), palette(_("Add documents")))))

    @property
    def _row(self) -> CorpusRow | None:
        """The corpus under the cursor."""
        option = self.query_one(CorporaList).highlighted_option
        return option.value if isinstance(option, Valued) else None

    def _say(self, problem: str) -> None:
        line = self.query_one(".problem", Paragraph)
        line.show(content(problem))
        line.display = bool(problem)


def _line(row: CorpusRow, widest: int, *, in_use: bool) -> Content:
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
        (f" · {_('in use')}" if in_use else "", "$text-accent"),
    )


class CorpusCommand(NamedTuple):
    """A command of the palette; title and help are messages marked with `N_`."""

    title: str
    help: str
    run: "Callable[[Workbench], None]"


def try_sample(bench: "Workbench") -> None:
    """Add the sample corpus, and go to Ask.

    Invented laws do not belong among real ones: where the corpus in use holds documents, the
    sample goes into a corpus of its own, which is in use from then on.
    """
    taken = holds_documents(bench.workspace, bench.corpus)
    corpus = SAMPLE if taken else bench.corpus
    title = _("Add the sample corpus to {corpus}").format(corpus=corpus)
    config = bench.settings.of(corpus)
    if taken:
        bench.memory.remember(corpus=corpus)
    bench.jobs.start(Job(title, add_sample, (bench.workspace, corpus, config)))
    bench.go("ask")


def add(bench: "Workbench") -> None:
    """Ask for a file or folder, and add it."""

    def check(values: dict[str, str]) -> None:
        existing(values["path"])
        bench.workspace.corpus(values["corpus"])

    def start(values: object) -> None:
        if isinstance(values, dict):
            tell_errors(bench, lambda bench: _add(bench, **values))

    from localrag.corpus.readers import formats

    hint = _("for example {value}").format(value="~/egov/xml")
    bench.push_screen(
        Form(
            _("Add documents"),
            _(
                "Files that are read: {formats}. A folder is searched to the bottom. The files stay"
                " as they are."
            ).format(formats=" ".join(formats())),
            go=_("Add"),
            fields=(
                Field(
                    "path",
                    _("file or folder"),
                    is_path=True,
                    hint=hint,
                ),
                Field("corpus", _("corpus, made if it is not there"), value=bench.corpus),
                Field(
                    "links",
                    _("links inside the folder"),
                    widget=Select(
                        [(_("name them"), ""), (_("follow them, wherever they lead"), _FOLLOW)],
                        value="",
                        allow_blank=False,
                        id="links",
                        compact=True,
                    ),
                ),
            ),
            check=check,
        ),
        start,
    )


def index(bench: "Workbench", corpus: str = "", *, rebuild: bool = False) -> None:
    """Make a corpus searchable, the one in use where none is named."""
    corpus = corpus or bench.corpus
    title = _("Index {corpus}").format(corpus=corpus)
    arguments = (bench.workspace, corpus, bench.config(), rebuild)
    bench.jobs.start(Job(title, index_corpus, arguments))
    bench.action_jobs()


def choose(bench: "Workbench") -> None:
    """Ask which corpus to use, and remember it."""

    def chosen(name: object) -> None:
        if isinstance(name, str):
            bench.memory.remember(corpus=name)

    bench.push_screen(CorporaDialogue(), chosen)


def examine(bench: "Workbench") -> None:
    """Open the doctor, from wherever one is."""
    from localrag_tui.models.doctor import DoctorDialogue

    bench.push_screen(DoctorDialogue())


COMMANDS = (
    CorpusCommand(
        N_("Try the sample corpus"), N_("Invented laws and pages, ready to ask"), try_sample
    ),
    CorpusCommand(N_("Add documents"), N_("Read a file or folder into a corpus"), add),
    CorpusCommand(N_("Index the corpus"), N_("Make what was added searchable"), index),
    CorpusCommand(
        N_("Choose the corpus"), N_("What is asked, read and searched; Del removes one"), choose
    ),
    CorpusCommand(
        N_("Jobs"), N_("What runs: progress, stop, result"), lambda bench: bench.action_jobs()
    ),
    CorpusCommand(N_("Doctor"), N_("what is wrong, each with its cure"), examine),
)
"""All of them, in the order in which a newcomer needs them."""


def _add(bench: "Workbench", path: str, corpus: str, links: str) -> None:
    title = _("Add {path} to {corpus}").format(path=path, corpus=corpus)
    arguments = (bench.workspace, corpus, [as_path(path)], bench.config(), links == _FOLLOW)
    job = Job(title, add_documents, arguments)
    _when_done(bench, job, lambda: bench.memory.remember(corpus=corpus))
    bench.jobs.start(job)
    bench.action_jobs()


def _when_done(bench: "Workbench", job: Job, act: Callable[[], object]) -> None:
    def listen(told: Job, event: object) -> None:
        if told is job and event is None and job.state is not State.RUNNING:
            leave()
            if job.state is State.DONE:
                act()

    leave = bench.jobs.listen(listen)


def tell_errors(bench: "Workbench", run: "Callable[[Workbench], None]") -> None:
    """Run a command; an error (settings that are not valid, say) is told."""
    try:
        run(bench)
    except LocalragError as error:
        bench.tell(error)


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

    def body(self) -> ComposeResult:
        yield Static(Content(_("Welcome to localrag")), classes="heading")
        yield Paragraph(
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

    def go(choice: object) -> None:
        if choice == "sample":
            tell_errors(bench, try_sample)
        elif choice == "own":
            tell_errors(bench, add)

    if not await asyncio.to_thread(bench.workspace.corpora):
        bench.push_screen(Welcome(), go)
