"""What is in a corpus: what its documents are told apart by, its layers, questions it answers."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.corpus.facets import CHAPTER
from localrag.corpus.types import Label
from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag.session import Session
from localrag.workspace import Workspace
from localrag_tui.screen import Dialogue, WorkbenchScreen
from localrag_tui.search.facets import facet_title, value_title
from localrag_tui.shown import content, one_line
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.widgets.paragraph import BrokenText, Paragraph

if TYPE_CHECKING:
    from localrag.config import Config
    from localrag.overview import Overview
    from localrag_tui.app import Workbench

# Values of a facet that are shown, the most frequent first; the filters of a search offer all.
_VALUES = 20


async def show_overview(bench: "Workbench") -> None:
    """Show what is in the corpus in use, and go on with what is chosen of it."""
    from localrag_tui.ask.welcome import Examples
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


class _Look(NamedTuple):
    """What there is to show, and the headings by which passages are told apart."""

    found: "Overview"
    headings: Sequence[tuple[str, int]]


def _look(workspace: Workspace, name: str, config: "Config") -> _Look:
    # Vectors of all questions may be compared: that holds up nobody who reads or searches.
    with Session(workspace).corpus(name) as corpus:
        corpus.config = config
        found = corpus.overview()
        return _Look(found, corpus.store.facets.counts(CHAPTER).most_common(_VALUES))


class OverviewList(Listing):
    """The values, summaries and questions, each below its heading."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Search within, or ask"), id="overview.choose"),
    ]


class OverviewDialogue(Dialogue):
    """Gives back what was chosen: labels, or a question."""

    def body(self) -> ComposeResult:
        """What there is in numbers above, the rest in a list."""
        name = one_line(self.bench.corpus)
        yield Static(Content(_("What is in {corpus}").format(corpus=name)), classes="heading")
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
            look = await asyncio.to_thread(_look, bench.workspace, bench.corpus, bench.config())
        except LocalragError as error:
            counts.show(Content(""))
            self.complain(error)
            return
        counts.show(Content("\n".join(_counts(look.found))))
        offered = self.query_one(OverviewList)
        offered.add_options(_options(look))
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


def _options(look: _Look) -> Iterator[Option]:
    found = look.found
    for key, counts in found.facets.items():
        title = facet_title(key)
        if key in found.by_model:
            title = _("{facet} (told by a model)").format(facet=title)
        yield from _values(title, key, list(counts.items())[:_VALUES], len(counts))
    if look.headings:
        yield from _values(facet_title(CHAPTER), CHAPTER, look.headings, found.headings)
    if found.summaries:
        yield from _headed(_("What questions are about"))
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
