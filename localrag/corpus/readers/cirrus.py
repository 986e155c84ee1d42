"""Dumps of Wikipedia's search index (CirrusSearch): an article a line, without markup.

The lines come in pairs, as Elasticsearch takes them in bulk: ``{"index": {"_id": "5", ...}}``, then
the page. Its fields are described at mediawiki.org, Extension:CirrusSearch/Schema; older dumps are
one ``.json.gz`` a wiki, those since 2026 are numbered ``.json.bz2`` of the same lines.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from localrag.corpus.model import Document
from localrag.corpus.readers.infobox import Infoboxes
from localrag.corpus.readers.jsonl import NumberedLine, complete, json_object
from localrag.corpus.readers.model import Limits, Mark, Omission, Piece, ReadFailure
from localrag.corpus.readers.records import one_line, string
from localrag.corpus.readers.wikipedia import Page, page_document
from localrag.errors import InputError

Item = TypeVar("Item")

_PIECE = 1_000_000
_ACTION = b'{"index":'
_ARTICLES = 0
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# In the language of the wiki; of both, what their software puts on every such page.
_DISAMBIGUATION = re.compile(
    r"(.*の)?曖昧さ回避|すべての曖昧さ回避|(.* )?[Dd]isambiguation pages( .*)?"
)


def read_cirrus(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[Document | ReadFailure | Omission | Mark]:
    """Read every article of a dump; pages of other namespaces are left out.

    Args:
        name: file name, for messages.
        lines: of the file.
        limits: bounds of a line.

    Raises:
        InputError: the parser of wikitext is not installed.
    """
    boxes = Infoboxes()
    page_id = ""
    for number, line in lines:
        if line is not None and line.startswith(_ACTION):
            page_id = _page_id(line)
            continue
        place = f"{name}:{number}"
        try:
            if line is None or line.strip():
                yield from _article(json_object(complete(line, limits)), page_id, place, boxes)
        except InputError as error:
            yield ReadFailure(place, error.cause, error.cure)
        page_id = ""
        yield Mark(number)


def cut_cirrus(name: str, lines: Iterable[NumberedLine]) -> Iterator[Piece | Mark]:
    """Cut a dump into pieces of about a megabyte that `read_cirrus` can read by themselves.

    Raises:
        InputError: the parser of wikitext is not installed.
    """
    Infoboxes()  # What is missing is told once, not for every piece.
    piece: list[NumberedLine] = []
    size = 0
    for number, line in lines:
        if size >= _PIECE and line is not None and line.startswith(_ACTION):
            yield Piece(name, tuple(piece))
            yield Mark(number - 1)
            piece, size = [], 0
        piece.append((number, line))
        size += len(line or b"")
    if piece:
        yield Piece(name, tuple(piece))
        yield Mark(piece[-1][0])


def _article(
    record: dict[str, Any], page_id: str, place: str, boxes: Infoboxes
) -> Iterator[Document | Omission]:
    if record.get("namespace", _ARTICLES) != _ARTICLES:
        yield Omission("pages that are no articles")
        return
    text = string(record, "text")
    if not text.strip():
        yield Omission("articles without text")
        return
    date = _DATE.match(string(record, "timestamp"))
    facts, left_out = boxes.facts(string(record, "source_text"))
    if left_out:
        yield Omission("entries of infoboxes that are no short plain text", left_out)
    page = Page(
        title=string(record, "title"),
        text=text,
        wiki=string(record, "wiki"),
        page_id=page_id or string(record, "page_id"),
        date=date[0] if date else "",
        wikidata=string(record, "wikibase_item"),
        disambiguation=any(map(_DISAMBIGUATION.fullmatch, _items(record, "category", str))),
        redirects=tuple(_redirects(record)),
        facts=facts,
    )
    yield page_document(page, place)


def _page_id(line: bytes) -> str:
    match = re.search(rb'"_id":\s*"?(\d+)', line)
    return match[1].decode() if match else ""


def _redirects(record: dict[str, Any]) -> list[str]:
    """List the titles that lead to a page, each once."""
    titles = (
        one_line(string(entry, "title"))
        for entry in _items(record, "redirect", dict)
        if entry.get("namespace") == _ARTICLES
    )
    return list(dict.fromkeys(title for title in titles if title and title != record.get("title")))


def _items(record: dict[str, Any], key: str, kind: type[Item]) -> list[Item]:
    values = record.get(key)
    return [v for v in values if isinstance(v, kind)] if isinstance(values, list) else []
