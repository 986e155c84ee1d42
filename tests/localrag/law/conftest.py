"""Invented statutes, written place by place."""

from collections.abc import Callable, Sequence

import pytest

from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage
from localrag.law.names import LawNames
from localrag.law.provisions import Provisions, container

Lines = Sequence[tuple[str, str]]
Statute = Callable[..., Document]

ACT = "501AC0000000001"
ORDER = "501CO0000000002"
RULE = "501M50000000003"
OTHER = "502AC0000000004"

ROWS = [
    (ACT, "灯台管理法", "令和元年法律第一号", "Act", "灯管法"),
    (ORDER, "灯台管理法施行令", "令和元年政令第二号", "CabinetOrder", ""),
    (RULE, "灯台管理法施行規則", "令和元年内閣府令第三号", "MinisterialOrdinance", ""),
    (OTHER, "港湾の清掃及び美化に関する法律", "令和二年法律第四号", "Act", "港湾清掃法"),
    (
        "502M50000000005",
        "灯台管理法第三条に規定する灯火に関する内閣府令",
        "",
        "MinisterialOrdinance",
        "",
    ),
    ("129AC0000000089", "民法", "明治二十九年法律第八十九号", "Act", ""),
    ("503AC0000000006", "医療法", "昭和二十三年法律第二百五号", "Act", ""),
]


def write(law_id: str, title: str, lines: Lines, labels: dict[str, str] | None = None) -> Document:
    """Lay out (place, line) pairs as the readers do; `labels` are those of the divisions."""
    text, spans = title, {}
    for path, line in lines:
        start = len(text) + 1
        text += f"\n{line}"
        place: Locator | None = Locator.parse(path)
        while place is not None:
            spans[place] = (spans.get(place, (start, 0))[0], len(text))
            place = container(place)
    passages = []
    for place, (start, end) in spans.items():
        layer = ITEMS if place.item else PARAGRAPHS if place.paragraph else ARTICLES
        label = (labels or {}).get(place.division, "")
        header = f"{title} {label}".strip()
        passages.append(
            Passage(
                f"{law_id}#{place.path}", law_id, layer, text[start:end], header, place, start, end
            )
        )
    order = {ARTICLES: 0, PARAGRAPHS: 1, ITEMS: 2}
    passages.sort(key=lambda p: (order[p.layer], p.start, -p.end))
    return Document(law_id, title, "law", text, "made-up.xml", tuple(passages))


@pytest.fixture(scope="session")
def names() -> LawNames:
    return LawNames.from_rows(ROWS)


@pytest.fixture(scope="session")
def statute() -> Statute:
    return write


@pytest.fixture(scope="session")
def act() -> Document:
    return write(
        ACT,
        "灯台管理法",
        [
            ("1.1", "第一条　この法律は、灯台の管理について定める。"),
            ("2.1", "第二条　この法律において「灯台」とは、航路標識のうち政令で定めるものをいう。"),
            ("2.2", "２　この法律において「管理者」とは、次に掲げる者をいう。"),
            ("2.2.1", "一　第三条第一項の許可を受けた者"),
            ("2.2.2", "二　前号に掲げる者の承継人（以下この条において「承継人」という。）"),
            ("2.2.2.1", "イ　相続人"),
            ("2.2.2.2", "ロ　合併により設立した法人"),
            ("3.1", "第三条　灯台を設けようとする者は、内閣府令で定めるところにより許可を受ける。"),
            ("3.2", "２　前項の許可は、五年ごとに更新する。"),
            ("3.3", "３　前条及び前二項の規定は、前項の更新について準用する。"),
            ("3_2.1", "第三条の二　前条第三項に規定する更新の申請は、第二条第二項各号の者がする。"),
            ("4.1", "第四条　民法第七百九条及び第七百十条の規定は、灯台に適用しない。"),
            ("5.1", "第五条　第三条から前条まで及び次条の規定に違反した者は、過料に処する。"),
            (
                "6.1",
                "第六条　第十条から第十二条までは、削除する。"
                "同条第二項中「第三条」を「第四条」に改める。",
            ),
            ("10.1", "第十条　削除"),
            ("11.1", "第十一条　削除"),
            ("12.1", "第十二条　別表に掲げる灯台は、国が管理する。"),
            ("suppl1/1.1", "第一条　この法律は、令和元年から施行する。"),
            ("suppl1/2.1", "第二条　附則第一条の規定にかかわらず、第三条第一項の許可は要しない。"),
            (
                "suppl2/1.1",
                "第一条　第二条の規定は、公布の日から施行する。附則第二条も同様とする。",
            ),
            ("appendix1/", "別表（第十二条関係）"),
        ],
        {
            "suppl1": "附則",
            "suppl2": "附則（令和三年法律第九号）",
            "appendix1": "別表（第十二条関係）",
        },
    )


@pytest.fixture(scope="session")
def order() -> Document:
    return write(
        ORDER,
        "灯台管理法施行令",
        [
            (
                "1.1",
                "第一条　灯台管理法（令和元年法律第一号。以下「法」という。）第二条第一項に規定する"
                "政令で定めるものは、光るものとする。",
            ),
            (
                "2.1",
                "第二条　法第三条第一項（法第三条の二において準用する場合を含む。）及び第三項の"
                "政令で定める額は、百円とする。",
            ),
            ("3.1", "第三条　前条に規定する額は、内閣府令で定めるところにより納める。"),
        ],
    )


@pytest.fixture(scope="session")
def provisions(act: Document, order: Document) -> Provisions:
    other = write(
        OTHER,
        "港湾の清掃及び美化に関する法律",
        [("1.1", "第一条　清掃。"), ("3.1", "第三条　美化。")],
    )
    rule = write(RULE, "灯台管理法施行規則", [("5.1", "第五条　様式。"), ("6.1", "第六条　雑則。")])
    return Provisions([act, order, other, rule])
