"""How a document is laid out in the tables: text in blocks, passages as spans of it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from localrag.corpus.triples import NameRow, TripleRow, name_rows, triple_of, triple_rows
from localrag.corpus.types import Document, Locator, Passage, Section
from localrag.errors import InputError

BLOCK = 1024
"""Characters of a block: a passage of usual length is read with one or two of them."""

_BLOCKS_PER_DOCUMENT = 1 << 20

PassageRow = tuple[str, str, str | None, str, int, str, int, int, str | None, str]
"""layer, locator, place, section, page, header, start, end, text, source: columns of `passages`."""
StoredRow = tuple[Any, ...]
"""A `PassageRow` and the columns predicate, objects, source, date of `triples`; None without."""


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """A document ready to be written: small enough to be sent from one process to another."""

    id: str
    title: str
    kind: str
    source: str
    text: str
    metadata: str
    fingerprint: str
    passages: tuple[PassageRow, ...]
    sections: tuple[Section, ...]
    triples: tuple[TripleRow, ...]
    names: tuple[NameRow, ...]


def prepare(document: Document) -> DocumentRows:
    """Lay a document out for the tables.

    Raises:
        InputError: the document has no id, its passages break the rules of the model, or its
            text holds half characters (lone surrogates), which no file can hold.
    """
    if not document.id:
        raise InputError(f"{document.source}: the document has no id.")
    _check_ids(document)
    passages = tuple(_passage_row(document, passage) for passage in document.passages)
    triples = triple_rows(document.source, document.passages)
    names = name_rows(document.passages) if triples else ()
    metadata = json.dumps(dict(sorted(document.metadata.items())), ensure_ascii=False)
    try:
        mark = _fingerprint(document, metadata, passages, (*triples, *names))
    except UnicodeEncodeError as error:
        raise InputError(
            f"{document.source}: the text holds half characters ({error.reason}).",
            "Save the file again as UTF-8.",
        ) from error
    return DocumentRows(
        id=document.id,
        title=document.title,
        kind=document.kind,
        source=document.source,
        text=document.text,
        metadata=metadata,
        fingerprint=mark,
        passages=passages,
        sections=document.sections,
        triples=triples,
        names=names,
    )


def text_blocks(document_key: int, text: str) -> Iterable[tuple[int, str]]:
    """Cut a text into the rows of `blocks`."""
    first = document_key * _BLOCKS_PER_DOCUMENT
    return (
        (first + number, text[start : start + BLOCK])
        for number, start in enumerate(range(0, len(text), BLOCK))
    )


def block_range(document_key: int, start: int, end: int | None) -> range:
    """Keys of the blocks that hold a span; all from `start` on when `end` is None."""
    first = document_key * _BLOCKS_PER_DOCUMENT
    stop = _BLOCKS_PER_DOCUMENT if end is None else -(-end // BLOCK)
    return range(first + start // BLOCK, first + stop)


def passage_id(document_id: str, path: str, place: str | None) -> str:
    """The id of a passage; `place` is stored only where it differs from the locator's path."""
    return f"{document_id}#{path if place is None else place}"


def passage_of(document_id: str, row: StoredRow, span: str) -> Passage:
    """Make the passage of a row; `span` is its piece of the document's text."""
    layer, path, place, section, page, header, start, end, text, source, *said = row
    locator = Locator(section=section, page=page) if section or page else Locator.parse(path)
    text = span if text is None else text
    return Passage(
        id=passage_id(document_id, path, place),
        document_id=document_id,
        layer=layer,
        text=text,
        header=header,
        locator=locator,
        start=start,
        end=end,
        source_id=source,
        triple=None if said[0] is None else triple_of(header, text, *said),
    )


def _check_ids(document: Document) -> None:
    seen: set[str] = set()
    for passage in document.passages:
        if passage.document_id != document.id or not passage.id.startswith(f"{document.id}#"):
            raise InputError(
                f"{document.source}: passage {passage.id!r} is not of {document.id!r}."
            )
        if not 0 <= passage.start <= passage.end <= len(document.text):
            raise InputError(f"{document.source}: passage {passage.id!r} lies outside the text.")
        if passage.id in seen:
            raise InputError(f"{document.source}: two passages have the id {passage.id!r}.")
        seen.add(passage.id)


def _passage_row(document: Document, passage: Passage) -> PassageRow:
    locator = passage.locator
    path = locator.path
    place = passage.id[len(document.id) + 1 :]
    same = document.text[passage.start : passage.end] == passage.text
    return (
        passage.layer,
        path,
        None if place == path else place,
        locator.section,
        locator.page,
        passage.header,
        passage.start,
        passage.end,
        None if same else passage.text,
        passage.source_id,
    )


def _fingerprint(
    document: Document,
    metadata: str,
    passages: tuple[PassageRow, ...],
    derived: tuple[TripleRow | NameRow, ...],
) -> str:
    # Covers the passages too, so that a better reader counts as a change.
    digest = blake2b(digest_size=16)
    for part in (document.title, document.kind, metadata, document.text):
        digest.update(f"{len(part)}\n{part}".encode())
    digest.update("\n".join(map(str, passages)).encode())
    digest.update("\n".join(map(str, document.sections)).encode())
    digest.update("\n".join(map(str, derived)).encode())
    return digest.hexdigest()
