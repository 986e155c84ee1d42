"""Articles of Wikipedia as documents, whatever form they were published in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from localrag.corpus.readers.prose import Heading, prose
from localrag.corpus.readers.records import one_line, string
from localrag.corpus.readers.text import bounded
from localrag.corpus.readers.triples import triple_passages
from localrag.corpus.types import ALIAS, Document, Passage, Triple
from localrag.errors import InputError
from localrag.language import N_

FACTS = "基本情報"
"""Heading of the section that is made of what box and redirects tell."""
# In UTF-8: 400 Japanese characters, or 200 English words.
_PASSAGE_BYTES = 1_200
_CHECK = N_("Check how the file was made.")
_WIKI = re.compile(r"https?://([a-z-]+)\.wikipedia\.org/")


@dataclass(frozen=True, slots=True)
class Page:
    """An article.

    Attributes:
        title: as printed, with its disambiguator; one wiki has it once.
        text: without markup.
        wiki: "jawiki".
        page_id: its number in the wiki, which stays when it is renamed.
        date: of the state of the text, in ISO form.
        wikidata: "Q42".
        disambiguation: whether it only lists what its title can mean.
        redirects: other titles that lead to it.
        facts: what its box tells, label and values.
    """

    title: str
    text: str
    wiki: str = ""
    page_id: str = ""
    date: str = ""
    wikidata: str = ""
    disambiguation: bool = False
    redirects: tuple[str, ...] = ()
    facts: Sequence[tuple[str, tuple[str, ...]]] = ()


def wiki_of(url: str) -> str:
    """Name the wiki that an address belongs to ("jawiki"); empty for other addresses."""
    match = _WIKI.match(url)
    return f"{match[1].replace('-', '_')}wiki" if match else ""


def is_extract(record: Mapping[str, Any]) -> bool:
    """Whether a record is an article as WikiExtractor and published extracts write it."""
    return "text" in record and "title" in record and bool(wiki_of(str(record.get("url", ""))))


def extract_document(record: dict[str, Any], source: str) -> Document:
    """Make the document of an article from ``{"id", "url", "title", "text"}``.

    Raises:
        InputError: a field is no string, or there is no text.
    """
    page = Page(
        title=string(record, "title"),
        text=string(record, "text"),
        wiki=wiki_of(string(record, "url")),
        page_id=string(record, "id"),
    )
    return page_document(page, source)


def page_document(page: Page, source: str, headings: Sequence[Heading] = ()) -> Document:
    """Make the document of an article; its id is the title.

    What the box and the redirects tell is appended as a section, a sentence for each triple, so
    that it is found and quoted like the text, and each triple is a span of it.

    Args:
        page: the article.
        source: the file and line.
        headings: in the text, in order.

    Raises:
        InputError: it has no title or no text, or its title is too long.
    """
    title = bounded(N_("title"), one_line(page.title))
    if not title:
        raise InputError(N_("The article at this place has no title."), _CHECK)
    if not page.text.strip():
        raise InputError(N_("The article {title!r} has no text."), _CHECK, title=title)
    text = page.text.strip()
    known: tuple[Passage, ...] = ()
    if triples := tuple(_triples(page, title)):
        head = Heading(1, FACTS, len(text) + 2, len(text) + 3 + len(FACTS))
        headings = (*headings, head)
        lines, known = triple_passages(title, triples, start=head.end, section=FACTS)
        text = f"{text}\n\n{FACTS}\n{lines}"
    metadata = {
        "wiki": page.wiki,
        "page_id": page.page_id,
        "date": page.date,
        "wikidata": page.wikidata,
        "disambiguation": "yes" if page.disambiguation else "",
    }
    document = prose(
        id_=title,
        title=title,
        kind="wikipedia",
        text=text,
        source=source,
        headings=headings,
        metadata={name: value for name, value in metadata.items() if value},
        longest=_PASSAGE_BYTES,
    )
    return replace(document, passages=(*document.passages, *known))


def _triples(page: Page, title: str) -> Iterator[Triple]:
    source = f"Wikipedia {title}"
    if page.redirects:
        yield Triple(title, ALIAS, page.redirects, source, page.date)
    for label, values in page.facts:
        yield Triple(title, label, values, source, page.date)
