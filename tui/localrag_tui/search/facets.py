"""What the hits of a corpus can be narrowed to, and the filters in use, in one line."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from localrag.corpus.facets import KIND
from localrag.corpus.types import FACETS, KINDS, Label
from localrag.errors import NotFoundError, UsageError
from localrag.language import N_, _
from localrag.retrieval.types import Filters
from localrag_tui.shown import cut, one_line
from localrag_tui.wording import called

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames


_NONE = Filters()
_LAYERS = {
    "articles": N_("articles"),
    "passages": N_("passages"),
    "triples": N_("facts (subject, value)"),
}


def kind_name(name: str) -> str:
    """What a type of law or a kind of document is called."""
    return called(name, KINDS)


def facet_title(key: str) -> str:
    """What a facet is called."""
    return called(key, FACETS)


def value_title(label: Label) -> str:
    """What a value of a facet is called."""
    return kind_name(label.value) if label.key == KIND else one_line(label.value)


def layer_name(name: str) -> str:
    """What a layer is called."""
    return called(name, _LAYERS)


TITLES = {
    "documents": N_("law"),
    "law_types": N_("type"),
    "kinds": N_("format"),
    "layers": N_("layer"),
    "where": N_("metadata"),
    "dates": N_("as of"),
}
"""What can be filtered by, in the order in which it is shown."""

ABOUT = {
    "documents": N_("Only these laws are searched"),
    "law_types": N_("Only laws of these types are searched"),
    "kinds": N_("Only documents of these kinds are searched"),
    "layers": N_("Only these layers are searched"),
    "where": N_("Only documents that are so are searched"),
    "dates": N_("Only texts as they stood at these dates are searched"),
}
"""What each of them does."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What a corpus holds.

    Attributes:
        law_types: how many laws of each type.
        kinds: how many documents of each kind.
        layers: what is searched.
        titles: the title of each law.
        lacking: what filters want documents to be told apart by, and the corpus does not know.
    """

    law_types: dict[str, int]
    kinds: dict[str, int]
    layers: tuple[str, ...]
    titles: dict[str, str]
    lacking: frozenset[Label] = frozenset()


def facets(store: "CorpusStore", names: "LawNames", filters: Filters = _NONE) -> Facets:
    """Look what a corpus holds, and what it lacks of that by which filters tell it apart."""
    from collections import Counter

    from localrag.ingest.state import LAYERS

    types = Counter(row.law_type for row in names.rows.values() if row.law_type)
    titles = {law_id: row.title for law_id, row in names.rows.items()}
    lacking = frozenset(label for label in filters.where if not _has(store, label))
    return Facets(dict(types.most_common()), store.kinds(), LAYERS, titles, lacking)


def _has(store: "CorpusStore", label: Label) -> bool:
    try:
        return bool(store.facets.canonical((label,)))
    except (UsageError, NotFoundError):
        return False


def kept(filters: Filters, known: Facets) -> Filters:
    """The filters without what the corpus no longer holds."""
    return Filters(
        tuple(law_id for law_id in filters.documents if law_id in known.titles),
        tuple(kind for kind in filters.kinds if kind in known.kinds),
        tuple(name for name in filters.law_types if name in known.law_types),
        tuple(layer for layer in filters.layers if layer in known.layers),
        filters.date_from,
        filters.date_to,
        tuple(label for label in filters.where if label not in known.lacking),
    )


def in_words(filters: Filters, known: Facets) -> dict[str, str]:
    """What each facet is narrowed to; "" where it is not."""
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


# Cells around the value of a chip: padding, margin, the colon after its title, that it is the only.
_AROUND = 11
_NARROWEST = 8


class FilterChips(Horizontal, can_focus=True):
    """What is filtered by; where nothing is, what can be. A click or Enter edits it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "press", N_("Filters"), id="search.edit", show=False),
        Binding("down", "screen.to_hits", N_("To the results"), id="search.results_below"),
    ]

    class Pressed(Message):
        """Somebody wants to edit the filters."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}
        self._chips = {facet: Static(id=f"chip-{facet}", classes="chip") for facet in TITLES}

    def compose(self) -> ComposeResult:
        yield from self._chips.values()

    def show(self, values: dict[str, str]) -> None:
        """Show what each facet is narrowed to; "" where it is not."""
        self._values = {facet: value for facet, value in values.items() if value}
        self._write()

    def on_resize(self) -> None:
        self._write()

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_press()

    def action_press(self) -> None:
        self.post_message(self.Pressed())

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
