"""Results of reading besides documents, and its limits."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from localrag.corpus.types import Document, Omission
from localrag.errors import InputError, LocalragError

if TYPE_CHECKING:
    from localrag.corpus.readers.ocr import Scans

__all__ = [
    "Limits",
    "LineBlock",
    "NumberedLine",
    "Omission",
    "OnlyImagesError",
    "PassedOver",
    "ReadFailure",
    "ResumePoint",
    "Unread",
]


class OnlyImagesError(InputError):
    """A file or page is an image and needs OCR."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something not read."""

    source: str  # the file, with ``!member`` or ``:line`` inside it
    problem: LocalragError

    @property
    def cause(self) -> str:
        """The cause, in the interface language."""
        return self.problem.cause

    @property
    def cure(self) -> str:
        """What to do about it; "" without advice."""
        return self.problem.cure


@dataclass(frozen=True, slots=True)
class ReadFailure(Unread):
    """An unreadable file, member or line; the rest is not affected."""

    problem: InputError


@dataclass(frozen=True, slots=True)
class PassedOver(Unread):
    """A file, link, zip member or attachment without a reader."""

    suffix: str  # in lower case; the name if there is no suffix; "" for a link


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """All documents of a streamed file up to a line; reading can resume after it."""

    line: int  # counted from 1
    bytes: int = 0  # bytes of the file read so far; 0 if unknown


@dataclass(frozen=True, slots=True)
class Limits:
    """How much memory, disk and time one source may take."""

    # size of a file, or of an unpacked zip member. Streamed files (``.jsonl``, dumps) and zips may
    # be larger
    file_bytes: int = 200_000_000
    line_bytes: int = 50_000_000  # size of one line of a streamed file
    small_bytes: int = 10_000_000  # unpacked size always allowed for a compressed file
    growth: int = 30  # allowed ratio of unpacked to packed size; texts reach 20
    unpacked_bytes: int = 4_000_000_000  # total unpacked size of a zip
    ratio: int = 200  # allowed ratio for one zip member of more than a megabyte
    members: int = 30_000  # number of members of a zip
    memory_bytes: int = 300_000_000  # estimated memory for parsing one source (`bounds`)
    empty_lines: int = 100_000  # allowed excess of empty lines in a streamed file
    # unreadable lines or members, after which the rest is left out, unless the file has as many
    # documents
    failures: int = 10_000
    documents: int = 20_000  # number of documents allowed for any file
    aside: Path | None = None  # folder for temporary files; None for the system's, open to others
    scans: "Scans | None" = None  # reads image pages; None to leave them out
    # LibreOffice, converts old formats (.doc, .xls, .rtf); None unless the user asked for it
    converter: Path | None = None
    converting_seconds: int = 120  # time limit for one conversion
    pdf_seconds: int = 120  # processor time for a PDF, besides 30 seconds per megabyte
    piece_bytes: int = 1_000_000  # size of a `LineBlock`


NumberedLine = tuple[int, bytes | None]
"""A line and its number, from 1; None for a line over the limit."""


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of a file, readable on their own in another process."""

    name: str  # of the file, for messages
    lines: tuple[NumberedLine, ...]  # with their numbers; None for a line over the limit
    # reads such lines; picklable
    read: Callable[
        [str, Iterable[NumberedLine], Limits],
        Iterator[Document | ReadFailure | Omission | ResumePoint],
    ] = field(compare=False)


Record = TypeVar("Record")
Made = TypeVar("Made")


def one_by_one(
    name: str, records: Iterable[Record], read: Callable[[Record, str], Iterator[Made]]
) -> Iterator[Made | ReadFailure]:
    """Read records with their places (``name:number``, from 1), failures included."""
    for number, record in enumerate(records, start=1):
        place = f"{name}:{number}"
        try:
            yield from read(record, place)
        except InputError as error:
            yield ReadFailure(place, error)


def omitted(counts: Mapping[str, int], in_text: Container[str] = ()) -> list[Omission]:
    """Turn counts into omissions; `in_text` lists those present in the text."""
    return [Omission(what, count, what in in_text) for what, count in counts.items() if count]
