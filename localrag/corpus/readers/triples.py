"""Triples: documents of some hundred triples, and files of triples."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import groupby
from typing import Any, NamedTuple

from localrag.corpus.readers.bounds import Lines, complete, json_object, utf8_line
from localrag.corpus.readers.text import bounded, drop_controls, first_decoded, one_line, string
from localrag.corpus.readers.types import Limits, ReadFailure, ResumePoint
from localrag.corpus.types import TRIPLES, Document, Locator, Passage, Triple
from localrag.errors import InputError
from localrag.language import N_, _

KIND = "triples"

# Small enough to read and to replace, large enough for few documents. A document with many triples
# on its last subject may hold twice as many.
_MANY = 300


class Placed(NamedTuple):
    """A triple with its first and last line in the file."""

    first: int
    last: int
    triple: Triple


def triple(
    subject: str, predicate: str, objects: Iterable[str], source: str = "", date: str = ""
) -> Triple:
    """Make a triple without control characters and line breaks."""
    subject, predicate, source, date = map(_clean, (subject, predicate, source, date))
    values = tuple(dict.fromkeys(value for value in map(_clean, objects) if value))
    for what, part in (
        (N_("subject"), subject),
        (N_("predicate"), predicate),
        (N_("object"), values),
    ):
        if not part:
            raise InputError(
                N_("The triple has no {what}."),
                N_("Give it subject, predicate, object."),
                what=_(what),
            )
    try:
        "".join((subject, predicate, *values, source, date)).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            N_("The text holds half of a surrogate pair."), N_("Save it as valid Unicode.")
        ) from error
    return Triple(
        bounded(N_("subject"), subject), bounded(N_("predicate"), predicate), values, source, date
    )


def sets(placed: Iterable[Placed | ReadFailure]) -> Iterator[Placed | ReadFailure]:
    """Join consecutive triples differing only in their objects."""
    for key, run in groupby(placed, key=_statement):
        if key is None:
            yield from run
            continue
        members = [member for member in run if isinstance(member, Placed)]
        objects = dict.fromkeys(of for member in members for of in member.triple.objects)
        whole = members[0].triple
        together = Triple(whole.subject, whole.predicate, tuple(objects), whole.source, whole.date)
        yield Placed(members[0].first, members[-1].last, together)


def triple_documents(
    name: str, placed: Iterable[Placed | ReadFailure]
) -> Iterator[Document | ReadFailure | ResumePoint]:
    """Yield documents of some hundred triples, with consecutive ones of a subject together."""
    some: list[Placed] = []
    for one in placed:
        if isinstance(one, ReadFailure):
            yield one
            continue
        parted = not some or some[-1].triple.subject != one.triple.subject
        if len(some) >= (_MANY if parted else 2 * _MANY):
            yield from _document(name, some)
            some = []
        some.append(one)
    if some:
        yield from _document(name, some)


def triples_document(
    id_: str,
    title: str,
    kind: str,
    source: str,
    triples: Sequence[Triple],
    metadata: Mapping[str, str] | None = None,
) -> Document:
    """Make a document with one triple per line."""
    bounded(N_("id"), id_)
    text, passages = triple_passages(id_, triples)
    return Document(id_, title, kind, text, source, passages, metadata=dict(metadata or {}))


def triple_passages(
    document_id: str, triples: Sequence[Triple], *, start: int = 0, section: str = ""
) -> tuple[str, tuple[Passage, ...]]:
    """Write triples as lines of a document; return the text and a passage for each line."""
    lines: list[str] = []
    passages = []
    for ordinal, said in enumerate(triples, start=1):
        line = said.text
        passages.append(
            Passage(
                id=f"{document_id}#{section}{'.' if section else ''}{ordinal}",
                document_id=document_id,
                layer=TRIPLES,
                text=line,
                header=said.subject,
                locator=Locator(section=section),
                start=start,
                end=start + len(line),
                triple=said,
            )
        )
        lines.append(f"{line}\n")
        start += len(line) + 1
    return "".join(lines), tuple(passages)


def _document(name: str, some: Sequence[Placed]) -> Iterator[Document | ResumePoint]:
    triples = [one.triple for one in some]
    place = f"{name}:{some[0].first}"
    title = " – ".join(dict.fromkeys((triples[0].subject, triples[-1].subject)))
    yield triples_document(place, title, KIND, place, triples)
    yield ResumePoint(some[-1].last)


def _statement(one: Placed | ReadFailure) -> tuple[str, str, str, str] | None:
    if isinstance(one, ReadFailure):
        return None
    return one.triple.subject, one.triple.predicate, one.triple.source, one.triple.date


def _clean(part: str) -> str:
    return part.strip() if part.isprintable() else one_line(drop_controls(part))


_Read = Callable[[dict[str, Any]], Triple]

_TAG = re.compile("<[^<>]*>")


def read_triples_jsonl(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | ResumePoint]:
    """Read a file of triples in one of two forms, shown by its first line.

    A line ``{"subject", "predicate", "object"}`` (as in JEMHopQA) is a whole triple, with a string
    or a list as object. A line of Shinra has one value of an attribute; consecutive lines with
    equal title and attribute form one triple.
    """
    form = _form(json_object(lines.first))

    def read(line: bytes | None) -> Triple | None:
        if line is not None and not line.strip():
            return None
        record = json_object(complete(line, limits))
        if form is None or _form(record) is not form:
            raise InputError(
                N_("The line is no triple as the first one is."),
                N_("Give it the same fields; other records belong in a file of their own."),
            )
        return form(record)

    placed = _placed(name, lines, read)
    yield from triple_documents(name, sets(placed) if form is _value else placed)


def holds_triples(first: bytes) -> bool:
    """Whether the first line shows a file of triples."""
    try:
        return _form(json_object(first)) is not None
    except InputError:
        return False


def _placed(
    name: str, lines: Lines, read: Callable[[bytes | None], Triple | None]
) -> Iterator[Placed | ReadFailure]:
    for number, line in lines:
        try:
            if said := read(line):
                yield Placed(number, number, said)
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
) -> Iterator[Document | ReadFailure | ResumePoint]:
    """Read a triple from every line: subject, predicate, object, source, date.

    A first line with column names (also title, attribute, value; 主語, 述語, 目的語; 項目, 属性, 値
    …) allows any order and other columns. Consecutive lines differing only in their object form one
    triple.
    """
    header = _first(lines)
    columns = [_MEANT.get(cell.casefold(), cell.casefold()) for cell in header]
    if not set(_NEEDED) <= set(columns):
        header, columns = [], list(_COLUMNS)

    def read(line: bytes | None) -> Triple | None:
        cells = _cells(complete(line, limits))
        return None if cells in ([""], header) else _of_cells(cells, columns)

    yield from triple_documents(name, sets(_placed(name, lines, read)))


def holds_triples_tsv(lines: Lines) -> bool:
    """Whether tab-separated lines are triples, by the first line with three columns.

    It needs the column names of triples, or at most five columns.
    """
    try:
        cells = _first(lines)
    except InputError:
        head = list(lines.head())
        if any(b"\t" in line and first_decoded(line, ["utf-8"]) is None for line in head):
            return False
        return max((line.count(b"\t") for line in head), default=0) != 1
    while not cells[-1]:
        cells.pop()
    columns = {_MEANT.get(cell.casefold(), cell.casefold()) for cell in cells}
    return set(_NEEDED) <= columns or len(cells) <= len(_COLUMNS)


def _first(lines: Lines) -> list[str]:
    """The cells of the first line with three; earlier problems are reported later."""
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


def _of_cells(cells: Sequence[str], columns: Sequence[str]) -> Triple:
    if any(cells[len(columns) :]):
        raise InputError(
            N_("The line has {n} columns where {known} are known."),
            N_("Name every column in the first line, or leave out those beyond."),
            n=len(cells),
            known=len(columns),
        )
    found = dict(zip(columns, cells, strict=False))
    subject, predicate, value, source, date = (found.get(of, "") for of in _COLUMNS)
    return triple(subject, predicate, [value], source, date)


def _cells(line: bytes) -> list[str]:
    text = utf8_line(line).removesuffix("\n").removesuffix("\r")
    if "\r" in text:
        raise InputError(
            N_("The line holds a carriage return."),
            N_("Save the file with LF at the end of its lines."),
        )
    return [cell.strip() for cell in text.split("\t")]
