"""What 同条, 同項, 同法, 前条 and bare numbers take up: a wrong one would be a wrong citation."""

from collections.abc import Callable

import pytest

from localrag.corpus.links import REFERENCES
from localrag.corpus.types import Document
from localrag.law.names import LawNames
from localrag.law.references import extract_references

from ...rows import each

LAW, OWN, CIVIL, HARBOUR = (
    "509AC0000000090",
    "509AC0000000090",
    "129AC0000000089",
    "502AC0000000004",
)
ARTICLES = [
    (f"{number}.1", f"第{words}条　総則") for number, words in ((20, "二十"), (21, "二十一"))
]


@pytest.fixture
def refer(names: LawNames, statute: Callable[..., Document]) -> Callable[..., list[str]]:
    """(words -> law and target) of one provision that stands in an invented law."""

    def references(*lines: str, source: str = "5.1", labels: str = "") -> list[str]:
        body = [(source, line) for line in lines]
        division = source.rpartition("/")[0]
        others = [
            *[(f"{n}.1", f"第{n}条　総則") for n in range(1, 5)],
            ("2.2", "２　総則"),
            ("2.3", "３　総則"),
        ]
        rest = [("6.1", "第六条　総則"), *ARTICLES]
        document = statute(LAW, "船灯法", [*others, *body, *rest], {division: labels})
        known = LawNames.from_rows([*names.rows.values(), (LAW, "船灯法", "", "Act", "")])
        found = []
        for reference in extract_references(document, known):
            if reference.kind in REFERENCES and reference.source.path.startswith(source):
                law = reference.law_id or f"?{reference.law_name}"
                place = reference.target.path
                if reference.target_end:
                    place += f"-{reference.target_end.path}"
                words = document.text[reference.start : reference.end]
                found.append(f"{words} {'' if law == LAW else law + ' '}{place}")
        return found

    return references


def test_brackets_hold_asides(refer: Callable[..., list[str]]) -> None:
    assert refer(
        "第五条　第二条第一項（第三条第一項において準用する場合を含む。）の許可を受けた者は、"
        "同項の許可証を持つ。同条第三項の許可も同様とする。"
    )[2:] == ["同項 2.1", "同条第三項 2.3"]


def test_an_aside_is_taken_up_where_nothing_else_is_named(
    refer: Callable[..., list[str]],
) -> None:
    assert refer("第五条　灯台（第二条第三項の灯台をいう。）の管理者は、同項の届出をする。")[
        1:
    ] == ["同項 2.3"]


def test_an_explanation_takes_up_the_explanation_before_it(
    refer: Callable[..., list[str]],
) -> None:
    assert (
        refer(
            "第五条　第四条第一項の者は、次のとおりとする。",
            "一　灯台（第二条第三項の灯台をいう。次条において同じ。）と灯標（同項の灯標をいう。）",
        )[-1]
        == "同項 2.3"
    )


def test_quotations_are_asides_too(refer: Callable[..., list[str]]) -> None:
    assert refer(
        "第五条　港湾の清掃及び美化に関する法律第一条の規定を準用する。この場合において、"
        "同条中「清掃」とあるのは「船灯法第二条第一項の清掃」と、同法第三条中「美化」とあるのは"
        "「民法第七百九条の美化」と、同条中「海」とあるのは「港」と読み替える。"
    )[1:] == [f"同条 {HARBOUR} 1", f"同法第三条 {HARBOUR} 3", f"同条 {HARBOUR} 3"]


def test_a_new_paragraph_takes_up_nothing(names: LawNames, refer: Callable[..., list[str]]) -> None:
    assert refer("第五条　第二条第三項の許可、この項の許可及び同項の届出")[-1] == "同項 2.3"
    assert refer("第五条　同条の届出") == []


def test_a_chapter_set_off_by_a_bracket_belongs_to_the_law_before_it(
    refer: Callable[..., list[str]],
) -> None:
    exceptions = refer(
        "第五条　民法第三編第二章（第二十条、第二条第二項及び第三項を除く。）及び第六条の規定、"
        "同編第三章（第二十一条を除く。）並びに第四条の規定"
    )
    assert exceptions == [
        f"第二十条 {CIVIL} 20",
        f"第二条第二項 {CIVIL} 2.2",
        f"第三項 {CIVIL} 2.3",
        f"第六条 {CIVIL} 6",
        f"第二十一条 {CIVIL} 21",
        f"第四条 {CIVIL} 4",
    ]
    assert refer("第五条　民法（明治二十九年法律第八十九号）（第三条を除く。）の規定") == [
        f"第三条 {CIVIL} 3"
    ]
    assert refer("第五条　海底法第五条、第七編第二章及び第六条の規定並びに第三条の規定") == [
        "海底法第五条 ?海底法 5",
        "第六条 ?海底法 6",
        "第三条 3",
    ]


