"""What a question cites by its number is quoted first, whatever else it asks."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest

import localrag
from localrag.answer.extractive import quotations
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.types import PARAGRAPHS, LawRow
from localrag.corpus.workspace import Workspace
from localrag.errors import NotFoundError, UsageError
from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.law.resolver import Resolution
from localrag.methods.answering import open_answers
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.provision import look_up
from localrag.search.reading import slips
from localrag.search.types import Filters, Query
from localrag.text.facts import Fact, FactKind

from ...rows import each

FORMS = ("", "の趣旨は", "について教えて", "は何を定めているか", "の要件は", "に違反するとどうなる")
ACT = "599AC0000000031"
# Few of them: the corpus is made for this test alone.
REAL = (
    "412AC0000000061_20250601.xml",
    "322AC0000000125_19471027.xml",
)


LAWS = {
    (ACT, "浮桟橋法", "令和九十九年法律第三十一号"): {
        "1": ("目的", ["この法律は、浮桟橋の安全を図ることを目的とする。"]),
        "2": (
            "係留",
            ["浮桟橋には、船を係留することができる。", "夜間は、係留した船を離してはならない。"],
        ),
        "3": ("損害の賠償", ["浮桟橋を壊した者は、損害を賠償する責任を負う。"]),
        "4": ("期間", ["損害の賠償を請求する権利は、三年間行使しないと消滅する。"]),
        **{str(n): ("札", [f"浮桟橋の札の番号は、{n}番とする。"]) for n in range(5, 10)},
        "10": (
            "書類",
            [
                "次に掲げる書類を備える。\n"
                + "\n".join(f"{kanji}　{'甲' * 300}の書類" for kanji in "一二三四")
            ],
        ),
        "11": ("罰則", ["第二条第二項の規定に違反した者は、五万円以下の罰金に処する。"]),
    }
}


@pytest.fixture(scope="module")
def piers(
    tmp_path_factory: pytest.TempPathFactory, open_statutes: Callable[..., Retriever]
) -> Iterator[Retriever]:
    with open_statutes(tmp_path_factory.mktemp("piers"), LAWS) as retriever:
        yield retriever


def quoted(retriever: Retriever, question: str, **filters: tuple[str, ...]) -> list[str]:
    """The places quoted for a question, in their order."""
    query = Query(question, filters=Filters(**filters))
    found = quotations(retriever, retriever.search(query))
    return [citation.passage_id.partition("#")[2] for citation in found.citations]


def draw(retriever: Retriever, laws: int, count: int) -> Iterator[tuple[str, str]]:
    """Citations of paragraphs of main provisions, so many of each law, and their ids."""
    seeded = random.Random(11)
    for row in seeded.sample(sorted(retriever.store.laws()), laws):
        places = [stand.locator for stand in retriever.store.standing(row.law_id, PARAGRAPHS)]
        usual = [one for one in places if not one.division and ":" not in one.path and one.article]
        several = [one for one in usual if sum(o.article == one.article for o in usual) > 1]
        known = several or usual
        for place in seeded.sample(known, min(count, len(known))):
            yield cite(row.title, place), f"{row.law_id}#{place.path}"


def not_first(retriever: Retriever, drawn: Iterator[tuple[str, str]]) -> list[str]:
    """The questions on provisions drawn for which another one is quoted first."""
    wrong = []
    for (cited, passage), form in zip(drawn, cycle(FORMS), strict=False):
        query = Query(cited + form)
        citations = quotations(retriever, retriever.search(query)).citations
        if not citations or citations[0].passage_id != passage:
            wrong.append(query.text)
    return wrong


def test_a_provision_cited_is_quoted_first(retriever: Retriever, piers: Retriever) -> None:
    assert not_first(retriever, draw(retriever, 2, 8)) == []
    assert not_first(piers, draw(piers, 1, 8)) == []


def test_a_provision_cited_of_real_laws_is_quoted_first(shared_data: Path, home: Path) -> None:
    files = [shared_data / "egov" / "xml" / name for name in REAL]
    missing = [file.name for file in files if not file.exists()]
    if missing:
        pytest.skip(f"needs the statutes: {missing} (set LOCALRAG_SHARED_DATA)")
    workspace = Workspace(home)
    workspace.init()
    add(workspace, "main", files)
    index(workspace, "main")
    with Retriever.open(workspace, "main", load(workspace)) as laws:
        assert not_first(laws, draw(laws, len(REAL), 12)) == []


def test_the_penalty_follows_what_is_cited(piers: Retriever) -> None:
    places = quoted(piers, "浮桟橋法2条2項に違反するとどうなるか")
    assert places[:2] == ["2.2", "11.1"]


def test_what_else_is_asked_follows_what_is_cited(piers: Retriever) -> None:
    places = quoted(piers, "浮桟橋法3条の損害の賠償を請求する権利は何年で消滅するか")
    assert places[:2] == ["3.1", "4.1"]


def test_of_a_citation_alone_nothing_else_is_quoted(piers: Retriever) -> None:
    assert quoted(piers, "浮桟橋法2条") == ["2"]
    assert quoted(piers, "浮桟橋法第二条第一項について教えて") == ["2.1"]


def test_an_item_is_quoted_with_its_paragraph(piers: Retriever) -> None:
    assert quoted(piers, "浮桟橋法10条1項三号") == ["10.1", "10.1.3"]


def test_a_paragraph_of_many_items_is_quoted_whole(piers: Retriever) -> None:
    query = Query("浮桟橋法10条1項")
    (citation,) = quotations(piers, piers.search(query)).citations
    assert citation.passage_id == f"{ACT}#10.1"
    assert citation.quote.count("の書類") == 4


def test_all_that_is_cited_is_quoted_in_its_order_and_what_is_left_out_is_told(
    piers: Retriever,
) -> None:
    assert quoted(piers, "浮桟橋法9条、3条及び4条") == ["9.1", "3.1", "4.1"]
    query = Query("浮桟橋法1条から9条まで")
    found = quotations(piers, piers.search(query))
    assert [one.passage_id.partition("#")[2] for one in found.citations] == [
        "1.1", "2", "3.1", "4.1", "5.1", "6.1",
    ]  # fmt: skip
    assert found.left_out == 3


def test_an_article_of_a_law_that_is_lacking_is_quoted_from_no_other(piers: Retriever) -> None:
    for question in ("浮桟橋法3条と旅券法の4条", "旅券法の4条と浮桟橋法3条"):
        assert quoted(piers, question) == ["3.1"]
        retrieval = piers.search(Query(question))
        assert retrieval.absent == ("旅券法",)


@each(
    ("cited", "bylaw"),
    [
        ("A市迷惑防止条例第4条", "A市迷惑防止条例"),
        ("空き家条例の第4条", "空き家条例"),
        ("条例4条", "条例"),
        ("賃金規程4条", "賃金規程"),
        ("当社の就業規則第4条", "就業規則"),
        ("管理規約（令和2年版）第4条", "管理規約"),
        ("水面条約4条", "水面条約"),
    ],
)
def test_an_article_of_a_bylaw_is_told_as_lacking_and_is_none_of_the_law_before(
    piers: Retriever, cited: str, bylaw: str
) -> None:
    for question in (f"浮桟橋法3条と{cited}", f"{cited}と浮桟橋法3条"):
        assert quoted(piers, question) == ["3.1"]
        lacking = [
            one.fields["name"]
            for one in piers.search(Query(question)).trace.events
            if one.kind is FactKind.CITED_LAW_LACKING
        ]
        assert lacking == [bylaw]
        with pytest.raises(NotFoundError, match=bylaw):
            look_up(piers.store, question)


def test_a_bylaw_that_a_law_speaks_of_is_what_its_article_is_about(piers: Retriever) -> None:
    assert quoted(piers, "浮桟橋法の利用規約3条")[0] == "3.1"


def test_a_title_may_end_like_what_others_call_an_order(
    tmp_path: Path, open_statutes: Callable[..., Retriever]
) -> None:
    ordinance = ("599M60000100032", "浮桟橋の規格を定める省令", "令和九十九年省令第三十二号")
    articles = {"1": ("幅", ["浮桟橋の幅は、二メートル以上とする。"])}
    with open_statutes(tmp_path, LAWS | {ordinance: articles}) as retriever:
        assert quoted(retriever, "浮桟橋の規格を定める省令第1条")[0] == "1.1"


def test_how_many_provisions_cited_are_not_quoted_is_told(sample_home: Path) -> None:
    workspace = Workspace.locate(sample_home)
    with open_answers(workspace, "main", load(workspace)) as answerer:
        reply = answerer.answer(Query("渡し舟の安全及び活用に関する法律1条から10条まで"))
    (told,) = [one for one in reply.trace.events if one.kind is FactKind.CITED_NOT_QUOTED]
    assert told.fields == {"n": 5}


def test_what_a_question_leaves_out_is_not_quoted(piers: Retriever) -> None:
    asked = "損害の賠償についての規定"
    assert "3.1" in quoted(piers, f"浮桟橋法の{asked}")
    for left_out in (
        "3条以外の",
        "第三条を除く",
        "第一条及び第三条以外の",
        "3条は除いて、",
        "3条は別として、",
        "3条を別にした",
        "3条ではなく、",
    ):
        assert "3.1" not in quoted(piers, f"浮桟橋法{left_out}{asked}")
    assert quoted(piers, "浮桟橋法3条ではないか") == ["3.1"]
    assert "3.1" in quoted(piers, "浮桟橋法3条は除斥期間を定めるか")
    assert "3.1" in quoted(piers, "浮桟橋法3条でなくてはならないか")
    assert quoted(piers, "浮桟橋法3条ではなく4条")[:1] == ["4.1"]
    assert quoted(piers, f"浮桟橋法3条のほかに{asked}")[:1] == ["4.1"]


def test_the_number_of_what_is_left_out_finds_nothing(
    tmp_path: Path, open_statutes: Callable[..., Retriever]
) -> None:
    harbour_crimes = {
        ("599AC0000000034", "港の罰に関する法律", "令和九十九年法律第三十四号"): {
            "1": ("綱切り", ["綱を切つた者は、五万円以下の罰金に処する。"]),
            "2": ("適用の範囲", ["この法律は、港の外で第一条の所為をした者にも適用する。"]),
            "3": ("錨盗み", ["錨を盗んだ者は、十万円以下の罰金に処する。"]),
        }
    }
    with open_statutes(tmp_path, harbour_crimes) as retriever:
        for question in ("港の罰に関する法律1条以外の罰金", "港の罰に関する法律第一条を除く罰金"):
            found = retriever.search(Query(question))
            assert [hit.passage.locator.article for hit in found.hits] == ["3"]
            assert quoted(retriever, question) == ["3.1"]


def test_an_english_question_leaves_out_a_list_too(home: Path, tmp_path: Path) -> None:
    articles = [
        {
            "num": num,
            "caption": "",
            "title": f"第{kanji}条",
            "paragraphs": [{"num": "1", "text": f"損害を賠償する責任の{kanji}とする。"}],
        }
        for num, kanji in (("3", "三"), ("4", "四"), ("5", "五"))
    ]
    law = {"law_id": "129AC0000000089", "date": "", "title": "民法", "law_num": ""}
    line = json.dumps({**law, "articles": articles}, ensure_ascii=False)
    (tmp_path / "law.jsonl").write_text(line + "\n", encoding="utf-8")
    with localrag.open(home).corpus() as corpus:
        corpus.add(tmp_path / "law.jsonl")
        corpus.index()
        found = corpus.search(
            "Compensation for damage in the Civil Code other than Articles 3 and 4"
        )
        assert [hit.passage.locator.article for hit in found.hits] == ["5"]
        shown = corpus.look_up("Civil Code 3, 4 and 5")
        assert [one.passage.locator.article for one in shown.provisions] == ["3", "4", "5"]


def test_a_word_that_the_provision_lacks_chooses_none_of_its_paragraphs(piers: Retriever) -> None:
    whole = quoted(piers, "浮桟橋法2条")
    for question in (
        "昨日の浮桟橋法2条",
        "友人に聞いた浮桟橋法2条",
        "授業で出た浮桟橋法2条がわからない",
    ):
        assert quoted(piers, question) == whole == ["2"]
    assert quoted(piers, "浮桟橋法2条の夜間")[:1] == ["2.2"]


@each("slip", ["浮浅橋法", "浮橋法", "浮桟橋橋法", "浮橋桟法"])
def test_a_slip_in_the_name_of_a_law_is_told_and_never_taken(piers: Retriever, slip: str) -> None:
    assert quoted(piers, f"{slip}3条") == []
    told = [
        one.fields
        for one in piers.search(Query(f"{slip}3条")).trace.events
        if one.kind is FactKind.LAW_NEAR
    ]
    assert told == [{"name": slip, "near": ("浮桟橋法",)}]
    with pytest.raises(NotFoundError) as error:
        look_up(piers.store, f"{slip}3条")
    assert isinstance(error.value.remedy, Fact)
    assert error.value.remedy.fields == told[0]


def _near(word: str) -> list[Fact]:
    """What is told of a word before 35条, which no law is named by."""
    titles = ("特許法", "民法", "刑法", "少年法", "軽犯罪法", "労働基準法", "刑事訴訟法")
    names = LawNames(LawRow(str(number), title) for number, title in enumerate(titles))
    problem = Fact(FactKind.NO_LAW_NAMED, citation="35条")
    cited = Resolution(len(word), len(word) + 3, "35条", (), problem=problem)
    return list(slips([cited], f"{word}35条", names))


@each(
    ("word", "near"),
    [
        ("特許方", "特許法"),
        ("民放", "民法"),
        ("刑報", "刑法"),
        ("軽犯罪", "軽犯罪法"),
        ("労働規準法", "労働基準法"),
        ("労働基準放", "労働基準法"),
    ],
)
def test_a_slip_that_makes_the_name_another_word_is_told(word: str, near: str) -> None:
    (told,) = _near(word)
    assert told.fields == {"name": word, "near": (near,)}


@each("word", ["刑事", "民事", "民亊", "特許権", "少年犯", "刑事法", "条例"])
def test_a_word_that_does_not_sound_like_a_law_is_no_slip(word: str) -> None:
    assert _near(word) == []


@each("question", ["資料3条", "方法3条", "会社法3条", "浮桟橋の条件3条"])
def test_another_word_or_another_law_is_no_slip(piers: Retriever, question: str) -> None:
    told = piers.search(Query(question)).trace.events
    assert FactKind.LAW_NEAR not in [one.kind for one in told]


def test_filters_hold_for_what_is_cited(piers: Retriever) -> None:
    assert quoted(piers, "浮桟橋法3条", documents=("599AC0000000099",)) == []


def test_of_a_law_alone_its_purpose_is_quoted_and_where_its_contents_are(piers: Retriever) -> None:
    for question in ("浮桟橋法", "浮桟橋法とは何か", "浮桟橋法について教えて"):
        assert quoted(piers, question) == ["1.1"]
        told = piers.search(Query(question)).trace.events
        assert [one.fields for one in told] == [{"law": "浮桟橋法"}]
    assert "1.1" not in quoted(piers, "浮桟橋法の書類")[:1]


def test_blanks_roman_numerals_and_codes_of_a_terminal_do_no_harm(piers: Retriever) -> None:
    for question in ("浮 桟 橋 法　第　３　条", "浮桟橋法Ⅲ条", "\x1b[31m浮桟橋法3条\x1b[0m"):
        assert quoted(piers, question) == ["3.1"]


def test_a_single_character_is_no_question(piers: Retriever) -> None:
    for question in ("条", "1", " 法 "):
        with pytest.raises(UsageError, match="single character"):
            piers.search(Query(question))


def test_an_english_citation_is_shown_as_it_is_asked_for(home: Path, tmp_path: Path) -> None:
    article = {
        "num": "3",
        "caption": "",
        "title": "第三条",
        "paragraphs": [{"num": "1", "text": "私権の享有は、出生に始まる。"}],
    }
    law = {"law_id": "129AC0000000089", "date": "", "title": "民法", "law_num": ""}
    line = json.dumps({**law, "articles": [article]}, ensure_ascii=False)
    (tmp_path / "law.jsonl").write_text(line + "\n", encoding="utf-8")
    with localrag.open(home).corpus() as corpus:
        corpus.add(tmp_path / "law.jsonl")
        for written in ("Article 3 of the Civil Code", "Civil Code 3"):
            assert corpus.show(written).passage.id == "129AC0000000089#3"
