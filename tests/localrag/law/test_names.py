"""Names of laws in texts."""

import pickle

from localrag.law.names import LawNames, customary

from ...rows import each

ACT, ORDER, RULE, OTHER = (
    "501AC0000000001",
    "501CO0000000002",
    "501M50000000003",
    "502AC0000000004",
)


def spans(names: LawNames, text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[m.start : m.end], m.law_ids) for m in names.find_names(text)]


def test_titles_abbreviations_and_numbers_are_found(names: LawNames) -> None:
    text = "灯台管理法と灯管法、港湾清掃法（令和2年法律第4号）及び灯管法施行令について"
    assert spans(names, text) == [
        ("灯台管理法", (ACT,)),
        ("灯管法", (ACT,)),
        ("港湾清掃法", (OTHER,)),
        ("令和2年法律第4号", (OTHER,)),
        ("灯管法施行令", (ORDER,)),
    ]


def test_the_longest_name_wins(names: LawNames) -> None:
    assert spans(names, "灯台管理法施行規則第三条") == [("灯台管理法施行規則", (RULE,))]
    (match,) = names.find_names("灯台管理法第三条に規定する灯火に関する内閣府令第二条")
    assert match.law_ids == ("502M50000000005",)


@each(
    "text",
    [
        "市民法",
        "民法典",
        "医療法人は",
        "医療法施行規則",
        "民法施行法",
        "旧民法",
        "民法等の一部を改正する法律",
        "新灯台",
    ],
)
def test_no_name_inside_a_longer_word(names: LawNames, text: str) -> None:
    assert spans(names, text) == []


@each(
    "text",
    [
        "民法上の",
        "民法第三条",
        "民法709条",
        "民法の規定",
        "及び民法",
        "、民法、",
        "新民法",
        "民法違反",
    ],
)
def test_names_beside_other_words(names: LawNames, text: str) -> None:
    assert spans(names, text) == [("民法", ("129AC0000000089",))]


@each(
    "number",
    ["令和元年法律第一号", "令和1年法律第1号", "令和１年法律第１号", "令和元年法律第 1 号"],
)
def test_law_numbers_in_every_spelling(names: LawNames, number: str) -> None:
    assert names.lookup(number) == (ACT,)


def test_a_law_number_has_the_name_of_who_made_it() -> None:
    number = "昭和二十七年港ノ会カキクケコ委員会規則第二号"
    names = LawNames.from_rows([("A", "港の会規則", number, "Rule", "")])
    assert names.lookup(number) == ("A",)
    (found,) = names.find_numbers(f"港の会規則（{number}）")
    assert found.law_ids == ("A",)


def test_one_name_of_several_laws_returns_all() -> None:
    rows = [
        ("A", "灯台法", "", "Act", "灯法"),
        ("B", "灯火法", "", "Act", "灯法"),
        ("C", "灯台法", "", "Act", ""),
    ]
    names = LawNames.from_rows(rows)
    assert names.lookup("灯台法") == ("A", "C")
    assert set(names.lookup("灯法")) == {"A", "B", "C"}


def test_unknown_names_find_nothing(names: LawNames) -> None:
    assert names.lookup("灯台") == ()
    assert names.lookup("") == ()
    assert LawNames.from_rows([]).find_names("民法第三条") == []


def test_orders_and_parents_are_told_by_titles(names: LawNames) -> None:
    assert names.parents(ORDER) == (ACT,)
    assert set(names.orders(ACT)) == {ORDER, RULE, "502M50000000005"}
    assert names.order_of(ACT, "施行令") == (ORDER,)
    assert names.parents(ACT) == ()


def test_titles_that_hide_a_name(names: LawNames) -> None:
    rows = [
        ("X", "令和九年法律第七号（灯火ノ件ニ関スル法律）", "令和九年法律第七号", "Act", ""),
        ("Y", "灯火整備法施行令　抄", "", "CabinetOrder", ""),
        ("Z", "灯火整備法", "", "Act", ""),
    ]
    names = LawNames.from_rows(rows)
    assert names.lookup("灯火ノ件ニ関スル法律") == ("X",)
    assert names.lookup("灯火の件に関する法律") == ("X",)
    assert names.lookup("灯火整備法施行令") == ("Y",)


def test_names_survive_pickling(names: LawNames) -> None:
    copy = pickle.loads(pickle.dumps(names))
    assert copy.find_names("灯管法第三条") == names.find_names("灯管法第三条")


def test_customary_abbreviations_are_many_and_sound() -> None:
    table = customary()
    assert sum(map(len, table.values())) >= 150
    assert table["金融商品取引法"] == ("金商法",)
    rows = [(str(i), title, "", "Act", "") for i, title in enumerate(table)]
    names = LawNames.from_rows(rows)
    for title, abbreviations in table.items():
        for abbreviation in abbreviations:
            assert names.lookup(title)[0] in names.lookup(abbreviation)
            assert len(abbreviation) > 1
