"""Provisions are found by the questions that people ask of them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.answer.extractive import quotations
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.types import Locator
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import IndexState, index, index_state
from localrag.search.pipeline import Retriever
from localrag.search.question import everyday
from localrag.search.question.everyday import predicted_questions
from localrag.search.types import Filters, Query

CIVIL, FERRY = "129AC0000000089", "599AC0000000024"
LAWS = {
    (CIVIL, "民法", "明治二十九年法律第八十九号"): {
        "5": (
            "未成年者の法律行為",
            [
                "未成年者が法律行為をするには、その法定代理人の同意を得なければならない。",
                "前項の規定に反する法律行為は、取り消すことができる。",
            ],
        ),
        "9": ("成年被後見人の法律行為", ["成年被後見人の法律行為は、取り消すことができる。"]),
    },
    (FERRY, "渡船場法", "令和九十九年法律第二十四号"): {
        "1": ("目的", ["この法律は、渡船場の安全を図ることを目的とする。"]),
        "5": ("掲示", ["渡船場の管理者は、見やすい場所に運賃を掲示しなければならない。"]),
    },
}


@pytest.mark.parametrize("place", [Locator(article="5"), Locator(article="9")])
def test_a_question_of_a_layman_leads_to_its_provision(laws: Retriever, place: Locator) -> None:
    for question in predicted_questions(f"{CIVIL}#{place.path}"):
        found = laws.search(Query(question))
        assert found.hits[0].passage.id == f"{CIVIL}#{place.path}", question


def test_what_is_found_so_is_quoted(laws: Retriever) -> None:
    found = laws.search(
        Query("中学生の息子が親に黙って高いスマホを買ってきた。なかったことにできる？")
    )
    citation = quotations(laws, found).citations[0]
    assert citation.passage_id.startswith(f"{CIVIL}#5")
    assert citation.verified


def test_filters_hold_for_what_is_found_so(laws: Retriever) -> None:
    question = predicted_questions(f"{CIVIL}#5")[0]
    found = laws.search(Query(question, filters=Filters(documents=(FERRY,))))
    assert {hit.passage.document_id for hit in found.hits} <= {FERRY}


def test_published_searches_by_words_know_no_such_questions(laws: Retriever) -> None:
    found = laws.rank(Query("親に黙って高いスマホを買ってきた"), words=True, meaning=False)
    assert f"{CIVIL}#5" not in [hit.passage.id for hit in found.hits]


def test_every_line_has_a_law_an_article_and_a_question_of_its_own() -> None:
    path = Path(everyday.__file__).with_name("predicted_questions.tsv")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(set(lines)) == len(lines)
    assert all(line.count("\t") == 2 and all(line.split("\t")) for line in lines)
    laws = [line.split("\t")[0] for line in lines]
    assert laws == sorted(laws)


@pytest.fixture
def home(tmp_path: Path, open_statutes: Callable[..., Retriever]) -> Workspace:
    open_statutes(tmp_path, LAWS).close()
    return Workspace.locate(tmp_path)


def test_beside_pages_what_is_asked_of_a_page_stays_first(home: Workspace, tmp_path: Path) -> None:
    page = tmp_path / "青凪ハル.md"
    page.write_text(
        "青凪ハルは中学生の息子とゲームを作り、十万円の賞金を使った。", encoding="utf-8"
    )
    add(home, "main", [page])
    index(home, "main")
    with Retriever.open(home, "main", load(home)) as retriever:
        found = retriever.search(Query("青凪ハルの中学生の息子がゲームに使ったものは"))
    assert found.hits[0].passage.document_id == page.name


def test_other_questions_leave_the_index_behind(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index_state(home, "main", deep=True) is IndexState.FRESH
    monkeypatch.setattr("localrag.search.units.predicted_fingerprint", lambda: "other")
    assert index_state(home, "main") is IndexState.BEHIND


def test_an_index_without_questions_answers_and_is_completed(home: Workspace) -> None:
    place = home.corpus("main")
    shutil.rmtree(place.questions)
    assert index_state(home, "main") is IndexState.BEHIND
    assert not index(home, "main").skipped
    assert index_state(home, "main", deep=True) is IndexState.FRESH
