"""Files of triples: tab-separated, a value a line (extracts of Wikidata and Shinra), or JSON Lines.

A line of JSON is a triple, or a value of an attribute of Shinra.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from localrag.corpus.readers.jsonl import Lines, complete, json_object
from localrag.corpus.readers.records import string
from localrag.corpus.readers.triples import Placed, sets, triple, triple_documents
from localrag.corpus.readers.types import Limits, Mark, ReadFailure
from localrag.corpus.types import Document, Triple
from localrag.errors import InputError
from localrag.language import N_

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
                        N_("The line is no triple as the first one is."),
                        N_("Give it the same fields; other records belong in a file of their own."),
                    )
                yield Placed(number, number, read(record))
        except InputError as error:
            yield ReadFailure(f"{name}:{number}", error)


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
            N_("The field 'object' holds something else than strings."),
            N_("Write values as strings."),
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


_NEEDED = ("subject", "predicate", "object")
_COLUMNS = (*_NEEDED, "source", "date")
_OTHER_NAMES = {
    "subject": ("title", "主語", "主体", "項目", "項目名", "見出し", "記事名"),
    "predicate": ("attribute", "property", "述語", "属性", "属性名", "関係", "プロパティ"),
    "object": ("value", "目的語", "客体", "値", "属性値"),
    "source": ("出典", "典拠"),
    "date": ("日付",),
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}


def read_triples_tsv(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Mark]:
    """Read a triple from every line.

    The columns are subject, predicate, object and, if there are more, source and date; a first
    line that names them (also: title, attribute, value; 主語, 述語, 目的語; 項目, 属性, 値 …) may
    put them in another order and between others. A cell is taken as it stands, without quoting.
    Each line gives one object: lines that follow each other and differ in nothing else are one
    triple with several.

    Raises:
        InputError: none of the first lines can be read and has three columns.
    """
    header = _first(lines)
    columns = [_MEANT.get(cell.casefold(), cell.casefold()) for cell in header]
    if not set(_NEEDED) <= set(columns):
        header, columns = [], list(_COLUMNS)
    placed = _placed_value(name, lines, limits, columns, header)
    yield from triple_documents(name, sets(placed))


def holds_triples_tsv(lines: Lines) -> bool:
    """Whether tab-separated lines are triples, by the first of them that has three columns.

    They are where it names the columns of triples, or has no more columns than triples have. Lines
    of two columns, and lines of UTF-8 that cannot be read, are a table.
    """
    try:
        cells = _first(lines)
    except InputError:
        head = list(lines.head())
        if any(b"\t" in line and not _is_utf8(line) for line in head):
            return False
        return max((line.count(b"\t") for line in head), default=0) != 1
    while not cells[-1]:
        cells.pop()
    columns = {_MEANT.get(cell.casefold(), cell.casefold()) for cell in cells}
    return set(_NEEDED) <= columns or len(cells) <= len(_COLUMNS)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first(lines: Lines) -> list[str]:
    """The cells of the first line that has three; what stands before is told when it is read."""
    problem = None
    for line in lines.head():
        try:
            cells = _cells(line)
        except InputError as error:
            problem = problem or error
            continue
        if len(cells) >= len(_NEEDED):
            return cells
    raise problem or InputError(
        N_("The first lines have less than three columns."),
        N_("Separate subject, predicate and object by tabs."),
    )


def _placed_value(
    name: str, lines: Lines, limits: Limits, columns: Sequence[str], header: Sequence[str]
) -> Iterator[Placed | ReadFailure]:
    for number, line in lines:
        try:
            cells = _cells(complete(line, limits))
            if cells in ([""], header):
                continue
            if any(cells[len(columns) :]):
                raise InputError(
                    N_("The line has {n} columns where {known} are known."),
                    N_("Name every column in the first line, or leave out those beyond."),
                    n=len(cells),
                    known=len(columns),
                )
            found = dict(zip(columns, cells, strict=False))
            subject, predicate, value, source, date = (found.get(of, "") for of in _COLUMNS)
            yield Placed(number, number, triple(subject, predicate, [value], source, date))
        except InputError as error:
            yield ReadFailure(f"{name}:{number}", error)


def _cells(line: bytes) -> list[str]:
    try:
        text = line.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The line is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error
    if "\r" in text:
        raise InputError(
            N_("The line holds a carriage return."),
            N_("Save the file with LF at the end of its lines."),
        )
    return [cell.strip() for cell in text.split("\t")]
