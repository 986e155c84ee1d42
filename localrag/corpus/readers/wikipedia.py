"""Wikipedia: dumps of its search index (CirrusSearch), and plain extracts.

An extract is text of WikiExtractor or an answer of MediaWiki's API. The lines of a dump come in
pairs: ``{"index": {"_id": "5", ...}}``, then the page, without markup. Its fields are described at
mediawiki.org, Extension:CirrusSearch/Schema.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, TypeVar

from localrag.corpus.readers.bounds import Lines, complete, json_object
from localrag.corpus.readers.infobox import Infoboxes
from localrag.corpus.readers.prose import SectionHeading, prose
from localrag.corpus.readers.text import bounded, drop_controls, one_line, string
from localrag.corpus.readers.triples import triple_passages
from localrag.corpus.readers.types import (
    Limits,
    LineBlock,
    NumberedLine,
    Omission,
    ReadFailure,
    ResumePoint,
    one_by_one,
)
from localrag.corpus.types import ALIAS, Document, Passage, Triple
from localrag.errors import InputError
from localrag.language import N_

FACTS = "基本情報"
"""Heading of the section with the facts of infobox and redirects."""
# In UTF-8: 400 Japanese characters, or 200 English words.
_PASSAGE_BYTES = 1_200
_CHECK = N_("Check how the file was made.")
_WIKI = re.compile(r"https?://([a-z-]+)\.wikipedia\.org/")


@dataclass(frozen=True, slots=True)
class Page:
    """An article."""

    title: str  # as printed, with its disambiguator; unique in its wiki
    text: str  # without markup
    wiki: str = ""  # "jawiki"
    page_id: str = ""  # its number in the wiki, stable across renaming
    date: str = ""  # ISO date of the text
    wikidata: str = ""  # "Q42"
    disambiguation: bool = False  # whether it only lists meanings of its title
    redirects: tuple[str, ...] = ()  # other titles leading to it
    facts: Sequence[tuple[str, tuple[str, ...]]] = ()  # labels and values of its infobox


def wiki_of(url: str) -> str:
    """The wiki of an address ("jawiki"); "" for other addresses."""
    match = _WIKI.match(url)
    return f"{match[1].replace('-', '_')}wiki" if match else ""


def is_extract(record: Mapping[str, Any]) -> bool:
    """Whether a record is an article as written by WikiExtractor."""
    return "text" in record and "title" in record and bool(wiki_of(str(record.get("url", ""))))


def extract_document(record: dict[str, Any], source: str) -> Document:
    """Make the document of an article from ``{"id", "url", "title", "text"}``."""
    page = Page(
        title=string(record, "title"),
        text=string(record, "text"),
        wiki=wiki_of(string(record, "url")),
        page_id=string(record, "id"),
    )
    return page_document(page, source)


def page_document(page: Page, source: str, headings: Sequence[SectionHeading] = ()) -> Document:
    """Make the document of an article; its id is the title.

    A final section has a sentence for each triple of infobox and redirects, to be found and quoted.
    """
    title = bounded(N_("title"), one_line(page.title))
    if not title:
        raise InputError(N_("The article at this place has no title."), _CHECK)
    if not page.text.strip():
        raise InputError(N_("The article {title!r} has no text."), _CHECK, title=title)
    text = page.text.strip()
    known: tuple[Passage, ...] = ()
    if triples := tuple(_triples(page, title)):
        head = SectionHeading(1, FACTS, len(text) + 2, len(text) + 3 + len(FACTS))
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


# Titles are not escaped, not even quotation marks.
_HEAD = re.compile(r'<doc id="([^"]*)"(?: revid="[^"]*")? url="([^"]*)" title="(.*)">\s*')
_BEGIN = b'<doc id="'
_TAIL = b"</doc>"
_HEADING = re.compile(r"^(={2,6}) *(\S.*?) *\1 *(?:\n|$)", re.MULTILINE)


def read_extracts(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | ResumePoint]:
    """Read articles between ``<doc …>`` and ``</doc>``."""
    article: list[bytes] = []
    size = start = 0
    for number, line in lines:
        if line is not None and not line.strip() and not article:
            continue
        if start and line is not None and line.startswith(_BEGIN):
            yield ReadFailure(
                f"{name}:{start}",
                InputError(
                    N_("The next article begins before this one ends."),
                    N_("Check how the file was made."),
                ),
            )
            article, size, start = [], 0, 0
            yield ResumePoint(number - 1)
        start = start or number
        size += limits.line_bytes + 1 if line is None else len(line)
        if line is not None and size <= limits.line_bytes:
            article.append(line)
        if line is None or line.strip() != _TAIL:
            continue
        place = f"{name}:{start}"
        try:
            complete(None if size > limits.line_bytes else line, limits)
            yield _extract(b"".join(article), place)
        except InputError as error:
            yield ReadFailure(place, error)
        article, size, start = [], 0, 0
        yield ResumePoint(number)
    if start:
        yield ReadFailure(
            f"{name}:{start}",
            InputError(N_("The article is cut off."), N_("Check whether the file is complete.")),
        )


def _extract(data: bytes, place: str) -> Document:
    try:
        head, _, rest = data.decode().partition("\n")
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The article is not valid UTF-8."), N_("Save the file as UTF-8.")
        ) from error
    match = _HEAD.fullmatch(head)
    if match is None:
        raise InputError(
            N_("No article begins here."), N_('One begins with <doc id="" url="" title="">.')
        )
    page_id, url, title = (drop_controls(html.unescape(value)) for value in match.groups())
    text = drop_controls(html.unescape(rest[: rest.rindex("</doc>")])).strip()
    return extract_document(
        {"id": page_id, "url": url, "title": title, "text": text.removeprefix(f"{title}\n")}, place
    )


def read_api(name: str, pages: Any) -> Iterator[Document | ReadFailure | Omission]:
    """Read the pages of an answer of MediaWiki's API (``action=query&prop=extracts``)."""
    entries = list(pages.values()) if isinstance(pages, dict) else pages
    listed = entries if isinstance(entries, list) else []
    return one_by_one(name, listed, lambda entry, _: _api_page(entry, name))


