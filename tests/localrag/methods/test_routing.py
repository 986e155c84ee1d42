"""The way to search for a query, and the merged hits of several searches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import searches

from localrag.corpus.ingest.add import add
from localrag.corpus.types import ARTICLES, Locator, Passage
from localrag.corpus.workspace import Workspace
from localrag.methods.statute import Route, merged, route
from localrag.search.indexing.index import index
from localrag.search.types import Hit, Query

from ...rows import each

WORDS, MEANING, BOTH = Route(True, False), Route(False, True), Route(True, True)


@each(
    ("query", "way"),
    [
        ("凧揚げ規制法第三条第二項", WORDS),
        ("凧揚げ規制法 第３条の２", WORDS),
        ("凧揚げ規制法3条の趣旨", WORDS),
        ("附則第二条", WORDS),
        ("大凧の定義", MEANING),
        ("大凧とは何か", MEANING),
        ("大凧とは", MEANING),
        ("許可の取消しの趣旨", MEANING),
        ("meaning of large kite", MEANING),
        ("許可の有効期間", BOTH),
        ("同項の届出", BOTH),
        ("許可とはならない者", BOTH),
        ("第三章 罰則", BOTH),
        ("", BOTH),
    ],
)
def test_the_words_of_a_query_decide(query: str, way: Route) -> None:
    assert route(query) == way


def hit(name: str, rank: int) -> Hit:
    passage = Passage(f"L#{name}", "L", ARTICLES, "文", "法", Locator.parse(name), 0, 1)
    return Hit(passage, 1 / rank, rank, "lexical")


def test_hits_are_merged_by_rank_without_duplicates() -> None:
    first = [hit("1", 1), hit("2", 2), hit("3", 3)]
    second = [hit("9", 1), hit("3", 2), hit("1", 3)]
    found = merged([*first, *second])
    assert [(one.passage.id, one.rank) for one in found] == [
        ("L#1", 1),
        ("L#9", 2),
        ("L#2", 3),
        ("L#3", 4),
    ]


TITLES = ("独楽法", "独楽法第二条に規定する独楽の定義に関する内閣府令")


@pytest.fixture(scope="module")
def tops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an act, and an ordinance that cites it in its title."""
    folder = tmp_path_factory.mktemp("tops")
    for number, title in enumerate(TITLES, 1):
        (folder / f"597AC000000000{number}_21160401.xml").write_text(
            f'<Law Era="Reiwa" Lang="ja" LawType="Act" Num="{number}" Year="97">'
            f"<LawNum>令和九十七年法律第{number}号</LawNum><LawBody><LawTitle>{title}</LawTitle>"
            '<MainProvision><Article Num="2"><ArticleTitle>第二条</ArticleTitle>'
            '<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>独楽は、回る。'
            "</Sentence></ParagraphSentence></Paragraph></Article></MainProvision></LawBody></Law>",
            encoding="utf-8",
        )
    workspace = Workspace.locate(tmp_path_factory.mktemp("tops_home") / "home")
    workspace.init()
    add(workspace, "main", [folder])
    index(workspace, "main")
    return workspace.home


@each(
    ("query", "unknown"),
    [
        ("独楽法第二条", []),
        ("独楽法第二条、第三条及び第四条", []),
        ("独楽法第二条に規定する独楽の定義に関する内閣府令第九条", []),
        ("独楽法第二条及び独楽法第三条", []),
        ("同法第二条", []),
        ("独楽税法第一条及び第二条、独楽法第二条", ["独楽税法第一条"]),
        ("独楽法第二条、独楽税法第一条", ["独楽税法第一条"]),
    ],
)
def test_a_law_is_lacking_only_where_no_name_of_the_corpus_ends(
    play: Callable[..., Any], tops: Path, query: str, unknown: list[str]
) -> None:
    asked = Query("独楽は回るか。", ("回る", "回らない"))
    judged = {"reason": "甲", "verdict": "正しい"}
    chosen = {"reason": "甲", "label": "a"}
    replies = [searches(query), searches("独楽"), judged, judged, chosen]
    played = play("statute-options", asked, *replies, home=tops)
    told = [str(event) for event in played.trace.events if "not in the corpus" in str(event)]
    assert told == [f"the query cites {text}; its law is not in the corpus" for text in unknown]
