"""Workbooks of Excel as documents: a section for each sheet, a line for each row.

Not read, and named with their number, are hidden sheets, rows and columns, charts, pictures, what
is printed above and below a sheet, and formulas that were never calculated. What a filter hides
for now is read.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import chain, groupby, islice, product
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from localrag.corpus.readers import number_formats
from localrag.corpus.readers.package import Package, diagram, paragraphs, relation_of
from localrag.corpus.readers.prose import Heading, prose, without_text
from localrag.corpus.readers.tables import LOOKED_AT, Grid, Merged, lines_of
from localrag.corpus.readers.text import cell, drop_controls, stem
from localrag.corpus.readers.types import Limits, Omission
from localrag.corpus.readers.workbook import Layout, Opened, layout_of, opened_workbook
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

if TYPE_CHECKING:
    from openpyxl.cell.read_only import ReadOnlyCell

HIDDEN_SHEETS = N_("hidden sheets")
HIDDEN_ROWS = N_("hidden rows")
HIDDEN_COLUMNS = N_("hidden columns")
MARGINS = N_("headers and footers of printed sheets")
CHARTS = N_("charts")
PICTURES = N_("pictures")
NOT_CALCULATED = N_("formulas that were never calculated")
OTHER_FORMATS = N_("numbers shown without their format")
EMBEDDED = N_("embedded files")

# So many empty rows may follow each other, as in `localrag.batch.workbook`.
_EMPTY = 65_536
# Cells that are looked at, empty ones too: a million rows of twenty columns have fewer.
_CELLS = 30_000_000
# Cells beneath merged ones that are left out; where there are more, they are read.
_COVERED = 500_000
# What a character of text takes until it is stored.
_BYTES_A_CHARACTER = 20


def read_xlsx(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read the visible sheets of a workbook as one document.

    Raises:
        InputError: openpyxl is missing; the file is encrypted, damaged, unpacks to too much, or
            holds no text.
    """
    with opened_workbook(BytesIO(data), _file(name), limits.aside, limits.file_bytes) as opened:
        reading = _Reading(opened, Package(_whole(opened), limits), limits)
        text, headings = reading.text()
    omissions = [Omission(what, count) for what, count in reading.left_out.items()]
    if not text:
        raise without_text("XLSX", omissions)
    yield prose(
        id_=name,
        title=stem(name),
        kind="xlsx",
        text=text,
        source=name,
        headings=headings,
        omissions=omissions,
    )


def _file(name: str) -> str:
    return PurePosixPath(name.rpartition("!")[2]).name


def _whole(opened: Opened) -> bytes:
    opened.stream.seek(0)
    return opened.stream.read()


class _Reading:
    """Reads a workbook, sheet by sheet.

    Attributes:
        left_out: what was not read, and how many.
    """

    def __init__(self, opened: Opened, package: Package, limits: Limits) -> None:
        self._opened = opened
        self._package = package
        self._most = min(limits.file_bytes, limits.memory_bytes // _BYTES_A_CHARACTER)
        self.left_out = Counter[str]()

    def text(self) -> tuple[str, list[Heading]]:
        """The text of all sheets that are shown, with their names as headings."""
        parts: list[str] = []
        headings: list[Heading] = []
        length = 0
        for sheet, part in self._sheets():
            title = cell(drop_controls(sheet.title))
            begun = length
            for line in self._lines(sheet, part):
                if length == begun:
                    headings.append(Heading(1, title, length, length + len(title) + 1))
                    parts.append(title + "\n")
                    length += len(title) + 1
                parts.append(line + "\n")
                length += len(line) + 1
                if length > self._most:
                    raise InputError(
                        N_("The workbook holds too much text."),
                        N_("Split it into several files, or save its sheets as CSV."),
                    )
        return "".join(parts), headings

    def _sheets(self) -> Iterator[tuple[Any, str]]:
        """The sheets that are shown, in their order, each with the name of its part."""
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
        # Reading ends where too many rows are empty.
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
        # What is between empty rows is a table of its own.
        for holds, block in groupby(self._rows(sheet, layout, shown), lambda row: any(row[1])):
            if holds:
                yield from lines_of(_grid(block, layout, shown))
        yield from self._beside(part)

    def _rows(
        self, sheet: Any, layout: Layout, shown: Sequence[int]
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of each row that is shown, and what its cells show.

        Raises:
            InputError: too many empty rows follow each other.
        """
        if not layout.width:
            return
        formulas = self._opened.formulas
        written = formulas[sheet.title].iter_rows(max_col=layout.width) if formulas else None
        # What lies beneath merged cells is not shown.
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
        """Yield the comments and the text boxes of a sheet; pictures and charts are counted."""
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
    """The day of a number whose format openpyxl does not know as one of dates."""
    from openpyxl.utils.datetime import from_excel

    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        moment = from_excel(value, found.parent.parent.epoch)
    except (ValueError, OverflowError):
        return value
    return moment if isinstance(moment, date | datetime | time | timedelta) else value


def _covered(layout: Layout) -> set[tuple[int, int]]:
    """Rows and columns, from 1, of the cells that merged ones cover, as far as they are few."""
    covered: set[tuple[int, int]] = set()
    for top, left, bottom, right in layout.merged:
        if len(covered) + (bottom - top + 1) * (right - left + 1) > _COVERED:
            break
        covered |= set(product(range(top, bottom + 1), range(left, right + 1))) - {(top, left)}
    return covered


def _grid(block: Iterator[tuple[int, list[str]]], layout: Layout, shown: Sequence[int]) -> Grid:
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
    """The comments of a sheet, each behind the name of its cell."""
    for comment in root.iterfind(".//{*}comment"):
        words = "".join(run.text or "" for run in comment.iterfind(".//{*}t"))
        if line := cell(drop_controls(words)):
            yield f"{comment.get('ref', '')}\t{line}"
