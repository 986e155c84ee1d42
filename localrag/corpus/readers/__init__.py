"""Readers: from files to documents with passages.

`read` takes every format and yields a `ReadFailure` for anything unreadable. `stream` also marks
its progress, can resume, and can leave work to `read_piece`. The reader of a format takes the name
of the file, its bytes or lines, and the limits. It raises `InputError` for a file it cannot read.
"""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from localrag.corpus.readers.bounds import Lines
from localrag.corpus.readers.converting import CONVERTED, LIST_OF_LAWS, convert, not_read
from localrag.corpus.readers.egov_xml import read_egov_xml
from localrag.corpus.readers.images import no_ocr, read_image
from localrag.corpus.readers.json_files import (
    cut_statutes,
    holds_statutes,
    holds_store,
    read_json,
    read_jsonl,
    read_store,
)
from localrag.corpus.readers.mail import read_eml
from localrag.corpus.readers.markup import read_html, read_markdown, read_plain_text
from localrag.corpus.readers.ocr import DOUBTFUL, PageRead, Scans, is_installed
from localrag.corpus.readers.outlook import read_msg
from localrag.corpus.readers.package import no_package
from localrag.corpus.readers.pdf import read_pdf
from localrag.corpus.readers.sheets import read_xlsx
from localrag.corpus.readers.slides import read_pptx
from localrag.corpus.readers.tables import read_csv, read_tsv
from localrag.corpus.readers.text import drop_controls, empty_file
from localrag.corpus.readers.triples import holds_triples, read_triples_jsonl
from localrag.corpus.readers.types import (
    Limits,
    LineBlock,
    Omission,
    OnlyImagesError,
    PassedOver,
    ReadFailure,
    ResumePoint,
)
from localrag.corpus.readers.wikidata import holds_wikidata, read_wikidata
from localrag.corpus.readers.wikipedia import (
    cut_cirrus,
    is_action,
    is_page,
    read_cirrus,
    read_extracts,
)
from localrag.corpus.readers.word import WORD_SUFFIXES, read_docx
from localrag.corpus.readers.zip_archive import read_zip
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_
from localrag.text.harmless import one_line

__all__ = [
    "DOUBTFUL",
    "Limits",
    "LineBlock",
    "Omission",
    "OnlyImagesError",
    "Outcome",
    "PageRead",
    "PassedOver",
    "ReadFailure",
    "ResumePoint",
    "Scans",
    "grows",
    "how_to_read",
    "read",
    "read_piece",
    "stream",
    "supported",
    "unreadable",
]

_Found = Document | ReadFailure | Omission | PassedOver
Outcome = _Found | ResumePoint
_WholeReader = Callable[[str, bytes, Limits], Iterator[Document | ReadFailure | Omission]]
_LineReader = Callable[[str, Lines, Limits], Iterator[Outcome]]
_PartReader = Callable[[str, bytes], Iterator[_Found]]
_HoldingReader = Callable[[str, bytes, Limits, _PartReader], Iterator[_Found]]

