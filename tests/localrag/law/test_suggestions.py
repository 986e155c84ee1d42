"""Type-ahead over the names of laws."""

import pytest

from localrag.law.names import LawNames
from localrag.search.finding import suggest

from ...rows import each

ROWS = [
    ("A1", "灯台管理法", "令和元年法律第一号", "Act", "灯管法"),
    ("A2", "灯台管理法施行令", "令和元年政令第二号", "CabinetOrder", ""),
    ("A3", "古い灯台管理法を廃止する法律", "令和二年法律第三号", "Act", ""),
    ("A4", "金融商品取引法", "昭和二十三年法律第二十五号", "Act", "金取法"),
    ("A5", "金融商品取引法施行令", "昭和四十年政令第三百二十一号", "CabinetOrder", ""),
    ("A6", "澤の管理及びＡ級灯火に関する法律", "", "Act", ""),
]


@pytest.fixture(scope="module")
def names() -> LawNames:
    return LawNames.from_rows(ROWS)


@each(
    ("typed", "expected"),
    [
        ("灯台", ["灯台管理法", "灯台管理法施行令", "古い灯台管理法を廃止する法律"]),
        ("灯管法", ["灯台管理法", "灯台管理法施行令"]),
        ("灯管法施行令", ["灯台管理法施行令"]),
        ("金商", ["金融商品取引法", "金融商品取引法施行令"]),
        ("金品法", ["金融商品取引法", "金融商品取引法施行令"]),
        ("昭和23年法律第25号", ["金融商品取引法"]),
        ("昭和２３年", ["金融商品取引法"]),
        ("沢の管理及びa級", ["澤の管理及びＡ級灯火に関する法律"]),
        ("[red]", []),
        ("", []),
        (" 　", []),
        ("灯" * 50_000, []),
    ],
)
def test_what_is_typed_finds_laws(names: LawNames, typed: str, expected: list[str]) -> None:
    assert [found.title for found in suggest(names, typed, 5)][: len(expected) or 5] == expected


def test_each_law_is_there_once_with_the_name_that_fits_best(names: LawNames) -> None:
    found = suggest(names, "金商法", 5)
    assert [(law.law_id, law.matched) for law in found] == [
        ("A4", "金商法"),
        ("A5", "金商法施行令"),
    ]
    assert [law.matched for law in suggest(names, "令和元年法律", 5)] == ["令和元年法律第一号"]


def test_no_more_than_asked_for(names: LawNames) -> None:
    assert len(suggest(names, "法", 2)) == 2


def test_what_repeats_one_character_is_looked_through_once() -> None:
    names = LawNames.from_rows([("A1", "の" * 80, "", "Act", "")])
    assert suggest(names, "の" * 40 + "ん", 5) == []
