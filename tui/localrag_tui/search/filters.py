"""The filters of a search: their names, the line of filters in use, the dialogue."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual import on, widgets
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.widgets import Button, Input, SelectionList, Static
from textual.widgets.selection_list import Selection

from localrag.corpus.facets import KIND
from localrag.corpus.types import FACETS, KINDS, Label
from localrag.errors import LocalragError, NotFoundError, UsageError
from localrag.language import N_, _
from localrag.search.types import Filters
from localrag.text.harmless import cut, one_line
from localrag_tui.library import Library
from localrag_tui.screen import Dialogue
from localrag_tui.shell.base import Latest
from localrag_tui.shell.form import TextField, as_day
from localrag_tui.shell.listing import CheckList
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import called, cure_of

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.law.names import LawNames

_NONE = Filters()
_LAYERS = {
    "articles": N_("articles"),
    "passages": N_("passages"),
    "triples": N_("facts (subject, value)"),
}


def kind_name(name: str) -> str:
    """The name of a type of law or a kind of document."""
    return called(name, KINDS)


def facet_title(key: str) -> str:
    """The name of a facet."""
    return called(key, FACETS)


def value_title(label: Label) -> str:
    """The name of a value of a facet."""
    return kind_name(label.value) if label.key == KIND else one_line(label.value)


def layer_name(name: str) -> str:
    """The name of a layer."""
    return called(name, _LAYERS)


TITLES = {
    "documents": N_("law"),
    "law_types": N_("type"),
    "kinds": N_("format"),
    "layers": N_("layer"),
    "where": N_("metadata"),
    "dates": N_("in force"),
}
"""The names of the filters, in the order shown."""

ABOUT = {
    "documents": N_("Only these laws are searched"),
    "law_types": N_("Only laws of these types are searched"),
    "kinds": N_("Only documents of these kinds are searched"),
    "layers": N_("Only these layers are searched"),
    "where": N_("Only documents with these values are searched"),
    "dates": N_("Only texts of these dates of entry into force are searched"),
}
"""The effect of each filter."""


@dataclass(frozen=True, slots=True)
class CorpusValues:
    """The values in a corpus."""

    law_types: dict[str, int]
    kinds: dict[str, int]
    layers: tuple[str, ...]
    titles: dict[str, str]
    lacking: frozenset[Label] = frozenset()  # labels in the filters missing from the corpus


def facets(store: "CorpusStore", names: "LawNames", filters: Filters = _NONE) -> CorpusValues:
    """The values in a corpus, and the labels missing from it."""
    from collections import Counter

    from localrag.search.units import LAYERS

    types = Counter(row.law_type for row in names.rows.values() if row.law_type)
    titles = {law_id: row.title for law_id, row in names.rows.items()}
    lacking = frozenset(label for label in filters.where if not _has(store, label))
    return CorpusValues(dict(types.most_common()), store.kinds(), LAYERS, titles, lacking)


def _has(store: "CorpusStore", label: Label) -> bool:
    try:
        return bool(store.facets.canonical((label,)))
    except (UsageError, NotFoundError):
        return False


def kept(filters: Filters, known: CorpusValues) -> Filters:
    """The filters without values missing from the corpus."""
    return replace(
        filters,
        documents=tuple(law_id for law_id in filters.documents if law_id in known.titles),
        kinds=tuple(kind for kind in filters.kinds if kind in known.kinds),
        law_types=tuple(name for name in filters.law_types if name in known.law_types),
        layers=tuple(layer for layer in filters.layers if layer in known.layers),
        where=tuple(label for label in filters.where if label not in known.lacking),
    )


def in_words(filters: Filters, known: CorpusValues) -> dict[str, str]:
    """The value of each filter in words; "" if it is not set."""
    titles = known.titles
    return {
        "documents": _listed([one_line(titles.get(law, law)) for law in filters.documents]),
        "law_types": _listed([kind_name(name) for name in filters.law_types]),
        "kinds": _listed([kind_name(name) for name in filters.kinds]),
        "layers": _listed([layer_name(name) for name in filters.layers]),
        "where": _listed([value_title(label) for label in filters.where]),
        "dates": _span(filters.date_from, filters.date_to),
    }


def _listed(values: list[str]) -> str:
    if len(values) < 2:
        return "".join(values)
    return _("{first} and {n} more").format(first=values[0], n=len(values) - 1)


def _span(start: str, end: str) -> str:
    if start and end:
        return f"{start} - {end}"
    if start:
        return _("from {date}").format(date=start)
    return _("until {date}").format(date=end) if end else ""


# Cells around a value: padding, margin, colon, "only".
_AROUND = 11
_NARROWEST = 8


class FilterChips(Horizontal, can_focus=True):
    """The filters in use, else all filters; a click or Enter edits them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.filters", N_("Filters"), id="search.edit", show=False),
        Binding("down", "screen.to_hits", N_("To the results"), id="search.results_below"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}
        self._chips = {facet: Static(id=f"chip-{facet}", classes="chip") for facet in TITLES}

    def compose(self) -> ComposeResult:
        yield from self._chips.values()

    def show(self, values: dict[str, str]) -> None:
        self._values = {facet: value for facet, value in values.items() if value}
        self._write()

    def on_resize(self) -> None:
        self._write()

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.run_action("screen.filters")

    def _write(self) -> None:
        titles = {facet: _(TITLES[facet]) for facet in self._values or TITLES}
        taken = sum(cell_len(title) + _AROUND for title in titles.values())
        room = max(_NARROWEST, (self.size.width - taken) // len(titles))
        for facet, chip in self._chips.items():
            chip.set_class(facet in titles, "-shown")
            chip.set_class(facet in self._values, "-on")
            if facet not in titles:
                continue
            value = self._values.get(facet, "")
            only = _("only {value}").format(value=cut(value, room))
            shown = (only, "bold $accent") if value else _("all")
            chip.update(Content.assemble(f"{titles[facet]}: ", shown))
            chip.tooltip = Content(f"{_(ABOUT[facet])}: {value or _('all')}")


_OFFERED = 30


class FilterChoice(Vertical):
    """A field; below it the chosen values, then the values matching its text."""

    EXAMPLES: ClassVar[str] = ""
    """The placeholder of the field, a message."""

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
        """Values matching the typed text, likeliest first. Raises `LocalragError`."""
        raise NotImplementedError

    def named(self, value: str) -> Content:
        raise NotImplementedError

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.run_worker(self._offers.want(event.value), group="offers")

    @on(Input.Submitted)
    def _take_first(self, event: Input.Submitted) -> None:
        """Enter takes the first matching value not chosen yet."""
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
        # Tab skips an empty list.
        offered.display = bool(self._shown)


class LawChoice(FilterChoice):
    """Chooses laws by part of a name; the values are their ids."""

    EXAMPLES = N_("金商法, 民法 …")

    def __init__(self, library: Library, titles: dict[str, str], chosen: Iterable[str]) -> None:
        super().__init__(library, chosen)
        self._titles = titles

    async def fitting(self, typed: str) -> Sequence[str]:

        def suggested(_: "CorpusStore", names: "LawNames") -> list[str]:
            from localrag.search.finding import suggest

            return [found.law_id for found in suggest(names, typed, _OFFERED)]

        return await self.library.read_names(suggested)

    def named(self, value: str) -> Content:
        return Content(one_line(self._titles.get(value, value)))


class LabelChoice(FilterChoice):
    """Chooses labels by part of a value (総務) or ``key=value``."""

    EXAMPLES = N_("政令, 総務省, 罰則 …")

    def __init__(self, library: Library, chosen: Iterable[Label]) -> None:
        self._labels = {str(label): label for label in chosen}
        self._counts: dict[Label, int] = {}
        super().__init__(library, self._labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(self._labels[value] for value in self.chosen)

    async def fitting(self, typed: str) -> Sequence[str]:
        found = await self.library.read(lambda store: store.facets.like(typed, _OFFERED))
        self._labels |= {str(label): label for label, _ in found}
        self._counts |= dict(found)
        return [str(label) for label, _ in found]

    def named(self, value: str) -> Content:
        label = self._labels[value]
        count = self._counts.get(label)
        return Content.assemble(
            (f"{facet_title(label.key)} ", "$foreground-muted"),
            value_title(label),
            (f"  {count:,}" if count is not None else "", "$foreground-muted"),
        )


class FilterDialogue(Dialogue):
    """Returns the chosen `Filters`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", N_("Use these"), id="filters.apply"),
        # Before the field, or it would cut its selection.
        Binding("ctrl+x", "clear", N_("No filters"), id="filters.clear", priority=True),
    ]

    def __init__(self, library: Library, known: CorpusValues, filters: Filters) -> None:
        super().__init__()
        self._library = library
        self._known = known
        self._filters = filters

    def body(self) -> ComposeResult:
        filters = self._filters
        yield Static(_("Filters"), classes="heading")
        with Horizontal(id="choices"):
            with Vertical(classes="column -first"):
                yield widgets.Label(Content(_("Laws: a name, Enter takes the first")))
                yield LawChoice(self._library, self._known.titles, filters.documents)
                yield widgets.Label(Content(_("Metadata: Enter takes the first")))
                yield LabelChoice(self._library, filters.where)
            with Vertical(classes="column"):
                yield widgets.Label(Content(_("Type, format and layer")))
                yield CheckList(*self._offered(), id="values")
        with Horizontal(id="dates"):
            yield widgets.Label(Content(_("Entry into force: from")))
            yield TextField(
                filters.date_from, placeholder=_("e.g. 2024-04-01"), id="from", max_length=20
            )
            yield widgets.Label(Content(_("to")))
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
        try:
            start, end = self._date("from"), self._date("to")
            if start and end and start > end:
                raise UsageError(_("The first date is after the last."), _("Exchange them."))
        except UsageError as error:
            self.complain(error)
            return
        self.dismiss(
            replace(
                self._filters,
                documents=tuple(self.query_one(LawChoice).chosen),
                kinds=self._chosen("kinds"),
                law_types=self._chosen("law_types"),
                layers=self._chosen("layers"),
                date_from=start,
                date_to=end,
                where=self.query_one(LabelChoice).labels,
            )
        )

    @on(Button.Pressed, "#clear")
    def action_clear(self) -> None:
        self.dismiss(Filters())

    def _offered(self) -> Iterator[Selection[str]]:
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
