"""JSON Lines: records, articles, statutes and questions, one a line."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import IO, Any

from localrag.corpus.readers.averitec import claim_documents, is_claim
from localrag.corpus.readers.bounds import JSON, check_memory
from localrag.corpus.readers.egov_json import is_law, read_law
from localrag.corpus.readers.records import new_contexts, paragraph_document, record_document
from localrag.corpus.readers.statutes_jsonl import statute_document
from localrag.corpus.readers.types import Limits, LineBlock, Mark, NumberedLine, ReadFailure
from localrag.corpus.readers.wikipedia import extract_document, is_extract
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

_CHUNK = 1 << 20
# Bytes of a line that says nothing, with its end.
_EMPTY = 2
# So many lines are looked at for one that tells what a file holds.
_HEAD = 20
# Bytes of the pieces that statutes are cut into.
_PIECE = 1_000_000


class Lines:
    """The lines of a file that are still to be read.

    Args:
        stream: of bytes, at its beginning, already unpacked.
        limits: bounds of a line and of the whole.
        after: number of the last line that is passed over.

    Attributes:
        first: the first line of `head` that can be read, as UTF-8 and, where it begins an object,
            as JSON: it tells what the file holds. Where there is none, the first one.

    Raises:
        InputError: the stream is empty; while they are read: it unpacks to more than allowed.
    """

    def __init__(self, stream: IO[bytes], limits: Limits, after: int = 0) -> None:
        self._stream, self._limits, self._after = stream, limits, after
        if next(self.whole(), None) is None:
            raise InputError(
                N_("The file is empty."),
                N_("Remove it, or check how it was saved."),
            )
        # What cannot be read tells by its beginning what it should be.
        fallback = next(self.head(), b"")[:_CHUNK]
        self.first = next((line for line in self.head() if _can_be_read(line, limits)), fallback)

    def __iter__(self) -> Iterator[NumberedLine]:
        return (line for line in self.whole() if line[0] > self._after)

    def head(self) -> Iterator[bytes]:
        """The lines among the first few of the file, passed over or not, that say something.

        Left out are those that are blank, too long, or only open an array. To be iterated over
        before the lines are.
        """
        return (line for _, line in islice(self.whole(), _HEAD) if line and element(line))

    def whole(self) -> Iterator[NumberedLine]:
        """Every line of the file, from its beginning; before the lines are iterated over."""
        self._stream.seek(0)
        return numbered_lines(self._stream, self._limits)


def read_jsonl(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[Document | ReadFailure | Mark]:
    """Read a document, or the paragraphs of a question, from every line.

    Args:
        name: file name, for messages and for the ids of records without one.
        lines: of the file.
        limits: bounds of a line.
    """
    seen: set[tuple[str, str]] = set()
    for number, line in lines:
        place = f"{name}:{number}"
        try:
            if line is None or line.strip():
                record = json_object(complete(line, limits))
                if is_law(record):
                    yield read_law("", record, limits, source=place)
                else:
                    yield from _documents(record, place, seen)
        except InputError as error:
            yield ReadFailure(place, error)
        if not seen:  # Else a later line is read differently for what stood before it.
            yield Mark(number)


def holds_statutes(line: bytes) -> bool:
    """Whether a line is a statute, as far as its fields tell."""
    # In the text of a record quotes are escaped.
    return b'"law_id"' in line and b'"articles"' in line


def cut_statutes(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[LineBlock | Document | ReadFailure | Mark]:
    """Cut the statutes that a file begins with into pieces of about a megabyte.

    From the first line on that is none they are read here, as `read_jsonl` does: how a line is read
    may depend on those before it.
    """
    rest = iter(lines)
    piece: list[NumberedLine] = []
    size = 0
    for number, line in rest:
        if line is None or not holds_statutes(line):
            yield from _cut(name, piece)
            yield from read_jsonl(name, chain([(number, line)], rest), limits)
            return
        piece.append((number, line))
        size += len(line)
        if size >= _PIECE:
            yield from _cut(name, piece)
            piece, size = [], 0
    yield from _cut(name, piece)


def _cut(name: str, piece: Sequence[NumberedLine]) -> Iterator[LineBlock | Mark]:
    if piece:
        yield LineBlock(name, tuple(piece), read_jsonl)
        yield Mark(piece[-1][0])


def _documents(
    record: dict[str, Any], place: str, seen: set[tuple[str, str]]
) -> Iterator[Document | ReadFailure]:
    if "law_id" in record and "articles" in record:
        yield statute_document(record, place)
    elif is_extract(record):
        yield extract_document(record, place)
    elif is_claim(record):
        yield from claim_documents(record, place, place)
    elif "text" in record:
        yield record_document(record, default_id=place, source=place, kind="jsonl")
    elif "paragraphs" in record or "context" in record:
        for ordinal, context in enumerate(new_contexts(record, seen), start=1):
            yield paragraph_document(f"{place}:{ordinal}", place, *context)
    else:
        raise InputError(
            N_("The line is no document."),
            N_('Give it the fields "id", "title" and "text".'),
        )


def json_object(line: bytes) -> dict[str, Any]:
    """Parse a line that holds one JSON object in UTF-8.

    Raises:
        InputError: it holds something else.
    """
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The line is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            N_("The line is not JSON: it goes wrong at character {character}."),
            N_("Write one complete JSON object a line."),
            character=error.colno,
        ) from error
    except ValueError as error:
        raise InputError(
            N_("The line is not JSON: it holds a number that is too long."),
            N_("Write one complete JSON object a line."),
        ) from error
    except RecursionError as error:
        raise InputError(
            N_("The line is nested too deeply."),
            N_("Check where the file came from."),
        ) from error
    if not isinstance(value, dict):
        raise InputError(
            N_("The line is not a JSON object."),
            N_("Write one JSON object a line."),
        )
    return value


def element(line: bytes) -> bytes:
    """Return a line without what makes it a line of an array."""
    return line.strip(b"[], \t\r\n")


def complete(line: bytes | None, limits: Limits) -> bytes:
    """Return a line as `numbered_lines` gave it.

    Raises:
        InputError: it is longer than allowed, or would take too much memory.
    """
    if line is None:
        raise InputError(
            N_("The line is longer than {most:,} bytes."),
            N_("Check whether line breaks are missing, or split what it holds."),
            most=limits.line_bytes,
        )
    check_memory(line, JSON, limits)
    return line


def numbered_lines(stream: IO[bytes], limits: Limits) -> Iterator[NumberedLine]:
    """Yield lines with their numbers from 1; None for one that is too long.

    A byte order mark is passed over.

    Raises:
        InputError: the stream unpacks to more than allowed, or to hardly anything but line ends.
    """
    total, number, empty = 0, 0, 0
    while line := stream.readline(limits.line_bytes + 1):
        number += 1
        total += len(line)
        empty += len(line) <= _EMPTY
        if empty > limits.empty_lines + number // 2:
            raise InputError(
                N_("More than {n:,} lines of the file are empty."),
                N_("Check how it was made."),
                n=limits.empty_lines,
            )
        too_long = len(line) > limits.line_bytes
        rest = line
        while too_long and rest and not rest.endswith(b"\n"):
            rest = stream.readline(_CHUNK)
            total += len(rest)
            if total > limits.unpacked_bytes:
                break
        if total > limits.unpacked_bytes:
            raise InputError(
                N_("The file unpacks to more than {most:,} bytes."),
                N_("Split it into several files."),
                most=limits.unpacked_bytes,
            )
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        yield number, None if too_long else line


def _can_be_read(line: bytes, limits: Limits) -> bool:
    bare = element(line)
    try:
        check_memory(bare, JSON, limits)
        if bare.startswith(b"{"):
            json_object(bare)
        else:
            bare.decode()
    except (InputError, UnicodeDecodeError):
        return False
    return True
