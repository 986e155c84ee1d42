"""What the law connects with what was found: the penalty of a breach, what an order fills in."""

from pathlib import Path

import pytest

from localrag.answer.extractive import Quotations, quotations
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.methods.extractive import search_written
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.query import rewritten
from localrag.search.types import Filters, LinkKind, Query
from localrag.text.facts import FactKind

from ...rows import each

ACT, ORDER, ORDINANCE, OTHER = (
    "599AC0000000021",
    "599CO0000000022",
    "599M60000800023",
    "599AC0000000024",
)

LAWS = {
    (ACT, "灯台船法", "令和九十九年法律第二十一号"): {
        "1": ("目的", ["この法律は、灯台船の安全を図ることを目的とする。"]),
        "2": (
            "飲酒操船の禁止",
            [
                "何人も、酒気を帯びて灯台船を操船してはならない。",
                "何人も、前項の規定に違反することとなるおそれがある者に対し、酒類を提供してはならない。",
            ],
        ),
        "3": (
            "保証金",
            [
                "灯台船の所有者は、保証金を供託しなければならない。",
                "前項の保証金の額は、灯台船の大きさを考慮して、政令で定める額とする。",
                "第一項の保証金は、政令で定める有価証券をもつて、これに充てることができる。",
            ],
        ),
        "4": ("表示", ["灯台船の所有者は、虚偽の表示をしてはならない。"]),
        "5": (
            "措置命令",
            ["国土交通大臣は、前条の規定に違反した者に対し、表示の除去を命ずることができる。"],
        ),
        "6": ("灯火", ["灯台船の灯火は、常時明るいものでなければならない。"]),
        "7": ("", ["政令で定める船舶は、この法律による検査を要しない。"]),
        "8": (
            "操船試験",
            [
                "灯台船を操船しようとする者は、政令で定める書類を提出しなければならない。ただし、"
                "政令で定める者については、この限りでない。"
            ],
        ),
        "9": (
            "係留",
            ["灯台船を係留する水面は、政令で定める規模以上のものでなければならない。"],
        ),
        "13": (
            "納付金",
            [
                "灯台船の所有者は、灯台船の数に基礎額を乗じて得た納付金を納付しなければならない。",
                "前項の基礎額は、費用を基準として、政令で定める金額とする。",
            ],
        ),
        "14": (
            "検査",
            [
                "灯台船の検査の手数料は、一隻につき三万円とする。",
                "灯台船の検査の手数料の割増しは、政令で定める額とする。",
            ],
        ),
        "16": (
            "登録",
            [
                "灯台船の登録は、三年を下らない政令で定める期間ごとに、更新を受けなければならない。",
                "前項の更新は、灯台船の傷みを調べる者として政令で定める者の立会いの下に行う。",
                "第一項の更新は、国土交通省令で定める様式による。",
            ],
        ),
        "17": ("定義", ["この法律において「投錨地」とは、灯台船が錨を下ろす水面をいう。"]),
        "10": (
            "",
            [
                "次の各号のいずれかに該当する者は、三年以下の拘禁刑に処する。\n"
                "一　第二条第一項の規定に違反して灯台船を操船した者\n"
                "二　第三条第一項の規定に違反した者"
            ],
        ),
        "11": ("", ["第五条の規定による命令に違反した者は、百万円以下の罰金に処する。"]),
        "12": ("", ["第二条第二項の規定に違反した者は、五十万円以下の罰金に処する。"]),
        "15": (
            "",
            [
                "法人の代表者又は従業者が、その法人の業務に関し、第十条の違反行為をしたときは、"
                "行為者を罰するほか、その法人に対して三億円以下の罰金刑を科する。"
            ],
        ),
    },
    (ORDER, "灯台船法施行令", "令和九十九年政令第二十二号"): {
        "1": (
            "保証金の額",
            ["法第三条第二項に規定する政令で定める額は、一隻につき七百万円とする。"],
        ),
        "2": (
            "保証金に充てることができる有価証券",
            [
                "法第三条第三項に規定する政令で定める有価証券は、国債証券その他国土交通省令で定める"
                "債券とする。"
            ],
        ),
        "3": ("", ["法第七条の政令で定める船舶は、長さ十メートル未満のものとする。"]),
        "4": ("", ["法第八条第一項の政令で定める書類は、海技士の免状の写しとする。"]),
        "5": ("", ["法第八条第一項ただし書の政令で定める者は、自衛官とする。"]),
        "6": ("", ["法第九条の政令で定める規模は、五百平方メートルとする。"]),
        "7": ("", ["法第十三条第二項に規定する基礎額は、五万円とする。"]),
        "8": ("", ["法第十四条第二項の政令で定める額は、一万円とする。"]),
        "9": ("", ["法第十六条第一項の政令で定める期間は、五年とする。"]),
        "10": ("", ["法第十六条第二項に規定する政令で定める者は、国土交通省令で定める者とする。"]),
    },
    (ORDINANCE, "灯台船法施行規則", "令和九十九年国土交通省令第二十三号"): {
        "1": ("債券", ["令第二条に規定する国土交通省令で定める債券は、港債券とする。"]),
        "3": ("", ["令第十条に規定する国土交通省令で定める者は、船大工とする。"]),
        "2": ("明るさ", ["法第六条の灯火の明るさは、百燭以上とする。"]),
    },
    (OTHER, "気球法", "令和九十九年法律第二十四号"): {
        "1": ("窃取", ["他人の気球を窃取した者は、五年以下の拘禁刑に処する。"]),
        "2": ("時間外労働", ["気球の係留者は、労働者の労働時間を延長してはならない。"]),
        "3": (
            "投錨地",
            [
                "投錨地（灯台船法（令和九十九年法律第二十一号）第十七条に規定する投錨地をいう。）"
                "の上空の投錨地を示す気球は、投錨地ごとに一とする。"
            ],
        ),
    },
}


