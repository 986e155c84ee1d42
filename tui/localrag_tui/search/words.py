"""What relations and the values of filters are called in the interface."""

from textual.content import Content

from localrag.language import N_, _
from localrag_tui.remarks import remark
from localrag_tui.shown import one_line
from localrag_tui.wording import DOCUMENTS, called

_RELATIONS = {
    "fills in": N_("fills in"),
    "filled in by": N_("filled in by"),
    "refers to": N_("refers to"),
    "referred to by": N_("referred to by"),
    "applies mutatis mutandis": N_("applies mutatis mutandis"),
    "applied mutatis mutandis by": N_("applied mutatis mutandis by"),
    "defines": N_("defines"),
    "punishes a breach of": N_("punishes a breach of"),
    "named in": N_("named in"),
    "named:": N_("named in the search:"),
}
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


def reason(text: str) -> str:
    """Why a hit was chosen, its relation in the language of the interface."""
    for relation in sorted(_RELATIONS, key=len, reverse=True):
        if text.startswith(f"{relation} "):
            return f"{_(_RELATIONS[relation])} {one_line(text.removeprefix(relation).strip())}"
    return one_line(text)


def events(told: tuple[str, ...]) -> Content:
    """What stages left out or switched off, each told once."""
    return Content(" · ".join(remark(event) for event in dict.fromkeys(told)))
