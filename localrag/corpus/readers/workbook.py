"""A workbook of Excel opened with openpyxl (extra ``office``), for documents and for batches.

Values are read as they were calculated last; formulas are not calculated and macros never run.
"""

import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from lxml import etree

from localrag.corpus.readers.package import OLE, STRICT, holds, no_package
from localrag.errors import InputError, to_install
from localrag.language import N_

# The member that tells what a ZIP archive is, and what is then said of it.
_OTHERS = {
    "xl/workbook.bin": N_("{table} is a binary workbook (.xlsb)."),
    "word/document.xml": N_("{table} is a document of Word."),
    "ppt/presentation.xml": N_("{table} is a presentation of PowerPoint."),
    "content.xml": N_("{table} is an OpenDocument file."),
}
_WORKBOOK = "xl/workbook.xml"
_TEXTS = "xl/sharedStrings.xml"
# What a workbook may unpack to, and how many times its size; one of less is held to no ratio.
_UNPACKED, _RATIO, _SMALL = 1_000_000_000, 200, 20_000_000
# openpyxl holds all texts of the cells at once.
_TEXT_BYTES = 300_000_000
_BLOCK = 1 << 20
# openpyxl does not read the namespaces of a Strict workbook, which are written as the usual ones.
_STRICT = STRICT.encode()
_NAMESPACE = re.compile(re.escape(_STRICT) + rb"(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_LONGEST_NAMESPACE = 200


@dataclass(frozen=True, slots=True)
class Opened:
    """A workbook that is open.

    Attributes:
        values: as openpyxl has it, to be read only, with the values calculated last.
        formulas: the same with formulas; None where it has none.
        stream: the file that both are read from, its namespaces the transitional ones.
    """

    values: Any
    formulas: Any
    stream: IO[bytes]


@contextmanager
def opened_workbook(
    stream: IO[bytes], name: str, aside: Path | None = None, most: int = _UNPACKED
) -> Iterator[Opened]:
    """Open a workbook.

    Args:
        stream: the file, which can be rewound.
        name: for messages.
        aside: the folder of a temporary file, for a Strict workbook; None for the system's own.
        most: bytes that it may unpack to.

    Raises:
        InputError: openpyxl is missing; it is encrypted, damaged, of another format or unpacks to
            too much. Whatever else is raised inside counts as damage.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            N_("Reading a workbook of Excel needs openpyxl."),
            to_install("office"),
        ) from error
    _require_workbook(stream, name, min(most, _UNPACKED))
    with warnings.catch_warnings(), ExitStack() as opened:
        # It warns of what it leaves out: styles, drawings, rules for what may be typed.
        warnings.simplefilter("ignore")
        try:
            stream = _as_transitional(stream, opened, aside)
            values = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            opened.callback(values.close)
            formulas = None
            if _has_formulas(stream):
                formulas = openpyxl.load_workbook(stream, read_only=True)
                opened.callback(formulas.close)
            for sheet in (*values.worksheets, *(formulas.worksheets if formulas else ())):
                # What a sheet says of its own size may be anything.
                sheet.reset_dimensions()
            yield Opened(values, formulas, stream)
        except InputError:
            raise
        except Exception as error:
            # It fails with whatever the damage leads it to.
            raise _damaged(name) from error


def _as_transitional(stream: IO[bytes], opened: ExitStack, aside: Path | None) -> IO[bytes]:
    with ZipFile(stream) as archive:
        with archive.open("_rels/.rels") as part:
            if _STRICT not in part.read(_BLOCK):
                return stream
        with ExitStack() as until_written:
            new = until_written.enter_context(tempfile.TemporaryFile(dir=aside))
            _write_transitional(archive, cast("IO[bytes]", new))
            opened.push(until_written.pop_all())
    return cast("IO[bytes]", new)


def _write_transitional(archive: ZipFile, out: IO[bytes]) -> None:
    """Write a Strict archive with the usual namespaces; its size was bounded before."""
    with ZipFile(out, "w", ZIP_DEFLATED, compresslevel=1) as written:
        for member in archive.infolist():
            with archive.open(member) as part, written.open(member.filename, "w") as new:
                if member.filename.endswith((".xml", ".rels")):
                    for block in _rewritten(part):
                        new.write(block)
                else:
                    while block := part.read(_BLOCK):
                        new.write(block)


def _rewritten(part: IO[bytes]) -> Iterator[bytes]:
    before = b""
    while block := part.read(_BLOCK):
        before += block
        # A namespace may go on in the next block: what begins one stays behind.
        begun = before.rfind(b"http", max(0, len(before) - _LONGEST_NAMESPACE))
        cut = len(before) if begun < 0 else begun
        yield _transitional(before[:cut])
        before = before[cut:]
    yield _transitional(before)


def _transitional(xml: bytes) -> bytes:
    return _NAMESPACE.sub(_TRANSITIONAL, xml) if _STRICT in xml else xml


def _require_workbook(stream: IO[bytes], name: str, most: int) -> None:
    stream.seek(0)
    if stream.read(len(OLE)) == OLE:
        raise no_package(stream)
    try:
        with ZipFile(stream) as archive:
            members = {member.filename: member.file_size for member in archive.infolist()}
    except (BadZipFile, UnicodeDecodeError) as error:
        raise _damaged(name) from error
    if _WORKBOOK not in members:
        found = (words for member, words in _OTHERS.items() if member in members)
        raise InputError(
            next(found, N_("{table} is a ZIP archive, but no workbook of Excel.")),
            N_("Open it and save it as .xlsx or CSV."),
            table=name,
        )
    unpacked, packed = sum(members.values()), stream.seek(0, 2)
    if unpacked > min(most, max(packed * _RATIO, _SMALL)) or members.get(_TEXTS, 0) > _TEXT_BYTES:
        raise InputError(
            N_("{table} unpacks to too much data ({unpacked:,} bytes of {packed:,})."),
            N_("Check where it came from, or save the sheet as CSV."),
            table=name,
            unpacked=unpacked,
            packed=packed,
        )


def _damaged(name: str) -> InputError:
    return InputError(
        N_("{table} is damaged, or no workbook that can be read."),
        N_("Open it in Excel and save it again as .xlsx, or as CSV."),
        table=name,
    )


def _has_formulas(stream: IO[bytes]) -> bool:
    with ZipFile(stream) as archive:
        for member in archive.namelist():
            if member.startswith("xl/worksheets/") and member.endswith(".xml"):
                with archive.open(member) as part:
                    if holds(part, [b"<f>", b"<f ", b"<f/", b":f>", b":f ", b":f/"]):
                        return True
    return False


@dataclass(frozen=True)
class Layout:
    """How a sheet is laid out, besides its cells. Rows and columns are counted from 1.

    Attributes:
        hidden_rows: rows that are hidden by hand; not those that a filter hides for now.
        hidden_columns: columns that are hidden.
        merged: ranges of cells that are one: first row, first column, last row, last column.
        header: the first row of the sheet's filter; 0 without one.
        rows: how many rows the sheet has something to say of.
        last_row: the number of the last of them.
        width: the last column that has something in it; 0 where none has.
        margins: how many headers and footers its printed pages have.
    """

    hidden_rows: frozenset[int]
    hidden_columns: frozenset[int]
    merged: tuple[tuple[int, int, int, int], ...]
    header: int
    rows: int
    last_row: int
    width: int
    margins: int

    @cached_property
    def merged_from(self) -> dict[int, list[tuple[int, int, int, int]]]:
        """The merged cells by their first row."""
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        for one in self.merged:
            found.setdefault(one[0], []).append(one)
        return found


_WIDEST = 16_384
_COLUMN = re.compile("[A-Z]{1,3}")


def layout_of(opened: Opened, part: str) -> Layout:
    """Read the layout of a sheet, of which openpyxl says nothing where it reads only.

    Args:
        opened: the workbook.
        part: the name of the sheet's part ("xl/worksheets/sheet1.xml").
    """
    from openpyxl.utils.cell import column_index_from_string, range_boundaries

    rows: set[int] = set()
    columns: set[int] = set()
    merged: list[tuple[int, int, int, int]] = []
    filtered: tuple[int, int] | None = None
    is_filtering, header, number, count = False, 0, 0, 0
    column = width = margins = 0
    with ZipFile(opened.stream) as archive, archive.open(part) as file:
        tags = ("row", "col", "mergeCell", "autoFilter", "filterColumn", "c", "headerFooter")
        walk = etree.iterparse(
            file, tag=[f"{{*}}{tag}" for tag in tags], resolve_entities=False, no_network=True
        )
        for _event, element in walk:
            tag = element.tag.rpartition("}")[2]
            if tag == "c":
                named = _COLUMN.match(element.get("r", ""))
                column = column_index_from_string(named[0]) if named else column + 1
                width = max(width, column) if len(element) else width
            elif tag == "row":
                number, column, count = int(element.get("r") or number + 1), 0, count + 1
                if element.get("hidden") in ("1", "true"):
                    rows.add(number)
            elif tag == "col" and element.get("hidden") in ("1", "true"):
                last = min(int(element.get("max", 0)), _WIDEST)
                columns.update(range(int(element.get("min", 1)), last + 1))
            elif tag == "headerFooter":
                margins = sum(bool(part.text) for part in element)
            elif tag == "mergeCell":
                left, top, right, bottom = range_boundaries(element.get("ref"))
                merged.append((top, left, bottom, right))
            elif tag == "filterColumn":
                is_filtering = True
            elif tag == "autoFilter":
                _, top, _, bottom = range_boundaries(element.get("ref"))
                header, filtered = top, (top, bottom)
            if tag != "filterColumn":
                _forget(element)
    if filtered and is_filtering:
        rows -= set(range(filtered[0], filtered[1] + 1))
    hidden = frozenset(rows), frozenset(columns)
    return Layout(*hidden, tuple(merged), header, count, number, width, margins)


def _forget(element: etree._Element) -> None:
    """Let go of an element that was read, and of those before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
