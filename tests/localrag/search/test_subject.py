"""Triples are found by subject and predicate, and are searched and quoted like any passage."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder

from localrag.corpus.config import RetrievalConfig
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ALIAS, TRIPLES
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever, SearchModels
from localrag.search.ranking import Dense
from localrag.search.reading import Retrieval
from localrag.search.types import Filters, Query
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.manifest import current
from localrag_indexes.vectors import VectorIndex

from ...rows import each

KNOWN = [
    ("凪 (女優)", "生年月日", "1986年4月14日"),
    ("凪 (女優)", "職業", "女優"),
    ("凪 (女優)", "所属事務所", "渡し場"),
    ("凪 (女優)", ALIAS, "波野凪"),
    ("凪 (曲)", "作曲者", "黒澤濱子"),
    ("凪 (曲)", "発売日", "1999年9月9日"),
    ("黒澤濱子", "生年月日", "1936年2月20日"),
    ("霞ヶ丘灯台", "所在地", "霞町"),
]


def lines(known: list[tuple[str, str, str]]) -> str:
    return "".join(
        json.dumps({"subject": s, "predicate": p, "object": [o]}, ensure_ascii=False) + "\n"
        for s, p, o in known
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A corpus of triples and a note, with vectors; never write to it."""
    home = tmp_path_factory.mktemp("known") / "home"
    workspace = Workspace.locate(home)
    workspace.init()
    files = home.parent / "files"
    files.mkdir()
    (files / "known.jsonl").write_text(lines(KNOWN), encoding="utf-8")
    (files / "note.txt").write_text("凪の職業は女優だと書いてある。", encoding="utf-8")
    assert not add(workspace, "main", [files]).failed
    with HashingEmbedder() as embedder:
        index(workspace, "main", embedder=embedder)
    return workspace


@pytest.fixture
def by_words(made: Workspace) -> Iterator[Retriever]:
    with opened(made, SearchModels()) as retriever:
        yield retriever


@pytest.fixture
def by_meaning(made: Workspace) -> Iterator[Retriever]:
    folder = current(made.corpus("main").vectors)
    assert folder is not None
    vectors = VectorIndex.open(folder, model=HashingEmbedder().id)
    with opened(made, SearchModels(Dense(vectors, HashingEmbedder))) as retriever:
        yield retriever


def opened(workspace: Workspace, models: SearchModels) -> Retriever:
    place = workspace.corpus("main")
    folder = current(place.bm25)
    assert folder is not None
    store = CorpusStore.open(place.store, read_only=True)
    return Retriever(store, BM25Index.open(folder), RetrievalConfig(), models)


def said(found: Retrieval) -> list[str]:
    return [hit.passage.text for hit in found.hits]


def stages(found: Retrieval) -> list[str]:
    return [stage.stage for stage in found.trace.stages]


@each("subject", ["凪 (女優)", "凪（女優）", "『凪』", "波野 凪"])
@each("predicate", ["生年月日", "職業", "所属事務所"])
def test_what_agrees_in_subject_and_predicate_comes_first(
    by_meaning: Retriever, by_words: Retriever, subject: str, predicate: str
) -> None:
    for retriever in (by_meaning, by_words):
        found = retriever.known(subject, predicate, Query(f"{subject}の{predicate}は？"), 5)
        triple = found.hits[0].passage.triple
        assert triple is not None
        assert (triple.subject, triple.predicate) == ("凪 (女優)", predicate)


def test_a_name_that_means_two_is_told_apart_by_the_predicate(by_meaning: Retriever) -> None:
    found = by_meaning.known("凪", "作曲者", Query("凪の作曲者は？"), 3)
    assert said(found)[0] == "凪 (曲)の作曲者は黒澤濱子。"


def test_the_very_predicate_comes_before_one_that_means_the_same(home: Path) -> None:
    workspace = Workspace.locate(home)
    workspace.init()
    file = home / "same.jsonl"
    file.write_text(
        lines([("凪", "舟での最高位", "西"), ("凪", "舟最高位", "東")]), encoding="utf-8"
    )
    add(workspace, "main", [file])
    index(workspace, "main")
    with opened(workspace, SearchModels()) as retriever:
        for predicate, text in (("舟最高位", "東"), ("舟での最高位", "西")):
            found = retriever.known("凪", predicate, Query(f"凪の{predicate}は？"), 2)
            assert said(found)[0] == f"凪の{predicate}は{text}。"


def test_every_stage_is_recorded(by_meaning: Retriever) -> None:
    found = by_meaning.known("凪", "職業", Query("凪の職業は？"), 3)
    assert stages(found) == ["subject", "dense", "fuse"]
    assert len(found.hits) == 3
    assert found.trace.events == ()
    assert all(hit.passage.layer == TRIPLES for hit in found.hits)
    assert found.trace.stages[0].hits[0].passage.text == "凪 (女優)の職業は女優。"


def test_words_stand_in_for_the_meaning(by_words: Retriever) -> None:
    found = by_words.known("凪", "職業", Query("凪の職業は？"), 3)
    assert stages(found) == ["subject", "dense", "lexical", "fuse"]
    assert "BM25 replaces" in str(found.trace.events[0])
    assert all(hit.passage.layer == TRIPLES for hit in found.hits)


def test_an_unknown_subject_is_told_and_meaning_still_searches(by_words: Retriever) -> None:
    found = by_words.known("渦潮", "所在地", Query("渦潮の所在地は？"), 3)
    assert str(found.trace.events[0]) == "no subject of the corpus is named '渦潮'"
    assert said(found)[0] == "霞ヶ丘灯台の所在地は霞町。"


def test_filters_hold_for_triples_too(by_words: Retriever) -> None:
    nowhere = Query("凪の職業は？", filters=Filters(documents=("note.txt",)))
    assert by_words.known("凪", "職業", nowhere, 3).hits == ()


def test_a_query_without_a_word_is_refused(by_words: Retriever) -> None:
    with pytest.raises(UsageError):
        by_words.known("凪", "職業", Query("？"), 3)


def test_a_name_that_means_too_many_is_cut_and_told(home: Path) -> None:
    workspace = Workspace.locate(home)
    workspace.init()
    file = home / "many.jsonl"
    many = [(f"渚 ({n}番)", "種類", f"舟{n}") for n in range(25)]
    file.write_text(lines(many), encoding="utf-8")
    add(workspace, "main", [file])
    index(workspace, "main")
    with opened(workspace, SearchModels()) as retriever:
        found = retriever.known("渚", "種類", Query("渚の種類は？"), 30)
    assert len(found.trace.stages[0].hits) == 20
    assert "'渚' names 5 more subjects, not searched" in map(str, found.trace.events)


def test_triples_are_quoted_like_passages(
    made: Workspace, home: Path, cli: Callable[..., Any]
) -> None:
    shutil.copytree(made.home, home, dirs_exist_ok=True)
    asked = cli("ask", "凪の所属事務所は？", "--json")
    assert asked.json["status"] == "quoted"
    assert asked.json["citations"][0]["quote"] == "凪 (女優)の所属事務所は渡し場。"
    found = cli("search", "凪の職業", "--layer", "triples", "--json")
    assert found.json["hits"][0]["passage"]["id"] == "known.jsonl:1#2"
    shown = cli("show", "known.jsonl:1#2")
    assert "凪 (女優)の職業は女優。" in shown.out
