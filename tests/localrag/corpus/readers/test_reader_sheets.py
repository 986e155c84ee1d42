"""Workbooks as documents: rows with headers, displayed cells, omissions."""

import io
import zipfile
from datetime import date, datetime, time, timedelta

import pytest
from bench.office_files import strict

from localrag.corpus.readers import Limits, ReadFailure
from localrag.corpus.readers.number_formats import shown
from localrag.corpus.types import Omission

from ....rows import each

openpyxl = pytest.importorskip("openpyxl")


def saved(book) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def sheet_of(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book, book.active


def lines(document) -> list[str]:
    return document.text.rstrip("\n").split("\n")


def test_each_row_has_its_head(read_one) -> None:
    book, sheet = sheet_of(["桟橋の料金"], [], ["区分", "単価", "備考"], ["小型", 1200, "昼のみ"])
    sheet.append(["大型", 3400, "一行目\n二行目"])
    sheet.title = "料金"
    book.create_sheet("注記")["B3"] = "係員に申し出る。"
    document = read_one("台帳.xlsx", saved(book))
    assert document.kind == "xlsx"
    assert lines(document) == [
        "料金",
        "桟橋の料金",
        "区分\t単価\t備考",
        "区分：小型\t単価：1200\t備考：昼のみ",
        "区分：大型\t単価：3400\t備考：一行目　二行目",
        "注記",
        "係員に申し出る。",
    ]
    assert [section.title for section in document.sections] == ["料金", "注記"]


def test_a_form_has_no_head(read_one) -> None:
    book, _ = sheet_of(["氏名", "山田太郎"], ["住所", "東京都港区"], ["電話", "03-1234-5678"])
    assert lines(read_one("a.xlsx", saved(book)))[1:] == [
        "氏名\t山田太郎",
        "住所\t東京都港区",
        "電話\t03-1234-5678",
    ]


def test_two_columns_of_names_and_sentences_have_a_head(read_one) -> None:
    book, _ = sheet_of(["項目", "内容"], ["窓口", "九時に開く。"], ["休日", "日曜日とする。"])
    assert lines(read_one("a.xlsx", saved(book)))[2:] == [
        "項目：窓口\t内容：九時に開く。",
        "項目：休日\t内容：日曜日とする。",
    ]


def test_merged_cells_are_read_once_and_name_what_is_below_them(read_one) -> None:
    book, sheet = sheet_of(["部署", "予算", None], [None, "4月", "5月"], ["総務", 10, 20])
    sheet.append([None, 30, 40])
    for cells in ("A1:A2", "B1:C1", "A3:A4"):
        sheet.merge_cells(cells)
    assert lines(read_one("a.xlsx", saved(book)))[1:] == [
        "部署\t予算",
        "4月\t5月",
        "部署：総務\t予算 4月：10\t予算 5月：20",
        "予算 4月：30\t予算 5月：40",
    ]


@each(
    ("value", "number_format", "told"),
    [
        (1234, '#,##0"円"', "1,234円"),
        (-1234.5, "#,##0.00;[Red]▲#,##0.00", "▲1,234.50"),
        (0.256, "0.0%", "25.6%"),
        (12_345_678, '#,##0,"千円"', "12,346千円"),
        (9012345678, "000-0000-0000", "090-1234-5678"),
        (1234, "[$¥-411]#,##0", "¥1,234"),
        (0, '0;-0;"なし"', "なし"),
        (3, '"第"0"号"', "第3号"),
        (0.1 + 0.2, "General", "0.3"),
        (1234, "0.00E+00", "1.23E+03"),
        (7, "[DBNum3]0", "７"),
        ("山田", '@"様"', "山田様"),
        (date(2026, 4, 1), '[$-411]ggge"年"m"月"d"日"', "令和8年4月1日"),
        (date(2019, 4, 30), "[$-411]ge.m.d", "H31.4.30"),
        (date(2019, 5, 1), '[$-ja-JP-x-gannen]ggge"年"m"月"d"日"', "令和元年5月1日"),
        (date(2026, 4, 1), 'yyyy"年"m"月"d"日"(aaa)', "2026年4月1日(水)"),
        (date(2026, 4, 1), "yyyy-mm-dd", "2026-04-01"),
        (datetime(2026, 4, 1, 21, 5), "yyyy/m/d h:mm AM/PM", "2026/4/1 9:05 PM"),
        (time(9, 5), 'h"時"mm"分"', "9時05分"),
        (timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
        (True, "General", "TRUE"),
    ],
)
def test_a_cell_is_what_it_shows(value, number_format, told, read_one) -> None:
    assert shown(value, number_format) == told
    book, sheet = sheet_of(["値"], [value])
    sheet["A2"].number_format = number_format
    assert lines(read_one("a.xlsx", saved(book)))[-1] == told


def test_what_is_not_read_is_named(read_one) -> None:
    book, sheet = sheet_of(["区分", "単価", "控え"], ["小型", 1, "甲"], ["大型", 2, "乙"])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    sheet["B4"] = "=1+2"
    sheet["B5"], sheet["B5"].number_format = 3.25, "# ?/?"
    hidden = book.create_sheet("裏")
    hidden["A1"], hidden.sheet_state = "秘密", "hidden"
    document = read_one("a.xlsx", saved(book))
    assert set(document.omissions) == {
        Omission("hidden sheets", 1),
        Omission("hidden rows", 1),
        Omission("hidden columns", 1),
        Omission("formulas that were never calculated", 1),
        Omission("numbers shown without their format", 1),
    }
    assert not any(word in document.text for word in ("秘密", "大型", "乙", "控え"))


def test_rows_that_a_filter_hides_are_read(read_one) -> None:
    book, sheet = sheet_of(["区分", "単価"], ["小型", 1], ["大型", 2])
    sheet.auto_filter.ref = "A1:B3"
    sheet.auto_filter.add_filter_column(0, ["小型"])
    sheet.row_dimensions[3].hidden = True
    document = read_one("a.xlsx", saved(book))
    assert lines(document)[-1] == "区分：大型\t単価：2"
    assert document.omissions == ()


def test_comments_are_read(read_one) -> None:
    from openpyxl.comments import Comment

    book, sheet = sheet_of(["区分"], ["小型"])
    sheet["A2"].comment = Comment("六メートル未満をいう。", "甲")
    assert lines(read_one("a.xlsx", saved(book)))[-1] == "A2\t六メートル未満をいう。"


def test_a_strict_workbook_is_read_as_another(read_one) -> None:
    book, _ = sheet_of(["区分", "期日"], ["小型", date(2026, 4, 1)], ["大型", None])
    usual = saved(book)
    assert read_one("b.xlsx", strict(usual)).text == read_one("a.xlsx", usual).text


def test_dates_of_a_strict_workbook_may_be_iso(read_one) -> None:
    book, sheet = sheet_of(["期日"], [date(2026, 4, 1)])
    sheet["A2"].number_format = '[$-411]ggge"年"m"月"d"日"'
    old, new = io.BytesIO(strict(saved(book))), io.BytesIO()
    with zipfile.ZipFile(old) as there, zipfile.ZipFile(new, "w") as made:
        for name in there.namelist():
            part = there.read(name)
            made.writestr(name, part.replace(b't="n"><v>46113</v>', b't="d"><v>2026-04-01</v>'))
    assert lines(read_one("a.xlsx", new.getvalue()))[-1] == "令和8年4月1日"


def other_format() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    return out.getvalue()


def bomb() -> bytes:
    book, _ = sheet_of(["a"])
    out = io.BytesIO(saved(book))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/a.bin", bytes(40_000_000))
    return out.getvalue()


def far_away() -> bytes:
    book, sheet = sheet_of(["a"])
    sheet.cell(1_048_576, 16_384, "z")
    return saved(book)


def entities() -> bytes:
    book, _ = sheet_of(["a"])
    old, new = io.BytesIO(saved(book)), io.BytesIO()
    with zipfile.ZipFile(old) as there, zipfile.ZipFile(new, "w") as made:
        for name in there.namelist():
            part = there.read(name)
            if name == "xl/workbook.xml":
                part = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>' + part
                part = part.replace(b'name="Sheet"', b'name="&e;"')
            made.writestr(name, part)
    return new.getvalue()


@each(
    ("data", "cause"),
    [
        (b"PK\x03\x04 and no more", "damaged"),
        (other_format(), "a document of Word"),
        (bomb(), "unpacks to too much"),
        (far_away(), "too many"),
        (entities(), "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
    ],
)
def test_a_bad_workbook_is_told(data, cause, read_failure) -> None:
    assert cause in read_failure("a.xlsx", data).cause


def test_what_is_printed_above_and_below_is_named(read_one) -> None:
    book, sheet = sheet_of(["桟橋は、夜に閉じる。"])
    sheet.oddHeader.center.text, sheet.oddFooter.left.text = "社外秘", "&P"
    document = read_one("a.xlsx", saved(book))
    assert document.omissions == (Omission("headers and footers of printed sheets", 2),)


def test_too_much_text_is_refused(read_bytes) -> None:
    book, _ = sheet_of(*([f"{n}の桟橋は、夜に閉じる。"] for n in range(2_000)))
    (failure,) = read_bytes("a.xlsx", saved(book), limits=Limits(memory_bytes=300_000))
    assert isinstance(failure, ReadFailure)
