"""What a statute punishes and requires, found when it is indexed."""

from collections.abc import Callable

import pytest

from localrag.corpus.links import PUNISHES, PUNISHES_A_BODY, REQUIRES
from localrag.corpus.types import Document
from localrag.law.names import LawNames
from localrag.law.references import extract_references

LAW = "501AC0000000091"
LINES = [
    ("1.1", "第一条　何人も、濁った湖水を売ってはならない。"),
    ("2.1", "第二条　大臣は、前条に違反した者に対し、湖水の回収を命ずることができる。"),
    ("3.1", "第三条　罰金の刑に処せられた者は、第一条の湖水を売ることができない。"),
    ("4.1", "第四条　第一条の規定に違反した者は、一年以下の拘禁刑に処する。"),
    ("5.1", "第五条　第二条の規定による命令に違反した者は、百万円以下の罰金に処する。"),
    ("6.1", "第六条　湖水を盗んだ者は、五年以下の拘禁刑に処する。"),
    (
        "7.1",
        "第七条　法人の従業者が第四条の違反行為をしたときは、行為者を罰するほか、その法人に対して"
        "一億円以下の罰金刑を科する。",
    ),
]


@pytest.fixture
def edges(
    names: LawNames, statute: Callable[..., Document]
) -> Callable[[str], list[tuple[str, str, str]]]:
    """(from, to, detail) of the edges of a kind."""
    document = statute(LAW, "湖水法", LINES)

    def of(kind: str) -> list[tuple[str, str, str]]:
        return [
            (one.source.path, one.target.path, one.detail)
            for one in extract_references(document, names)
            if one.kind == kind
        ]

    return of


def test_what_punishes_leads_to_what_is_broken_and_to_itself(
    edges: Callable[[str], list[tuple[str, str, str]]],
) -> None:
    found = edges(PUNISHES)
    assert ("4.1", "1", "") in found
    assert {(source, target) for source, target, _ in found if source == target} == {
        (article, article) for article in "456"
    }
    assert not any(source.startswith("3") for source, _, _ in found), "who may not be licensed"


def test_a_breach_of_an_order_is_one_of_the_provision_it_is_given_under(
    edges: Callable[[str], list[tuple[str, str, str]]],
) -> None:
    of_order = [edge for edge in edges(PUNISHES) if edge[0].startswith("5.")]
    assert sorted(of_order) == [("5.1", "1", "by-order"), ("5.1", "2", "")]


def test_the_legal_person_is_punished_beside_the_doer(
    edges: Callable[[str], list[tuple[str, str, str]]],
) -> None:
    assert sorted(edges(PUNISHES_A_BODY)) == [("7", "7", ""), ("7.1", "4", "")]


def test_a_licence_or_a_notification_leads_to_the_provision_it_is_required_under_or_for(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [
        ("1.1", "第一条　湖で渡し舟を運航しようとする者は、大臣の免許を受けなければならない。"),
        ("2.1", "第二条　前条の免許を受けない者は、渡し舟の看板を掲げてはならない。"),
        ("3.1", "第三条　第一条の免許を受けた者でなければ、渡し舟の船長になることができない。"),
        ("4.1", "第四条　船長は、次に掲げる事項を日誌に書くものとする。"),
        (
            "5.1",
            "第五条　船長は、前条に掲げる事項（水位を除く。）を変更したときは、その旨を知事に"
            "届け出なければならない。",
        ),
        ("6.1", "第六条　知事は、前条の規定による届出をしないで運航した者に指示することができる。"),
        ("7.1", "第七条　第一条の免許を受けなければならない場合には、第四条の規定は、適用しない。"),
        ("8.1", "第八条　第一条の免許を受けないで運航した者は、百万円以下の罰金に処する。"),
        (
            "9.1",
            "第九条　知事は、第一条又は第五条の届出をした後でなければ、桟橋を貸してはならない。",
        ),
    ]
    found = [
        (one.source.path, one.target.path)
        for one in extract_references(statute(LAW, "渡し舟法", lines), names)
        if one.kind == REQUIRES
    ]
    assert found == [("2.1", "1"), ("3.1", "1"), ("5.1", "4"), ("9.1", "1"), ("9.1", "5")]