# Takes the place of a suffix in WikiExtractor's numbered file names.
_EXTRACTED = "wiki_00"
# Scans, offered by a walk if OCR is installed.
_IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
# Formats read whole.
_WHOLE: Mapping[str, _WholeReader] = {
    ".xml": read_egov_xml,
    ".txt": read_plain_text,
    ".text": read_plain_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    **dict.fromkeys(WORD_SUFFIXES, read_docx),
    ".xlsx": read_xlsx,
    ".xlsm": read_xlsx,
    ".pptx": read_pptx,
    ".pptm": read_pptx,
    ".ppsx": read_pptx,
    ".csv": read_csv,
    ".json": read_json,
    **dict.fromkeys(_IMAGES, read_image),
}
# The same, for files with other files inside.
_HOLDING: Mapping[str, _HoldingReader] = {".eml": read_eml, ".msg": read_msg, ".pdf": read_pdf}
# Formats streamed line by line.
_LINES: Mapping[str, _LineReader] = {".jsonl": read_jsonl, ".tsv": read_tsv, _EXTRACTED: read_jsonl}
# How to open compressed lines.
_PACKED: Mapping[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
# First bytes of binary formats, with a suffix for each.
_MAGIC = {
    b"%PDF-": ".pdf",
    b"PK\x03\x04": ".zip",
    b"\x1f\x8b": ".gz",
    b"\xfd7zXZ": ".xz",
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"II*\x00": ".tif",
    b"MM\x00*": ".tif",
    b"\xd0\xcf\x11\xe0": ".doc",
}


# First bytes expected for a suffix; all others are text.
_BEGINS_AS = {
    ".pdf": ".pdf",
    ".png": ".png",
    **dict.fromkeys((".jpg", ".jpeg"), ".jpg"),
    **dict.fromkeys((".tif", ".tiff"), ".tif"),
    ".msg": ".doc",
    **dict.fromkeys((*WORD_SUFFIXES, ".xlsx", ".xlsm", ".pptx", ".pptm", ".ppsx"), ".zip"),
}
# Nesting limit for archives and messages.
_DEEPEST = 5


def supported(path: Path, *, converting: bool = False) -> bool:
    """Whether a walk through a folder should offer this file, by its name alone."""
    if path.name.startswith((".", "~$")) or path.name == LIST_OF_LAWS:
        return False
    suffix = _suffixes(path.name)[0]
    if suffix in _IMAGES:
        return is_installed()
    return bool(suffix) or (converting and path.suffix.lower() in CONVERTED)


def how_to_read(path: Path) -> InputError:
    """The error for an unsupported file."""
    if path.suffix.lower() in _IMAGES:
        return no_ocr()
    return not_read(path, formats())


def formats() -> list[str]:
    """The suffixes of all readable files, sorted."""
    return sorted({*_WHOLE, *_HOLDING, *_LINES, ".zip"} - {_EXTRACTED})


def grows(path: Path) -> bool:
    """Whether a file may hold many documents, far more than its size shows; by its name."""
    suffix, packing = _suffixes(path.name)
    return bool(packing) or suffix == ".zip"


def read(
    path: Path,
    *,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    name: str | None = None,
) -> Iterator[Document | ReadFailure]:
    """Read every document of a file; see `stream`."""
    for outcome in stream(path, limits=limits, name=name):
        if isinstance(outcome, Document | ReadFailure):
            yield outcome


def stream(
    path: Path,  # the file; its content must match its suffix
    *,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    name: str | None = None,
    after: int = 0,  # line of a `ResumePoint` of the same content; reading resumes after it
    in_pieces: bool = False,
) -> Iterator[Outcome | LineBlock]:
    """Read a file lazily; nothing is raised.

    Yields documents in file order, each followed by its `Omission` objects. A `ReadFailure` for an
    unreadable file, member or line; reading goes on. A `ResumePoint` after each line where reading
    could resume. With `in_pieces`, lines of dumps and statutes come unread, as `LineBlock` and
    `ResumePoint` in turn, for `read_piece`. `name` is for ids, sources and messages.
    """
    name = one_line(name or path.name)
    yield from _told(name, lambda: _open(path, name, limits, after, in_pieces))


def read_piece(piece: LineBlock, limits: Limits) -> Iterator[Document | ReadFailure | Omission]:
    """Read the lines of a `LineBlock`; nothing is raised."""
    for outcome in _told(piece.name, lambda: piece.read(piece.name, piece.lines, limits)):
        if isinstance(outcome, Document | ReadFailure | Omission):
            yield outcome


def _told(
    name: str, opened: Callable[[], Iterator[Outcome | LineBlock]]
) -> Iterator[Outcome | LineBlock]:
    try:
        for outcome in opened():
            if isinstance(outcome, Document):
                yield _storable(outcome)
                yield from outcome.omissions
            else:
                yield outcome
    except InputError as error:
        yield ReadFailure(name, error)
    except OSError as error:
        yield ReadFailure(name, unreadable(error))
    except Exception as error:  # noqa: BLE001 - hostile files find every path through a parser
        problem = InputError(
            N_("The file is damaged in an unexpected way ({name}: {problem})."),
            N_("Open it in its own program and save it again."),
            name=type(error).__name__,
            problem=drop_controls(str(error))[:200],
        )
        yield ReadFailure(name, problem)


def unreadable(error: OSError) -> InputError:
    """The error for a file the system does not let us read."""
    return InputError(
        N_("The file cannot be read ({problem})."),
        N_("Check that it is there."),
        # Without the file name, which the message already has.
        problem=OSError(error.errno, error.strerror),
    )


def _open(
    path: Path, name: str, limits: Limits, after: int, in_pieces: bool
) -> Iterator[Outcome | LineBlock]:
    suffix, packing = _suffixes(path.name)
    converted = limits.converter is not None and path.suffix.lower() in CONVERTED
    if not suffix and not converted:
        raise how_to_read(path)
    size = path.stat().st_size
    if not path.is_file():
        raise InputError(N_("This is no regular file."), N_("Add files and folders only."))
    if not size:
        raise empty_file()
    if suffix == ".zip":
        return _zip(path, name, limits)
    is_whole = converted or suffix in _WHOLE or suffix in _HOLDING
    if packing or not is_whole or _is_dump(path, suffix, limits):
        allowed = max(limits.small_bytes, size * limits.growth) if packing else size
        bounds = replace(limits, unpacked_bytes=allowed)
        return _lines(path, suffix, packing, name, bounds, after, in_pieces)
    if size > limits.file_bytes:
        raise InputError(
            N_("The file has {size:,} bytes, more than {most:,}."),
            N_("Split it, or write it as JSONL, which is streamed."),
            size=size,
            most=limits.file_bytes,
        )
    data = path.read_bytes()
    if converted:
        return _converted(name, data, path.suffix.lower(), limits)
    return _whole(name, data, suffix, limits)


def _zip(path: Path, name: str, limits: Limits) -> Iterator[Outcome]:
    with path.open("rb") as file:
        yield from _archive(file, name, limits)


def _archive(file: IO[bytes], name: str, limits: Limits) -> Iterator[Outcome]:
    return read_zip(
        file,
        name,
        limits,
        pass_over=lambda place, inside: _passed_over(place, inside, limits),
        read_member=lambda place, data: _member(place, data, limits),
    )


def _passed_over(place: str, inside: str, limits: Limits) -> PassedOver | None:
    """Name a part of an archive or message without a reader; None for others."""
    path = Path(inside)
    if supported(path, converting=limits.converter is not None):
        return None
    return PassedOver(place, how_to_read(path), path.suffix.lower() or path.name)


def _converted(name: str, data: bytes, suffix: str, limits: Limits) -> Iterator[Outcome]:
    """Read a file in an old format after conversion; ids keep the file's name."""
    new = convert(data, suffix, limits)
    for outcome in _whole(name, new, CONVERTED[suffix], limits):
        if isinstance(outcome, Document):
            outcome = replace(
                outcome, metadata={**outcome.metadata, "converted_from": suffix.lstrip(".")}
            )
        yield outcome


def _whole(name: str, data: bytes, suffix: str, limits: Limits) -> Iterator[Outcome]:
    begins_as = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "text")
    if begins_as == ".doc" and _BEGINS_AS.get(suffix) == ".zip":
        raise no_package(BytesIO(data))
    if begins_as != _BEGINS_AS.get(suffix, "text"):
        raise InputError(
            N_("The file is named {suffix} but begins like text.")
            if begins_as == "text"
            else N_("The file is named {suffix} but begins like {begins_as}."),
            N_("Give it its own suffix."),
            suffix=suffix,
            begins_as=begins_as,
        )
    if suffix in _HOLDING:
        return _HOLDING[suffix](name, data, limits, lambda part, held: _part(part, held, limits))
    return _WHOLE[suffix](name, data, limits)


