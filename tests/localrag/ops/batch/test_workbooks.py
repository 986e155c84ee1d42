"""Spreadsheets as offices make them: read, or refused with a cause and a cure."""

import io
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest

from localrag.errors import InputError
from localrag.ops.batch.table import QuestionTable, open_table
from localrag.ops.batch.types import QuestionRow, Row, UnreadableRow
from localrag.text.facts import Fact, FactKind

from ....rows import each

openpyxl = pytest.importorskip("openpyxl")

Fill = Callable[[Any], None]
HEADER = ("番号", "質問", "選択肢1", "選択肢2")


def workbook(*fills: Fill, titles: tuple[str, ...] = ()) -> bytes:
    """A workbook with one sheet for each filler."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, fill in enumerate(fills, 1):
        fill(book.create_sheet(titles[number - 1] if titles else f"Sheet{number}"))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def of(*rows: tuple[Any, ...]) -> Fill:
    """Fills a sheet with rows."""

    def fill(sheet: Any) -> None:
        for row in rows:
            sheet.append(row)

    return fill


def asking(*rows: tuple[Any, ...]) -> Fill:
    """Fills a sheet with rows below a header."""
    return of(HEADER, *rows)


def rewritten(content: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """An archive with its members changed; None leaves one out."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if (data := change(name, old.read(name))) is not None:
                new.writestr(name, data)
    return file.getvalue()


def archive(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        for name in names:
            members.writestr(name, b"")
    return file.getvalue()


def read(
    content: bytes, tmp_path: Path, name: str = "質問.xlsx"
) -> tuple[list[Row], QuestionTable]:
    path = tmp_path / name
    path.write_bytes(content)
    with open_table(path) as table:
        checked = table.check()
        return list(checked.rows()), table


def asked(rows: list[Row]) -> list[tuple[int, str, str, tuple[str, ...]]]:
    found = []
    for row in rows:
        assert isinstance(row, QuestionRow), row
        found.append((row.line, row.id, row.query.text, row.query.options))
    return found


def merged(sheet: Any) -> None:
    sheet.append(["回答用紙（法務部）"])
    sheet.merge_cells("A1:D1")
    sheet.append(["番号", "質問", "選択肢"])
    sheet.merge_cells("C2:E2")
    sheet.append([1, "定員は何人か", "十人", "十二人", "二十人"])


def hidden_column(sheet: Any) -> None:
    asking((1, "定員は何人か"))(sheet)
    sheet.column_dimensions["B"].hidden = True
    sheet.row_dimensions[2].hidden = True


def of_values(sheet: Any) -> None:
    sheet.append((*HEADER, "選択肢3", "選択肢4", "選択肢5"))
    sheet.append(
        [1.0, "いつか", date(2024, 4, 1), datetime(2024, 4, 1, 9, 30), time(9), 0.05, True]
    )
    sheet["F2"].number_format = "0%"


def with_value(name: str, data: bytes) -> bytes:
    """A formula with its calculated value."""
    return data.replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>").replace(
        b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>"
    )


def phonetic(name: str, data: bytes) -> bytes:
    """A text with its reading and a line break, as Japanese Excel stores them."""
    plain = "<t>定員は何人か</t>".encode("ascii", "xmlcharrefreplace")
    assert plain in data or not name.endswith("sheet1.xml")
    return data.replace(
        plain, '<t>定員は_x000D_\n何人か</t><rPh sb="0" eb="2"><t>テイイン</t></rPh>'.encode()
    )


def vast(name: str, data: bytes) -> bytes:
    """A sheet with all possible rows and columns."""
    return data.replace(b'ref="A1:D2"', b'ref="A1:XFD1048576"')


def two_rows_of_header(sheet: Any) -> None:
    sheet.append(["質問一覧　2026年"])
    sheet.append([])
    sheet.append(["項番", "ご質問", "選択肢", None, None, "担当"])
    sheet.append([None, None, "ア", "イ", "ウ"])
    for cells in ("A3:A4", "B3:B4", "C3:E3", "F3:F4"):
        sheet.merge_cells(cells)
    sheet.append(["1-1", "定員は何人か", "十人", "十二人", None, "山田"])


