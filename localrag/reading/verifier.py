"""Checks quotes against the store, by code."""

from dataclasses import replace
from typing import Any

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import (
    ITEMS,
    PARAGRAPHS,
    PASSAGES,
    Passage,
    page_starts,
    pages_of,
    with_pages,
)
from localrag.facts import Fact, FactKind
from localrag.reading.types import Citation
from localrag_indexes.analysis.normalize import compact, normalize_with_offsets, original_span


def verify(store: CorpusStore, citation: Citation) -> Citation:
    """The citation as far as the store confirms it.

    The quote must stand in the passage letter by letter. Only line breaks, blanks and the width
    of characters may differ; then the citation returned holds the document's own spelling.

    Returns:
        The citation with its span in the document and `verified`, or with the problem named.
    """
    passage = store.by_id(citation.passage_id)
    if passage is None:
        problem = Fact(FactKind.NO_SUCH_PASSAGE, passage=citation.passage_id)
        return replace(citation, verified=False, problem=problem)
    if not citation.quote.strip():
        return replace(citation, verified=False, problem=Fact(FactKind.QUOTE_EMPTY))
    hint = citation.start - passage.start
    if citation.start >= 0 and passage.text.startswith(citation.quote, max(hint, 0)):
        at = max(hint, 0)
    else:
        at = passage.text.find(citation.quote)
    end = at + len(citation.quote)
    if at < 0:
        at, end = _find_folded(passage.text, citation.quote)
    if at < 0:
        return replace(citation, verified=False, problem=Fact(FactKind.QUOTE_NOT_HELD))
    return replace(
        citation,
        quote=passage.text[at:end],
        start=passage.start + at,
        end=passage.start + end,
        **_pages(store, passage, citation.label, passage.start + at, passage.start + end),
        **_state(store, passage),
        confidence=passage.locator.confidence,
        verified=True,
        problem=None,
    )


def _pages(
    store: CorpusStore, passage: Passage, label: str, start: int, end: int
) -> dict[str, Any]:
    """The label of a quotation with the pages that it is on, and the pages."""
    label = label or passage.header
    if not passage.locator.page:
        return {"label": label}
    starts = page_starts(store.document(passage.document_id).metadata)
    first, last = pages_of(starts, start, end) if starts else (passage.locator.page,) * 2
    return {
        "label": with_pages(label, first, last, passage.text),
        "page": first,
        "last_page": last,
    }


def _state(store: CorpusStore, passage: Passage) -> dict[str, Any]:
    """Which wording of a law a passage has, as fields of a citation; none of other documents."""
    if passage.layer == PASSAGES:
        return {}
    document = store.document(passage.document_id)
    if document.kind != "law":
        return {}
    return {
        "state": document.metadata.get("date", ""),
        "followed": document.followed,
        "not_yet": document.not_yet,
        "before_first": document.before_first,
    }


def located(store: CorpusStore, citation: Citation) -> Citation:
    """The citation with the place of the smallest provision that holds the whole quote."""
    passage = store.by_id(citation.passage_id) if citation.verified else None
    if passage is None or passage.layer == PASSAGES:
        return citation
    for layer in (ITEMS, PARAGRAPHS):
        for inner in store.within(passage.document_id, passage.locator, layer):
            if inner.start <= citation.start and citation.end <= inner.end:
                passage = min(passage, inner, key=lambda one: one.end - one.start)
    return replace(citation, passage_id=passage.id, label=passage.header)


def _find_folded(text: str, quote: str) -> tuple[int, int]:
    """Span in `text` of the quote when blanks and character widths are disregarded, or -1, -1."""
    haystack, places = _folded(text)
    needle, _ = _folded(quote)
    letters = compact(quote)
    at = haystack.find(needle) if needle else -1
    while at >= 0:
        start, end = places[at][0], places[at + len(needle) - 1][1]
        # Folding also evens out case, which a verbatim quote may not change.
        if compact(text[start:end]) == letters:
            return start, end
        at = haystack.find(needle, at + 1)
    return -1, -1


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    normal, offsets = normalize_with_offsets(text)
    kept = [i for i, character in enumerate(normal) if not character.isspace()]
    return (
        "".join(normal[i] for i in kept),
        [original_span(offsets, i, i + 1) for i in kept],
    )
