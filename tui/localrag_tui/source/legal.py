"""Passages and quotations as lawyers cite them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Passage
    from localrag_tui.source.sheet import Sheet


def quotation(store: "CorpusStore", document_id: str, start: int, end: int) -> str:
    """Write a span of a document as a quotation with its citation: 「…」（金融商品取引法第1条）.

    The citation is of the most exact passage that holds the whole span; where none does, of the
    one in which it begins.

    Raises:
        NotFoundError: there is no such document.
    """
    from localrag.provision import citation_of

    text = store.text(document_id, start, end).strip()
    passage = _around(store, document_id, start, end)
    source = citation_of(store, passage) if passage else store.document(document_id).title
    return f"「{text}」（{source}）"


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
