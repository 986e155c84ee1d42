"""What the source pane reads from the store: places, links and where they lead, quotations."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from localrag.corpus.types import Locator
from localrag.errors import NotFoundError
from localrag.language import _
from localrag_tui.source.sheet import Sheet, load
from localrag_tui.spot import Spot
from localrag_tui.wording import palette

if TYPE_CHECKING:
    from localrag.answer.types import Citation
    from localrag.corpus.browsing import Stand
    from localrag.corpus.links import Reference
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Passage
    from localrag.law.applied import ReadText
    from localrag.search.provision import Provision
    from localrag_tui.source.sheet import Sheet


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


@dataclass(frozen=True, slots=True)
class AsRead:
    """A provision as another one has it read (読替え); made by code.

    Attributes:
        title: both provisions, cited.
        text: what is read.
    """

    title: str
    text: "ReadText"


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
    from localrag.corpus.links import DELEGATES
    from localrag.law.delegations import filled_in

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
    from localrag.law.notation import cite

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


def opened(
    store: "CorpusStore", spot: Spot, before: Sheet | None
) -> "tuple[Sheet, Passage | None]":
    """The document of a spot, and the passage that the spot names, where it is there still.

    Args:
        store: the corpus.
        spot: the place.
        before: what was read from this corpus before; taken again where nothing has changed.

    Raises:
        NotFoundError: the corpus has no such document.
    """
    passage = store.by_id(spot.passage_id) if spot.passage_id else None
    now = spot.document_id, store.generation, store.as_of
    if before and (before.document.id, before.generation, before.day) == now:
        return before, passage
    return load(store, spot.document_id), passage


def wording_of(store: "CorpusStore", document_id: str) -> tuple[date, str]:
    """The day whose law is shown, and that from which this document's text is in force, if any.

    Raises:
        NotFoundError: there is no such document.
    """
    return store.as_of, store.document(document_id).metadata.get("date", "")


def provision_at(store: "CorpusStore", sheet: Sheet, unit: "Stand") -> Spot:
    """A provision of a document in the wording that is shown now; raises what `spot_at` does."""
    return spot_at(store, sheet.document.id, sheet.document.title, unit.locator)


def cited(store: "CorpusStore", citation: "Citation") -> Spot | None:
    """Where a citation stands, in the wording that it quotes whichever is shown; None if nowhere.

    An answer quotes the law of the day it was made for, which may not be shown any more.
    """
    from localrag.corpus.rows import state_id

    law, _mark, place = citation.passage_id.partition("#")
    ids = dict.fromkeys((f"{state_id(law, citation.state)}#{place}", citation.passage_id))
    passage = next(filter(None, map(store.by_id, ids)), None)
    return Spot.quoted(citation, passage) if passage else None


def described(store: "CorpusStore", passage_id: str) -> "Provision":
    """A passage and what is tied to it; raises `gone` where the corpus has lost it."""
    from localrag.search.provision import describe

    passage = store.by_id(passage_id)
    if passage is None:
        raise gone(passage_id)
    return describe(store, passage)


def gone(passage_id: str) -> NotFoundError:
    """Says that a passage is not there any more."""
    return NotFoundError(
        _("The corpus has no {passage} any more.").format(passage=passage_id),
        _("It was changed meanwhile: what stands here now may be another text. Search once more."),
    )


def quotation(store: "CorpusStore", document_id: str, start: int, end: int) -> str:
    """Write a span of a document as a quotation with its citation: 「…」（金融商品取引法第1条）.

    The citation is of the most exact passage that holds the whole span; where none does, of the
    one in which it begins. A wording that another one follows, or that is not yet in force, is
    said to be so.

    Raises:
        NotFoundError: there is no such document.
    """
    from localrag.search.provision import citation_of

    text = store.text(document_id, start, end).strip()
    passage = _around(store, document_id, start, end)
    source = citation_of(store, passage) if passage else store.document(document_id).title
    return f"「{text}」（{_with_state(store, document_id, source)}）"


def read_otherwise(store: "CorpusStore", passage: "Passage", by: Spot) -> "AsRead":
    """A provision as another one has it read, with the citations of both; raises `gone`."""
    from localrag.law.applied import as_read
    from localrag.search.provision import citation_of

    reading = store.by_id(by.passage_id)
    text = as_read(store, passage, reading) if reading else None
    if reading is None or text is None:
        raise gone(by.passage_id)
    title = _("{provision} as {by} has it read").format(
        provision=citation_of(store, passage), by=citation_of(store, reading)
    )
    return AsRead(_with_state(store, passage.document_id, title), text)


def _with_state(store: "CorpusStore", document_id: str, source: str) -> str:
    """What is cited; of a wording that may not be the one in force, from which day it is."""
    from localrag.answer.wording import state_of

    document = store.document(document_id)
    if not (document.followed or document.not_yet or document.before_first):
        return source
    return _(", ").join((source, state_of(document)))


def paragraph_at(store: "CorpusStore", sheet: "Sheet", position: int) -> tuple[int, int]:
    """The span of the paragraph (項) around a position; of what has none, of its line."""
    from localrag.corpus.types import PARAGRAPHS

    unit = sheet.unit_at(position)
    if unit is not None and sheet.is_law:
        for paragraph in store.within(sheet.document.id, unit.locator, PARAGRAPHS):
            if paragraph.start <= position < paragraph.end:
                return paragraph.start, paragraph.end
        return unit.start, unit.end
    end = sheet.text.find("\n", position)
    return sheet.text.rfind("\n", 0, position) + 1, end if end >= 0 else len(sheet.text)


def _around(store: "CorpusStore", document_id: str, start: int, end: int) -> "Passage | None":
    from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, PASSAGES, TRIPLES

    stands = (
        s for layer in (ARTICLES, PASSAGES, TRIPLES) for s in store.standing(document_id, layer)
    )
    outer = next((stand for stand in stands if stand.start <= start < stand.end), None)
    passage = store.by_id(outer.passage_id) if outer else None
    if passage is None or not passage.locator.path:
        return passage
    for layer in (PARAGRAPHS, ITEMS):
        for inner in store.within(document_id, passage.locator, layer):
            if inner.start <= start and end <= inner.end:
                passage = inner
    return passage
