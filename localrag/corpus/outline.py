"""The outline of a document for browsing: a tree of its parts down to what is opened."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from localrag.corpus.browsing import Stand
from localrag.corpus.lookups import Lookups
from localrag.corpus.states import DocumentInfo
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES

# Passages of a part, where neither headings nor pages divide a document; more where the parts
# would be too many for a list.
_PART = 20
_PARTS = 200
# Supplementary provisions from this number on are put under one heading.
_MANY = 3
_SUPPLEMENT = re.compile(r"附\s*則")


@dataclass(slots=True, eq=False)
class OutlineEntry:
    """A part of a document.

    Attributes:
        title: as printed ("第二条（定義）", "第一章　総則"); of a part without heading or page the
            numbers of its passages.
        start, end: span in the document text, in characters.
        passage_id: the passage that the part is; "" for one that holds several, or none.
        page: the page that the part is, from 1; 0 for any other part.
        parts: what it is divided into.
    """

    title: str
    start: int
    end: int
    passage_id: str = ""
    page: int = 0
    parts: list["OutlineEntry"] = field(default_factory=list)

    def holds(self, position: int) -> bool:
        """Whether the part covers a place in the document text."""
        return self.start <= position < self.end


def outline(store: Lookups, document_id: str) -> list[OutlineEntry]:
    """Lay out a document.

    A statute has its 編・章・節 with the articles that stand in them, its supplementary provisions
    and its appendices. Another document has its headings, else its pages, else parts of a number
    of passages; nothing where it has so few that there is nothing to choose.

    Raises:
        NotFoundError: there is no such document.
    """
    document = store.document(document_id)
    sections = [OutlineEntry(of.title, of.start, of.end) for of in store.sections(document_id)]
    if document.kind == "law":
        articles = store.standing(document_id, ARTICLES)
        return _gathered(_nested(sections, articles, document.title))
    if sections:
        return _nested(sections)
    passages = store.standing(document_id, PASSAGES) or store.standing(document_id, TRIPLES)
    if any(stand.locator.page for stand in passages):
        return _pages(passages)
    return _parts(passages, document)


def _nested(
    sections: list[OutlineEntry], articles: Sequence[Stand] = (), title: str = ""
) -> list[OutlineEntry]:
    """Put every part into the one around it."""
    leaves = [OutlineEntry(_name(title, of), of.start, of.end, of.passage_id) for of in articles]
    unnumbered = {of.passage_id for of in articles if not of.locator.article}
    outermost: list[OutlineEntry] = []
    around: list[OutlineEntry] = []
    for entry in sorted([*sections, *leaves], key=lambda entry: (entry.start, -entry.end)):
        while around and around[-1].end <= entry.start:
            around.pop()
        parent = around[-1] if around else None
        if entry.passage_id in unnumbered and parent and not (parent.passage_id or parent.parts):
            # An appendix, or 附則 without articles, is no part of its own heading.
            parent.passage_id = entry.passage_id
            continue
        (parent.parts if parent else outermost).append(entry)
        if not entry.passage_id:
            around.append(entry)
    return outermost


def _name(title: str, stand: Stand) -> str:
    """What an article is called under the headings it stands in."""
    name = stand.header.removeprefix(title).strip(" ")
    if stand.locator.division and stand.locator.article:
        name = name.partition(" ")[2] or name
    return name or stand.header


def _gathered(entries: list[OutlineEntry]) -> list[OutlineEntry]:
    """Put supplementary provisions, of which an old statute has a hundred, under one heading."""
    supplements = [entry for entry in entries if _SUPPLEMENT.match(entry.title)]
    if len(supplements) < _MANY:
        return entries
    first, last = supplements[0], supplements[-1]
    heading = OutlineEntry("附則", first.start, last.end, parts=supplements)
    gathered = [heading if entry is first else entry for entry in entries]
    return [entry for entry in gathered if entry not in supplements[1:]]


def _pages(passages: Sequence[Stand]) -> list[OutlineEntry]:
    pages: dict[int, OutlineEntry] = {}
    for stand in passages:
        page = stand.locator.page
        entry = pages.setdefault(page, OutlineEntry("", stand.start, stand.end, page=page))
        entry.end = stand.end
    return list(pages.values())


def _parts(passages: Sequence[Stand], document: DocumentInfo) -> list[OutlineEntry]:
    size = max(_PART, -(-len(passages) // _PARTS))
    parts = []
    for first in range(0, len(passages), size):
        part = passages[first : first + size]
        header = "" if part[0].header == document.title else part[0].header
        title = f"{first + 1}–{first + len(part)} {header}".rstrip()
        parts.append(OutlineEntry(title, part[0].start, part[-1].end))
    return parts if len(parts) > 1 else []
