"""Reads questions from Excel workbooks, unpacked once into rows (extra ``office``).

It reads the stored values; formulas are not calculated and macros never run.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from localrag.corpus.readers.package import OLE
from localrag.corpus.readers.sheets import opened_workbook
from localrag.errors import InputError
from localrag.language import N_
from localrag.ops.batch.columns import ABOVE, Record, TableHeader, find_header
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell

_ZIP = b"PK\x03\x04"
# Columns read at most.
_WIDE = 64
# Empty rows in succession, at most the height of a sheet before 2007. A cell in the last row of
# today's sheets makes a million of them from a small file.
_EMPTY = 65_536


def is_office(head: bytes) -> bool:
    """Whether the first bytes are of a ZIP archive or an old Office file."""
    return head.startswith((_ZIP, OLE))


@dataclass(frozen=True, slots=True)
class BookSheet:
    """The rows of the sheet with questions, in a temporary file.

    Attributes:
        header: of its columns.
        told: `SHEET_READ` or `SHEETS_UNREAD`, also `TABLE_OPTIONS` and `IDS_ARE_DATES`.
    """

    header: TableHeader
    told: tuple[Fact, ...]
    _rows: IO[bytes]

    def close(self) -> None:
        """Delete the file."""
        self._rows.close()

    def records(self) -> Iterator[Record]:
        """Yield the rows with content, each with its number in the sheet."""
        self._rows.seek(0)
        for line in self._rows:
            number, record, problem, cells = json.loads(line)
            cause, cure, fields = problem or ("", "", {})
            wrong = InputError(cause, cure, **fields) if problem else None
            yield Record(number, record, wrong, tuple(cells))


def unpack(stream: IO[bytes], name: str, aside: Path | None = None) -> BookSheet:
    """Find the only visible sheet with questions and write its rows to a temporary file.

    Raises InputError: openpyxl is missing; the file is unreadable; or the sheet is unclear.
    """
    with opened_workbook(stream, name, aside) as opened:
        return _unpacked(opened.values, opened.formulas, name, aside)


def _unpacked(values: Any, formulas: Any, name: str, aside: Path | None) -> BookSheet:
    visible = [sheet for sheet in values.worksheets if sheet.sheet_state == "visible"]
    found = [(sheet, *at) for sheet in visible if (at := _header(sheet)) is not None]
    if not found:
        raise InputError(
            N_("No visible sheet of {table} has a header with a column 'question' or '質問'."),
            N_("Name the columns in one of the first {rows} rows: 番号, 質問, 選択肢1, 選択肢2"),
            table=name,
            rows=ABOVE,
        )
    if len(found) > 1:
        raise InputError(
            N_("Several sheets of {table} have questions: {sheets}."),
            N_("Hide all but one of them, or save that one as CSV."),
            table=name,
            sheets=", ".join(sheet.title for sheet, *_ in found),
        )
    ((sheet, row, header),) = found
    others = tuple(one.title for one in values.worksheets if one is not sheet)
    fields = {"sheet": sheet.title, "row": row}
    told = [Fact(FactKind.SHEET_READ, **fields), *header.told]
    if others:
        told[0] = Fact(FactKind.SHEETS_UNREAD, **fields, others=others)
    calculated = None
    if formulas is not None:
        calculated = formulas[sheet.title]
    with ExitStack() as opened:
        rows = opened.enter_context(tempfile.TemporaryFile(dir=aside))
        dates: list[str] = []
        for entry in _rows(sheet, calculated, row, header, dates):
            rows.write(json.dumps(entry).encode() + b"\n")
        opened.pop_all()  # It lasts as long as the sheet that is made of it.
    if dates:
        told.append(Fact(FactKind.IDS_ARE_DATES, n=len(dates), cell=dates[0]))
    return BookSheet(header, tuple(told), cast("IO[bytes]", rows))


def _header(sheet: Any) -> tuple[int, TableHeader] | None:
    first = enumerate(sheet.iter_rows(max_row=ABOVE, max_col=_WIDE), 1)
    return find_header((number, list(map(_text, cells))) for number, cells in first)


_Problem = tuple[str, str, dict[str, object]]
_Entry = tuple[int, dict[str, Any], _Problem | None, list[str | int | float]]


def _rows(
    sheet: Any, formulas: Any, above: int, header: TableHeader, dates: list[str]
) -> Iterator[_Entry]:
    """Yield number, fields and problem of each row below the header, without empty ones.

    Cells with dates as ids are added to `dates`: Excel changes 1-1 to a date.
    """
    id_ = header.fields.index("id") if "id" in header.fields else None
    columns = {"min_row": above + 1, "max_col": _WIDE}
    written = None if formulas is None else formulas.iter_rows(**columns)
    empty = 0
    for number, cells in enumerate(sheet.iter_rows(**columns), above + 1):
        behind = next(written) if written is not None else ()
        wrong = _wrong(cells, behind, header.width)
        # Most cells of a very wide row are empty.
        texts = ["" if cell.value is None else _text(cell) for cell in cells]
        record = header.record(texts)
        if id_ is not None and id_ < len(cells) and isinstance(cells[id_].value, date):
            dates.append(cells[id_].coordinate)
        empty = 0 if record or wrong else empty + 1
        if empty > _EMPTY:
            raise InputError(
                N_("Sheet {sheet} of the workbook has more than {n:,} empty rows below row {row}."),
                N_("Delete these rows, to the last cell of the sheet, or save the sheet as CSV."),
                sheet=sheet.title,
                n=_EMPTY,
                row=number - empty,
            )
        if wrong:
            cause, cure = wrong[1:]
            fields = {"cell": wrong[0].coordinate, "sheet": sheet.title, "error": wrong[0].value}
            yield number, record, (cause, cure, fields), _kept(cells, texts)
        elif record:
            yield number, record, None, _kept(cells, texts)


def _kept(cells: "Sequence[Cell]", texts: Sequence[str]) -> list[str | int | float]:
    """The cells of a row for the table of answers: numbers stay numbers."""
    kept: list[str | int | float] = list(texts)
    for place, cell in enumerate(cells):
        value = cell.value
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and "%" not in cell.number_format:
            kept[place] = value
    while kept and kept[-1] == "":
        kept.pop()
    return kept


def _wrong(
    cells: "Sequence[Cell]", formulas: "Sequence[Cell]", width: int
) -> "tuple[Cell, str, str] | None":
    """Return the first cell with an unreadable value, with cause and cure."""
    for cell in cells[:width]:
        if cell.data_type == "e":
            return (
                cell,
                N_("Cell {cell} of sheet {sheet} holds the error {error}."),
                N_("Mend its formula, or write the value."),
            )
    for cell, formula in zip(cells[:width], formulas, strict=False):
        if cell.value is None and formula.data_type == "f":
            return (
                formula,
                N_("The formula in cell {cell} of sheet {sheet} was never calculated."),
                N_("Open the workbook in Excel or LibreOffice, save it, and try again."),
            )
    return None


def _text(cell: "Cell") -> str:
    from openpyxl.utils.escape import unescape

    match value := cell.value:
        case None:
            return ""
        case str():
            return str(unescape(value)).replace("\r\n", "\n").replace("\r", "\n")
        case bool():
            return str(value).upper()
        case int() | float():
            if "%" in cell.number_format:
                return f"{value * 100:.15g}%"
            return f"{value:.15g}" if isinstance(value, float) else str(value)
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        case timedelta():
            return str(value)
    return str(value)
