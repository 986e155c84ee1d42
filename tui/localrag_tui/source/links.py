"""References in a text as links, and where they lead."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.corpus.types import Locator
from localrag.errors import NotFoundError
from localrag.language import _
from localrag_tui.spot import Spot
from localrag_tui.wording import palette

if TYPE_CHECKING:
    from localrag.corpus.links import Reference
    from localrag.corpus.store import CorpusStore


@dataclass(frozen=True, slots=True)
class TextLink:
    """A span of a document that refers to something.

    Attributes:
        start, end: span in the document, in characters.
        reference: what is referred to; the first of several, or of a range.
    """

    start: int
    end: int
    reference: "Reference"


def links_of(
    store: "CorpusStore", document_id: str, provisions: Iterable[Locator]
) -> tuple[TextLink, ...]:
    """The links of some provisions of a statute, in reading order, none inside another."""
    links: list[TextLink] = []
    for provision in provisions:
        for of in store.references_from(document_id, provision):
            if not links or of.start >= links[-1].end:
                links.append(TextLink(of.start, of.end, of))
    return tuple(links)


def destination(store: "CorpusStore", reference: "Reference") -> Spot:
    """The place that a reference leads to.

    Where something is left to an order (政令で定める) it is the provision of that order that fills
    it in. Raises what `spot_at` does.
    """
    from localrag.provision import filled_in
    from localrag.statutes.references import DELEGATES

    if reference.kind == DELEGATES and not reference.target.path:
        order = filled_in(store, reference)
        if order is not None:
            return spot_at(store, order.document_id, reference.law_name, order.source)
    return spot_at(store, reference.law_id, reference.law_name, reference.target)


def spot_at(store: "CorpusStore", law_id: str, name: str, locator: Locator) -> Spot:
    """The beginning of a provision, or of a law as a whole.

    Args:
        store: the corpus.
        law_id: the law; "" for one that the corpus does not hold.
        name: what the law is called.
        locator: the provision; the empty one for the law as a whole.

    Raises:
        NotFoundError: the corpus has no such law, or no such provision in it.
    """
    from localrag.statutes.notation import cite

    if not law_id:
        raise NotFoundError(
            _("{law} is not in this corpus.").format(law=name),
            palette(_("Add documents")),
        )
    if not locator.path:
        return Spot(law_id)
    passage = store.at(law_id, locator)
    if passage is None:
        raise NotFoundError(
            _("This text has no {provision}.").format(
                provision=cite(store.document(law_id).title, locator)
            ),
            _("It may be renumbered or repealed; Ctrl+G opens the law itself."),
        )
    return Spot.of(passage)
