"""What the hits of a corpus can be narrowed to, and how the filters in use read."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.language import N_, _
from localrag.retrieval.types import Filters
from localrag_tui.search import words
from localrag_tui.shown import one_line

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames

TITLES = {
    "documents": N_("law"),
    "law_types": N_("type"),
    "kinds": N_("kind"),
    "layers": N_("layer"),
    "dates": N_("as of"),
}
"""What can be filtered by, in the order in which it is shown."""

ABOUT = {
    "documents": N_("Only these laws are searched"),
    "law_types": N_("Only laws of these types are searched"),
    "kinds": N_("Only documents of these kinds are searched"),
    "layers": N_("Only these layers are searched"),
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
    """

    law_types: dict[str, int]
    kinds: dict[str, int]
    layers: tuple[str, ...]
    titles: dict[str, str]


def facets(store: "CorpusStore", names: "LawNames") -> Facets:
    """Look what a corpus holds."""
    from collections import Counter

    from localrag.ingest.state import LAYERS

    types = Counter(row.law_type for row in names.rows.values() if row.law_type)
    titles = {law_id: row.title for law_id, row in names.rows.items()}
    return Facets(dict(types.most_common()), store.kinds(), LAYERS, titles)


def kept(filters: Filters, known: Facets) -> Filters:
    """The filters without what the corpus no longer holds."""
    return Filters(
        tuple(law_id for law_id in filters.documents if law_id in known.titles),
        tuple(kind for kind in filters.kinds if kind in known.kinds),
        tuple(name for name in filters.law_types if name in known.law_types),
        tuple(layer for layer in filters.layers if layer in known.layers),
        filters.date_from,
        filters.date_to,
    )


def in_words(filters: Filters, known: Facets) -> dict[str, str]:
    """What each facet is narrowed to; "" where it is not."""
    titles = known.titles
    return {
        "documents": _listed([one_line(titles.get(law, law)) for law in filters.documents]),
        "law_types": _listed([words.kind(name) for name in filters.law_types]),
        "kinds": _listed([words.kind(name) for name in filters.kinds]),
        "layers": _listed([words.layer(name) for name in filters.layers]),
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
