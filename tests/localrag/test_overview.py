"""What an overview tells of a corpus, with layers and without."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.scripted import ScriptedChat
from tiny_models.servers import OpenAIDouble

import localrag
from localrag.config import Config, EmbeddingConfig
from localrag.prepare.layers import METADATA, MK_SUMMARIES, SYNTHETIC_QA
from localrag.prepare.preparing import prepare
from localrag.prepare.redundancy import Redundancy, redundancy
from localrag.workspace import Workspace

from ..prepared import prepared_texts


@pytest.fixture
def prepared(home: Path) -> Workspace:
    """A corpus of two texts, with all layers of documents."""
    return prepared_texts(home)


def test_without_layers_documents_are_counted(sample_home: Path) -> None:
    with localrag.open(sample_home).corpus("main") as corpus:
        found = corpus.overview()
        assert found.documents == len(corpus.documents())
        assert sum(found.facets["kind"].values()) == found.documents
        assert found.facets["ministry"]
        assert (found.layers, found.summaries, found.questions) == ((), (), 0)


def test_without_layers_terms_that_laws_define_are_asked_for(sample_home: Path) -> None:
    with localrag.open(sample_home).corpus("main") as corpus:
        questions = corpus.starting_questions()
        assert questions == corpus.overview().starting
        assert questions
        assert corpus.starting_questions(1) == questions[:1]
        for question in questions:
            term = question.partition("「")[2].partition("」")[0]
            answer = corpus.ask(question)
            assert any(term in citation.quote for citation in answer.citations)


def test_what_was_prepared_is_told(prepared: Workspace) -> None:
    with localrag.open(prepared.home, {"embedding.model": "off"}).corpus("main") as corpus:
        found = corpus.overview()
        assert found.facets["subject"] == {"water": 1, "building": 1}
        assert [(one.name, one.rows, one.texts) for one in found.layers] == [
            (METADATA, 2, 0),
            (SYNTHETIC_QA, 2, 2),
            (MK_SUMMARIES, 2, 2),
        ]
        assert found.questions == 2
        assert found.redundancy is None
        assert [one.text for one in found.summaries] == [
            "Depths and years.",
            "Depths and years of texts.",
        ]
        assert set(corpus.starting_questions(5)) == {
            "How deep is Lake Anvil?",
            "When was the Otter Mill built?",
        }
        assert corpus.starting_questions(1) == corpus.starting_questions(2)[:1]


def test_the_command_shows_it(cli: Callable[..., Any], prepared: Workspace) -> None:
    home = ("--home", str(prepared.home), "--set", "embedding.model=off")
    shown = cli(*home, "overview", "main")
    assert shown.code == 0
    assert "subject: building 1, water 1" in shown.out or "subject: water 1" in shown.out
    assert "  How deep is Lake Anvil?" in shown.out
    told = json.loads(cli(*home, "overview", "--json").out)
    assert told["summaries"][0]["rests_on"] == [
        {"document": "lake.txt", "start": 0},
        {"document": "mill.txt", "start": 0},
    ]
    assert told["questions"] == 2
    missing = cli(*home, "overview", "elsewhere")
    assert missing.code == 3


def test_values_are_told_in_the_language_of_the_interface(
    cli: Callable[..., Any], sample_home: Path
) -> None:
    shown = cli("--home", str(sample_home), "--lang", "ja", "overview").out
    assert "種別：" in shown
    assert "政令 1" in shown
    assert "CabinetOrder" not in shown
    assert "CabinetOrder 1" in cli("--home", str(sample_home), "overview").out


def test_questions_that_are_near_each_other_are_one_cluster() -> None:
    embedder = HashingEmbedder()
    texts = ["how deep is the lake", "how deep is the lake", "when was the mill built", "x y z"]
    vectors = embedder.embed_passages(texts)
    assert redundancy(vectors, 0.9) == Redundancy(4, 3, 2, 0.9)
    assert redundancy(vectors, 0.9).share == pytest.approx(0.25)
    assert redundancy(vectors, -1).clusters == 1
    assert redundancy(vectors[:0]) == Redundancy(0, 0, 0, 0.95)


@pytest.mark.usefixtures("loopback")
def test_redundancy_is_told_where_questions_have_vectors(prepared: Workspace) -> None:
    with OpenAIDouble(embedder=HashingEmbedder()) as server:
        settings = {"embedding.model": "openai:tiny", "embedding.server": server.address}
        config = Config(embedding=EmbeddingConfig(model="openai:tiny", server=server.address))
        prepare(prepared, "main", config, [SYNTHETIC_QA], opener=lambda *_: ScriptedChat())
        with localrag.open(prepared.home, settings).corpus("main") as corpus:
            found = corpus.overview().redundancy
    assert found is not None
    assert (found.questions, found.clusters) == (2, 2)