def _is_dump(path: Path, suffix: str, limits: Limits) -> bool:
    with path.open("rb") as file:
        return _dump_reader(suffix, Lines(file, limits).first) is not None


def _lines(
    path: Path, suffix: str, packing: str, name: str, limits: Limits, after: int, in_pieces: bool
) -> Iterator[Outcome | LineBlock]:
    try:
        with path.open("rb") as file, _PACKED.get(packing, nullcontext)(file) as unpacked:
            lines = Lines(unpacked, limits, after)
            reader = _line_reader(suffix, lines)
            if in_pieces and reader is read_cirrus:
                outcomes: Iterator[Outcome | LineBlock] = cut_cirrus(name, lines, limits)
            elif in_pieces and reader is read_jsonl and holds_statutes(lines.first):
                outcomes = cut_statutes(name, lines, limits)
            else:
                outcomes = reader(name, lines, limits)
            for outcome in outcomes:
                yield (
                    ResumePoint(outcome.line, file.tell())
                    if isinstance(outcome, ResumePoint)
                    else outcome
                )
    except (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise _damaged(str(error)) from error
    except OSError as error:
        # System errors have a number; errors of bz2 have none.
        if error.errno is not None:
            raise
        raise _damaged(str(error)) from error


def _line_reader(suffix: str, lines: Lines) -> _LineReader:
    if reader := _dump_reader(suffix, lines.first):
        return reader
    if suffix == ".jsonl" and holds_triples(lines.first):
        return read_triples_jsonl
    if suffix not in _LINES:
        raise InputError(
            N_("This dump has an unknown format."),
            N_("Unpack it; lines of JSON belong in a file named .jsonl, compressed or not."),
        )
    return _LINES[suffix]


def _dump_reader(suffix: str, first: bytes) -> _LineReader | None:
    """The reader for a dump, recognised by its first line."""
    if holds_wikidata(first):
        return read_wikidata
    if is_action(first):
        return read_cirrus
    if holds_store(first):
        return read_store
    if first.startswith(b"<doc "):
        return read_extracts
    if suffix == ".json" and is_page(first):
        raise InputError(
            N_(
                "The file looks like a dump of Wikipedia's search index, but its first "
                'line is no action ({"index": …}).'
            ),
            N_("Take the dump as published: each page follows an action."),
        )
    return None


def _damaged(how: str) -> InputError:
    return InputError(
        N_("The compressed file is damaged or cut off ({how})."),
        N_("Download the file again."),
        how=how,
    )


def _part(place: str, data: bytes, limits: Limits) -> Iterator[_Found]:
    if left_out := _passed_over(place, place.rpartition("!")[2], limits):
        yield left_out
        return
    try:
        yield from _member(place, data, limits)
    except InputError as error:
        yield ReadFailure(place, error)


def _member(place: str, data: bytes, limits: Limits) -> Iterator[_Found]:
    suffix, packing = _suffixes(place)
    if not data:
        raise InputError(N_("The member is empty."), N_("Check how the zip was made."))
    if packing:
        raise InputError(
            N_("Compressed members are not read."), N_("Unpack the zip and add the files.")
        )
    if place.count("!") > _DEEPEST:
        raise InputError(
            N_("It is inside more than {n} archives and messages."),
            N_("Unpack them and add the files."),
            n=_DEEPEST,
        )
    for outcome in _inside(place, data, suffix, limits):
        if not isinstance(outcome, ResumePoint):
            yield outcome


def _inside(place: str, data: bytes, suffix: str, limits: Limits) -> Iterator[Outcome]:
    old = PurePosixPath(place).suffix.lower()
    if not suffix and old in CONVERTED:
        return _converted(place, data, old, limits)
    if suffix == ".zip":
        return _archive(BytesIO(data), place, limits)
    lines = Lines(BytesIO(data), limits)
    is_whole = suffix in _WHOLE or suffix in _HOLDING
    if is_whole and _dump_reader(suffix, lines.first) is None:
        return _whole(place, data, suffix, limits)
    return _line_reader(suffix, lines)(place, lines, limits)


def _suffixes(name: str) -> tuple[str, str]:
    """The suffixes for format and compression; "" without a reader."""
    path = PurePosixPath(name.lower())
    packing = path.suffix if path.suffix in _PACKED else ""
    inner = path.with_suffix("") if packing else path
    suffix = _EXTRACTED if re.fullmatch("wiki_[0-9]+", inner.name) else inner.suffix
    read = (*_LINES, ".json") if packing else (*_LINES, *_WHOLE, *_HOLDING, ".zip")
    return (suffix, packing) if suffix in read else ("", "")


def _storable(document: Document) -> Document | ReadFailure:
    """The document, or a failure if no store could hold it."""
    try:
        for text in (document.id, document.title, document.text, *document.metadata.values()):
            text.encode()
    except UnicodeEncodeError:
        problem = InputError(
            N_("The text holds half of a surrogate pair."), N_("Save it as valid Unicode.")
        )
        return ReadFailure(document.source, problem)
    return document
