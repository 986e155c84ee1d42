"""What an overview tells of a corpus, with layers and without."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.scripted import ScriptedChat
from tiny_models.servers import OpenAIDouble

import localrag
from localrag.corpus.config import Config, EmbeddingConfig
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError
from localrag.prepare.layers import METADATA, MK_SUMMARIES, SYNTHETIC_QA, DerivedLayer
from localrag.prepare.measuring import Redundancy, redundancy
from localrag.prepare.preparing import prepare
from localrag.search.indexing.index import index

from ...prepared import prepared_texts


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
        assert found.by_model == {"subject"}
        assert [(one.name, one.rows, one.texts) for one in found.layers] == [
            (METADATA, 2, 0),
            (SYNTHETIC_QA, 2, 2),
            (MK_SUMMARIES, 2, 2),
        ]
        assert found.questions == 2
        assert found.redundancy is None
        assert [one.text for one in found.summaries] == [
            "Lake Anvil and the mill.",
            "The Otter Mill and the lake.",
        ]
        assert set(corpus.starting_questions(5)) == {
            "How deep is Lake Anvil?",
            "When was the Otter Mill built?",
        }
        assert corpus.starting_questions(1) == corpus.starting_questions(2)[:1]


def test_what_is_asked_for_in_python_may_be_written_in_one_text(prepared: Workspace) -> None:
    index(prepared, "main")
    with localrag.open(prepared.home, {"embedding.model": "off"}).corpus("main") as corpus:
        hits = corpus.search("Lake Mill", where="subject=water").hits
        assert [hit.passage.document_id for hit in hits] == ["lake.txt"]
        for wrong in ({"subject": [1]}, {"subject": 1}, "water"):
            with pytest.raises(UsageError) as raised:
                corpus.search("Lake Mill", where=wrong)  # type: ignore[arg-type]
            assert "kind" in raised.value.cure
        assert corpus.starting_questions(0) == ()
        with pytest.raises(UsageError):
            corpus.starting_questions(-1)


def test_the_command_shows_it(cli: Callable[..., Any], prepared: Workspace) -> None:
    home = ("--home", str(prepared.home), "--set", "embedding.model=off")
    shown = cli(*home, "overview", "main")
    assert shown.code == 0
    assert "subject (told by a model): water 1, building 1" in shown.out
    assert "kind: text 2" in shown.out
    assert "  How deep is Lake Anvil?" in shown.out
    told = json.loads(cli(*home, "overview", "--json").out)
    assert told["summaries"][0]["rests_on"] == [
        {"document": "lake.txt", "start": 0},
        {"document": "mill.txt", "start": 0},
    ]
    assert told["questions"] == 2
    assert told["facets_by_model"] == ["subject"]
    # The key of a category is a name, whatever the word means elsewhere.
    assert "subject（モデルによる）：" in cli("--lang", "ja", *home, "overview").out
    missing = cli(*home, "overview", "elsewhere")
    assert missing.code == 3


def test_a_hit_that_a_label_of_a_model_led_to_is_marked(
    cli: Callable[..., Any], prepared: Workspace
) -> None:
    index(prepared, "main")
    search = ("--home", str(prepared.home), "--set", "embedding.model=off", "search", "Lake Mill")
    both = ("--where", "subject=WATER", "--where", "kind=text")
    assert ", told by a model: subject=water)\n" in cli(*search, *both).out
    (hit,) = cli(*search, *both, "--json").json["hits"]
    assert hit["by_model"] == ["subject=water"]
    for hit in cli(*search, "--where", "kind=text", "--json").json["hits"]:
        assert hit["by_model"] == []


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


def test_after_a_dry_run_it_shows_what_there_is(
    cli: Callable[..., Any], prepared: Workspace
) -> None:
    # As a dry run leaves it, or a kill before the layers were indexed for the first time.
    shutil.rmtree(prepared.corpus("main").layer_words)
    home = ("--home", str(prepared.home), "--set", "embedding.model=off")
    shown = cli(*home, "overview")
    assert shown.code == 0, shown.err
    assert "It answers 2 questions, such as:" in shown.out
    behind = "Layers or documents have changed since the layers were indexed:"
    cure = "localrag prepare --corpus main --layers metadata,synthetic-qa,mk-summaries"
    assert f"{behind} {cure}" in " ".join(shown.out.split())
    told = json.loads(cli(*home, "overview", "--json").out)
    assert (told["changed_since_layers_indexed"], told["redundancy"]) == (True, None)


def test_the_cure_of_layers_that_are_not_indexed_names_these_alone(
    cli: Callable[..., Any], prepared: Workspace
) -> None:
    shutil.rmtree(prepared.corpus("main").layer_words)
    home = ("--home", str(prepared.home), "--set", "embedding.model=off")
    refused = cli(*home, "calibrate")
    assert refused.code == 2
    assert "made in part and not indexed: synthetic-qa." in refused.err
    assert "--layers synthetic-qa" in refused.err
    queries = cli(*home, "eval", "queries", str(prepared.home / "q.toml"))
    assert "--layers synthetic-qa" in queries.err
    assert "decontextualized" not in refused.err + queries.err


@pytest.mark.usefixtures("loopback")
def test_redundancy_of_an_earlier_time_is_not_shown(prepared: Workspace) -> None:
    with OpenAIDouble(embedder=HashingEmbedder()) as server:
        settings = {"embedding.model": "openai:tiny", "embedding.server": server.address}
        config = Config(embedding=EmbeddingConfig(model="openai:tiny", server=server.address))
        list(prepare(prepared, "main", config, [SYNTHETIC_QA], opener=lambda *_: ScriptedChat()))
        layer = DerivedLayer(prepared.corpus("main"), SYNTHETIC_QA)
        row, *_ = layer.standing()
        more = (*row.texts, row.texts[0]._replace(text="What is 90 metres deep?"))
        with layer.opened():
            layer.append(replace(row, texts=more))
        with localrag.open(prepared.home, settings).corpus("main") as corpus:
            found = corpus.overview()
    assert (found.questions, found.redundancy, found.layers_behind) == (3, None, True)


@pytest.mark.usefixtures("loopback")
def test_redundancy_is_told_where_questions_have_vectors(prepared: Workspace) -> None:
    with OpenAIDouble(embedder=HashingEmbedder()) as server:
        settings = {"embedding.model": "openai:tiny", "embedding.server": server.address}
        config = Config(embedding=EmbeddingConfig(model="openai:tiny", server=server.address))
        list(prepare(prepared, "main", config, [SYNTHETIC_QA], opener=lambda *_: ScriptedChat()))
        with localrag.open(prepared.home, settings).corpus("main") as corpus:
            shown = corpus.overview()
    assert shown.redundancy is not None
    assert (shown.redundancy.questions, shown.redundancy.clusters) == (2, 2)
    assert not shown.layers_behind
