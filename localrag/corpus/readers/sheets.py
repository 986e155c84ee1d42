"""Excel workbooks as documents: a section per sheet, a line per row.

openpyxl (extra ``office``) gives the values calculated last; formulas and macros never run. Hidden
rows, columns and sheets are counted; rows hidden by a filter are read.
"""

import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from io import BytesIO
from itertools import chain, groupby, islice, product
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, cast
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from lxml import etree

from localrag.corpus.readers import number_formats
from localrag.corpus.readers.package import (
    OLE,
    STRICT,
    Package,
    diagram,
    holds,
    no_package,
    paragraphs,
    relation_of,
)
from localrag.corpus.readers.prose import SectionHeading, TextBuilder, prose, without_text
from localrag.corpus.readers.tables import LOOKED_AT, Grid, Merged, lines_of
from localrag.corpus.readers.text import cell, drop_controls
from localrag.corpus.readers.types import Limits, omitted
from localrag.corpus.types import Document
from localrag.errors import InputError, to_install
from localrag.language import N_

if TYPE_CHECKING:
    from openpyxl.cell.read_only import ReadOnlyCell

# Members of other kinds of files, with the message for each.
_OTHERS = {
    "xl/workbook.bin": N_("{table} is a binary workbook (.xlsb)."),
    "word/document.xml": N_("{table} is a document of Word."),
    "ppt/presentation.xml": N_("{table} is a presentation of PowerPoint."),
    "content.xml": N_("{table} is an OpenDocument file."),
}
_WORKBOOK = "xl/workbook.xml"
_TEXTS = "xl/sharedStrings.xml"
# Unpacked size, and its ratio to the packed size; small files need no ratio.
_UNPACKED, _RATIO, _SMALL = 1_000_000_000, 200, 20_000_000
# openpyxl holds all texts in memory.
_TEXT_BYTES = 300_000_000
_BLOCK = 1 << 20
# openpyxl reads no Strict namespaces, so they are replaced.
_STRICT = STRICT.encode()
_NAMESPACE = re.compile(re.escape(_STRICT) + rb"(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_LONGEST_NAMESPACE = 200


@dataclass(frozen=True, slots=True)
class OpenedWorkbook:
    """An open workbook."""

    values: Any  # read-only openpyxl workbook with the values calculated last
    formulas: Any  # the same with formulas; None without formulas
    stream: IO[bytes]  # the file of both, with transitional namespaces


@contextmanager
def opened_workbook(
    stream: IO[bytes], name: str, aside: Path | None = None, most: int = _UNPACKED
) -> Iterator[OpenedWorkbook]:
    """Open a workbook from a seekable file, at most `most` bytes unpacked, `aside` if needed.

    Encrypted, damaged, oversized and other files are InputErrors. So is any other exception inside.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            N_("Reading a workbook of Excel needs openpyxl."), to_install("office")
        ) from error
    _require_workbook(stream, name, min(most, _UNPACKED))
    with warnings.catch_warnings(), ExitStack() as opened:
        # openpyxl warns about everything it ignores: styles, drawings, validation.
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
                # The declared size of a sheet may be wrong.
                sheet.reset_dimensions()
            yield OpenedWorkbook(values, formulas, stream)
        except InputError:
            raise
        except Exception as error:
            # openpyxl raises many kinds of errors on damaged files.
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
    """Rewrite a Strict archive with the usual namespaces; its size is bounded already."""
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
        # A namespace may continue in the next block, so its beginning is held back.
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
class SheetLayout:
    """The layout of a sheet. Rows and columns are counted from 1."""

    hidden_rows: frozenset[int]  # rows hidden by hand, not by a filter
    hidden_columns: frozenset[int]
    # merged cells: first row, first column, last row, last column
    merged: tuple[tuple[int, int, int, int], ...]
    header: int  # first row of the filter; 0 without one
    rows: int  # number of rows in the file
    last_row: int  # number of the last row
    width: int  # last column with content; 0 if empty
    margins: int  # number of printed headers and footers

    @cached_property
    def merged_from(self) -> dict[int, list[tuple[int, int, int, int]]]:
        """Merged cells by first row."""
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        for one in self.merged:
            found.setdefault(one[0], []).append(one)
        return found


_WIDEST = 16_384
_COLUMN = re.compile("[A-Z]{1,3}")


def layout_of(opened: OpenedWorkbook, part: str) -> SheetLayout:
    """Read the layout of a sheet by its part; read-only openpyxl has none."""
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
    return SheetLayout(*hidden, tuple(merged), header, count, number, width, margins)


def _forget(element: etree._Element) -> None:
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


HIDDEN_SHEETS = N_("hidden sheets")
HIDDEN_ROWS = N_("hidden rows")
HIDDEN_COLUMNS = N_("hidden columns")
MARGINS = N_("headers and footers of printed sheets")
CHARTS = N_("charts")
PICTURES = N_("pictures")
NOT_CALCULATED = N_("formulas that were never calculated")
OTHER_FORMATS = N_("numbers shown without their format")
EMBEDDED = N_("embedded files")

# Allowed consecutive empty rows, as in `localrag.ops.batch.workbook`.
_EMPTY = 65_536
# Limit for cells, empty ones included: a million rows of twenty columns have fewer.
_CELLS = 30_000_000
# Limit for cells covered by merged ones; beyond it they are read.
_COVERED = 500_000
# Memory per character until it is stored.
_BYTES_A_CHARACTER = 20


def read_xlsx(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read the visible sheets of a workbook as one document."""
    file = PurePosixPath(name.rpartition("!")[2]).name
    with opened_workbook(BytesIO(data), file, limits.aside, limits.file_bytes) as opened:
        reading = _WorkbookReading(opened, Package(_whole(opened), limits), limits)
        text, headings = reading.text()
    omissions = omitted(reading.left_out)
    if not text:
        raise without_text("XLSX", omissions)
    yield prose(id_=name, kind="xlsx", text=text, headings=headings, omissions=omissions)


def _whole(opened: OpenedWorkbook) -> bytes:
    opened.stream.seek(0)
    return opened.stream.read()


class _WorkbookReading:
    def __init__(self, opened: OpenedWorkbook, package: Package, limits: Limits) -> None:
        self._opened = opened
        self._package = package
        self._most = min(limits.file_bytes, limits.memory_bytes // _BYTES_A_CHARACTER)
        self.left_out = Counter[str]()

    def text(self) -> tuple[str, list[SectionHeading]]:
        written = TextBuilder()
        for sheet, part in self._sheets():
            title = cell(drop_controls(sheet.title))
            begun = written.length
            for line in self._lines(sheet, part):
                if written.length == begun:
                    written.add(title, depth=1)
                written.add(line)
                if written.length > self._most:
                    raise InputError(
                        N_("The workbook holds too much text."),
                        N_("Split it into several files, or save its sheets as CSV."),
                    )
        return written.text, written.headings

    def _sheets(self) -> Iterator[tuple[Any, str]]:
        book = "xl/workbook.xml"
        related = self._package.relations(book)
        kinds = {}
        for element in self._package.root(book).iterfind("{*}sheets/{*}sheet"):
            if relation := relation_of(element, related):
                kinds[element.get("name", "")] = relation
        self.left_out[CHARTS] += sum(one.kind == "chartsheet" for one in kinds.values())
        for sheet in self._opened.values.worksheets:
            if sheet.sheet_state != "visible":
                self.left_out[HIDDEN_SHEETS] += 1
            elif sheet.title in kinds:
                yield sheet, kinds[sheet.title].target
        self.left_out = +self.left_out

    def _lines(self, sheet: Any, part: str) -> Iterator[str]:
        layout = layout_of(self._opened, part)
        # Reading ends after too many empty rows.
        if layout.width * min(layout.last_row, layout.rows + _EMPTY) > _CELLS:
            raise InputError(
                N_("Sheet {sheet} has {rows:,} rows of {columns:,} columns, which is too many."),
                N_("Delete what is empty, to the last cell of the sheet, or save it as CSV."),
                sheet=sheet.title,
                rows=layout.last_row,
                columns=layout.width,
            )
        for what, count in (
            (HIDDEN_ROWS, len(layout.hidden_rows)),
            (HIDDEN_COLUMNS, sum(at <= layout.width for at in layout.hidden_columns)),
            (MARGINS, layout.margins),
        ):
            if count:
                self.left_out[what] += count
        shown = [at for at in range(1, layout.width + 1) if at not in layout.hidden_columns]
        # Empty rows separate tables.
        for is_filled, block in groupby(self._rows(sheet, layout, shown), lambda row: any(row[1])):
            if is_filled:
                yield from lines_of(_grid(block, layout, shown))
        yield from self._beside(part)

    def _rows(
        self, sheet: Any, layout: SheetLayout, shown: Sequence[int]
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of each visible row, and the texts of its cells."""
        if not layout.width:
            return
        formulas = self._opened.formulas
        written = formulas[sheet.title].iter_rows(max_col=layout.width) if formulas else None
        # Merged cells hide the cells below them.
        covered = _covered(layout)
        empty = 0
        for number, cells in enumerate(sheet.iter_rows(max_col=layout.width), 1):
            behind = next(written, ()) if written is not None else ()
            if number in layout.hidden_rows:
                continue
            row = [
                "" if (number, at) in covered else self._shown(cells, behind, at - 1)
                for at in shown
            ]
            empty = 0 if any(row) else empty + 1
            if empty > _EMPTY:
                raise InputError(
                    N_(
                        "Sheet {sheet} of the workbook has more than {n:,} empty rows below row "
                        "{row}."
                    ),
                    N_(
                        "Delete these rows, to the last cell of the sheet, or save the sheet as "
                        "CSV."
                    ),
                    sheet=sheet.title,
                    n=_EMPTY,
                    row=number - empty,
                )
            yield number, row

    def _shown(
        self, cells: "Sequence[ReadOnlyCell]", behind: "Sequence[ReadOnlyCell]", at: int
    ) -> str:
        if at >= len(cells):
            return ""
        found = cells[at]
        value = found.value
        if value is None:
            if at < len(behind) and behind[at].data_type == "f":
                self.left_out[NOT_CALCULATED] += 1
            return ""
        if isinstance(value, str):
            from openpyxl.utils.escape import unescape

            value = drop_controls(unescape(value))
        number_format = _format_of(found)
        if number_formats.is_date(number_format):
            value = _as_date(found, value)
        text = number_formats.shown(value, number_format)
        if text is None:
            self.left_out[OTHER_FORMATS] += 1
            text = number_formats.shown(value, number_formats.GENERAL) or ""
        return text

    def _beside(self, part: str) -> Iterator[str]:
        """Yield comments and text boxes of a sheet; count pictures and charts."""
        for relation in self._package.relations(part).values():
            if not self._package.has(relation.target):
                continue
            if relation.kind == "comments":
                yield from _comments(self._package.root(relation.target))
            elif relation.kind == "drawing":
                root = self._package.root(relation.target)
                for what, tag in ((PICTURES, "pic"), (CHARTS, "chart")):
                    count = sum(1 for _ in root.iterfind(f".//{{*}}{tag}"))
                    if count:
                        self.left_out[what] += count
                for body in root.iterfind(".//{*}txBody"):
                    yield from paragraphs(body)
                related = self._package.relations(relation.target)
                for frame in root.iterfind(".//{*}graphicFrame"):
                    yield from diagram(self._package, frame, related) or ()
            elif relation.kind in ("oleObject", "package"):
                self.left_out[EMBEDDED] += 1


def _format_of(found: "ReadOnlyCell") -> str:
    if not hasattr(found, "style_array"):
        return number_formats.GENERAL
    known = number_formats.BUILT_IN.get(found.style_array.numFmtId)
    return known or found.number_format or number_formats.GENERAL


def _as_date(found: "ReadOnlyCell", value: object) -> object:
    """The day of a number whose date format openpyxl does not know."""
    from openpyxl.utils.datetime import from_excel

    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        moment = from_excel(value, found.parent.parent.epoch)
    except (ValueError, OverflowError):
        return value
    return moment if isinstance(moment, date | datetime | time | timedelta) else value


def _covered(layout: SheetLayout) -> set[tuple[int, int]]:
    """Rows and columns, from 1, of the cells below merged ones, up to a limit."""
    covered: set[tuple[int, int]] = set()
    for top, left, bottom, right in layout.merged:
        if len(covered) + (bottom - top + 1) * (right - left + 1) > _COVERED:
            break
        covered |= set(product(range(top, bottom + 1), range(left, right + 1))) - {(top, left)}
    return covered


def _grid(
    block: Iterator[tuple[int, list[str]]], layout: SheetLayout, shown: Sequence[int]
) -> Grid:
    first = list(islice(block, LOOKED_AT))
    at_row = {number: at for at, (number, _) in enumerate(first)}
    at_column = {number: at for at, number in enumerate(shown)}
    merged: Merged = {
        (at_row[top], at_column[left]): (bottom - top + 1, right - left + 1)
        for number in at_row
        for top, left, bottom, right in layout.merged_from.get(number, ())
        if left in at_column
    }
    rows = (row for _, row in chain(first, block))
    return Grid(rows, at_row.get(layout.header), merged=merged)


def _comments(root: Any) -> Iterator[str]:
    for comment in root.iterfind(".//{*}comment"):
        words = "".join(run.text or "" for run in comment.iterfind(".//{*}t"))
        if line := cell(drop_controls(words)):
            yield f"{comment.get('ref', '')}\t{line}"
