"""Statutes as JSON lines: places, supplements, items."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.corpus.readers import Limits, LineBlock, ResumePoint, read_piece, stream
from localrag.corpus.readers.statutes_json import ItemLine, item_lines
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS

from ....rows import each

LAW = {
    "law_id": "323M40000009999",
    "date": "20240401",
    "title": "灯台規則",
    "law_num": "昭和二十三年海運省令第九号",
    "articles": [
        {
            "num": "2",
            "caption": "（定義）",
            "title": "第二条",
            "paragraphs": [
                {
                    "num": "1",
                    "text": "次のとおり。\n一　灯器\nイ　電球\nロ　反射鏡\n"
                    "一の二　塔\n二から四まで　削除",
                },
                {"num": "2", "text": "前項の表\n百万円　甲｜乙\n備考　略"},
            ],
        },
        {
            "num": None,
            "caption": "",
            "title": "附　則",
            "suppl": True,
            "suppl_label": "附　則",
            "paragraphs": [{"num": "1", "text": "公布の日から施行する。"}],
        },
        {
            "num": "1",
            "caption": "",
            "title": "第一条",
            "suppl": True,
            "suppl_label": "附　則（平成元年三月一日海運省令第一号）",
            "paragraphs": [{"num": "1", "text": "施行する。"}, {"num": "1", "text": "重複"}],
        },
    ],
}


@pytest.fixture
def law(read_one):
    return read_one("laws.jsonl", json.dumps(LAW, ensure_ascii=False))


def test_places_and_headers(law):
    found = {(p.layer, p.id.partition("#")[2]): p.header for p in law.passages}
    label = "附則（平成元年三月一日海運省令第一号）"
    assert found == {
        (ARTICLES, "2"): "灯台規則 第二条（定義）",
        (ARTICLES, "suppl1/"): "灯台規則 附則",
        (ARTICLES, "suppl2/1"): f"灯台規則 {label} 第一条",
        (PARAGRAPHS, "2.1"): "灯台規則 第二条 第一項",
        (PARAGRAPHS, "2.2"): "灯台規則 第二条 第二項",
        (PARAGRAPHS, "suppl1/.1"): "灯台規則 附則",
        (PARAGRAPHS, "suppl2/1.1"): f"灯台規則 {label} 第一条 第一項",
        (PARAGRAPHS, "suppl2/1.1~2"): f"灯台規則 {label} 第一条 第一項",
        (ITEMS, "2.1.1"): "灯台規則 第二条 第一項 第一号",
        (ITEMS, "2.1.1.1"): "灯台規則 第二条 第一項 第一号 イ",
        (ITEMS, "2.1.1.2"): "灯台規則 第二条 第一項 第一号 ロ",
        (ITEMS, "2.1.1_2"): "灯台規則 第二条 第一項 第一号の二",
        (ITEMS, "2.1.2:4"): "灯台規則 第二条 第一項 第二号から第四号まで",
    }


def test_metadata_and_outline(law):
    assert law.metadata == {
        "law_num": "昭和二十三年海運省令第九号",
        "law_type": "MinisterialOrdinance",
        "date": "2024-04-01",
    }
    assert law.source == "laws.jsonl:1"
    assert [s.title for s in law.sections] == ["附　則", "附　則（平成元年三月一日海運省令第一号）"]


def test_a_bad_line_leaves_the_others(read_bytes):
    lines = [
        json.dumps(LAW),
        '{"law_id": "1", "articles": "none"}',
        json.dumps({**LAW, "date": "2023-02-30"}),
        json.dumps({**LAW, "law_id": ""}),
        json.dumps({**LAW, "articles": [{"num": "1", "paragraphs": [{"num": True, "text": ""}]}]}),
        json.dumps({**LAW, "articles": []}),
        json.dumps({**LAW, "law_id": "323M40000009998"}),
    ]
    outcomes = read_bytes("laws.jsonl", "\n".join(lines))
    assert [getattr(o, "source", "") for o in outcomes[1:6]] == [
        f"laws.jsonl:{n}" for n in (2, 3, 4, 5, 6)
    ]
    assert [hasattr(o, "cause") for o in outcomes] == [False, *[True] * 5, False]


QUESTION = {"question": "渡し舟は。", "paragraphs": [{"title": "川", "text": "渡し舟の川。"}]}


@pytest.mark.parametrize("last", [[], [QUESTION, LAW | {"law_id": "9"}, QUESTION]])
def test_pieces_give_what_the_whole_gives(tmp_path, last):
    limits = Limits(piece_bytes=4_000)
    path = tmp_path / "x.jsonl"
    records = [*(LAW | {"law_id": str(number)} for number in range(5)), *last]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    cut = list(stream(path, limits=limits, in_pieces=True))
    assert sum(isinstance(one, LineBlock) for one in cut) > 1
    read = [
        outcome
        for one in cut
        for outcome in (read_piece(one, Limits()) if isinstance(one, LineBlock) else [one])
        if not isinstance(outcome, ResumePoint)
    ]
    assert read == [outcome for outcome in stream(path) if not isinstance(outcome, ResumePoint)]
    assert list(stream(path, limits=limits, in_pieces=True, after=cut[1].line)) == cut[2:]


def signs(nodes: list[ItemLine]) -> list[object]:
    return [
        (node.sign or node.line, node.number, *([signs(node.below)] if node.below else []))
        for node in nodes
    ]


@each(
    ("lines", "expected"),
    [
        (["一　甲", "三　丙"], [("一", "1"), ("三　丙", "")]),
        (["説明", "一　甲"], [("説明", ""), ("一　甲", "")]),
        (["（１）　甲", "ア　乙", "イ　丙"], [("（１）", "1", [("ア", "1"), ("イ", "2")])]),
        (["一　甲", "イ　乙", "（１）　丙", "ロ　丁", "二　戊"],
         [("一", "1", [("イ", "1", [("（１）", "1")]), ("ロ", "2")]), ("二", "2")]),
        (["一　甲", "（ｉ）　乙", "（ｉｉ）　丙"],
         [("一", "1", [("（ｉ）", "1"), ("（ｉｉ）", "2")])]),
        (["一　甲｜乙"], [("一　甲｜乙", "")]),
        (["二　甲"], [("二　甲", "")]),
    ],
)  # fmt: skip
def test_lines_are_items_only_where_their_number_follows(lines, expected):
    assert signs(item_lines(lines)) == expected


def flattened(nodes: list[ItemLine]) -> list[str]:
    return [line for node in nodes for line in (node.line, *flattened(node.below))]


@given(
    st.lists(
        st.sampled_from(["一", "二", "三", "イ", "ロ", "（１）", "（２）", "ａ", "ｉ", "備考", ""])
    )
)
def test_lines_keep_their_order(heads):
    lines = [f"{head}　{n}" for n, head in enumerate(heads)]
    assert flattened(item_lines(lines)) == lines
