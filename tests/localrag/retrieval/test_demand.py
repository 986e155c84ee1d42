"""What questions name without a number: the permission that a law demands, a crime."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localrag.reading.extractive import quotations
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.types import Filters, LinkKind, Query

STALLS, CRIMES, BALLOTS = "599AC0000000041", "599AC0000000042", "599AC0000000043"

REFUSAL = "都道府県知事は、申請者が次の各号のいずれかに該当するときは、前項の許可をしてはならない。"
LAWS = {
    (STALLS, "浮見世法", "令和九十九年法律第四十一号"): {
        "1": ("", ["この法律は、浮見世の安全を図ることを目的とする。"]),
        "2": ("", ["この法律で「浮見世営業」とは、船で菓子を売る営業をいう。"]),
        # Long, as the provisions are that demand a permission.
        "3": (
            "",
            [
                "浮見世営業を営もうとする者は、都道府県知事の許可を受けなければならない。",
                REFUSAL + "\n一　拘禁刑に処せられ、その執行を終わつた日から三年を経過しない者\n"
                "二　暴力団員による不当な行為の防止等に関する法律に規定する暴力団員",
                "第一項の許可には、公衆衛生上又は善良の風俗の保持上必要な条件を付することができる。",
            ],
        ),
        "4": ("", ["第三条第一項の許可を受けた浮見世営業の営業者は、船を清潔に保つ。"]),
        "5": ("", ["浮見世営業の営業者は、第三条第一項の許可を他人に譲つてはならない。"]),
        "6": ("", ["浮見世営業の許可証は、店に掲げる。"]),
        "7": ("", ["船を新たに造つた営業者は、その旨を市町村長に届け出なければならない。"]),
        "8": (
            "",
            ["市町村長は、前条の規定による届出があつた船を検査する。"],
        ),
    },
    (CRIMES, "刑法", "明治九十九年法律第四十二号"): {
        "9": ("偽証", ["宣誓した証人が虚偽の陳述をしたときは、十年以下の拘禁刑に処する。"]),
        "10": (
            "自白による減免",
            ["前条の罪を犯した者が自白したときは、刑を減軽することができる。"],
        ),
    },
    (BALLOTS, "船上投票法", "令和九十九年法律第四十三号"): {
        "9": ("選挙人の偽証罪", ["選挙人の偽証罪は、宣誓した選挙人の偽証につき成立する。"]),
        "10": ("開票の期間", ["開票の期間は、投票の日から三日とする。"]),
        "11": (
            "開票の期間の特則",
            ["離島の開票の期間は、開票の期間の定めによらず十日とする。"],
        ),
        "12": ("検印", ["船長は、前二条の投票用紙に印を押す。"]),
        "13": ("罰則", ["検印の検印による検印を拒んだ者は、過料に処する。検印も同様とする。"]),
    },
}


@pytest.fixture(scope="module")
def laws(
    tmp_path_factory: pytest.TempPathFactory, open_statutes: Callable[..., Retriever]
) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("laws")
    with open_statutes(folder, LAWS) as retriever:
        yield retriever


def places_quoted(retriever: Retriever, question: str) -> list[str]:
    query = Query(question)
    found = quotations(retriever, query, retriever.search(query))
    return [citation.passage_id for citation in found.citations]


@pytest.mark.parametrize(
    ("question", "demands"),
    [
        ("浮見世営業の許可", "3"),
        ("浮見世営業に必要な許可は？", "3"),
        ("浮見世法で浮見世営業には許可が要るか", "3"),
        ("船を造つたら届出が必要か", "7"),
    ],
)
def test_what_a_law_names_as_the_source_of_a_permission_demands_it(
    laws: Retriever, question: str, demands: str
) -> None:
    retrieval = laws.search(Query(question))
    (link,) = retrieval.links
    assert (link.kind, link.unit) == (LinkKind.DEMANDS, f"{STALLS}#{demands}")
    assert retrieval.hits[0].passage.id == link.unit
    assert places_quoted(laws, question)[0] == f"{STALLS}#{demands}.1"


@pytest.mark.parametrize(
    "question",
    [
        "浮見世営業の許可証はどこに掲げるか",
        "浮見世営業の許可の条件",
        "浮見世営業の許可が必要な菓子の一覧",
        # Nothing speaks of its permission, though the words are there.
        "離島の開票の許可",
    ],
)
def test_who_asks_for_something_else_gets_no_such_link(laws: Retriever, question: str) -> None:
    assert laws.search(Query(question)).links == ()


def test_a_permission_of_a_law_left_out_by_a_filter_is_not_given(laws: Retriever) -> None:
    asked = Query("浮見世営業の許可", filters=Filters(documents=(BALLOTS,)))
    assert laws.search(asked).links == ()


@pytest.mark.parametrize("question", ["偽証罪", "偽証の罪の罰則は", "偽証罪は何条か"])
def test_a_crime_is_the_article_of_the_penal_code_with_its_name(
    laws: Retriever, question: str
) -> None:
    assert laws.search(Query(question)).hits[0].passage.id == f"{CRIMES}#9"
    assert places_quoted(laws, question)[0].startswith(f"{CRIMES}#9")


def test_a_crime_of_a_law_named_is_looked_for_in_that_law(laws: Retriever) -> None:
    first = laws.search(Query("船上投票法の選挙人の偽証罪")).hits[0]
    assert first.passage.id == f"{BALLOTS}#9"


@pytest.mark.parametrize("matter", ["検印", "検印の対象", "検印の条件"])
def test_an_article_with_the_matter_in_its_caption_is_named_by_it(
    laws: Retriever, matter: str
) -> None:
    first = laws.search(Query(f"船上投票法の{matter}")).hits[0]
    assert first.passage.id == f"{BALLOTS}#12"
    assert str(first.reason) == "named: 検印"


def test_who_asks_for_the_rule_gets_it_before_the_exception(laws: Retriever) -> None:
    assert laws.search(Query("開票の期間")).hits[0].passage.id == f"{BALLOTS}#10"
    assert laws.search(Query("開票の期間の特則")).hits[0].passage.id == f"{BALLOTS}#11"
