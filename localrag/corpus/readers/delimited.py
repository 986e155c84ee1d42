"""Tables as text (.csv, .tsv) as documents: a line for each row, its values with their heads.

A .tsv with three to five columns is a file of triples, as are those that name the columns of
triples; every other one is a table.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from localrag.corpus.readers.bounds import TEXT, check_memory
from localrag.corpus.readers.grids import Grid, lines_of
from localrag.corpus.readers.jsonl import Lines, complete
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.text import decode_terse, stem
from localrag.corpus.readers.triple_files import holds_triples_tsv, read_triples_tsv
from localrag.corpus.readers.types import Limits, Mark, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

_SEPARATORS = (",", "\t", ";", "|")
# Excel writes this line before others, and reads it.
_SEPARATOR_LINE = re.compile(r"sep=(.)\n")
_LOOKED_AT = 50
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What a separator takes until the table is a text: a value of its own.
_VALUE = 80


def read_csv(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a table as one document; the separator is the one that gives most columns.

    Raises:
        InputError: it is empty, of an unknown encoding, or has a value that is too long.
    """
    check_memory(data, {**TEXT, b",": _VALUE, b"\t": _VALUE, b";": _VALUE}, limits)
    yield _document(name, decode_terse(data), _SEPARATORS)


def read_tsv(name: str, lines: Lines, limits: Limits) -> Iterator[Document | ReadFailure | Mark]:
    """Read triples, one a line; a table of another kind as one document.

    Raises:
        InputError: it is neither.
    """
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
    return prose(id_=name, title=stem(name), kind="csv", text=written, source=name)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    # Quoted values may have line breaks.
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _columns(text: str, separator: str) -> tuple[int, int]:
    """How many of the first rows have the most frequent number of columns, and that number."""
    try:
        widths = Counter(map(len, islice(_rows(text, separator), _LOOKED_AT)))
    except csv.Error:
        return 0, 0
    several = Counter({width: count for width, count in widths.items() if width > 1})
    width, count = next(iter(several.most_common(1)), (0, 0))
    return count, width
