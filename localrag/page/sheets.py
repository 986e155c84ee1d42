"""Writes tables for Excel; no cell becomes a formula."""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import IO

from localrag.language import _
from localrag.text.harmless import cells, harmless

# Beginnings of formulas, also as Japanese Excel reads them.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "|", "%")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?%?", re.ASCII)
# Most characters of a cell; points of a line and of the highest row.
_LONGEST = 32_767
_LINE, _HIGHEST = 15, 409


@dataclass(frozen=True, slots=True)
class Column:
    """A column: header, and width in characters."""

    name: str
    width: int = 12


Cell = str | int | float


def write_csv(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], file: IO[bytes]) -> None:
    """Write CSV for Excel: UTF-8 with a byte order mark, an apostrophe before formulas."""
    text = TextIOWrapper(file, "utf-8-sig", newline="", write_through=True)
    try:
        writer = csv.writer(text)
        writer.writerow([column.name for column in columns])
        writer.writerows([_plain(cell) for cell in row] for row in rows)
    finally:
        text.detach()


def _plain(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    shown = harmless(cell)
    is_formula = cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell)
    return f"'{shown}" if is_formula else shown


def write_xlsx(
    title: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell]], file: IO[bytes]
) -> None:
    """Write a workbook with one sheet; texts too long for a cell are cut, with a note."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.properties import PageSetupProperties

    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    # In print, a page is as wide as the table and repeats the header.
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.print_title_rows = "1:1"
    for number, column in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(number)].width = column.width
    bold, wrapped = Font(bold=True), Alignment(wrap_text=True, vertical="top")

    def cell(value: Cell) -> WriteOnlyCell:
        made = WriteOnlyCell(sheet, _fitting(value) if isinstance(value, str) else value)
        made.alignment = wrapped
        if isinstance(value, str):
            made.data_type = "s"  # Also if it begins like a formula.
            # Editing the cell later makes no formula either.
            made.quotePrefix = value.startswith(_FORMULA)
        return made

    header = [cell(column.name) for column in columns]
    for one in header:
        one.font = bold
    sheet.append(header)
    for number, row in enumerate(rows, 2):
        # LibreOffice would show one line only.
        sheet.row_dimensions[number].height = _height(columns, row)
        sheet.append([cell(value) for value in row])
        del sheet.row_dimensions[number]
    book.save(file)


def _height(columns: Sequence[Column], row: Sequence[Cell]) -> float:
    """Return the height of a row in points, so its wrapped texts are visible."""
    lines = max(
        sum(max(1, -(-cells(line) // (column.width - 2))) for line in str(value).split("\n"))
        for column, value in zip(columns, row, strict=True)
    )
    return min(_LINE * lines, _HIGHEST)


def _fitting(text: str) -> str:
    shown = harmless(text)
    if len(shown) <= _LONGEST:
        return shown
    note = _("… (cut here: a cell holds no more)")
    return shown[: _LONGEST - len(note)] + note