def _api_page(entry: Any, name: str) -> Iterator[Document | Omission]:
    if not isinstance(entry, dict):
        raise InputError(N_("The page is not a JSON object."), N_("Save the answer as it comes."))
    if entry.get("missing", False) is not False:  # "" in older answers.
        yield Omission(N_("pages that the wiki does not have"))
        return
    text, headings = _headings(string(entry, "extract").strip())
    page = Page(title=string(entry, "title"), text=text, page_id=string(entry, "pageid"))
    yield page_document(page, name, headings)


def _headings(marked: str) -> tuple[str, list[SectionHeading]]:
    """Remove the equals signs from headings; return the text and the headings."""
    text = ""
    headings: list[SectionHeading] = []
    end = 0
    for match in _HEADING.finditer(marked):
        text += marked[end : match.start()]
        headings.append(
            SectionHeading(len(match[1]) - 1, match[2], len(text), len(text + match[2]) + 1)
        )
        text += f"{match[2]}\n"
        end = match.end()
    return text + marked[end:], headings


Item = TypeVar("Item")

# Memory of a line besides its bytes.
_LINE = 100
_ACTION = re.compile(rb'\{\s*"index"\s*:\s*\{[^{}]*\}\s*\}\s*')
_LONGEST_ACTION = 2_000
_ARTICLES = 0
_MISSING = N_("announced pages that are missing")
# Categories added by the software to disambiguation pages, in Japanese and English.
_DISAMBIGUATION = re.compile(
    r"(.*の)?曖昧さ回避|すべての曖昧さ回避|(.* )?[Dd]isambiguation pages( .*)?"
)


