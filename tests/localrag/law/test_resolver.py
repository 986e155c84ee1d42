"""From words to exact provisions."""

from dataclasses import replace

import pytest

from localrag.corpus.types import ARTICLES, Document, Locator, Passage
from localrag.law.names import LawNames
from localrag.law.provisions import Provisions
from localrag.law.resolver import CitationResolver, Resolution, Target, parse_target
from localrag.text.facts import Fact, FactKind

from ...rows import each

ACT, ORDER, RULE, OTHER = (
    "501AC0000000001",
    "501CO0000000002",
    "501M50000000003",
    "502AC0000000004",
)
SHORT = {ACT: "法", ORDER: "令", RULE: "則", OTHER: "港"}


@pytest.fixture(scope="module")
def resolver(names: LawNames, provisions: Provisions) -> CitationResolver:
    return CitationResolver(names, provisions)


def places(resolutions: list[Resolution] | tuple[Resolution, ...]) -> list[str]:
    """One string a resolution: its candidates, or ? and the nearest that exists."""
    return [
        "|".join(SHORT[t.law_id] + t.locator.path for t in r.candidates)
        or "?" + "|".join(SHORT[t.law_id] + t.locator.path for t in r.nearest)
        for r in resolutions
    ]


@each(
    ("question", "expected"),
    [
        ("灯台管理法第三条第二項について", ["法3.2"]),
        ("灯管法3条2項は何を定めるか", ["法3.2"]),
        ("「灯管法第2条第2項第2号ロ」とは", ["法2.2.2.2"]),
        ("灯台管理法 第３条 の２第１項", ["法3_2.1"]),
        ("灯台管理法　第３条", ["法3"]),
        ("令和元年法律第一号第三条", ["法3"]),
        ("灯台管理法（令和元年法律第一号）第三条", ["法3"]),
        ("灯管法第3条及び第5条", ["法3", "法5"]),
        ("灯管法第3条第1項又は第3項", ["法3.1", "法3.3"]),
        ("灯管法第3条から第5条まで", ["法3", "法3_2", "法4", "法5"]),
        ("灯管法第2条第2項各号", ["法2.2"]),
        ("灯管法施行令第2条と灯管法施行規則第5条", ["令2", "則5"]),
        ("灯管法第3条と施行令第2条、施行規則第6条", ["法3", "令2", "則6"]),
        ("灯管法によれば、第5条はどうか", ["法5"]),
        ("灯管法第3条の許可と同法第5条、同条第1項", ["法3", "法5", "法5.1"]),
        ("灯管法第3条第1項の許可と同項の申請", ["法3.1", "法3.1"]),
        ("灯管法施行令第2条に定める法第3条の額", ["令2", "法3"]),
        ("灯管法附則第1条", ["法suppl1/1|法suppl2/1"]),
        ("灯管法別表", ["法appendix1/"]),
        ("灯管法と港湾清掃法のうち第3条", ["港3|法3"]),
        ("灯管法第99条", ["?法"]),
        ("灯管法第3条第9項", ["?法3"]),
        ("第99条", ["?"]),
        ("前条の規定", ["?"]),
        ("海底法第3条", ["?"]),
        ("", []),
        ("灯管法について", []),
    ],
)
def test_questions(resolver: CitationResolver, question: str, expected: list[str]) -> None:
    assert places(resolver.resolve(question)) == expected


def test_a_citation_inside_a_title_is_no_citation(resolver: CitationResolver) -> None:
    text = "灯台管理法第三条に規定する灯火に関する内閣府令"
    assert resolver.resolve(text) == []


def test_without_a_law_a_small_corpus_offers_candidates(resolver: CitationResolver) -> None:
    (resolution,) = resolver.resolve("第三条とは何か")
    assert {t.law_id for t in resolution.candidates} == {ACT, ORDER, OTHER}


def test_what_does_not_exist_says_why(resolver: CitationResolver) -> None:
    (missing,) = resolver.resolve("灯管法第3条第9項")
    assert missing.problem.kind is FactKind.NO_SUCH_PROVISION
    assert missing.cited == (Target(ACT, Locator(article="3", paragraph="9")),)
    (unknown,) = resolver.resolve("海底法第3条")
    assert "海底法" in str(unknown.problem)


@each(
    ("question", "expected", "lacking"),
    [
        ("灯管法1条と海底法の5条", ["法1", "?"], "海底法"),
        ("海底法の第3条と灯管法第5条", ["?", "法5"], "海底法"),
        ("灯管法の3条と「海底法」の5条、6条", ["法3", "?", "?"], "海底法"),
        ("灯管法1条と海底法施行規則の5条", ["法1", "?"], "海底法施行規則"),
        ("灯管法1条と海底組合法の5条", ["法1", "?"], "海底組合法"),
        ("灯管法1条と海底基本法の5条", ["法1", "?"], "海底基本法"),
        ("灯管法の3条と5条", ["法3", "法5"], ""),
        ("灯管法2条と同法の5条", ["法2", "法5"], ""),
        ("灯管法2条とこの法律の5条", ["法2", "法5"], ""),
        ("灯管法2条と法の5条", ["法2", "法5"], ""),
        ("灯管法2条の手法の5つと計算方法の5条", ["法2", "法5"], ""),
        ("灯管法2条の違法の5条", ["法2", "法5"], ""),
        ("灯管法2条と旧灯管法の5条", ["法2", "法5"], ""),
    ],
)
def test_a_number_of_a_law_that_is_lacking_is_of_no_other_law(
    resolver: CitationResolver, question: str, expected: list[str], lacking: str
) -> None:
    resolved = resolver.resolve(question)
    assert places(resolved) == expected
    told = {one.problem.fields["name"] for one in resolved if one.problem}
    assert told == ({lacking} if lacking else set())


