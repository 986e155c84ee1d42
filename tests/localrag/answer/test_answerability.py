from dataclasses import replace
from pathlib import Path

import pytest

from localrag.answer.extractive import quotations
from localrag.answer.pieces import sentences_of
from localrag.answer.support import Answerability, answers
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.sample import QUESTION
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.query import NO_LAWS, analyzer
from localrag.search.question.everyday import EverydayWord
from localrag.search.reading import Reading, Retrieval
from localrag.search.types import Query, StageRecord, Trace

TOWER = (
    "霧見塔は丘の上に立つ塔である。霧見塔が完成したのは1874年である。霧見塔の石は島から運ばれた。"
)
ISLAND = "灯ヶ島は湾の中にある島である。島には石切り場があった。"


@pytest.fixture
def towers(home: Path) -> Retriever:
    workspace = Workspace.locate(home)
    workspace.init()
    for name, text in (("霧見塔.txt", TOWER), ("灯ヶ島.txt", ISLAND)):
        (home / name).write_text(text, encoding="utf-8")
        add(workspace, "main", [home / name])
    index(workspace, "main")
    return Retriever.open(workspace, "main", load(workspace))


def probability(retriever: Retriever, question: str) -> float:
    query = Query(question)
    return quotations(retriever, retriever.search(query)).probability


@pytest.mark.parametrize(
    ("answered", "beside_it"),
    [
        ("霧見塔が完成したのは何年か。", "霧見塔の初代の番人は誰か。"),
        ("霧見塔の石はどこから運ばれたか。", "霧見塔の入場料はいくらか。"),
        ("石切り場があった島はどこか。", "石切り場を経営した会社の名は何というか。"),
    ],
)
def test_what_answers_is_likelier_than_what_is_on_the_same_subject(
    towers: Retriever, answered: str, beside_it: str
) -> None:
    with towers:
        assert probability(towers, answered) > 0.5 > probability(towers, beside_it)


def test_nothing_is_quoted_where_no_text_answers(towers: Retriever) -> None:
    with towers:
        for question in ("量子計算機の誤り率はいくらか。", "What is the capital of Serbia?"):
            query = Query(question)
            found = quotations(towers, towers.search(query))
            assert found.citations == ()
            assert found.probability < 0.1


def test_signs_and_probability_are_shares(retriever: Retriever) -> None:
    for question in (QUESTION, "When did the observatory open?", "渡し守とは何か。", "あああ"):
        query = Query(question)
        found = quotations(retriever, retriever.search(query))
        assert 0 <= found.probability <= 1
        assert all(-1 <= value <= 1 for value in found.signs.values())


DISMISSED = Query("船頭のクビについて登録は要るか")


def phrase_found(retriever: Retriever) -> str:
    """Two words of the first passage found."""
    return " ".join(analyzer().terms(retriever.search(DISMISSED).hits[0].passage.text)[:2])


def signs_with(retriever: Retriever, *wordings: EverydayWord) -> dict[str, float]:
    """The signs of the first sentence found, where the question has these everyday words."""
    found = retriever.search(DISMISSED)
    passage = found.hits[0].passage
    reading = replace(found.reading, everyday=wordings)
    answerability = Answerability(
        replace(found, reading=reading), retriever.inverse_document_frequency
    )
    return answerability.signs(sentences_of(retriever.store, passage)[0], passage, 0.5)


def test_an_everyday_word_is_said_by_the_words_of_the_law(retriever: Retriever) -> None:
    in_law = signs_with(retriever, EverydayWord("クビ", 3, 5, (phrase_found(retriever),)))
    as_typed = signs_with(retriever)
    assert in_law["words"] > as_typed["words"]
    assert (in_law["names"], as_typed["names"]) == (1, 0)


def test_only_an_everyday_word_for_a_matter_of_law_tells_the_matter(retriever: Retriever) -> None:
    def matter(phrase: str, is_plain: bool) -> float:
        return signs_with(retriever, EverydayWord("クビ", 3, 5, (phrase,), is_plain))["matter"]

    phrase = phrase_found(retriever)
    assert matter(phrase, False) == 1
    assert matter("量子計算機", False) == 0
    assert matter(phrase, True) == 0.5


def test_nothing_found_is_no_answer(retriever: Retriever) -> None:
    query = Query("渡し守とは何か。")
    nothing = Retrieval((), Trace(), Reading(query))
    assert quotations(retriever, nothing).probability == 0
    assert answers(retriever, nothing, ()) == 0


def test_of_the_sentences_cited_the_likeliest_counts(towers: Retriever) -> None:
    query = Query("霧見塔が完成したのは何年か。")
    with towers:
        found = towers.search(query)
        hit = found.hits[0]
        wrong, right, _ = (
            (hit.passage, piece) for piece in sentences_of(towers.store, hit.passage)
        )
        alone = answers(towers, found, [right])
        assert alone == answers(towers, found, [wrong, right])
        assert alone > answers(towers, found, [wrong])


def test_a_passage_near_in_meaning_is_likelier_to_answer(towers: Retriever) -> None:
    query = Query("霧見塔が完成したのは何年か。")
    with towers:
        found = towers.search(query)
        best = quotations(towers, found)
        likely = []
        for cosine in (0.75, 0.95):
            hits = tuple(
                replace(hit, score=cosine if hit.rank == 1 else 0.8, stage="dense")
                for hit in found.hits
            )
            stages = (*found.trace.stages, StageRecord("dense", hits, 0.0))
            near = replace(found, trace=Trace(stages))
            likely.append(quotations(towers, near).probability)
        assert likely[0] < likely[1]
        assert best.signs.keys() < quotations(towers, near).signs.keys()


def test_a_passage_far_ahead_of_all_others_is_likelier_to_answer(retriever: Retriever) -> None:
    query = Query("渡し守とは何か。")
    found = retriever.search(query)
    first, *others = found.hits
    near, far = (
        replace(found, hits=(first, *(replace(hit, score=share * first.score) for hit in others)))
        for share in (0.99, 0.2)
    )
    assert others
    assert quotations(retriever, near).probability < quotations(retriever, far).probability


def test_the_law_that_is_named_speaks_for_its_provisions(retriever: Retriever) -> None:
    query = Query("渡し舟の安全及び活用に関する法律で登録は必要か")
    found = retriever.search(query)
    passage = found.hits[0].passage
    piece = sentences_of(retriever.store, passage)[0]
    named, unnamed = (
        Answerability(one, retriever.inverse_document_frequency).signs(piece, passage, 0.5)
        for one in (found, replace(found, reading=replace(found.reading, scope=NO_LAWS)))
    )
    assert (named["law"], unnamed["law"]) == (1, 0)
