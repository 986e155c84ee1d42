from pathlib import Path

from localrag.answer.extractive import QUOTES, quotations
from localrag.answer.types import Answer, Status
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import open_answers
from localrag.sample import QUESTION
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.types import Query

from ...rows import each

ACT, ORDER = "599AC0000000001", "599CO0000000002"


def answer(query: Query, home: Path) -> Answer:
    workspace = Workspace.locate(home)
    with open_answers(workspace, "main", load(workspace)) as answerer:
        return answerer.answer(query)


def test_a_delegated_answer_quotes_the_act_and_the_order(sample_home: Path) -> None:
    reply = answer(Query(QUESTION), sample_home)
    assert reply.status is Status.QUOTED
    assert {f"{ACT}#8.1", f"{ORDER}#4.1"} <= {citation.passage_id for citation in reply.citations}
    assert "一・五メートル" in reply.text


def test_quotes_are_verbatim_and_located(sample_home: Path, retriever: Retriever) -> None:
    for question in (QUESTION, "鷺沼の渡しの運航期間はいつか。", "When did the observatory open?"):
        for citation in answer(Query(question), sample_home).citations:
            document_id = citation.passage_id.partition("#")[0]
            text = retriever.store.text(document_id, citation.start, citation.end)
            assert citation.verified
            assert text == citation.quote
            assert citation.label


def test_a_rule_is_never_quoted_without_its_proviso(sample_home: Path) -> None:
    reply = answer(Query("渡し守は基準を超えるとき渡し舟を運航してよいか。"), sample_home)
    rule = next(c for c in reply.citations if c.passage_id == f"{ACT}#8.1")
    assert "ただし、人命を救助するため" in rule.quote


def test_an_item_of_a_long_provision_comes_after_what_it_stands_under(home: Path) -> None:
    items = "\n".join(f"{n}　{'甲' * 150}{n}の書類" for n in "一二三四五六七八")
    law = {
        "law_id": "599AC0000000009",
        "date": "",
        "title": "書類法",
        "law_num": "令和九十九年法律第九号",
        "articles": [
            {
                "num": "1",
                "caption": "",
                "title": "第一条",
                "paragraphs": [{"num": "1", "text": f"次に掲げる書類を備える。\n{items}"}],
            }
        ],
    }
    reply = _answer_from(home, "laws.jsonl", _line(law), "備える五の書類とは何か。")
    stem, *items = reply.citations
    assert stem.quote == "第一条　次に掲げる書類を備える。"
    assert stem.label == "書類法 第一条 各号列記以外の部分"
    assert any(item.quote.startswith("五") for item in items)


def test_a_provision_of_usual_length_is_quoted_with_its_items(sample_home: Path) -> None:
    reply = answer(Query(QUESTION), sample_home)
    order = next(c for c in reply.citations if c.passage_id == f"{ORDER}#4.1")
    assert "一　水位" in order.quote
    assert "二　風速" in order.quote


def test_every_provision_that_the_question_names_is_quoted(sample_home: Path) -> None:
    law = "渡し舟の安全及び活用に関する法律"
    reply = answer(Query(f"{law}第三条と第十条の違いは何か。"), sample_home)
    assert {"599AC0000000001#3", "599AC0000000001#10"} <= {
        citation.passage_id.partition(".")[0] for citation in reply.citations
    }


def test_asking_what_a_term_means_quotes_its_definition_first(sample_home: Path) -> None:
    for question in ("渡し守とは何か。", "「渡し守」とはどういう者ですか。"):
        assert answer(Query(question), sample_home).citations[0].passage_id == f"{ACT}#2.4"


def test_nothing_stands_in_for_a_provision_that_is_missing(sample_home: Path) -> None:
    law = "渡し舟の安全及び活用に関する法律"
    reply = answer(Query(f"{law}第九百条は登録について何を定めるか。"), sample_home)
    assert reply.status is Status.NOT_FOUND
    assert reply.citations == ()
    assert any("第九百条" in str(event) for event in reply.trace.events)


@each(
    "question",
    [
        "量子コンピュータの誤り訂正符号の閾値はいくらか。",
        "What is the boiling point of tungsten hexafluoride?",
        "オリンピックの開会式に参加した選手団の人数",
        "あああああ",
    ],
)
def test_what_the_corpus_does_not_hold_is_not_found(sample_home: Path, question: str) -> None:
    reply = answer(Query(question), sample_home)
    assert reply.status is Status.NOT_FOUND
    assert (reply.text, reply.citations) == ("", ())
    assert reply.trace.stages


def test_the_number_of_quotations_is_bounded(retriever: Retriever) -> None:
    query = Query("渡し舟の安全及び活用について")
    found = retriever.search(query)
    assert len(quotations(retriever, found).citations) <= QUOTES


def test_the_sentence_that_offers_what_is_asked_comes_first(home: Path) -> None:
    text = (
        "霧見塔は丘の上に立つ塔である。霧見塔は石で造られ、灯台としても使われた。"
        "霧見塔が完成したのは1874年である。霧見塔の石は島から運ばれた。"
    )
    reply = _answer_from(home, "霧見塔.txt", text, "霧見塔が完成したのは何年か。")
    assert reply.citations[0].quote == "霧見塔が完成したのは1874年である。"


def test_a_sentence_that_refers_back_counts_what_it_refers_to(home: Path) -> None:
    text = (
        "霧見塔の周りでは春先に濃い海霧が何日も続くことがある。"
        "この海霧を島の人々は白幕と呼ぶ。霧見塔には鐘がある。"
    )
    question = "霧見塔の周りで春先に続く濃い海霧を何と呼ぶか。"
    reply = _answer_from(home, "霧見塔.txt", text, question)
    assert any("白幕" in citation.quote for citation in reply.citations[:2])


def _line(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False) + "\n"


def _answer_from(home: Path, name: str, text: str, question: str) -> Answer:
    workspace = Workspace.locate(home)
    workspace.init()
    (home / name).write_text(text, encoding="utf-8")
    add(workspace, "main", [home / name])
    index(workspace, "main")
    return answer(Query(question), home)
