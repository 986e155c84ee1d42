"""Commands on corpora: add, index, choose, overview; and the welcome of the first run."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Select, Static
from textual.widgets.option_list import Option

from localrag.corpus.facets import CHAPTER
from localrag.corpus.types import Label
from localrag.corpus.workspace import Workspace
from localrag.doors.session import Session
from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag.text.harmless import one_line
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
from localrag_tui.screen import Dialogue, WorkbenchScreen
from localrag_tui.search.filters import facet_title, value_title
from localrag_tui.shell.form import Field, Form, as_path, existing
from localrag_tui.shell.listing import Listing, Valued
from localrag_tui.shell.paragraph import BrokenText, Paragraph
from localrag_tui.shown import content, palette
from localrag_tui.work.jobs import Job, State

if TYPE_CHECKING:
    from localrag.corpus.config import Config
    from localrag.ops.overview import Overview
    from localrag_tui.app import Workbench

_FOLLOW = "follow"
_COUNT = 16
"""Cells of a column of counts."""


class CorporaList(Listing):
    """The list of corpora."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Choose"), id="corpora.choose"),
        Binding("delete,d", "screen.remove", N_("Remove"), id="corpora.remove"),
    ]


class CorporaDialogue(Dialogue):
    """Lists the corpora; returns the name of the chosen one."""

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
        self._say(self._row.problem if self._row else "")

    def on_option_list_option_selected(self) -> None:
        if self._row is None or self._row.problem:
            self.app.bell()
        else:
            self.dismiss(self._row.name)

    @work
    async def action_remove(self) -> None:
        from localrag.corpus.ingest.remove import remove_corpus

        row, bench = self._row, self.bench
        if row is None:
            return
        documents = ngettext("{n:,} document", "{n:,} documents", row.documents)
        goes = _("Its index and {documents} are deleted for good; your own files stay.")
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


def try_sample(bench: "Workbench") -> None:
    """Add the sample corpus, and go to Ask; real laws keep their own corpus."""
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
    """Make a corpus searchable; default: the corpus in use."""
    corpus = corpus or bench.corpus
    title = _("Index {corpus}").format(corpus=corpus)
    arguments = (bench.workspace, corpus, bench.config(), rebuild)
    bench.jobs.start(Job(title, index_corpus, arguments))
    bench.action_jobs()


def choose(bench: "Workbench") -> None:
    """Ask for the corpus to use, and remember it."""

    def chosen(name: object) -> None:
        if isinstance(name, str):
            bench.memory.remember(corpus=name)

    bench.push_screen(CorporaDialogue(), chosen)


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


def tell_errors(bench: "Workbench", run: "Callable[[Workbench], object]") -> None:
    """Run a command, and show its errors."""
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
    """The three choices of the welcome."""

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
    """Greets in a workspace without a corpus; returns ``sample``, ``own`` or None."""

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
        self.dismiss(event.option_id if event.option_id != "leave" else None)


def _option(number: int, name: str) -> Option:
    title, about = _CHOICES[name]
    words = Content.assemble(
        (f"{number}  {_(title)}", "bold"), "\n   ", (_(about), "$foreground-muted"), "\n"
    )
    return Option(words, id=name)


async def greet(bench: "Workbench") -> None:
    """Show the welcome if there is no corpus, and follow the choice."""

    def go(choice: object) -> None:
        if choice == "sample":
            tell_errors(bench, try_sample)
        elif choice == "own":
            tell_errors(bench, add)

    if not await asyncio.to_thread(bench.workspace.corpora):
        bench.push_screen(Welcome(), go)


# Values shown of a facet, most frequent first; the filters offer all.
_VALUES = 20


async def show_overview(bench: "Workbench") -> None:
    """Show the overview of the corpus in use, and follow the choice."""
    from localrag_tui.ask.transcript import Examples
    from localrag_tui.search.screen import SearchWithin

    chosen = await bench.push_screen_wait(OverviewDialogue())
    if chosen is None:
        return
    mode = "ask" if isinstance(chosen, str) else "search"
    if bench.current_mode != mode:
        await bench.go(mode)
    screen = cast("WorkbenchScreen", bench.screen)
    await screen.ready.wait()
    if isinstance(chosen, str):
        screen.post_message(Examples.Asked(chosen))
    else:
        screen.post_message(SearchWithin(cast("tuple[Label, ...]", chosen)))