def test_parts_of_a_range(refer: Callable[..., list[str]]) -> None:
    assert refer("第五条　民法第二条第一項から第四項まで（第三項を除く。）の規定")[1] == (
        f"第三項 {CIVIL} 2.3"
    )


def test_applying_another_law_ends_the_list_of_the_law_before(
    refer: Callable[..., list[str]],
) -> None:
    assert refer(
        "第五条　第二条において準用する民法第五条若しくは第三条において準用する海底法第七条"
    ) == [
        "第二条 2",
        f"民法第五条 {CIVIL} 5",
        "第三条 3",
        "海底法第七条 ?海底法 7",
    ]


def test_what_the_law_does_not_have_is_not_its_own(refer: Callable[..., list[str]]) -> None:
    assert refer("第五条　第二条第九項、第七百条及び第二条第二項の規定") == ["第二条第二項 2.2"]


@each(
    "text",
    [
        "別表第一の下欄第一号イ又はロに掲げる者",
        "前項の表の第一号、第二号に掲げる者",
        "決議第千七百十八号に規定する者",
        "大正七年文部省令第三号に掲げる者",
    ],
)
def test_numbers_that_are_no_items(refer: Callable[..., list[str]], text: str) -> None:
    lines = (f"第五条　{text}", "一　灯台", "二　灯標")
    assert not [found for found in refer(*lines) if "号" in found.split()[0]]


def test_laws_cited_by_number(refer: Callable[..., list[str]]) -> None:
    assert refer("第五条　法律第百五十五号附則第三条及び規則八―一二（職員の任免）第三条") == [
        "法律第百五十五号附則第三条 ?法律第百五十五号 suppl1/3",
        "規則八―一二（職員の任免）第三条 ?規則八―一二 3",
    ]
    assert refer("第五条　民法（明治二十三年法律第二十八号）第三条") == [
        "民法（明治二十三年法律第二十八号）第三条 ?民法 3"
    ]


def test_extracts_leave_no_neighbour_to_point_to(
    names: LawNames, statute: Callable[..., Document], refer: Callable[..., list[str]]
) -> None:
    lines = [
        ("suppl1/1.1", "第一条　施行期日"),
        ("suppl1/5.1", "第五条　前条及び次条の規定"),
        ("suppl1/5_2.1", "第五条の二　前条及び次条の規定"),
        ("suppl1/9.1", "第九条　罰則"),
    ]
    document = statute(LAW, "船灯法", lines, {"suppl1": "附則（令和三年法律第九号）"})
    found = [(r.source.article, r.target.article) for r in extract_references(document, names)]
    assert found == [("5", "5_2"), ("5_2", "5")]
    assert refer("第五条　前条及び次条の規定") == ["前条 4", "次条 6"]


def test_words_of_an_amendment_are_no_references(refer: Callable[..., list[str]]) -> None:
    assert refer(
        "第五条　第二条の改正規定、第三条の次に一条を加える改正規定及び附則第五条の規定は、"
        "公布の日から起算して一年を超えない範囲内において政令で定める日から施行する。",
        source="suppl1/5.1",
        labels="附則（令和三年法律第九号）",
    ) == ["附則第五条 suppl1/5", "政令で定め ?政令 "]


def test_orders_of_any_rank_are_said_the_same_order(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [("1.1", "第一条　灯台管理法施行規則第三条の届出及び同令第四条の届出")]
    document = statute("509CO0000000091", "船灯令", lines)
    targets = [(r.law_id, r.target.path) for r in extract_references(document, names)]
    assert targets == [("501M50000000003", "3"), ("501M50000000003", "4")]


def test_an_order_fills_in_only_what_its_rank_may(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [
        (
            "1.1",
            "第一条　灯台（法第二条第一項の内閣府令で定める灯台を除く。）は、黒くてはならない。",
        ),
        ("2.1", "第二条　法第三条第一項の規定による許可は、内閣府令で定めるところにより受ける。"),
    ]
    order = "501CO0000000002"
    found = extract_references(statute(order, "灯台管理法施行令", lines), names)
    assert [r.kind for r in found if r.kind in REFERENCES] == ["refers", "delegated-by"]


def test_who_takes_up_a_delegation_does_not_delegate(refer: Callable[..., list[str]]) -> None:
    assert refer("第五条　第二条第二項の政令で定める額及び政令で定める方法") == [
        "第二条第二項 2.2",
        "政令で定め ?政令 ",
    ]