QUESTION = (1, "定員は何人か")
PLAIN = [(2, "1", "定員は何人か", ())]
READ: dict[str, tuple[bytes, list[tuple[int, str, str, tuple[str, ...]]]]] = {
    "plain": (workbook(asking((1, "定員は何人か", "十人", "十二人"))), [
        (2, "1", "定員は何人か", ("十人", "十二人"))
    ]),
    "merged title and header": (workbook(merged), [
        (3, "1", "定員は何人か", ("十人", "十二人", "二十人"))
    ]),
    "a header of two rows": (workbook(two_rows_of_header), [
        (5, "1-1", "定員は何人か", ("十人", "十二人"))
    ]),
    "a title like a header": (workbook(of(("質問",), HEADER, QUESTION)), [
        (3, "1", "定員は何人か", ())
    ]),
    "empty rows": (workbook(asking((), QUESTION, (), ("", None, " "[:0]), (2, "水位は"))), [
        (3, "1", "定員は何人か", ()), (6, "2", "水位は", ())
    ]),
    "a calculated formula": (
        rewritten(workbook(asking(("=1+1", "定員は何人か"))), with_value),
        [(2, "2", "定員は何人か", ())],
    ),
    "dates, numbers, percent": (workbook(of_values), [
        (2, "1", "いつか", ("2024-04-01", "2024-04-01 09:30:00", "09:00:00", "5%", "TRUE"))
    ]),
    "hidden column and row": (workbook(hidden_column), PLAIN),
    "options of one cell": (workbook(of(("問題", "選択肢"), ("定員は", "十人\n 十二人\n"))), [
        (2, "", "定員は", ("十人", "十二人"))
    ]),
    "names as of JSON Lines": (workbook(of(("ID", "question", "option_a"), ("x", "a?", "y"))), [
        (2, "x", "a?", ("y",))
    ]),
    "readings of kanji": (
        rewritten(workbook(asking(QUESTION)), phonetic), [(2, "1", "定員は\n何人か", ())]
    ),
    "a size that is not true": (rewritten(workbook(asking(QUESTION)), vast), PLAIN),
}  # fmt: skip


@each(("content", "rows"), READ.values())
def test_what_offices_make_is_read(tmp_path: Path, content: bytes, rows: Any) -> None:
    found, table = read(content, tmp_path)
    assert asked(found) == rows
    (told,) = table.told
    assert told.kind is FactKind.SHEET_READ
    assert told.fields["sheet"] == "Sheet1"
    assert int(told.fields["row"]) < rows[0][0]


def test_a_workbook_under_another_name(tmp_path: Path) -> None:
    for name in ("質問.xlsm", "質問.csv", "質問.jsonl", "質問.xls"):
        assert asked(read(workbook(asking(QUESTION)), tmp_path, name)[0]) == PLAIN


def test_macros_are_left_alone(tmp_path: Path) -> None:
    def with_macros(name: str, data: bytes) -> bytes:
        plain = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
        macros = b"application/vnd.ms-excel.sheet.macroEnabled.main+xml"
        return data.replace(plain, macros) if name == "[Content_Types].xml" else data

    content = rewritten(workbook(asking(QUESTION)), with_macros)
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as members:
        members.writestr("xl/vbaProject.bin", b"\0" * 100)
    assert asked(read(file.getvalue(), tmp_path, "質問.xlsm")[0]) == PLAIN


def test_of_several_sheets_the_one_with_questions(tmp_path: Path) -> None:
    notes, hidden = of(("凡例",), ("a", "b")), asking((9, "隠し質問"))
    titles = ("説明", "質問票", "元データ")
    content = workbook(notes, asking(QUESTION), hidden, titles=titles)
    with pytest.raises(InputError, match=r"Several sheets .*質問票, 元データ.") as caught:
        read(content, tmp_path)
    assert "Hide" in caught.value.cure
    book = openpyxl.load_workbook(io.BytesIO(content))
    book["元データ"].sheet_state = "hidden"
    book.save(tmp_path / "x.xlsx")
    rows, table = read((tmp_path / "x.xlsx").read_bytes(), tmp_path)
    assert asked(rows) == PLAIN
    (told,) = table.told
    assert told.kind is FactKind.SHEETS_UNREAD
    assert told.fields == {"sheet": "質問票", "row": 1, "others": ("説明", "元データ")}


def test_labels_of_a_second_header_are_those_of_the_options(tmp_path: Path) -> None:
    ((row,), table) = read(workbook(two_rows_of_header), tmp_path)
    assert isinstance(row, QuestionRow)
    assert row.labels == ("ア", "イ")
    assert table.unused == {"担当"}


def test_options_may_be_headed_by_figures_alone(tmp_path: Path) -> None:
    header, row = (
        ("番号", "質問", 1, 2, 3, "正解"),
        (1, "定員は何人か", "十人", "十二人", "百人", 2),
    )
    (found,), table = read(workbook(of(("小テスト",), (), header, row)), tmp_path)
    assert isinstance(found, QuestionRow)
    assert (found.query.options, found.labels) == (("十人", "十二人", "百人"), ("1", "2", "3"))
    assert Fact(FactKind.TABLE_OPTIONS, names=("1", "2", "3")) in table.told
    assert table.unused == {"正解"}


@each(
    "name",
    ["ご質問", "御質問", "質 問 内 容", "質問事項", "設問文", "お問い合わせ内容", "Question"],
)
def test_names_that_offices_give_a_question(tmp_path: Path, name: str) -> None:
    content = f"№,{name}\n1-1,定員は何人か\n".encode("utf-8-sig")
    assert asked(read(content, tmp_path, "q.csv")[0]) == [(2, "1-1", "定員は何人か", ())]


def test_ids_that_excel_made_dates_of_are_told(tmp_path: Path) -> None:
    day = datetime(2026, 1, 1)
    content = workbook(asking((day, "定員は何人か"), ("1-2", "水位は"), (3, "風速は")))
    rows, table = read(content, tmp_path)
    assert [row.id for row in rows] == ["2026-01-01", "1-2", "3"]
    assert Fact(FactKind.IDS_ARE_DATES, n=1, cell="A2") in table.told


