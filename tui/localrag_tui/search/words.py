"""What the values of filters are called in the interface, and what stages tell."""

from collections.abc import Iterable

from textual.content import Content

from localrag.facts import Fact
from localrag.language import N_
from localrag_tui.shown import one_line
from localrag_tui.wording import DOCUMENTS, called

_LAYERS = {
    "articles": N_("articles"),
    "passages": N_("passages"),
    "triples": N_("triples"),
}


def kind(name: str) -> str:
    """What a type of law or a kind of document is called."""
    return called(name, DOCUMENTS)


def layer(name: str) -> str:
    """What a layer is called."""
    return called(name, _LAYERS)


def events(told: Iterable[Fact | str]) -> Content:
    """What stages left out or switched off, each told once."""
    return Content(" · ".join(one_line(str(event)) for event in dict.fromkeys(told)))
