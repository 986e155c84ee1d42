"""What a question is answered from when it names laws: two acts that say the same, and an order."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from localrag.answer.extractive import Quotations, quotations
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.reading import Retrieval
from localrag.search.types import Filters, Query

FERRIES, FERRIES_ORDER, CABLES = "599AC0000000011", "599CO0000000012", "599AC0000000013"
MANY = 30


def law(law_id: str, title: str, articles: list[tuple[str, str]]) -> dict[str, object]:
    return {
        "law_id": law_id,
        "date": "",
        "title": title,
        "law_num": "",
        "articles": [
            {
                "num": str(number),
                "caption": caption,
                "title": f"第{number}条",
                "paragraphs": [{"num": "1", "text": text}],
            }
            for number, (caption, text) in enumerate(articles, 1)
        ],
    }


LAWS = [
    law(
        FERRIES,
        "渡船営業法",
        [
            ("（目的）", "この法律は、渡船の営業の安全を図ることを目的とする。"),
            ("（登録）", "渡船の営業をしようとする者は、登録を受けなければならない。"),
            ("（罰則）", "登録を受けないで営業をした者は、一年以下の拘禁刑に処する。"),
            ("（定義）", "この法律において「営業者」とは、登録を受けた者をいう。"),
        ],
    ),
    law(
        FERRIES_ORDER,
        "渡船営業法施行令",
        [("（登録の手数料）", "登録の手数料の額は、一万円とする。")],
    ),
    law(
        CABLES,
        "索道営業法",
        [
            ("（登録）", "索道の営業をしようとする者は、登録を受けなければならない。登録の営業。"),
            ("（定義）", "この法律において「営業者」とは、索道を営む者をいう。"),
            *[("（罰則）", "登録を受けないで営業をした者の罰則は、罰金とする。")] * MANY,
            (
                "（渡船営業法の特例）",
                "索道と渡船をあわせて営む者には、渡船営業法の登録を要しない。",
            ),
        ],
    ),
]


@pytest.fixture(scope="module")
def laws_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laws")
    file = folder / "laws.jsonl"
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in LAWS]
    file.write_text("".join(lines), encoding="utf-8")
    return made(folder / "home", file)


@pytest.fixture
def laws(laws_home: Path) -> Iterator[Retriever]:
    with opened(laws_home) as retriever:
        yield retriever


def made(home: Path, *files: Path) -> Path:
    workspace = Workspace(home)
    workspace.init()
    add(workspace, "main", list(files))
    index(workspace, "main")
    return home


def opened(home: Path) -> Retriever:
    workspace = Workspace(home)
    return Retriever.open(workspace, "main", load(workspace))


def documents(retrieval: Retrieval) -> list[str]:
    return [hit.passage.document_id for hit in retrieval.hits]


def quoted_from(retriever: Retriever, question: str) -> Quotations:
    """What is quoted for a question."""
    query = Query(question)
    return quotations(retriever, retriever.search(query))


def test_without_a_name_nothing_is_beside(laws: Retriever) -> None:
    retrieval = laws.search(Query("登録を受けないで営業をした者の罰則"), 10)
    assert {FERRIES, CABLES} <= set(documents(retrieval))
    assert not any(hit.beside for hit in retrieval.hits)
    assert (retrieval.laws, retrieval.absent) == ((), ())


def test_the_law_named_and_its_orders_come_first_and_others_beside(laws: Retriever) -> None:
    retrieval = laws.search(Query("渡船営業法で登録を受けないで営業をした者の罰則は何か"), 20)
    assert [law.law_ids for law in retrieval.laws] == [(FERRIES,)]
    assert retrieval.hits[0].passage.id == f"{FERRIES}#3"
    family = [document in (FERRIES, FERRIES_ORDER) for document in documents(retrieval)]
    assert family == sorted(family, reverse=True)
    assert [not hit.beside for hit in retrieval.hits] == family
    assert not all(family)
    scores = [hit.score for hit in retrieval.hits]
    assert scores == sorted(scores, reverse=True)


def test_an_order_named_is_meant_and_not_its_act(laws: Retriever) -> None:
    retrieval = laws.search(Query("渡船営業法施行令の登録の手数料"), 5)
    assert retrieval.hits[0].passage.id == f"{FERRIES_ORDER}#1"
    assert {hit.passage.document_id for hit in retrieval.hits if not hit.beside} == {FERRIES_ORDER}


def test_the_name_of_the_law_says_nothing_within_it(laws: Retriever) -> None:
    first = laws.search(Query("渡船営業法の目的"), 5).hits[0]
    assert first.passage.id == f"{FERRIES}#1"
    assert laws.search(Query("渡船営業法とは何か"), 5).hits[0].passage == first.passage


def test_each_law_named_has_its_best_provision_near_the_top(laws: Retriever) -> None:
    retrieval = laws.search(Query("渡船営業法の登録と索道営業法の登録は同じか"), 4)
    assert {f"{FERRIES}#2", f"{CABLES}#1"} <= {hit.passage.id for hit in retrieval.hits}
    assert not any(hit.beside for hit in retrieval.hits)


def test_a_term_is_explained_by_the_law_named(laws: Retriever) -> None:
    for question in ("渡船営業法における営業者とは何か", "渡船営業法の営業者とは"):
        retrieval = laws.search(Query(question))
        assert [target.law_id for target in retrieval.reading.named] == [FERRIES]
    assert len(laws.search(Query("営業者とは何か")).reading.named) == 1


def test_a_law_cited_by_an_article_is_no_other_law(laws: Retriever) -> None:
    retrieval = laws.search(Query("渡船営業法第2条と同法施行令第1条"), 10)
    inside = {hit.passage.id for hit in retrieval.hits if not hit.beside}
    assert {f"{FERRIES}#2", f"{FERRIES_ORDER}#1"} <= inside


@pytest.mark.parametrize("state", ["改正", "現行"])
def test_a_provision_of_a_law_as_amended_is_that_of_the_law(laws: Retriever, state: str) -> None:
    retrieval = laws.search(Query(f"{state}渡船営業法第2条"), 5)
    assert retrieval.hits[0].passage.id == f"{FERRIES}#2"
    assert not retrieval.reading.missing


def test_an_article_cited_in_english_is_found(tmp_path: Path) -> None:
    file = tmp_path / "civil.jsonl"
    civil = law("599AC0000000014", "民法", [("（成年）", "年齢十八歳をもって、成年とする。")] * 3)
    file.write_text(json.dumps(civil, ensure_ascii=False) + "\n", encoding="utf-8")
    with opened(made(tmp_path / "home", file)) as retriever:
        retrieval = retriever.search(Query("What does Article 2 of the Civil Code say?"))
    assert retrieval.hits[0].passage.id == "599AC0000000014#2"
    assert str(retrieval.hits[0].reason) == "named: Article 2"


def test_filters_hold_where_a_law_is_named(laws: Retriever) -> None:
    query = Query("渡船営業法の登録", filters=Filters(documents=(CABLES,)))
    assert set(documents(laws.search(query, 50))) == {CABLES}


def test_a_law_that_the_corpus_lacks_is_told_and_the_rest_stands_beside(laws: Retriever) -> None:
    retrieval = laws.search(Query("会社法における登録の罰則"))
    assert retrieval.absent == ("会社法",)
    assert retrieval.hits
    assert all(hit.beside for hit in retrieval.hits)
    assert "会社法" in " ".join(map(str, retrieval.trace.events))


def test_nothing_is_quoted_in_the_stead_of_a_law_that_is_lacking(laws: Retriever) -> None:
    reply = quoted_from(laws, "会社法では登録を受けないで営業をした者はどうなるか")
    assert reply.citations == ()


def test_the_law_that_is_there_is_quoted_and_nothing_supported(laws: Retriever) -> None:
    reply = quoted_from(laws, "会社法と渡船営業法の登録の違いは何か")
    assert f"{FERRIES}#2.1" in {citation.passage_id for citation in reply.citations}
    assert CABLES not in {citation.passage_id.partition("#")[0] for citation in reply.citations}


def test_other_laws_are_not_quoted(laws: Retriever) -> None:
    for question in ("渡船営業法で罰則はどうなっているか", "渡船営業法と登録の営業の罰金"):
        reply = quoted_from(laws, question)
        quoted = {citation.passage_id.partition("#")[0] for citation in reply.citations}
        assert reply.citations
        assert quoted <= {FERRIES, FERRIES_ORDER}


def test_of_two_laws_named_both_are_quoted_first(laws: Retriever) -> None:
    reply = quoted_from(laws, "索道営業法の罰則と渡船営業法の罰則は違うか")
    first_two = [citation.passage_id.partition("#")[0] for citation in reply.citations[:2]]
    assert set(first_two) == {FERRIES, CABLES}


def test_what_the_law_named_does_not_speak_of_is_not_found(laws: Retriever) -> None:
    reply = quoted_from(laws, "渡船営業法で量子コンピュータの誤り訂正符号は何か")
    assert reply.citations == ()


def test_a_text_of_that_name_stands_in_for_a_law_that_is_no_statute_here(
    tmp_path: Path, laws_home: Path
) -> None:
    text = tmp_path / "会社法.txt"
    text.write_text("会社法の抜粋。取締役の任期は、選任後二年以内とする。", encoding="utf-8")
    home = made(tmp_path / "home", laws_home.parent / "laws.jsonl", text)
    with opened(home) as retriever:
        retrieval = retriever.search(Query("会社法における取締役の任期は何年か"))
        reply = quoted_from(retriever, "会社法における取締役の任期は何年か")
    assert retrieval.absent == ()
    assert not retrieval.hits[0].beside
    assert "二年以内" in reply.citations[0].quote


def test_a_corpus_without_statutes_is_not_disturbed(tmp_path: Path) -> None:
    text = tmp_path / "取締役.txt"
    text.write_text("日本の会社法では、取締役の任期は原則として二年である。", encoding="utf-8")
    with opened(made(tmp_path / "home", text)) as retriever:
        retrieval = retriever.search(Query("会社法では取締役の任期は何年か"))
        reply = quoted_from(retriever, "会社法では取締役の任期は何年か")
    assert (retrieval.laws, retrieval.absent) == ((), ())
    assert reply.citations