def read_cirrus(
    name: str, lines: Iterable[NumberedLine], limits: Limits, *, ends: bool = True
) -> Iterator[Document | ReadFailure | Omission | ResumePoint]:
    """Read every article of a dump; pages of other namespaces are left out."""
    boxes = Infoboxes()
    announced: tuple[int, str] | None = None
    for number, line in lines:
        if line is not None and not line.strip():
            continue
        if is_action(line):
            if announced:
                yield Omission(_MISSING)
            announced = number, _page_id(line or b"")
            continue
        place = f"{name}:{number}"
        page_id = announced[1] if announced else ""
        try:
            yield from _article(json_object(complete(line, limits)), page_id, place, boxes)
        except InputError as error:
            yield ReadFailure(place, error)
        announced = None
        yield ResumePoint(number)
    if announced and not ends:
        yield Omission(_MISSING)
    elif announced:
        yield ReadFailure(
            f"{name}:{announced[0]}",
            InputError(
                N_("The dump ends before the page that this line announces."),
                N_("Check whether the file is complete."),
            ),
        )


def is_action(line: bytes | None) -> bool:
    """Whether a line announces a page."""
    return bool(line and len(line) <= _LONGEST_ACTION and _ACTION.fullmatch(line))


def is_page(line: bytes) -> bool:
    """Whether a line looks like a page."""
    with suppress(InputError):
        return line.startswith(b"{") and {"title", "namespace", "text"} <= json_object(line).keys()
    return False


def cut_cirrus(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[LineBlock | ResumePoint]:
    """Cut a dump into pieces of about a megabyte for `read_cirrus`."""
    Infoboxes()  # Report a missing package once, not for every piece.
    piece: list[NumberedLine] = []
    size = 0
    for number, line in lines:
        if size >= limits.piece_bytes:
            stop = len(piece) - is_action(piece[-1][1])  # It stays with its page.
            yield from _cut(name, piece[:stop], ends=False)
            piece = piece[stop:]
            size = sum(map(_weight, piece))
        piece.append((number, line))
        size += _weight(piece[-1])
    if piece:
        yield from _cut(name, piece, ends=True)


def _cut(name: str, piece: list[NumberedLine], *, ends: bool) -> Iterator[LineBlock | ResumePoint]:
    yield LineBlock(name, tuple(piece), partial(read_cirrus, ends=ends))
    yield ResumePoint(piece[-1][0])


def _weight(line: NumberedLine) -> int:
    return _LINE + len(line[1] or b"")


def _article(
    record: dict[str, Any], page_id: str, place: str, boxes: Infoboxes
) -> Iterator[Document | Omission]:
    if record.get("namespace", _ARTICLES) != _ARTICLES:
        yield Omission(N_("pages that are no articles"))
        return
    text = string(record, "text")
    if not text.strip():
        yield Omission(N_("articles without text"))
        return
    facts, left_out = boxes.facts(_optional(record, "source_text"))
    if left_out:
        yield Omission(N_("entries of infoboxes that are no short plain text"), left_out)
    page = Page(
        title=string(record, "title"),
        text=text,
        wiki=_optional(record, "wiki"),
        page_id=page_id or _optional(record, "page_id"),
        date=_date(_optional(record, "timestamp")),
        wikidata=_optional(record, "wikibase_item"),
        disambiguation=any(map(_DISAMBIGUATION.fullmatch, _items(record, "category", str))),
        redirects=tuple(_redirects(record)),
        facts=facts,
    )
    yield page_document(page, place)


def _page_id(line: bytes) -> str:
    match = re.search(rb'"_id"\s*:\s*"?(\d+)', line)
    return match[1].decode() if match else ""


def _optional(record: dict[str, Any], key: str) -> str:
    """A string field, or "" if it is missing or wrong: no reason to lose the article."""
    with suppress(InputError):
        return string(record, key)
    return ""


def _date(timestamp: str) -> str:
    with suppress(ValueError):
        return date.fromisoformat(timestamp[:10]).isoformat()
    return ""


def _redirects(record: dict[str, Any]) -> list[str]:
    titles = (
        one_line(string(entry, "title"))
        for entry in _items(record, "redirect", dict)
        if entry.get("namespace") == _ARTICLES
    )
    return list(dict.fromkeys(title for title in titles if title and title != record.get("title")))


def _items(record: dict[str, Any], key: str, kind: type[Item]) -> list[Item]:
    values = record.get(key)
    return [v for v in values if isinstance(v, kind)] if isinstance(values, list) else []