def _look(
    workspace: Workspace, name: str, config: "Config"
) -> tuple["Overview", Sequence[tuple[str, int]]]:
    """An overview, and its most frequent headings."""
    # Its own session: comparing all vectors must not delay reading or searching.
    with Session(workspace).corpus(name) as corpus:
        corpus.config = config
        found = corpus.overview()
        return found, corpus.store.facets.counts(CHAPTER).most_common(_VALUES)


class OverviewList(Listing):
    """Values, summaries and questions below their headings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Search within, or ask"), id="overview.choose"),
    ]


class OverviewDialogue(Dialogue):
    """Returns the chosen labels or question."""

    def body(self) -> ComposeResult:
        name = one_line(self.bench.corpus)
        yield Static(Content(_("Contents of {corpus}").format(corpus=name)), classes="heading")
        yield Paragraph(Content(_("One moment …")), id="counts")
        yield Paragraph(classes="problem")
        yield OverviewList()

    def on_mount(self) -> None:
        self.query_one(OverviewList).focus()
        self._fill()

    @work
    async def _fill(self) -> None:
        bench = self.bench
        counts = self.query_one("#counts", Paragraph)
        try:
            await bench.library.require_documents()
            found, headings = await asyncio.to_thread(
                _look, bench.workspace, bench.corpus, bench.config()
            )
        except LocalragError as error:
            counts.show(Content(""))
            self.complain(error)
            return
        counts.show(Content("\n".join(_counts(found))))
        offered = self.query_one(OverviewList)
        offered.add_options(_options(found, headings))
        offered.action_first()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        assert isinstance(event.option, Valued)
        self.dismiss(event.option.value)


def _counts(found: "Overview") -> Iterator[str]:
    documents = ngettext("{n:,} document", "{n:,} documents", found.documents)
    yield _("{documents}, {passages:,} passages, {characters:,} characters").format(
        documents=documents.format(n=found.documents),
        passages=found.passages,
        characters=found.characters,
    )
    if found.states:
        yield _("laws in several states: {n:,}").format(n=found.states)
    if found.sorted_before:
        yield _("The documents have changed since a model sorted them.")
    layers = [
        _("{layer} ({texts:,} texts)").format(layer=one.name, texts=one.texts)
        for one in found.layers
    ]
    if layers:
        yield _("layers: {layers}").format(layers=_(", ").join(layers))
    if found.layers_behind:
        yield _("Layers or documents have changed since the layers were indexed.")
    if found.redundancy:
        yield _("{n:,} questions in {clusters:,} clusters of the same meaning").format(
            n=found.redundancy.questions, clusters=found.redundancy.clusters
        )


def _options(found: "Overview", headings: Sequence[tuple[str, int]]) -> Iterator[Option]:
    for key, counts in found.facets.items():
        title = facet_title(key)
        if key in found.by_model:
            title = _("{facet} (told by a model)").format(facet=title)
        yield from _values(title, key, list(counts.items())[:_VALUES], len(counts))
    if headings:
        yield from _values(facet_title(CHAPTER), CHAPTER, headings, found.headings)
    if found.summaries:
        yield from _headed(_("Subjects of questions"))
        for summary in found.summaries:
            where = _(", ").join(map(value_title, summary.labels)) or _("all documents")
            rests = _("{n:,} questions").format(n=summary.questions)
            yield Valued(
                BrokenText(
                    Content.assemble(
                        f"  {where}",
                        (f"  {rests}  ", "$foreground-muted"),
                        content(one_line(summary.text)),
                    )
                ),
                summary.labels,
            )
    if found.starting:
        number = _("It answers {n:,} questions, such as:").format(n=found.questions)
        yield from _headed(number if found.questions else _("It answers questions such as:"))
        for question in found.starting:
            yield Valued(BrokenText(content(f"  {one_line(question)}")), question)


def _values(
    title: str, key: str, counts: Sequence[tuple[str, int]], number: int
) -> Iterator[Option]:
    yield from _headed(title)
    for value, n in counts:
        label = Label(key, value)
        yield Valued(
            BrokenText(
                Content.assemble(f"  {value_title(label)}", (f"  {n:,}", "$foreground-muted"))
            ),
            (label,),
        )
    if number > len(counts):
        words = _("{n:,} more: the filters of a search offer them all").format(
            n=number - len(counts)
        )
        yield Option(Content.styled(f"  {words}", "$foreground-muted"), disabled=True)


def _headed(title: str) -> Iterator[Option]:
    yield Option(Content.styled(one_line(title), "bold $text-primary"), disabled=True)
