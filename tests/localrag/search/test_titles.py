"""Titles that stand in a text, and the pages they lead a search to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.types import TRIPLES
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.reading import Retrieval
from localrag.search.search import Titles
from localrag.search.types import Filters, Query

from ...rows import each

PAGES = {
    "The Ferry of Otowa": "The Ferry of Otowa is a silent film made by Anna Brandt in 1921.",
    "Anna Brandt (director)": "She was born in a mill at Lindau and painted before the war.",
    "Lindau": "A town on an island in a lake. Its harbour has a lighthouse.",
    "The Silver Oar": "The Silver Oar is a film of 1930 that was lost; a film of rivers.",
    "音羽の渡し": "音羽の渡しは、白糸川にかかる渡しである。船頭は水野源蔵であった。",
    "水野源蔵": "安政二年に生まれ、七十歳で没した。",
    "白糸川": "山に発して海に注ぐ。",
}


@pytest.fixture
def pages(home: Path, tmp_path: Path) -> Workspace:
    """A corpus of pages that name each other, searched by words."""
    workspace = Workspace.locate(home)
    workspace.init()
    path = tmp_path / "pages.jsonl"
    rows = [{"id": f"p{at}", "title": t, "text": PAGES[t]} for at, t in enumerate(PAGES)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    assert not add(workspace, "main", [path]).failed
    index(workspace, "main")
    return workspace


def searched(workspace: Workspace, question: str, filters: Filters | None = None) -> Retrieval:
    with Retriever.open(workspace, "main", load(workspace)) as retriever:
        return retriever.search(Query(question, filters=filters or Filters()))


def titles(*of_corpus: str, rare: Callable[[str], bool] = lambda _: True) -> Titles:
    return Titles(enumerate(of_corpus), rare)


def test_a_page_is_found_by_its_title_in_the_text_of_another(pages: Workspace) -> None:
    found = searched(pages, "Where was the maker of the silent film The Ferry of Otowa born?")
    first, second, *_ = found.hits
    assert first.passage.header.startswith("The Ferry of Otowa")
    assert second.passage.header.startswith("Anna Brandt")
    assert str(second.reason) == f"named in {first.passage.header}"
    assert second.stage == "expand"
    assert second.score < first.score


def test_it_needs_no_blanks_between_words(pages: Workspace) -> None:
    found = searched(pages, "音羽の渡しの船頭は何年に生まれたか。")
    headers = [hit.passage.header for hit in found.hits]
    assert headers[0] == "音羽の渡し"
    assert set(headers[1:3]) == {"水野源蔵", "白糸川"}


def test_it_can_be_switched_off(pages: Workspace, cli: Callable[..., Any]) -> None:
    question = "Where was the maker of the silent film The Ferry of Otowa born?"
    off = cli("--set", "retrieval.follow_titles=false", "search", question, "--json").json
    assert not [hit for hit in off["hits"] if hit["reason"]]
    on = cli("search", question, "--json").json
    assert on["hits"][1]["reason"] == "named in The Ferry of Otowa"


def test_filters_hold_for_pages_that_are_named(pages: Workspace) -> None:
    question = "Where was the maker of the silent film The Ferry of Otowa born?"
    (document,) = {
        hit.passage.document_id
        for hit in searched(pages, question).hits
        if hit.passage.header == "The Ferry of Otowa"
    }
    found = searched(pages, question, Filters(documents=(document,)))
    assert {hit.passage.document_id for hit in found.hits} == {document}
    assert not searched(pages, question, Filters(layers=(TRIPLES,))).hits


@each(
    ("text", "named"),
    [
        ("He moved to New York City in 1901.", ["New York City"]),
        ("He moved to New\nYork, then home.", ["New York"]),
        ("New Yorkers and Parisians met.", []),
        ("the Silver Oar sank", ["The Silver Oar"]),
        ("a paris of the mind", []),
        ("Ｐａｒｉｓ is wide.", ["Paris (France)"]),
        ("Paris and Paris", ["Paris (France)"]),
        ("東京都と京都府", []),
        ("東京は京都の東", ["東京", "京都"]),
        ("「ももたろう」を読む", ["ももたろう"]),
        ("", []),
    ],
)
def test_titles_stand_in_a_text_as_whole_words(text: str, named: list[str]) -> None:
    corpus = ("New York City", "New York", "The Silver Oar", "Paris (France)", "東京", "京都")
    every = (*corpus, "ももたろう")
    assert [every[key] for key in titles(*every).named_in(text, "")] == named


@each("title", ["It", "the", "report", "1901", "山", "", "()", "  ", "…", "#?!$"])
def test_what_is_no_name_leads_nowhere(title: str) -> None:
    text = f"It is the report of 1901: 山 () … #?!$ {title}"
    assert titles(title).named_in(text, "") == []


def test_what_is_common_in_the_corpus_leads_nowhere() -> None:
    common = titles("Film", "Lindau", rare=lambda name: name != "Film")
    assert common.named_in("Film of Lindau", "") == [1]


def test_a_text_does_not_name_its_own_page_or_one_with_its_title() -> None:
    pages = titles("梅雨", "梅雨 (気象)", "前線")
    assert pages.named_in("梅雨 は 前線 による。", "梅雨") == [2]


def test_documents_of_one_title_are_all_named() -> None:
    assert titles("前線", "前線").named_in("前線 が動く。", "") == [0, 1]
    assert titles(*["前線"] * 101).named_in("前線 が動く。", "") == []
