"""Infoboxes of articles, and limits for costly wikitext."""

from hypothesis import given
from hypothesis import strategies as st

from localrag.corpus.readers.infobox import Infoboxes

from ....rows import each

BOXES = Infoboxes()


def facts(*entries: str, name: str = "Infobox 灯台") -> dict[str, tuple[str, ...]]:
    told, _ = BOXES.facts("{{" + name + "\n" + "\n".join(f"| {e}" for e in entries) + "\n}}\n本文")
    return dict(told)


def values(value: str) -> tuple[str, ...]:
    return facts(f"項目 = {value}").get("項目", ())


@each(
    ("value", "expected"),
    [
        ("石造", ["石造"]),
        ("'''石'''造<!-- 要確認 -->", ["石造"]),
        ("[[白岬町|白岬]]の[[丘]]", ["白岬の丘"]),
        ("[[石工]]・[[大工]]、[[左官]]", ["石工", "大工", "左官"]),
        ("[[海辺県]][[白岬町]]", ["海辺県白岬町"]),
        ("[[東町]]、[[西町|西]]、[[南郡]][[奥町]]", ["東町", "西", "南郡奥町"]),
        ("\n'''映画'''\n* [[甲]]\n* 乙\n'''劇'''\n* 丙", ["甲", "乙", "丙"]),
        ("'''映画'''<br />甲", ["甲"]),
        ("'''甲'''<br />（初代）<br />'''乙'''", ["甲（初代）", "乙"]),
        ("'''甲'''", ["甲"]),
        ("浜市1番地<br /><small>{{ウィキ座標2段度分秒|34|53}}</small>", ["浜市1番地"]),
        ("浜市1番地 {{Coord|34|53|display=inline}}", ["浜市1番地"]),
        ("#00a", []),
        ("{{color|#00a|■}}[[本線]]", ["本線"]),
        ("#00AAff", []),
        ("甲<br>[[乙]]<br />丙", ["甲", "乙", "丙"]),
        ("[[甲]]<br />（初代）<br />乙", ["甲（初代）", "乙"]),
        ("33m<ref name=a>『灯台史』</ref><ref name=b />", ["33m"]),
        ("{{生年月日と年齢|1986|4|14}}", ["1986年4月14日"]),
        ("{{Birth date and age|1986|04|14|df=y}}", ["1986年4月14日"]),
        ("{{死亡年月日と没年齢|1894|4|29|1946|1|30}}", ["1946年1月30日"]),
        ("{{death date and age|1946|1|30|1894|4|29}}", ["1946年1月30日"]),
        ("{{start date|1899}}", ["1899年"]),
        ("{{JPN}}・[[海辺県]]", ["日本・海辺県"]),
        ("{{flagicon|JPN}} [[日本]]", ["日本"]),
        ("{{Flag|FRA}}", ["フランス"]),
        ("{{URL|example.org}}", ["example.org"]),
        ("[https://example.org/ 公式]", ["https://example.org/"]),
        ("{{unbulleted list|甲|[[乙]]}}", ["甲", "乙"]),
        ("{{Plainlist|\n* 甲\n* [[乙|丙]]\n}}", ["甲", "丙"]),
        ("{{Lang|en|Lighthouse}}", ["Lighthouse"]),
        ("{{formatnum:12345}}人", ["12345人"]),
        ("{{convert|33|m}}", ["33m"]),
        ("33&nbsp;m", ["33 m"]),
        ("33{{要出典|date=2020年}}m", ["33m"]),
        ("[[ファイル:a.jpg|220px]]", []),
        ("-", []),
        ("{{知らない|33}}m", []),
        ("{{{1|33}}}", []),
        ("<gallery>a.jpg</gallery>", []),
        ("あ" * 301, []),
        ("[[甲", []),
        ("33&#27;[31mm", ["33[31mm"]),
    ],
)
def test_values_are_what_readers_see(value, expected):
    assert values(value) == tuple(expected)