def test_an_article_may_stand_in_a_supplementary_provision_only(
    names: LawNames, act: Document
) -> None:
    def supplement(division: str) -> Passage:
        place = Locator(division, "143")
        return Passage(f"{ACT}#{place.path}", ACT, ARTICLES, "", "灯台管理法 附則", place, 0, 0)

    (first, second) = map(supplement, ("suppl1", "suppl2"))

    def missing(*further: Passage) -> Resolution:
        whole = replace(act, passages=(*act.passages, *further))
        (found,) = CitationResolver(names, Provisions([whole])).resolve("灯管法143条")
        assert found.problem is not None
        assert not found.candidates
        return found

    told = missing(first)
    assert told.problem == Fact(
        FactKind.ONLY_IN_SUPPLEMENT, citation="灯管法143条", division="附則"
    )
    assert told.nearest == (Target(ACT, first.locator),)
    # Which of several is meant nobody knows.
    assert missing(first, second).nearest == missing().nearest == (Target(ACT, Locator()),)


@each(
    ("law_id", "here", "text", "expected"),
    [
        (ACT, "3.2", "前項の許可", ["法3.1"]),
        (ACT, "3.3", "前二項の規定", ["法3.1", "法3.2"]),
        (ACT, "3.3", "前条及び前二項", ["法2", "法3.1", "法3.2"]),
        (ACT, "3_2.1", "前条第三項", ["法3.3"]),
        (ACT, "5.1", "次条", ["法6"]),
        (ACT, "5.1", "第三条から前条まで", ["法3", "法3_2", "法4"]),
        (ACT, "2.2.2", "前号に掲げる者", ["法2.2.1"]),
        (ACT, "2.2", "第一号", ["法2.2.1"]),
        (ACT, "3.1", "第二項", ["法3.2"]),
        (ACT, "1.1", "前条", ["?"]),
        (ACT, "suppl1/2.1", "附則第一条", ["法suppl1/1"]),
        (ACT, "suppl1/2.1", "前条", ["法suppl1/1"]),
        (ORDER, "2.1", "法第三条第一項", ["法3.1"]),
        (RULE, "5.1", "法第三条及び令第二条", ["法3", "令2"]),
        (ORDER, "3.1", "この政令第一条", ["令1"]),
    ],
)
def test_in_a_provision(
    resolver: CitationResolver, law_id: str, here: str, text: str, expected: list[str]
) -> None:
    resolved = resolver.resolve(text, law_id=law_id, locator=Locator.parse(here))
    assert places(resolved) == expected


def test_definitions_of_the_text_come_first(resolver: CitationResolver) -> None:
    (resolution,) = resolver.resolve(
        "清掃法第三条", law_id=ACT, locator=Locator(article="1"), definitions={"清掃法": OTHER}
    )
    assert places([resolution]) == ["港3"]


@each(
    ("text", "expected"),
    [
        ("灯管法3条の2", ["法3_2"]),
        (f"{ACT} 3.2", ["法3.2"]),
        (f"{ACT}#3.2", ["法3.2"]),
        (f"{ACT} suppl1/2", ["法suppl1/2"]),
        (f"{ACT} 第3条", ["法3"]),
        (f"{ACT}", ["法"]),
        (f"{ACT} 77", ["?法"]),
        ("灯台管理法", ["法"]),
        ("灯管法施行規則 第5条", ["則5"]),
        ("令和元年法律第1号", ["法"]),
        ("令和元年法律第1号3条", ["法3"]),
        ("灯台管理法 3", ["法3"]),
        ("灯管法３の２", ["法3_2"]),
        ("灯管法 三条の二", ["法3_2"]),
        ("灯管法3条1項から3項", ["法3.1", "法3.2", "法3.3"]),
        ("灯管法3条1項・3項", ["法3.1", "法3.3"]),
        ("灯管法2条2項1号及び2号", ["法2.2.1", "法2.2.2"]),
        ("灯管法別表", ["法appendix1/"]),
        ("灯管法 附則", ["法suppl1/1|法suppl1/2|法suppl2/1"]),
        (f"{ACT} 附則", ["法suppl1/1|法suppl1/2|法suppl2/1"]),
        (f"{ACT} あ", ["?法"]),
        ("何か", []),
    ],
)
def test_targets_of_the_command_line(
    names: LawNames, provisions: Provisions, text: str, expected: list[str]
) -> None:
    assert places(parse_target(text, names, provisions)) == expected


@pytest.mark.parametrize("text", ["灯管法3条2", "灯管法2条2項1の2号"])
def test_what_is_not_read_is_told(names: LawNames, provisions: Provisions, text: str) -> None:
    *_, last = parse_target(text, names, provisions)
    assert last.candidates == ()
    assert "is not the number of a provision" in str(last.problem)