def quoted_from(retriever: Retriever, query: Query) -> Quotations:
    """What is quoted for a question."""
    return quotations(retriever, retriever.search(query))


def test_what_a_term_means_is_said_where_it_is_defined(laws: Retriever) -> None:
    retrieval = laws.search(Query("投錨地とは何か"))
    assert retrieval.hits[0].passage.id == f"{ACT}#17"
    named = [hit.passage.id for hit in retrieval.hits if "defines" in str(hit.reason)]
    assert named == [f"{ACT}#17"], "another law takes the term from there"
    in_other = laws.search(Query("気球法における投錨地とは何か"))
    assert in_other.hits[0].passage.id == f"{OTHER}#3"


def test_a_penalty_is_found_by_the_provision_whose_breach_it_punishes(laws: Retriever) -> None:
    retrieval = laws.search(Query("灯台船の飲酒運転の罰則"))
    first = retrieval.hits[0]
    assert (first.passage.id, first.punishes) == (f"{ACT}#10", f"{ACT}#2")
    assert str(first.reason).startswith("punishes a breach of 灯台船法 第二条")
    link = retrieval.links[0]
    assert (link.kind, link.unit, link.other) == (LinkKind.PUNISHES, f"{ACT}#10", f"{ACT}#2")
    assert laws.store.text(ACT, link.position).startswith("第二条第一項")


def test_the_penalty_is_quoted_right_behind_the_prohibition_cited(laws: Retriever) -> None:
    reply = quoted_from(laws, Query("灯台船法第二条に違反した場合の罰則は"))
    assert reply.citations[0].passage_id == f"{ACT}#2"
    assert "三年以下の拘禁刑" in reply.citations[1].quote
    assert all(citation.verified for citation in reply.citations)


def test_a_breach_of_an_order_is_punished_in_the_second_place(laws: Retriever) -> None:
    retrieval = laws.search(Query("灯台船の虚偽の表示の罰則"))
    assert (retrieval.hits[0].passage.id, retrieval.hits[0].punishes) == (f"{ACT}#11", f"{ACT}#4")


def test_a_provision_that_punishes_by_itself_comes_first(laws: Retriever) -> None:
    retrieval = laws.search(Query("気球を盗んだらどんな罪になるか"))
    assert retrieval.hits[0].passage.id == f"{OTHER}#1"
    assert retrieval.hits[0].punishes == ""


@pytest.mark.parametrize(
    "question",
    ["灯台船法の罰則は", "灯台船法に違反したらどんな罰則がありますか"],
)
def test_the_penalties_of_a_law_are_all_that_it_punishes(laws: Retriever, question: str) -> None:
    retrieval = laws.search(Query(question))
    assert [hit.passage.id for hit in retrieval.hits[:3]] == [f"{ACT}#{n}" for n in (10, 11, 12)]
    places = [citation.passage_id for citation in quoted_from(laws, Query(question)).citations]
    assert [place.partition(".")[0] for place in places][:2] == [f"{ACT}#10", f"{ACT}#11"]


def test_the_penalties_of_a_law_left_out_by_a_filter_are_not_given(laws: Retriever) -> None:
    asked = Query("灯台船法の罰則は", filters=Filters(documents=(OTHER,)))
    assert all(link.unit.startswith(OTHER) for link in laws.search(asked).links)


def test_beside_a_missing_article_are_its_neighbours(laws: Retriever) -> None:
    asked = Query("灯台船法第四条の二の届出は")
    found = laws.search(asked)
    assert found.reading.missing == ("灯台船法第四条の二",)
    assert {hit.passage.id for hit in found.hits[:2]} == {f"{ACT}#4", f"{ACT}#5"}
    assert not quotations(laws, found).citations