def test_labels_are_those_that_readers_see():
    told = facts(
        "birth_date = {{生年月日と年齢|1986|4|14}}",
        "メンバー1 = 甲",
        "メンバー2 = 乙",
        "画像 = a.jpg",
        "背景色 = #fff",
        "緯度度 = 35",
        "社色 = 00a",
        "ウィキポータル = 文学",
        "image_size = 200px",
        "備考 = 注記",
        "空 =",
    )
    assert told == {"生年月日": ("1986年4月14日",), "メンバー": ("甲", "乙")}


def test_a_date_in_three_entries_is_one():
    told = facts("生年 = 1964", "生月 = 6", "生日 = 22", "没年 = 2001", "没月 =", "没日 =")
    assert told == {"生年月日": ("1964年6月22日",), "没年": ("2001年",)}


@each(
    ("name", "is_box"),
    [
        ("基礎情報 会社", True),
        ("Infobox_Company", True),
        ("灯台守", True),
        ("複数の問題", False),
        ("Otheruses", True),
    ],
)
def test_a_box_is_known_by_its_name_or_by_what_it_fills(name, is_box):
    assert bool(facts("甲 = 一", "乙 = 二", "丙 = 三", name=name)) == is_box


def test_a_message_with_few_entries_is_no_box():
    assert facts("date = 2020年", "節 = 一", name="出典の明記") == {}


def test_only_boxes_before_the_first_heading_count():
    told, left_out = BOXES.facts("{{Infobox 甲|高さ=1m}}本文\n== 節 ==\n{{Infobox 乙|幅員=2m}}")
    assert (told, left_out) == ((("高さ", ("1m",)),), 0)


def test_what_is_left_out_is_counted():
    told, left_out = BOXES.facts("{{Infobox|高さ={{知らない}}|幅員=" + "x" * 400 + "|名=岬}}")
    assert (told, left_out) == ((("名", ("岬",)),), 2)


MARKUP = [
    "{{", "}}", "[[", "]]", "{{{", "}}}", "{|", "|}", "|", "=", "<ref>", "</ref>", "<br>", "<div ",
    "<nowiki>", "<!--", "-->", "\'\'\'", "[http://", "&#x110000;", "&#0;", "&amp;", "<", "&", "\n",
    "* ", ":", "&#27;", "ファイル:", "Infobox", "JPN", "生年月日と年齢", "1986", "4", "灯台", "名=",
]  # fmt: skip


@given(st.lists(st.sampled_from(MARKUP), max_size=60))
def test_no_wikitext_leaves_markup_of_lists_or_lines_in_what_is_told(parts):
    told, _ = BOXES.facts("{{Infobox 甲\n|名=" + "".join(parts) + "\n|高さ=1m}}")
    for label, found in told:
        assert found
        assert all("\n" not in text and text.strip() and text.isprintable()
                   for text in (label, *found))  # fmt: skip


@each(
    "inside",
    [
        "{{" * 500_000,
        "}}" * 500_000,
        "{{a|" * 200_000 + "}}" * 200_000,
        "<div " * 5_000,
        "<ref>" * 5_000,
        "[[a|" * 5_000,
        "[http://" * 3_000,
        "{|" * 10_000,
        "\n:;*" * 5_000,
        "<!--" * 20_000,
        "'''" * 9_000,
        "\n|名=" * 20_000,
        "あ" * 2_000_000,
    ],
)
def test_hostile_wikitext_is_passed_over(inside):
    before = "{{Infobox 甲|高さ=1m}}\n"
    told, _ = BOXES.facts(before + "{{Infobox 乙\n| 名称 = " + inside + "\n}}")
    assert dict(told).get("高さ") == ("1m",)
    assert all(len(value) <= 300 for _, values in told for value in values)


def test_a_year_alone_is_written_as_one():
    told = facts("設立年 = 1935", "完成年 = 1890年", "年 = 12")
    assert told == {"設立年": ("1935年",), "完成年": ("1890年",), "年": ("12",)}
