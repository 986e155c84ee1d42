"""Readers: from files to documents with passages, one module per format.

Use `read`; it takes every format, and gives a `ReadFailure` in the place of what cannot be read.
"""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from localrag.corpus.model import Document
from localrag.corpus.readers.characters import drop_controls
from localrag.corpus.readers.docx import read_docx
from localrag.corpus.readers.egov_xml import read_egov_xml
from localrag.corpus.readers.html import read_html
from localrag.corpus.readers.jsonl import read_jsonl
from localrag.corpus.readers.markdown import read_markdown
from localrag.corpus.readers.model import Limits, ReadFailure
from localrag.corpus.readers.multihop import read_json
from localrag.corpus.readers.pdf import read_pdf
from localrag.corpus.readers.plain_text import read_plain_text
from localrag.corpus.readers.zip_archive import read_zip
from localrag.errors import InputError

__all__ = ["Limits", "ReadFailure", "read", "supported"]

Outcome = Document | ReadFailure
_WholeReader = Callable[[str, bytes, Limits], Iterator[Outcome]]

_WHOLE: Mapping[str, _WholeReader] = {
    ".xml": read_egov_xml,
    ".txt": read_plain_text,
    ".text": read_plain_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".json": read_json,
}
"""Formats that are read from all their bytes at once."""
_LINES: Mapping[str, Callable[[Path], Any]] = {
    ".jsonl": partial(open, mode="rb"),
    ".jsonl.gz": partial(gzip.open, mode="rb"),
    ".jsonl.xz": partial(lzma.open, mode="rb"),
}
"""Formats that are streamed line by line, and how they are opened."""
_MAGIC = {
    b"%PDF-": ".pdf",
    b"PK\x03\x04": ".zip",
    b"\x1f\x8b": ".gz",
    b"\xfd7zXZ": ".xz",
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"\xd0\xcf\x11\xe0": ".doc",
}
"""How binary formats begin, and a suffix they go by."""


_BEGINS_AS = {".pdf": ".pdf", ".docx": ".zip"}
"""How files of a suffix begin; the others are text."""


def supported(path: Path) -> bool:
    """Tell whether a walk through a folder should offer this file: told from its name alone."""
    return not path.name.startswith((".", "~$")) and bool(_suffix(path.name))


def read(
    path: Path,
    *,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    name: str | None = None,
    shard: tuple[int, int] = (0, 1),
) -> Iterator[Outcome]:
    """Read every document of a file.

    Args:
        path: the file; its suffix tells the format, its content must agree.
        limits: how much it may hold.
        name: what ids, sources and messages call the file (its path inside the folder that is
            added, say); the file name by default.
        shard: ``(i, n)`` reads the i-th of n shares of the documents, counted from 0, so that n
            processes can share one large file.

    Yields:
        Documents in file order, and a `ReadFailure` for the file, a member or a line that cannot
        be read; the rest goes on. Nothing is raised.
    """
    name = drop_controls(name or path.name).replace("\n", " ")
    try:
        outcomes = _open(path, name, limits, shard)
        for outcome in outcomes:
            yield _storable(outcome)
    except InputError as error:
        yield ReadFailure(name, error.cause, error.cure)
    except OSError as error:
        yield ReadFailure(
            name, f"The file cannot be read: {error.strerror or error}.", "Check that it is there."
        )
    except Exception as error:  # noqa: BLE001 - hostile files find every path through a parser
        yield ReadFailure(
            name,
            f"The file is damaged in a way that was not foreseen ({type(error).__name__}: "
            f"{drop_controls(str(error))[:200]}).",
            "Open it in its own program and save it again.",
        )


def _open(path: Path, name: str, limits: Limits, shard: tuple[int, int]) -> Iterator[Outcome]:
    suffix = _suffix(path.name)
    if not suffix:
        raise InputError(
            f"There is no reader for {path.suffix or 'files without a suffix'}.",
            f"Read are {', '.join(sorted([*_WHOLE, *_LINES, '.zip']))}.",
        )
    size = path.stat().st_size
    if not path.is_file():
        raise InputError("This is no regular file.", "Add files and folders only.")
    if not size:
        raise InputError("The file is empty.", "Remove it, or check how it was saved.")
    if suffix == ".zip":
        return read_zip(
            path,
            name,
            limits,
            offers=lambda member: supported(Path(member)),
            read_member=lambda place, data: _member(place, data, limits),
            shard=shard,
        )
    if suffix in _LINES:
        return _stream(path, suffix, name, limits, shard)
    if size > limits.file_bytes:
        raise InputError(
            f"The file has {size:,} bytes, more than {limits.file_bytes:,}.",
            "Split it, or write it as JSONL, which is streamed.",
        )
    share, shares = shard
    outcomes = _whole(name, path.read_bytes(), suffix, limits)
    return (outcome for n, outcome in enumerate(outcomes) if n % shares == share)


def _whole(name: str, data: bytes, suffix: str, limits: Limits) -> Iterator[Outcome]:
    begins_as = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "text")
    if begins_as != _BEGINS_AS.get(suffix, "text"):
        raise InputError(
            f"The file is named {suffix} but begins like {begins_as}.", "Give it its own suffix."
        )
    return _WHOLE[suffix](name, data, limits)


def _stream(
    path: Path, suffix: str, name: str, limits: Limits, shard: tuple[int, int]
) -> Iterator[Outcome]:
    try:
        with _LINES[suffix](path) as stream:
            yield from read_jsonl(name, stream, limits, shard)
    except (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise InputError(
            f"The compressed file is damaged or cut off: {error}.", "Download the file again."
        ) from error


def _member(place: str, data: bytes, limits: Limits) -> Iterator[Outcome]:
    place = drop_controls(place)
    suffix = _suffix(place)
    if not data:
        raise InputError("The member is empty.")
    if suffix in _WHOLE:
        yield from _whole(place, data, suffix, limits)
    elif suffix == ".jsonl":
        yield from read_jsonl(place, BytesIO(data), limits)
    else:
        raise InputError("Compressed members are not read.", "Unpack the zip and add the files.")


def _suffix(name: str) -> str:
    """Return the suffix that tells the format, empty where there is no reader for it."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes[-2:]]
    for candidate in ("".join(suffixes), *suffixes[-1:]):
        if candidate in _WHOLE or candidate in _LINES or candidate == ".zip":
            return candidate
    return ""


def _storable(outcome: Outcome) -> Outcome:
    """Put a failure in the place of a document that no store could hold."""
    if isinstance(outcome, ReadFailure):
        return outcome
    try:
        for text in (outcome.id, outcome.title, outcome.text, *outcome.metadata.values()):
            text.encode()
    except UnicodeEncodeError:
        return ReadFailure(
            outcome.source, "The text holds half of a surrogate pair.", "Save it as valid Unicode."
        )
    return outcome
