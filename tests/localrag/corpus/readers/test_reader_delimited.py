"""Tables as text: every encoding and separator, values of several lines."""

import pytest

from ....rows import each


@each("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
@each("separator", [",", ";", "\t", "|"])
def test_each_row_has_its_head(encoding, separator, read_one) -> None:
    rows = [
        ["区分", "料金", "注記"],
        ["小型", '"1,000円"', '"一行目\r\n二行目"'],
        ["大型", "", "無"],
    ]
    data = "\r\n".join(separator.join(row) for row in rows).encode(encoding)
    document = read_one("表.csv", data)
    assert document.kind == "csv"
    assert document.text.split("\n") == [
        "区分\t料金\t注記",
        "区分：小型\t料金：1,000円\t注記：一行目　二行目",
        "区分：大型\t注記：無",
        "",
    ]


def test_the_line_that_excel_writes_names_the_separator(read_one) -> None:
    assert "a: 1\tb: 2,3" in read_one("a.csv", "sep=;\na;b\n1;2,3\n").text


def test_a_title_goes_before_the_head(read_one) -> None:
    text = read_one("a.csv", "料金表\n\n区分,料金\n小型,1\n").text
    assert text == "料金表\n区分\t料金\n区分：小型\t料金：1\n"


def test_a_tab_separated_table_of_many_columns_is_no_file_of_triples(read_one) -> None:
    text = read_one("a.tsv", "番号\t氏名\t住所\t電話\t備考\t係\n1\t凪\t港区\t-\t無\t甲\n").text
    assert text.endswith("番号：1\t氏名：凪\t住所：港区\t電話：-\t備考：無\t係：甲\n")


def test_a_tab_separated_table_of_windows(read_one) -> None:
    data = '区分\t料金\r\n小型\t"百円\r\nx"\r\n'.encode("cp932")
    assert read_one("a.tsv", data).text == "区分\t料金\n区分：小型\t料金：百円　x\n"


@pytest.mark.parametrize(
    ("data", "cause"),
    [(b"", "empty"), (b",,\n,,\n", "no text"), (b"a,b\n" + b"x" * 200_000, "cannot be read")],
)
def test_a_bad_table_is_told(data, cause, read_failure) -> None:
    assert cause in read_failure("a.csv", data).cause
