"""Triples as JSON Lines: a triple a line, or a value of an attribute of Shinra a line."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Any

from localrag.corpus.readers.jsonl import Lines, complete, json_object
from localrag.corpus.readers.records import string
from localrag.corpus.readers.triples import Placed, sets, triple, triple_documents
from localrag.corpus.readers.types import Limits, Mark, ReadFailure
from localrag.corpus.types import Document, Triple
from localrag.errors import InputError

_Read = Callable[[dict[str, Any]], Triple]

_TAG = re.compile("<[^<>]*>")


def read_triples_jsonl(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Mark]:
    """Read a file of triples; the first line tells which of two forms it has.

    A line ``{"subject", "predicate", "object"}`` (as those of JEMHopQA) is a whole triple: its
    object is a string, or a list of all there are; "source" and "date" may be there too.
    A line of Shinra gives one value ("title", "attribute", and the value as the "text" of its
    "text_offset" or, where that is missing, of its "html_offset"); lines that follow each other
    with title and attribute in common are one triple.
    """
    read = _form(json_object(lines.first))
    placed = _placed(name, lines, limits, read)
    yield from triple_documents(name, sets(placed) if read is _value else placed)


def holds_triples(first: bytes) -> bool:
    """Whether the first line of a file says that it is one of triples."""
    try:
        return _form(json_object(first)) is not None
    except InputError:
        return False


def _placed(
    name: str, lines: Lines, limits: Limits, read: _Read | None
) -> Iterator[Placed | ReadFailure]:
    for number, line in lines:
        try:
            if line is None or line.strip():
                record = json_object(complete(line, limits))
                if read is None or _form(record) is not read:
                    raise InputError(
                        "The line is no triple as the first one is.",
                        "Give it the same fields; other records belong in a file of their own.",
                    )
                yield Placed(number, number, read(record))
        except InputError as error:
            yield ReadFailure(f"{name}:{number}", error.cause, error.cure)


def _form(record: Mapping[str, Any]) -> _Read | None:
    if {"subject", "predicate", "object"} <= record.keys():
        return _whole
    offsets = {"text_offset", "html_offset"}
    if {"title", "attribute"} <= record.keys() and offsets & record.keys():
        return _value
    return None


def _whole(record: dict[str, Any]) -> Triple:
    objects = record["object"]
    if not isinstance(objects, list):
        objects = [string(record, "object")]
    if not all(isinstance(value, str) for value in objects):
        raise InputError(
            "The field 'object' holds something else than strings.", "Write values as strings."
        )
    return triple(
        string(record, "subject"),
        string(record, "predicate"),
        objects,
        string(record, "source"),
        string(record, "date"),
    )


def _value(record: dict[str, Any]) -> Triple:
    value = _text(record, "text_offset") or unescape(_TAG.sub("", _text(record, "html_offset")))
    page = string(record, "page_id")
    return triple(
        string(record, "title"),
        string(record, "attribute"),
        [value],
        f"Wikipedia {page}" if page else "",
    )


def _text(record: dict[str, Any], key: str) -> str:
    place = record.get(key)
    return string(place, "text") if isinstance(place, dict) else ""