@pytest.mark.parametrize(
    ("last", "searched"),
    [
        ("その有価証券は", "灯台船法 保証金 その有価証券は"),
        # Its words lead to another law.
        ("気球の労働者の労働時間は", "気球の労働者の労働時間は"),
    ],
)
def test_a_follow_up_is_searched_for_with_the_law_and_the_caption_before(
    laws: Retriever, last: str, searched: str
) -> None:
    read = rewritten(last, ["灯台船法第三条の保証金とは"], laws.names)
    found = search_written(laws, Query(read.text, last=read.last), ())
    assert {stage.query for stage in found.trace.stages if stage.subject} == {searched}


@each(
    ("question", "punished"),
    [
        ("灯台船の飲酒運転 法人の罰金", f"{ACT}#10"),
        ("灯台船の飲酒運転をしたら会社も罰せられる？", f"{ACT}#10"),
        # No provision cites what punishes this breach: that of its law stands in.
        ("灯台船の虚偽の表示 法人の罰金", ""),
        ("灯台船法の両罰規定", ""),
    ],
)
def test_the_penalty_of_the_legal_person_comes_first(
    laws: Retriever, question: str, punished: str
) -> None:
    first = laws.search(Query(question)).hits[0]
    assert (first.passage.id, first.punishes) == (f"{ACT}#15", punished)
    assert "三億円以下" in quoted_from(laws, Query(question)).citations[0].quote


def test_where_no_legal_person_is_punished_the_doer_is(laws: Retriever) -> None:
    retrieval = laws.search(Query("気球の窃取 法人の罰金"))
    assert retrieval.hits[0].passage.id == f"{OTHER}#1"


def test_who_asks_for_no_penalty_gets_none_first(laws: Retriever) -> None:
    retrieval = laws.search(Query("灯台船の飲酒運転は禁止か"))
    assert retrieval.links == ()
    assert retrieval.hits[0].passage.id == f"{ACT}#2"


@each(
    ("question", "first"),
    [
        ("灯台船法第3条第2項の政令で定める額はいくらか", f"{ORDER}#1"),
        ("灯台船法第3条第3項の政令で定める有価証券とは何か", f"{ORDER}#2"),
        ("灯台船法第3条の政令で定める有価証券", f"{ORDER}#2"),
        ("灯台船法施行令第2条の国土交通省令で定める債券とは", f"{ORDINANCE}#1"),
        ("灯台船法第3条の委任を受けて、政令は有価証券をどう定めているか", f"{ORDER}#2"),
        # The words of the act name the place as exactly as its number.
        ("灯台船法で、灯台船の傷みを調べる者として政令で定める者とは何か", f"{ORDER}#10"),
    ],
)
def test_who_asks_for_what_is_left_to_an_order_gets_it_first(
    laws: Retriever, question: str, first: str
) -> None:
    hit = laws.search(Query(question)).hits[0]
    assert hit.passage.id == first
    assert hit.fills
    # Right behind the provision that the question cites by its number.
    cited = laws.search(Query(question)).cited
    citation = quoted_from(laws, Query(question)).citations[len(cited)]
    assert citation.passage_id.startswith(first)
    assert citation.verified


def test_a_point_left_to_an_order_is_quoted_beside_the_act(laws: Retriever) -> None:
    question = Query("灯台船の保証金の額")
    (link,) = laws.search(question).links
    assert (link.unit, link.other, link.comes_first) == (f"{ORDER}#1", f"{ACT}#3", False)
    quoted = [citation.passage_id for citation in quoted_from(laws, question).citations]
    assert {passage_id.partition(".")[0] for passage_id in quoted[:2]} == {f"{ACT}#3", f"{ORDER}#1"}


@each(
    ("question", "act", "order"),
    [
        # What the act leaves to an order follows what the question cites of it, whatever its words.
        ("灯台船法第3条第2項 船が大きいと高くなるのか", "3.2", f"{ORDER}#1"),
        ("灯台船法第3条第3項 国債でもよいか", "3.3", f"{ORDER}#2"),
        # An article of one paragraph is named as exactly as a paragraph.
        ("灯台船法第7条 小さな船", "7", f"{ORDER}#3"),
        # The proviso has an order of its own.
        ("灯台船法第8条第1項ただし書 試験に要る物", "8.1", f"{ORDER}#5"),
    ],
)
def test_the_provision_cited_comes_first_and_what_fills_it_in_second(
    laws: Retriever, question: str, act: str, order: str
) -> None:
    quoted = [citation.passage_id for citation in quoted_from(laws, Query(question)).citations]
    assert quoted[0].startswith(f"{ACT}#{act}")
    assert quoted[1].partition(".")[0] == order


