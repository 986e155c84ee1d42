"""The dialogue in which a search is narrowed, to laws by their names too."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Label, SelectionList, Static
from textual.widgets.selection_list import Selection

from localrag.corpus.types import Label as CorpusLabel
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _
from localrag.retrieval.types import Filters
from localrag_tui.library import Library
from localrag_tui.screen import Dialogue
from localrag_tui.search.facets import (
    TITLES,
    Facets,
    facet_title,
    kind_name,
    layer_name,
    value_title,
)
from localrag_tui.shown import one_line
from localrag_tui.widgets.listing import CheckList
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.widgets.text_field import TextField, as_day
from localrag_tui.wording import cure_of
from localrag_tui.work.latest import Latest

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames


_OFFERED = 30


class Choice(Vertical):
    """A field, and below it what is chosen, then what fits what is typed.

    Args:
        library: the corpus.
        chosen: what is chosen already.

    Attributes:
        chosen: what is chosen, in the order in which it was.
    """

    EXAMPLES: ClassVar[str] = ""
    """What stands in the field while it is empty; a message."""

    def __init__(self, library: Library, chosen: Iterable[str]) -> None:
        super().__init__()
        self.library = library
        self.chosen = [*chosen]
        self._shown: list[str] = []
        self._offers = Latest(self._offer)

    def compose(self) -> ComposeResult:
        yield TextField(placeholder=_(self.EXAMPLES), max_length=100)
        yield CheckList()

    def on_mount(self) -> None:
        self._show([])

    async def fitting(self, typed: str) -> Sequence[str]:
        """What fits what is typed, the likeliest first.

        Raises:
            LocalragError: the corpus cannot be read.
        """
        raise NotImplementedError

    def named(self, value: str) -> Content:
        """What is shown for something that can be chosen."""
        raise NotImplementedError

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.run_worker(self._offers.want(event.value), group="offers")

    @on(Input.Submitted)
    def _take_first(self, event: Input.Submitted) -> None:
        """Enter takes the first that fits and is not chosen yet."""
        event.stop()
        offered = [value for value in self._shown if value not in self.chosen]
        if event.value and offered:
            self.chosen.append(offered[0])
            event.input.clear()

    @on(SelectionList.SelectionToggled)
    def _toggled(self, event: SelectionList.SelectionToggled[str]) -> None:
        event.stop()
        value = event.selection.value
        if value in self.chosen:
            self.chosen.remove(value)
        else:
            self.chosen.append(value)

    async def _offer(self, typed: str) -> None:
        try:
            self._show(await self.fitting(typed))
        except LocalragError as error:
            self.notify(f"{error.cause}\n{cure_of(error)}", severity="error", markup=False)

    def _show(self, values: Iterable[str]) -> None:
        self._shown = [*dict.fromkeys((*self.chosen, *values))]
        offered = self.query_one(CheckList)
        offered.clear_options()
        offered.add_options(
            Selection(self.named(value), value, value in self.chosen) for value in self._shown
        )
        # Nothing is seen of an empty list: Tab goes past it.
        offered.display = bool(self._shown)


class LawChoice(Choice):
    """Chooses laws by a part of a name; what is chosen are their ids.

    Args:
        library: the corpus.
        titles: the title of each of its laws.
        chosen: ids of those chosen already.
    """

    EXAMPLES = N_("金商法, 民法 …")

    def __init__(self, library: Library, titles: dict[str, str], chosen: Iterable[str]) -> None:
        super().__init__(library, chosen)
        self._titles = titles

    async def fitting(self, typed: str) -> Sequence[str]:
        """The laws that a part of a name fits."""

        def suggested(_: "CorpusStore", names: "LawNames") -> list[str]:
            from localrag.finding import suggest

            return [found.law_id for found in suggest(names, typed, _OFFERED)]

        return await self.library.read_names(suggested)

    def named(self, value: str) -> Content:
        """The title of a law."""
        return Content(one_line(self._titles.get(value, value)))


class LabelChoice(Choice):
    """Chooses what documents are told apart by, by a part of a value (総務) or ``key=value``.

    Args:
        library: the corpus.
        chosen: the labels chosen already.
    """

    EXAMPLES = N_("政令, 総務省, 罰則 …")

    def __init__(self, library: Library, chosen: Iterable[CorpusLabel]) -> None:
        self._labels = {str(label): label for label in chosen}
        self._counts: dict[CorpusLabel, int] = {}
        super().__init__(library, self._labels)

    @property
    def labels(self) -> tuple[CorpusLabel, ...]:
        """The labels that are chosen."""
        return tuple(self._labels[value] for value in self.chosen)

    async def fitting(self, typed: str) -> Sequence[str]:
        """The labels that somebody may mean."""
        found = await self.library.read(lambda store: store.facets.like(typed, _OFFERED))
        self._labels |= {str(label): label for label, _ in found}
        self._counts |= dict(found)
        return [str(label) for label, _ in found]

    def named(self, value: str) -> Content:
        """The facet and the value of a label, and how many documents have it."""
        label = self._labels[value]
        count = self._counts.get(label)
        return Content.assemble(
            (f"{facet_title(label.key)} ", "$foreground-muted"),
            value_title(label),
            (f"  {count:,}" if count is not None else "", "$foreground-muted"),
        )


class FilterDialogue(Dialogue):
    """Gives back the `Filters` that were chosen.

    Args:
        library: the corpus.
        known: what it holds.
        filters: those in use.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", N_("Use these"), id="filters.apply"),
        # Before a field, which would cut out what is selected in it.
        Binding("ctrl+x", "clear", N_("No filters"), id="filters.clear", priority=True),
    ]

    def __init__(self, library: Library, known: Facets, filters: Filters) -> None:
        super().__init__()
        self._library = library
        self._known = known
        self._filters = filters

    def body(self) -> ComposeResult:
        """Laws and metadata on the left, the rest on the right, dates and buttons below."""
        filters = self._filters
        yield Static(_("Filters"), classes="heading")
        with Horizontal(id="choices"):
            with Vertical(classes="column -first"):
                yield Label(Content(_("Laws: a name, Enter takes the first")))
                yield LawChoice(self._library, self._known.titles, filters.documents)
                yield Label(Content(_("Metadata: Enter takes the first")))
                yield LabelChoice(self._library, filters.where)
            with Vertical(classes="column"):
                yield Label(Content(_("Type, format and layer")))
                yield CheckList(*self._offered(), id="values")
        with Horizontal(id="dates"):
            yield Label(Content(_("Texts as of: from")))
            yield TextField(
                filters.date_from, placeholder=_("e.g. 2024-04-01"), id="from", max_length=20
            )
            yield Label(Content(_("to")))
            yield TextField(
                filters.date_to, placeholder=_("e.g. 2025-03-31"), id="to", max_length=20
            )
        yield Paragraph(classes="problem")
        with Horizontal(classes="buttons"):
            yield Button(_("Use these"), id="apply", variant="primary", compact=True)
            yield Button(_("No filters"), id="clear", compact=True)

    def on_mount(self) -> None:
        self.query_one(LawChoice).query_one(Input).focus()

    @on(Button.Pressed, "#apply")
    @on(Input.Submitted, "#from, #to")
    def action_apply(self) -> None:
        """Give back what is chosen, if the dates are dates."""
        try:
            start, end = self._date("from"), self._date("to")
            if start and end and start > end:
                raise UsageError(_("The first date is after the last."), _("Exchange them."))
        except UsageError as error:
            self.complain(error)
            return
        documents = tuple(self.query_one(LawChoice).chosen)
        kinds, types, layers = map(self._chosen, ("kinds", "law_types", "layers"))
        where = self.query_one(LabelChoice).labels
        self.dismiss(Filters(documents, kinds, types, layers, start, end, where))

    @on(Button.Pressed, "#clear")
    def action_clear(self) -> None:
        """Give back no filter at all: whoever lifts them need not apply that, too."""
        self.dismiss(Filters())

    def _offered(self) -> Iterator[Selection[str]]:
        """What can be chosen; its value tells facet and value."""
        known, filters = self._known, self._filters
        for name, count in known.law_types.items():
            label = _label("law_types", kind_name(name), f"{count:,}")
            yield Selection(label, f"law_types {name}", name in filters.law_types)
        for name, count in known.kinds.items():
            label = _label("kinds", kind_name(name), f"{count:,}")
            yield Selection(label, f"kinds {name}", name in filters.kinds)
        for name in known.layers:
            label = _label("layers", layer_name(name))
            yield Selection(label, f"layers {name}", name in filters.layers)

    def _chosen(self, facet: str) -> tuple[str, ...]:
        chosen = (of.partition(" ") for of in self.query_one("#values", CheckList).selected)
        return tuple(value for of, _blank, value in chosen if of == facet)

    def _date(self, field: str) -> str:
        written = self.query_one(f"#{field}", Input)
        try:
            return as_day(written.value)
        except UsageError:
            written.focus()
            raise


def _label(facet: str, value: str, count: str = "") -> Content:
    widest = max(cell_len(_(TITLES[of])) for of in ("law_types", "kinds", "layers"))
    return Content.assemble(
        (set_cell_size(_(TITLES[facet]), widest + 1), "$foreground-muted"),
        value,
        (f"  {count}", "$foreground-muted"),
    )
