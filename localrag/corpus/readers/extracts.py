"""Plain extracts of Wikipedia: WikiExtractor's text, and answers of MediaWiki's API."""

import html
import re
from collections.abc import Iterator
from typing import Any

from localrag.corpus.readers.characters import drop_controls
from localrag.corpus.readers.jsonl import Lines, complete
from localrag.corpus.readers.prose import Heading
from localrag.corpus.readers.records import string
from localrag.corpus.readers.types import Limits, Mark, Omission, ReadFailure
from localrag.corpus.readers.wikipedia import Page, extract_document, page_document
from localrag.corpus.types import Document
from localrag.errors import InputError

# Titles are written as they are, quotation marks and all.
_HEAD = re.compile(r'<doc id="([^"]*)"(?: revid="[^"]*")? url="([^"]*)" title="(.*)">\s*')
_BEGIN = b'<doc id="'
_TAIL = b"</doc>"
_HEADING = re.compile(r"^(={2,6}) *(\S.*?) *\1 *(?:\n|$)", re.MULTILINE)


def read_extracts(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Mark]:
    """Read the articles of a file in which each stands between ``<doc …>`` and ``</doc>``.

    Args:
        name: file name, for messages.
        lines: of the file.
        limits: an article may be as long as a line.
    """
    article: list[bytes] = []
    size = start = 0
    for number, line in lines:
        if line is not None and not line.strip() and not article:
            continue
        if start and line is not None and line.startswith(_BEGIN):
            yield ReadFailure(
                f"{name}:{start}",
                "The next article begins before this one ends.",
                "Check how the file was made.",
            )
            article, size, start = [], 0, 0
            yield Mark(number - 1)
        start = start or number
        size += limits.line_bytes + 1 if line is None else len(line)
        if line is not None and size <= limits.line_bytes:
            article.append(line)
        if line is None or line.strip() != _TAIL:
            continue
        place = f"{name}:{start}"
        try:
            complete(None if size > limits.line_bytes else line, limits)
            yield _article(b"".join(article), place)
        except InputError as error:
            yield ReadFailure(place, error.cause, error.cure)
        article, size, start = [], 0, 0
        yield Mark(number)
    if start:
        yield ReadFailure(
            f"{name}:{start}", "The article is cut off.", "Check whether the file is complete."
        )


def _article(data: bytes, place: str) -> Document:
    try:
        head, _, rest = data.decode().partition("\n")
    except UnicodeDecodeError as error:
        raise InputError("The article is not valid UTF-8.", "Save the file as UTF-8.") from error
    match = _HEAD.fullmatch(head)
    if match is None:
        raise InputError("No article begins here.", 'One begins with <doc id="" url="" title="">.')
    page_id, url, title = (drop_controls(html.unescape(value)) for value in match.groups())
    text = drop_controls(html.unescape(rest[: rest.rindex("</doc>")])).strip()
    return extract_document(
        {"id": page_id, "url": url, "title": title, "text": text.removeprefix(f"{title}\n")}, place
    )


def read_api(name: str, pages: Any) -> Iterator[Document | ReadFailure | Omission]:
    """Read the pages of an answer of MediaWiki's API (``action=query&prop=extracts``).

    Args:
        name: file name, for messages.
        pages: the value of ``query.pages``: a list, or an object in older answers.
    """
    entries = list(pages.values()) if isinstance(pages, dict) else pages
    for ordinal, entry in enumerate(entries if isinstance(entries, list) else [], start=1):
        try:
            if not isinstance(entry, dict):
                raise InputError("The page is not a JSON object.", "Save the answer as it comes.")
            if entry.get("missing", False) is not False:  # "" in older answers.
                yield Omission("pages that the wiki does not have")
                continue
            marked = string(entry, "extract").strip()
            text, headings = _headings(marked)
            page = Page(title=string(entry, "title"), text=text, page_id=string(entry, "pageid"))
            yield page_document(page, name, headings)
        except InputError as error:
            yield ReadFailure(f"{name}:{ordinal}", error.cause, error.cure)


def _headings(marked: str) -> tuple[str, list[Heading]]:
    """Take the equals signs off headings; returns the text and where they stand in it."""
    text = ""
    headings: list[Heading] = []
    end = 0
    for match in _HEADING.finditer(marked):
        text += marked[end : match.start()]
        headings.append(Heading(len(match[1]) - 1, match[2], len(text), len(text + match[2]) + 1))
        text += f"{match[2]}\n"
        end = match.end()
    return text + marked[end:], headings
