"""What reading gives besides documents (failures, files without a reader …), and its limits."""

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
    "Mark",
    "NumberedLine",
    "Omission",
    "OnlyImagesError",
    "PassedOver",
    "ReadFailure",
    "Unread",
]


class OnlyImagesError(InputError):
    """A file, or a page of it, is an image: only OCR can read it."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that was not read.

    Attributes:
        source: the file, with ``!member`` or ``:line`` where one file holds many documents.
        problem: what is wrong, and what to do about it.
    """

    source: str
    problem: LocalragError

    @property
    def cause(self) -> str:
        """What is wrong, in the language in use."""
        return self.problem.cause

    @property
    def cure(self) -> str:
        """What to do about it; empty where nothing can be advised."""
        return self.problem.cure


@dataclass(frozen=True, slots=True)
class ReadFailure(Unread):
    """A file, or one member or line of it, that could not be read; the rest is not affected."""

    problem: InputError


@dataclass(frozen=True, slots=True)
class PassedOver(Unread):
    """A file or a link in a folder, a member of a zip or an attachment that has no reader.

    Attributes:
        suffix: in lower case; the name where there is none; "" of a link.
    """

    suffix: str


@dataclass(frozen=True, slots=True)
class Mark:
    """All that a streamed file holds up to a line has been given: reading can go on after it.

    Attributes:
        line: counted from 1.
        bytes: of the file, as it lies on the disk, read so far; 0 where that is not known.
    """

    line: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one source may make the reader hold in memory or unpack.

    Attributes:
        file_bytes: size of a file, or of a zip member after unpacking. Line-oriented files
            (``.jsonl``, dumps, also compressed) and zip archives may be larger: they are streamed.
        line_bytes: size of one line of a line-oriented file.
        small_bytes: what a compressed file may unpack to, however small it is.
        growth: how many times its size a larger one may unpack to; texts reach 20.
        unpacked_bytes: what a zip may unpack to, in all; lines are held one at a time.
        ratio: how many times its packed size a zip member may unpack to; members that unpack
            to less than a megabyte are not held to it.
        members: number of members of a zip archive.
        memory_bytes: what parsing one source may take of memory, as far as it can be told
            beforehand (`bounds`).
        empty_lines: so many more empty lines than others a line-oriented file may have.
        failures: so many lines or members of a file may be unreadable; where there are more, and
            not as many documents, the rest of it is left out.
        documents: so many a file may hold, however small it is.
        aside: folder for what a reader keeps on the disk while it reads; None for the one that
            the system has for temporary files, which others can look into.
        scans: how pages are read that are images; None where they are not read.
        converter: the program of LibreOffice, which writes files of old formats (.doc, .xls, .rtf)
            as new ones to be read; None where nobody asked for it.
        converting_seconds: what it may take for a file.
        pdf_seconds: processor time that reading a PDF may take, besides 30 seconds a megabyte.
    """

    file_bytes: int = 200_000_000
    line_bytes: int = 50_000_000
    small_bytes: int = 10_000_000
    growth: int = 30
    unpacked_bytes: int = 4_000_000_000
    ratio: int = 200
    members: int = 30_000
    memory_bytes: int = 300_000_000
    empty_lines: int = 100_000
    failures: int = 10_000
    documents: int = 20_000
    aside: Path | None = None
    scans: "Scans | None" = None
    converter: Path | None = None
    converting_seconds: int = 120
    pdf_seconds: int = 120


NumberedLine = tuple[int, bytes | None]
"""Its number, from 1, and the line; None for one that is longer than the limits allow."""


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of a file that can be read by themselves, in another process.

    Attributes:
        name: of the file, for messages.
        lines: with their numbers; None in the place of one that is longer than allowed.
        read: reads lines of such a file, given its name; picklable.
    """

    name: str
    lines: tuple[NumberedLine, ...]
    read: Callable[
        [str, Iterable[NumberedLine], Limits], Iterator[Document | ReadFailure | Omission | Mark]
    ] = field(compare=False)


Record = TypeVar("Record")
Made = TypeVar("Made")


def one_by_one(
    name: str, records: Iterable[Record], read: Callable[[Record, str], Iterator[Made]]
) -> Iterator[Made | ReadFailure]:
    """Read records one by one; one that cannot be read is a failure of its own.

    Args:
        name: of the file.
        records: of the file.
        read: reads a record, given its place: ``name:number``, from 1.
    """
    for number, record in enumerate(records, start=1):
        place = f"{name}:{number}"
        try:
            yield from read(record, place)
        except InputError as error:
            yield ReadFailure(place, error)


def omitted(counts: Mapping[str, int], in_text: Container[str] = ()) -> list[Omission]:
    """What was counted while reading, as omissions.

    Args:
        counts: messages marked with `N_`, and how many.
        in_text: those that are in the text all the same.
    """
    return [Omission(what, count, what in in_text) for what, count in counts.items() if count]
