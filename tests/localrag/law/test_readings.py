"""Words that one provision of an invented law has read in another."""

from collections.abc import Callable

from localrag.corpus.links import Reference
from localrag.corpus.types import Document
from localrag.law.names import LawNames
from localrag.law.references import extract_references

from ...growth import assert_linear
from ...rows import each

LAW, CIVIL = "510AC0000000077", "129AC0000000089"
HEAD = [
    ("2.1", "第二条　知事は、県の許可をする。ただし、県がしないときは、この限りでない。"),
    ("2.2", "２　知事は、県の許可を取り消す。"),
    ("3.1", "第三条　知事は、前条第一項の届出を受ける。"),
]

Statute = Callable[..., Document]


def reads(
    statute: Statute, names: LawNames, *lines: tuple[str, str]
) -> list[tuple[str, str, str, str, list[str]]]:
    """(source, law, target, part, words) of the readings of a law."""
    document = statute(LAW, "凧法", [*HEAD, *lines])

    def words(reference: Reference) -> list[str]:
        assert reference.reads is not None
        return [
            f"{document.text[r.replaced_start : r.replaced_end]}"
            f">{document.text[r.replacing_start : r.replacing_end]}"
            for r in reference.reads.readings
        ]

    return [
        (
            r.source.path,
            r.law_id or r.law_name,
            r.target.path + (f"-{r.target_end.path}" if r.target_end else ""),
            r.reads.part if r.reads else "?",
            words(r),
        )
        for r in extract_references(document, names)
        if r.kind == "reads"
    ]


def test_words_of_the_provisions_cited_before_them(statute: Statute, names: LawNames) -> None:
    text = (
        "第五条　前二条の規定は、市について準用する。この場合において、第二条第一項本文及び第三条中"
        "「知事」とあるのは「市長」と、「県」とあり、及び「府」とあるのは「市」と、同条中「前条」と"
        "あるのは「第二条」と読み替えるものとする。"
    )
    assert reads(statute, names, ("5.1", text)) == [
        ("5.1", LAW, "2.1", "本文", ["知事>市長", "県>市", "府>市"]),
        ("5.1", LAW, "3", "", ["知事>市長", "県>市", "府>市"]),
        ("5.1", LAW, "3", "", ["前条>第二条"]),
    ]


def test_what_a_sentence_applies_where_no_provision_is_named(
    statute: Statute, names: LawNames
) -> None:
    text = (
        "第五条　第二条第一項及び第三条の規定は、市に準用する。この場合において、これらの規定中"
        "「知事」とあるのは、「市長」と読み替えるものとする。"
        "民法第九条の規定の適用については、「人」とあるのは「凧」とする。"
    )
    assert [row[1:] for row in reads(statute, names, ("5.1", text))] == [
        (LAW, "2.1", "", ["知事>市長"]),
        (LAW, "3", "", ["知事>市長"]),
        (CIVIL, "9", "", ["人>凧"]),
    ]


def test_several_words_for_several(statute: Statute, names: LawNames) -> None:
    text = "第五条　第三条中「知事」とあり、「届出」とあるのは、それぞれ「市長」、「許可」とする。"
    ((*_, words),) = reads(statute, names, ("5.1", text))
    assert words == ["知事>市長", "届出>許可"]
    text = "第五条　第三条中「知事」又は「県」とあるのは「市」とする。"
    ((*_, words),) = reads(statute, names, ("5.1", text))
    assert words == ["知事>市", "県>市"]


def test_words_that_hold_quotations_themselves(statute: Statute, names: LawNames) -> None:
    text = (
        "第五条　第三条中「第二条中「知事」とあるのは「市長」と」とあるのは「第二条中「県」とある"
        "のは「市」と」とする。"
    )
    assert [row[2:] for row in reads(statute, names, ("5.1", text))] == [
        ("3", "", ["第二条中「知事」とあるのは「市長」と>第二条中「県」とあるのは「市」と"])
    ]


def test_provisions_that_code_cannot_tell(statute: Statute, names: LawNames) -> None:
    text = "第五条　第一章の規定は、市に準用する。これらの規定中「県」とあるのは「市」とする。"
    assert reads(statute, names, ("5.1", text)) == [("5.1", "", "", "", ["県>市"])]
    amending = [("suppl1/1.1", "第一条　第一章中「県」とあるのは「市」とする。")]
    assert reads(statute, names, *amending) == []


def test_a_table_of_readings(statute: Statute, names: LawNames) -> None:
    lines = [
        (
            "5.1",
            "第五条　次の表の上欄に掲げる民法の規定中同表の中欄に掲げる字句は、下欄の字句とする。",
        ),
        ("5.1", "第九条第一項\t人\t凧"),
        ("5.1", "\t物\t糸"),
        ("6.1", "第六条　民法の規定の技術的読替えは、次のとおりとする。"),
        ("6.1", "読み替える民法の規定\t読み替えられる字句\t読み替える字句"),
        ("6.1", "第十条及び第十一条\t人\t凧"),
        (
            "7.1",
            "第七条　次の表の上欄に掲げる規定中同表の中欄に掲げる字句は、下欄の字句に読み替える。",
        ),
        ("7.1", "第三条\t知事\t第二条の市長"),
        ("8.1", "第八条　技術的読替えは、次のとおりとする。"),
        ("8.1", "第三条\t知事\t市長"),
    ]
    assert reads(statute, names, *lines) == [
        ("5.1", CIVIL, "9.1", "", ["人>凧", "物>糸"]),
        ("6.1", CIVIL, "10", "", ["人>凧"]),
        ("6.1", CIVIL, "11", "", ["人>凧"]),
        ("7.1", LAW, "3", "", ["知事>第二条の市長"]),
    ]


def test_ordinary_references_stay(statute: Statute, names: LawNames) -> None:
    line = ("5.1", "第五条　第三条中「第二条」とあるのは「第九条」とする。")
    document = statute(LAW, "凧法", [*HEAD, line])
    found = [r for r in extract_references(document, names) if r.source.article == "5"]
    assert [(r.kind, r.target.path) for r in found] == [("refers", "3"), ("reads", "3")]


@each(
    "piece",
    [
        "第三条中「知事」とあるのは「市長」と、",
        "「知事」とあるのは「市長」",
        "「知事」とあり、",
        "「",
        "「知事」、",
        "「「」とあるのは「」」",
        "第三条の規定は、準用する。これらの規定中「県」とあるのは「市」とする。",
        "は、準用「県」とあるのは「市」",
        "（第三条を除く。",
        "第三条（第二項を除く。）及び",
        "\t第三条\t",
        "第三条\t県\t市\n",
    ],
)
def test_hostile_text_takes_linear_time(statute: Statute, names: LawNames, piece: str) -> None:
    def extract(size: int) -> None:
        pieces = piece * (size // len(piece))
        text = f"第五条　読み替える。第三条中「{pieces}」とあるのは「市」とする。"
        document = statute(LAW, "凧法", [*HEAD, ("5.1", text), ("6.1", pieces)])
        extract_references(document, names)

    assert_linear(extract, 10_000)
