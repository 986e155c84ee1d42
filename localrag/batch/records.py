"""From the lines of a table to records: the fields of each row, whatever the format."""

import csv
from collections.abc import Iterator, Mapping
from typing import IO, Any

from localrag.corpus.readers.jsonl import json_object, numbered_lines
from localrag.corpus.readers.model import Limits
from localrag.errors import InputError

Record = tuple[int, Mapping[str, Any] | InputError]
"""The line a row begins at, and its fields by name, or why they cannot be told."""

# Of one row; a table may be as long as it likes.
_LIMITS = Limits(line_bytes=1_000_000, unpacked_bytes=1 << 62)
_TOO_LONG = f"The line is longer than {_LIMITS.line_bytes:,} bytes."
_OPTION = "option_"


def json_records(stream: IO[bytes]) -> Iterator[Record]:
    """Yield the object on every line that is not blank."""
    for number, line in numbered_lines(stream, _LIMITS):
        if line is None:
            yield number, InputError(_TOO_LONG, "Write one question a line.")
        elif line.strip():
            try:
                yield number, json_object(line)
            except InputError as problem:
                yield number, problem


def csv_records(stream: IO[bytes]) -> Iterator[Record]:
    """Yield the rows below the header; columns ``option_…`` become the list ``options``.

    Raises:
        InputError: there is no header with a question, or a quotation mark that is never closed
            makes one row of all that follows.
    """
    reader = csv.reader(_text_lines(stream), strict=True)
    header = _header(reader)
    begin = reader.line_num + 1
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # The reader goes on at the next line, unless it has looked for the end of a quotation
            # to the end of the file, or further than a field can be long.
            if "unexpected end" in str(error) or "field limit" in str(error):
                raise InputError(
                    f"In line {begin} or soon after it a quotation mark is never closed, or a "
                    f"text is longer than {csv.field_size_limit():,} characters.",
                    "Close the mark, double it if it belongs to the text, or shorten the text.",
                ) from error
            yield (
                begin,
                InputError(
                    f"The row that ends in line {reader.line_num} is not CSV ({error}).",
                    "Put a text with commas or quotation marks between quotation marks.",
                ),
            )
        else:
            if fields:
                yield begin, _named(header, fields)
        begin = reader.line_num + 1


def _header(reader: Iterator[list[str]]) -> list[str]:
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error:
        header = []
    if "question" not in header:
        raise InputError(
            "The first line is neither a JSON object nor the header of a CSV table with a column "
            "'question'.",
            'Write a JSON object a line, {"question": "…"}, or begin with a header: id,question',
        )
    if "options" in header:
        raise InputError(
            "A CSV table has no column 'options'.",
            "Give every option a column of its own: option_a,option_b",
        )
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(f"The header names {', '.join(twice)} twice.", "Rename one of them.")
    return header


def _named(header: list[str], fields: list[str]) -> Mapping[str, Any] | InputError:
    if len(fields) > len(header):
        return InputError(
            f"The row has {len(fields)} fields, the header {len(header)}.",
            "Put a text with commas between quotation marks.",
        )
    named = dict(zip(header, fields, strict=False))
    record: dict[str, Any] = {
        name: value for name, value in named.items() if value and not name.startswith(_OPTION)
    }
    options = [value for name, value in named.items() if value and name.startswith(_OPTION)]
    return record | {"options": options} if options else record


def _text_lines(stream: IO[bytes]) -> Iterator[str]:
    for number, line in numbered_lines(stream, _LIMITS):
        if line is None:
            raise InputError(f"Line {number}: {_TOO_LONG}", "Write one question a row.")
        # What is not UTF-8 becomes half characters, by which its row is known and refused.
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", errors="surrogateescape")