@pytest.mark.parametrize(
    ("question", "order"),
    [
        # The act says 規模, the order 平方メートル.
        ("灯台船の係留には何平米の水面が要るか", f"{ORDER}#6"),
        # The act states but the bounds of the period.
        ("灯台船の登録の更新の期間は何年か", f"{ORDER}#9"),
    ],
)
def test_a_figure_that_the_act_leaves_to_an_order_is_quoted_second(
    laws: Retriever, question: str, order: str
) -> None:
    quoted = [citation.passage_id for citation in quoted_from(laws, Query(question)).citations]
    assert order in [passage_id.partition(".")[0] for passage_id in quoted[:2]]


def test_what_an_order_leaves_again_follows_it(laws: Retriever) -> None:
    links = laws.search(Query("灯台船法第3条第3項の政令で定める有価証券その他の債券とは")).links
    assert [(link.unit, link.other) for link in links] == [
        (f"{ORDER}#2", f"{ACT}#3"),
        (f"{ORDINANCE}#1", f"{ORDER}#2"),
    ]


def test_who_asks_for_the_second_of_two_steps_gets_both(laws: Retriever) -> None:
    question = Query(
        "灯台船法第3条第3項の政令で定める有価証券について、国土交通省令で定める債券とは何か"
    )
    links = [(link.unit, link.other) for link in laws.search(question).links]
    assert links == [(f"{ORDER}#2", f"{ACT}#3"), (f"{ORDINANCE}#1", f"{ORDER}#2")]
    quoted = [citation.passage_id for citation in quoted_from(laws, question).citations]
    assert quoted[0] == f"{ACT}#3.3"
    assert [place.partition(".")[0] for place in quoted[1:]] == [f"{ORDER}#2", f"{ORDINANCE}#1"]


def test_what_an_order_leaves_instead_of_an_answer_is_quoted_with_it(laws: Retriever) -> None:
    question = Query("灯台船法第16条第2項の政令で定める者とは何か")
    quoted = [citation.passage_id for citation in quoted_from(laws, question).citations]
    places = [place.partition(".")[0] for place in quoted]
    assert places == [f"{ACT}#16", f"{ORDER}#10", f"{ORDINANCE}#3"]
    assert quoted[0] == f"{ACT}#16.2"


def test_what_nothing_fills_in_is_told(laws: Retriever) -> None:
    retrieval = laws.search(Query("灯台船法第16条第3項の国土交通省令で定める様式とは何か"))
    assert retrieval.links == ()
    (told,) = [one for one in retrieval.trace.events if one.kind is FactKind.NOT_FILLED_IN]
    assert told.fields == {"provision": "灯台船法 第十六条 第三項", "instrument": "国土交通省令"}


def test_filters_hold_for_what_is_linked(laws: Retriever) -> None:
    acts = Filters(law_types=("Act",))
    for question in ("灯台船法第3条第2項の政令で定める額はいくらか", "灯台船の飲酒運転の罰則"):
        retrieval = laws.search(Query(question, filters=acts))
        assert {hit.passage.document_id for hit in retrieval.hits} <= {ACT, OTHER}
    others = Filters(documents=(OTHER,))
    assert laws.search(Query("灯台船の飲酒運転の罰則", filters=others)).links == ()


def test_everyday_words_find_what_the_law_says_and_are_told(laws: Retriever) -> None:
    retrieval = laws.search(Query("残業はできるか"))
    assert retrieval.hits[0].passage.id == f"{OTHER}#2"
    assert [wording.said for wording in retrieval.trace.wordings] == ["残業"]
    reply = quoted_from(laws, Query("overtime work"))
    assert reply.citations[0].passage_id.startswith(f"{OTHER}#2")


def test_a_date_and_a_citation_hold_no_everyday_word(laws: Retriever) -> None:
    for question in ("令和2年4月1日の灯台船", "Art. 3 of the Lightship Act", "Arts. 3 and 4"):
        assert laws.search(Query(question)).trace.wordings == ()


def test_options_are_searched_for_as_they_stand(laws: Retriever) -> None:
    retrieval = laws.search(Query("残業の罰則はどれか", ("労働時間", "休日")))
    assert retrieval.trace.wordings == ()
    assert retrieval.links == ()


def test_words_of_the_law_are_looked_up_only_where_there_are_laws(home: Path) -> None:
    workspace = Workspace.locate(home)
    workspace.init()
    (home / "page.txt").write_text("残業の多い灯台守。罰金の話。", encoding="utf-8")
    add(workspace, "main", [home / "page.txt"])
    index(workspace, "main")
    with Retriever.open(workspace, "main", load(workspace)) as retriever:
        retrieval = retriever.search(Query("残業の罰金"))
    assert retrieval.hits
    assert (retrieval.trace.wordings, retrieval.links, retrieval.reading.penalty) == ((), (), None)