def test_columns_that_are_not_read_are_told(tmp_path: Path) -> None:
    rows = (("番号", "質問", "", "担当"), (1, "定員は何人か", "メモ", "山田"))
    assert read(workbook(of(*rows)), tmp_path)[1].unused == {"column 3", "担当"}


WRONG = {
    "a formula never calculated": ("=1+1", "formula in cell A3 of sheet Sheet1", "save it"),
    "an error": ("#REF!", "Cell A3 of sheet Sheet1 holds the error #REF!", "Mend"),
}


@pytest.mark.parametrize(("value", "cause", "cure"), WRONG.values(), ids=WRONG)
def test_a_wrong_cell_is_isolated(tmp_path: Path, value: str, cause: str, cure: str) -> None:
    rows, _ = read(workbook(asking(QUESTION, (value, "水位は"), (3, ""))), tmp_path)
    wrong, empty = rows[1:]
    assert isinstance(wrong, UnreadableRow)
    assert cause in wrong.problem.cause
    assert cure in wrong.problem.cure
    assert wrong.line == 3
    assert isinstance(empty, UnreadableRow)
    assert "no question" in empty.problem.cause
    assert 'the column "質問"' in empty.problem.cure


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("xl/workbook.xml", b"<a/>")
        members.writestr("xl/worksheets/sheet1.xml", b" " * 25_000_000)
    return file.getvalue()


def without_sheet(name: str, data: bytes) -> bytes | None:
    return None if "sheet1" in name else data


def with_half_a_sheet(name: str, data: bytes) -> bytes:
    return data[:200] if "sheet1" in name else data


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
REFUSED = {
    "password": (OLE + "EncryptedPackage".encode("utf-16-le") + bytes(64), "password"),
    "of Excel 97": (OLE + "Workbook".encode("utf-16-le"), "before 2007"),
    "binary": (archive("xl/workbook.bin"), "binary workbook"),
    "Word": (archive("word/document.xml"), "document of Word"),
    "OpenDocument": (archive("mimetype", "content.xml"), "OpenDocument"),
    "ZIP": (archive("a.txt"), "ZIP archive"),
    "cut off": (workbook(asking(QUESTION))[:-400], "damaged"),
    "a part is missing": (
        rewritten(workbook(asking(QUESTION)), without_sheet),
        "No visible sheet",
    ),
    "no XML": (
        rewritten(workbook(asking(QUESTION)), with_half_a_sheet),
        "damaged",
    ),
    "a bomb": (bomb(), "too much data"),
    "no question": (workbook(of(("番号", "内容"), (1, "a"))), "No visible sheet"),
    "the question twice": (workbook(of(("質問", "question"), ("a?", "b?"))), "question twice"),
}  # fmt: skip


@each(("content", "cause"), REFUSED.values())
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: bytes, cause: str) -> None:
    with pytest.raises(InputError, match=cause) as caught:
        read(content, tmp_path)
    assert caught.value.cure
    assert "質問.xlsx" in caught.value.cause or cause in (
        "question twice",
        "password",
        "before 2007",
    )


@pytest.mark.parametrize(
    "rows", [b"<row/>" * 66_000, b'<row r="1048576"><c r="XFD1048576"/></row>']
)
def test_hardly_anything_but_empty_rows(tmp_path: Path, rows: bytes) -> None:
    def filled(name: str, data: bytes) -> bytes:
        return data.replace(b"</sheetData>", rows + b"</sheetData>") if "sheet1" in name else data

    with pytest.raises(InputError, match="more than 65,536 empty rows below row 2") as caught:
        read(rewritten(workbook(asking(QUESTION)), filled), tmp_path)
    assert "Sheet1" in caught.value.cause


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(InputError, match="needs openpyxl") as caught:
        read(workbook_kept, tmp_path)
    assert "localrag[office]" in caught.value.cure


workbook_kept = workbook(asking(QUESTION))


CSV = "番号,質問,選択肢ア,選択肢イ\r\n1,定員は何人か,①十人,㈱渡し舟\r\n,,,\r\n"


@pytest.mark.parametrize(("encoding", "told"), [("utf-8-sig", False), ("cp932", True)])
def test_csv_as_excel_writes_it(tmp_path: Path, encoding: str, told: bool) -> None:
    rows, table = read(CSV.encode(encoding), tmp_path, "質問.csv")
    assert asked(rows) == [(2, "1", "定員は何人か", ("①十人", "㈱渡し舟"))]
    assert (Fact(FactKind.TABLE_ENCODING) in table.told) == told


def test_damaged_utf8_is_not_taken_for_another_encoding(tmp_path: Path) -> None:
    good, bad = "1,定員は何人か,,\r\n".encode(), "2,水位は,,\r\n".encode("cp932")
    header = "番号,質問,選択肢ア,選択肢イ\r\n".encode()
    rows, table = read(header + good + bad, tmp_path, "質問.csv")
    assert isinstance(rows[1], UnreadableRow)
    assert "not valid UTF-8" in rows[1].problem.cause
    assert not table.told
