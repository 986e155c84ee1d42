"""Tables as text: each row is a line, its values with the names of their columns.

``品目：鉛筆 単価：120円``: a row is found and quoted on its own. A .tsv with three to five columns,
or with the column names of triples, is a file of triples.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from localrag.corpus.readers.bounds import TEXT, Lines, check_memory, complete
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.text import cell, decode_terse
from localrag.corpus.readers.triples import holds_triples_tsv, read_triples_tsv
from localrag.corpus.readers.types import Limits, ReadFailure, ResumePoint
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

LOOKED_AT = 28
"""Rows examined to find the header."""
# Rows below a header compared with it.
_BELOW = 8
_LONGEST_HEAD = 60
_NUMBER = re.compile(
    r"[\s¥￥$€▲△+\-(（]*[0-9０-９][0-9０-９,，./:％%年月日時分秒円千万億()（）\-\s]*"
)
_SENTENCE = re.compile("[。．.!?！？]$")
_ASCII = re.compile("[ -~]*")
# How much longer a value is than its header.
_LONGER = 3

Merged = Mapping[tuple[int, int], tuple[int, int]]
"""Row and column of merged cells, from 0, with their height and width."""


class Grid(NamedTuple):
    """The rows of a table, in order."""

    rows: Iterable[Sequence[str]]  # the shown cells, "" for empty ones
    header: int | None = None  # the known header row, from 0; None if unknown
    is_headed: bool = False  # whether the first row with several texts is the header, as in CSV
    merged: Merged = MappingProxyType({})


def lines_of(grid: Grid) -> Iterator[str]:
    """Write a table, one line per row; empty rows are left out."""
    rows = iter(grid.rows)
    first = list(islice(rows, LOOKED_AT))
    found = _header(grid, first)
    if found is None:
        for row in chain(first, rows):
            if line := _plain(row):
                yield line
        return
    begin, end = found
    for row in first[:end]:
        if line := _plain(row):
            yield line
    heads = _heads(first[begin:end], begin, grid.merged)
    for row in chain(first[end:], rows):
        if line := _headed(row, heads):
            yield line


def _plain(row: Sequence[str]) -> str:
    return "\t".join(text for text in map(cell, row) if text)


def _headed(row: Sequence[str], heads: Sequence[str]) -> str:
    texts = [cell(text) for text in row]
    if sum(map(bool, texts)) < 2:
        return "".join(texts)  # A note below the table, or the title of a part of it.
    parts = []
    for at, text in enumerate(texts):
        head = heads[at] if at < len(heads) else ""
        if text and head:
            colon = ": " if _ASCII.fullmatch(head) else "："
            parts.append(f"{head}{colon}{text}")
        elif text:
            parts.append(text)
    return "\t".join(parts)


def _header(grid: Grid, rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Range of the header rows; None without a header."""
    if grid.header is not None and grid.header < len(rows):
        return grid.header, _end_of_header(grid.header, rows, grid.merged)
    for at, row in enumerate(rows):
        if not _may_name(row):
            if sum(map(bool, row)) > 1:
                return None  # The table has begun.
            continue
        end = _end_of_header(at, rows, grid.merged)
        below = [row for row in rows[end : end + _BELOW] if sum(map(bool, row)) > 1]
        names = _heads(rows[at:end], at, grid.merged)
        if below and (grid.is_headed or _names(names, below)):
            return at, end
        return None
    return None


def _may_name(row: Sequence[str]) -> bool:
    """Whether a row may be a header: short texts, no numbers."""
    texts = [text for text in row if text]
    return len(texts) > 1 and not any(
        len(text) > _LONGEST_HEAD or _NUMBER.fullmatch(text) or _SENTENCE.search(text)
        for text in texts
    )


def _names(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row is the header of the rows below; forms have a label beside each value."""
    if sum(map(bool, names)) > 2:
        return True
    for at, name in enumerate(names):
        values = [row[at] for row in below if at < len(row) and row[at]]
        unlike = sum(
            bool(_NUMBER.fullmatch(value) or _SENTENCE.search(value))
            or len(value) > _LONGER * max(len(name), 4)
            for value in values
        )
        if name and unlike * 2 > len(values):
            return True
    return False


def _end_of_header(first: int, rows: Sequence[Sequence[str]], merged: Merged) -> int:
    last = first + 1
    for (row, _column), (height, width) in merged.items():
        if row == first:
            below = rows[first + 1] if first + 1 < len(rows) else ()
            names = width > 1 and len(below) > 1 and _may_name(below)
            last = max(last, first + height, first + 2 if names else last)
    return min(last, first + 4, len(rows))


def _heads(rows: Sequence[Sequence[str]], first: int, merged: Merged) -> list[str]:
    """The name of each column, from all header rows: 予算 4月."""
    width = max(map(len, rows))
    parts: list[list[str]] = [[] for _ in range(width)]
    for number, row in enumerate(rows):
        spread = list(row) + [""] * (width - len(row))
        for (top, left), (_height, wide) in merged.items():
            if top == first + number and left < width:
                for at in range(left, min(left + wide, width)):
                    spread[at] = spread[at] or spread[left]
        for at, text in enumerate(spread):
            if text and cell(text) not in parts[at]:
                parts[at].append(cell(text))
    return [" ".join(part) for part in parts]


_SEPARATORS = (",", "\t", ";", "|")
# Excel writes and reads this first line.
_SEPARATOR_LINE = re.compile(r"sep=(.)\n")
_LOOKED_AT = 50
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Memory for each separator: one value.
_VALUE = 80


def read_csv(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a table as one document; the separator with most columns is chosen."""
    check_memory(data, {**TEXT, b",": _VALUE, b"\t": _VALUE, b";": _VALUE}, limits)
    yield _document(name, decode_terse(data), _SEPARATORS)


def read_tsv(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | ResumePoint]:
    """Read triples, one per line, or another table as one document."""
    if not lines.first.startswith(_WIDE) and holds_triples_tsv(lines):
        yield from read_triples_tsv(name, lines, limits)
        return
    data, size = [], 0
    for _number, line in lines.whole():
        data.append(complete(line, limits))
        size += len(data[-1])
        if size > limits.file_bytes:
            raise InputError(
                N_("The table has more than {most:,} bytes."),
                N_("Split it."),
                most=limits.file_bytes,
            )
    whole = b"".join(data)
    check_memory(whole, {**TEXT, b"\t": _VALUE}, limits)
    yield _document(name, decode_terse(whole), ("\t",))


def _document(name: str, text: str, separators: Sequence[str]) -> Document:
    if named := _SEPARATOR_LINE.match(text):
        text, separators = text[named.end() :], (named[1],)
    best = max(separators, key=lambda separator: _columns(text, separator))
    try:
        written = "".join(line + "\n" for line in lines_of(Grid(_rows(text, best), is_headed=True)))
    except csv.Error as error:
        raise InputError(
            N_("The table cannot be read ({problem})."),
            N_("Open it in its own program and save it as CSV again."),
            problem=error,
        ) from error
    if not written:
        raise InputError(N_("The table holds no text."), N_("Check how it was saved."))
    return prose(id_=name, kind="csv", text=written)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    # Quoted values may have line breaks.
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _columns(text: str, separator: str) -> tuple[int, int]:
    """Number of first rows with the most frequent width, and that width."""
    try:
        widths = Counter(map(len, islice(_rows(text, separator), _LOOKED_AT)))
    except csv.Error:
        return 0, 0
    several = Counter({width: count for width, count in widths.items() if width > 1})
    width, count = next(iter(several.most_common(1)), (0, 0))
    return count, width
