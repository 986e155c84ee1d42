"""Words, meaning and rereading join, and each can be left out."""

import json
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.servers import OpenAIDouble

from localrag.corpus.config import RetrievalConfig, load
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import IndexUnusable, UsageError
from localrag.search.indexing.index import index
from localrag.search.pipeline import Retriever
from localrag.search.ranking import ADAPTER, PROBE, Dense
from localrag.search.reading import Retrieval
from localrag.search.types import Query
from localrag.search.units import fuse
from localrag.text.facts import Fact, FactKind
from localrag_indexes.manifest import current
from localrag_indexes.vectors import VectorIndex
from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.embedding import Prefixes
from localrag_models.store import ModelStore

from ...rows import each

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tiny_models.encoder import TinyEncoder

ACT, ORDER = "599AC0000000001", "599CO0000000002"
QUESTION = "渡し守の資格は何か。"


@pytest.fixture(scope="module")
def hybrid_home(
    sample_home: Path, tiny_encoder: "TinyEncoder", tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The sample corpus with vectors, an embedder and a reranker; never write to it."""
    from localrag.corpus.config import load
    from localrag.corpus.inference.opening import open_embedder

    home = tmp_path_factory.mktemp("hybrid") / "home"
    shutil.copytree(sample_home, home)
    workspace = Workspace.locate(home)
    store = ModelStore(workspace.models)
    store.add(tiny_encoder.gguf, name="e5")
    store.add(tiny_encoder.reranker_gguf, name="reranker")
    text = workspace.settings.read_text(encoding="utf-8")
    head, embedding, tail = text.partition("[embedding]")
    tail = tail.replace('#model = ""', 'model = "e5"', 1)
    tail = tail.replace("#threads = 0", "threads = 1")
    workspace.settings.write_text(head + embedding + tail, encoding="utf-8")
    embedder = open_embedder(workspace, load(workspace))
    assert embedder is not None
    with embedder:
        index(workspace, "main", embedder=embedder)
    return home


@pytest.fixture
def hybrid(hybrid_home: Path, home: Path) -> Workspace:
    shutil.copytree(hybrid_home, home)
    return Workspace.locate(home)


def stages(found: Any) -> list[str]:
    return [stage["stage"] for stage in found["trace"]]


def stage(found: Any, name: str) -> Any:
    return next(stage for stage in found["trace"] if stage["stage"] == name)


def ids(stage: Any) -> list[str]:
    return [hit["passage_id"] for hit in stage["hits"]]


def test_meaning_joins_where_there_are_vectors(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    outcome = cli("search", QUESTION, "--json")
    assert outcome.code == 0, outcome.err
    assert stages(outcome.json) == ["resolve", "lexical", "dense", "fuse", "expand"]
    dense = stage(outcome.json, "dense")
    scores = [hit["score"] for hit in dense["hits"]]
    assert len(scores) == 10
    assert scores == sorted(scores, reverse=True)
    assert set(ids(stage(outcome.json, "fuse"))) & set(ids(dense))


def test_each_way_can_be_left_out_for_one_question(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    words = cli("search", QUESTION, "--json", "--no-dense").json
    assert stage(words, "dense") == {
        "stage": "dense",
        "seconds": stage(words, "dense")["seconds"],
        "hits": [],
        "events": [
            {
                "kind": "dense-off",
                "fields": {"setting": "retrieval.dense"},
                "words": "search by meaning is switched off (retrieval.dense)",
            }
        ],
        "subject": "",
        "query": "",
        "wordings": [],
    }
    meaning = cli("search", QUESTION, "--json", "--no-lexical").json
    assert stage(meaning, "lexical")["hits"] == []
    assert ids(stage(meaning, "fuse")) == ids(stage(meaning, "dense"))
    outcome = cli("search", QUESTION, "--no-lexical", "--no-dense")
    assert outcome.code == 2
    assert "retrieval.lexical" in outcome.err


def test_what_is_switched_off_is_said(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    assert "switched off" in cli("search", QUESTION, "--no-dense").err
    assert "note:" not in cli("search", QUESTION).err


def test_filters_hold_for_meaning(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    found = cli("search", QUESTION, "--json", "--no-lexical", "--law", ORDER).json
    assert found["hits"]
    assert all(found.startswith(ORDER) for found in ids(stage(found, "dense")))


def test_a_reranker_rereads_the_best(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    one = ("--set", "reranking.model=reranker")
    found = cli(*one, "search", QUESTION, "--json").json
    assert stages(found) == ["resolve", "lexical", "dense", "fuse", "rerank", "expand"]
    reread = cli(*one, "--set", "retrieval.rerank_depth=3", "search", QUESTION, "--json").json
    fused, reranked = (ids(stage(reread, name)) for name in ("fuse", "rerank"))
    assert set(reranked[:3]) == set(fused[:3])
    assert reranked[3:] == fused[3:], "what was not reread keeps its order, below"
    assert "rerank" not in stages(cli(*one, "search", QUESTION, "--json", "--no-rerank").json)


def test_reranking_without_a_model_is_refused(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    outcome = cli("search", QUESTION, "--rerank")
    assert outcome.code == 2
    assert "reranking.model" in outcome.err


def test_a_question_too_long_to_reread_is_said(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    outcome = cli("--set", "reranking.model=reranker", "search", "渡し守の資格。" * 200)
    assert outcome.code == 0
    assert "not reranked" in outcome.err


def test_another_model_is_noticed_at_once(
    hybrid: Workspace, tiny_encoder: "TinyEncoder", cli: Callable[..., Any]
) -> None:
    ModelStore(hybrid.models).add(tiny_encoder.sentence_transformers, name="other")
    outcome = cli("--set", "embedding.model=other", "search", QUESTION)
    assert outcome.code == 5
    assert "localrag index --corpus main" in outcome.err
    assert "other@" in outcome.err
    assert cli("--set", "embedding.model=other", "search", QUESTION, "--no-dense").code == 0


def test_a_model_that_is_gone_is_named_with_its_cure(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    ModelStore(hybrid.models).remove("e5")
    outcome = cli("search", QUESTION)
    assert outcome.code == 8
    assert "'e5' is not installed" in outcome.err
    assert cli("search", QUESTION, "--no-dense").code == 0


def test_the_one_embedder_installed_takes_part_unnamed(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    outcome = cli("--set", "embedding.model=", "search", QUESTION, "--json")
    assert stage(outcome.json, "dense")["hits"]
    assert outcome.err == ""


def test_off_switches_off_whatever_is_installed(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    outcome = cli("--set", "embedding.model=off", "search", QUESTION, "--json")
    assert stage(outcome.json, "dense")["hits"] == []
    assert "switched off (embedding.model)" in str(stage(outcome.json, "dense")["events"])
    assert cli("--set", "embedding.model=off", "index").out.endswith("the index is up to date\n")
    assert cli("--set", "embedding.model=off", "search", "--dense", QUESTION).code == 2


def test_of_two_embedders_none_is_chosen_and_it_is_said(
    hybrid: Workspace, cli: Callable[..., Any], tiny_encoder: "TinyEncoder"
) -> None:
    ModelStore(hybrid.models).add(tiny_encoder.gguf, name="other")
    outcome = cli("--set", "embedding.model=", "search", QUESTION)
    assert outcome.code == 0
    assert "searched by words only" in outcome.err
    assert "note:" not in cli("search", QUESTION).err


def test_vectors_of_another_model_do_not_stop_a_search_that_named_none(
    hybrid: Workspace, cli: Callable[..., Any], tiny_encoder: "TinyEncoder"
) -> None:
    store = ModelStore(hybrid.models)
    store.remove("e5")
    store.add(tiny_encoder.sentence_transformers, name="other")
    outcome = cli("--set", "embedding.model=", "search", QUESTION)
    assert outcome.code == 0
    assert "searched by words only; make them again with localrag index" in outcome.err
    assert cli("--set", "embedding.model=", "search", "--dense", QUESTION).code == 5


def test_an_embedder_whose_runtime_is_missing_is_not_chosen(
    hybrid: Workspace, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag_models.runtimes.find_spec", lambda _: None)
    outcome = cli("--set", "embedding.model=", "search", QUESTION)
    assert outcome.code == 0
    assert "searched by words only" in outcome.err


def test_a_model_of_another_kind_is_refused(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    outcome = cli("--set", "embedding.model=reranker", "search", QUESTION)
    assert outcome.code == 8
    assert "of kind reranker, not embedder" in outcome.err


def test_a_damaged_vector_file_is_no_crash(hybrid: Workspace, cli: Callable[..., Any]) -> None:
    for path in hybrid.corpus("main").vectors.rglob("*.npy"):
        path.write_bytes(path.read_bytes()[:-10])
    outcome = cli("search", QUESTION)
    assert outcome.code == 5
    assert "localrag index --corpus main --rebuild" in outcome.err


def test_a_removed_document_vanishes_from_meaning_at_once(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    assert cli("remove", ORDER).code == 0
    found = cli("search", QUESTION, "--json", "--no-lexical").json
    assert found["hits"]
    assert not [one for one in ids(stage(found, "dense")) if one.startswith(ORDER)]


def test_every_way_is_measured(hybrid: Workspace, tmp_path: Path, cli: Callable[..., Any]) -> None:
    path = tmp_path / "questions.jsonl"
    line = json.dumps({"question": QUESTION, "relevant": [f"{ORDER}#3"]}, ensure_ascii=False)
    path.write_text(f"{line}\n" * 10, encoding="utf-8")
    outcome = cli("--set", "reranking.model=reranker", "tune-retrieval", str(path), "--json")
    assert outcome.code == 0, outcome.err
    names = [trial["name"] for trial in outcome.json["trials"]]
    assert names == [
        "words",
        "meaning",
        "words + meaning 2:1",
        "words + meaning 1:1",
        "words + meaning 1:2",
        "words + meaning by ranks",
        "words, reread",
        "meaning, reread",
        "words + meaning 2:1, reread",
        "words + meaning 1:1, reread",
        "words + meaning 1:2, reread",
        "words + meaning by ranks, reread",
    ]
    assert outcome.json["chosen"]["name"] == "words", "random vectors cannot be better"


def test_the_chosen_way_becomes_the_default_of_this_corpus_alone(
    hybrid: Workspace, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    path = tmp_path / "questions.jsonl"
    line = json.dumps({"question": QUESTION, "relevant": [f"{ORDER}#3"]}, ensure_ascii=False)
    path.write_text(f"{line}\n" * 10, encoding="utf-8")
    assert cli("tune-retrieval", str(path), "--apply").code == 0
    shown = {setting["key"]: setting for setting in cli("config", "--json").json}
    assert shown["retrieval.dense"]["value"] == "off"
    assert shown["retrieval.dense"]["source"] == "main/settings.toml"
    assert shown["retrieval.rerank"]["source"] == "default", "there was no reranker to try"
    other = {setting["key"]: setting for setting in cli("config", "-c", "x", "--json").json}
    assert other["retrieval.dense"]["value"] == "auto"
    assert stage(cli("search", QUESTION, "--json").json, "dense")["hits"] == []


def test_the_doctor_looks_at_models_and_vectors(
    hybrid: Workspace, tiny_encoder: "TinyEncoder", cli: Callable[..., Any]
) -> None:
    findings = {f["check"]: f for f in cli("doctor", "--json").json}
    assert findings["model e5"]["health"] == "good"
    assert findings["embedding.model"]["health"] == "good"
    assert findings["vectors main"]["health"] == "good"
    ModelStore(hybrid.models).add(tiny_encoder.sentence_transformers, name="other")
    other = cli("--set", "embedding.model=other", "doctor", "--json").json
    vectors = next(finding for finding in other if finding["check"] == "vectors main")
    assert (vectors["health"], vectors["cure"]) == ("broken", "localrag index --corpus main")
    ModelStore(hybrid.models).remove("e5")
    findings = {f["check"]: f for f in cli("doctor", "--json").json}
    assert findings["embedding.model"]["health"] == "broken"


@each(
    ("words", "meaning", "fused"),
    [
        ({}, {}, {}),
        ({"a": 4.0, "b": 1.0}, {}, {"a": 1.0, "b": 0.25}),
        ({}, {"a": 0.5, "b": 0.4}, {"a": 1.0, "b": 0.8}),
        # b: (1/4 + 1) / 2, a: 1 / 2.
        ({"a": 4.0, "b": 1.0}, {"b": 0.9}, {"b": 1.0, "a": 0.8}),
        # Cosines are measured from the least of them, words from none: a 1, b (3/4 + 1/2) / 2, c 0.
        (
            {"a": 4.0, "b": 3.0},
            {"a": 0.90, "b": 0.85, "c": 0.80},
            {"a": 1.0, "b": 0.625, "c": 0.0},
        ),
    ],
)
def test_two_rankings_are_fused_by_their_scores_and_one_keeps_its_own(
    words: dict[str, float], meaning: dict[str, float], fused: dict[str, float]
) -> None:
    assert fuse(words, meaning, RetrievalConfig()) == pytest.approx(fused)


def test_rankings_can_be_fused_by_their_ranks() -> None:
    settings = RetrievalConfig(fusion="ranks")
    fused = fuse({"a": 4.0, "b": 1.0}, {"b": 0.9}, settings)
    assert fused == pytest.approx({"b": 1.0, "a": (1 / 61) / (1 / 62 + 1 / 61)})


@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_the_weights_hold_whatever_is_fused(fusion: Literal["scores", "ranks"]) -> None:
    words, meaning = {"a": 4.0, "b": 1.0}, {"b": 0.9, "a": 0.8}
    for_words = RetrievalConfig(fusion=fusion, lexical_weight=2.0)
    for_meaning = RetrievalConfig(fusion=fusion, dense_weight=8.0)
    assert fuse(words, meaning, for_words)["a"] == 1
    assert fuse(words, meaning, for_meaning)["b"] == 1


@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_of_provisions_the_words_tell_more(fusion: Literal["scores", "ranks"]) -> None:
    words, meaning = {"a": 4.0, "b": 0.2}, {"b": 0.9, "a": 0.8}
    settings = RetrievalConfig(fusion=fusion, dense_weight=1.2)
    assert fuse(words, meaning, settings)["b"] == 1
    assert fuse(words, meaning, settings, provisions=True)["a"] == 1


def test_what_the_search_is_fused_by_is_a_setting(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    by_scores = stage(cli("search", QUESTION, "--json").json, "fuse")["hits"]
    by_ranks = cli("--set", "retrieval.fusion=ranks", "search", QUESTION, "--json").json
    assert [hit["score"] for hit in stage(by_ranks, "fuse")["hits"]] != [
        hit["score"] for hit in by_scores
    ]
    refused = cli("--set", "retrieval.fusion=both", "search", QUESTION)
    assert refused.code == 2
    assert "'scores', 'ranks'" in refused.err


def test_a_damaged_pointer_does_not_cost_the_vectors(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    (hybrid.corpus("main").vectors / "current").write_bytes(b"g-xx")
    found = cli("search", QUESTION, "--json").json
    assert stage(found, "dense")["hits"]


def test_indexing_finds_damage_that_sizes_do_not_show(
    hybrid: Workspace, cli: Callable[..., Any]
) -> None:
    (keys,) = hybrid.corpus("main").vectors.rglob("keys.npy")
    keys.write_bytes(bytes(keys.stat().st_size))
    outcome = cli("search", QUESTION)
    assert outcome.code == 5
    assert "pickle" not in outcome.err
    assert cli("index").code == 0
    assert cli("search", QUESTION).code == 0


@pytest.mark.parametrize("model", ["openai:x", "ollama:"])
def test_a_model_that_cannot_embed_is_refused_by_its_whole_name(
    hybrid: Workspace, cli: Callable[..., Any], model: str
) -> None:
    outcome = cli("--set", f"embedding.model={model}", "search", QUESTION)
    assert outcome.code == 8
    assert repr(model) in outcome.err


def test_a_server_of_openais_protocol_embeds_for_the_index_and_the_search(
    sample: Path, cli: Callable[..., Any], tiny_encoder: "TinyEncoder", loopback: None
) -> None:
    with (
        LlamaCppEmbedder(tiny_encoder.gguf, prefixes=Prefixes(), threads=1) as inside,
        OpenAIDouble(embedder=inside, context=512) as server,
    ):
        settings = {"embedding.model": "openai:tiny", "embedding.server": server.address}
        options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        assert cli(*options, "index").code == 0
        assert stage(cli(*options, "search", QUESTION, "--json").json, "dense")["hits"]
        assert "embedding.server" not in cli(*options, "doctor").out
        unknown = cli("--set", "embedding.model=openai:x", *options[2:], "doctor")
        # The same vectors, but the server now says the family, and so the prefixes.
        with OpenAIDouble(embedder=inside, context=512, weights="cl-nagoya/ruri-v3-30m") as ruri:
            options[-1] = f"embedding.server={ruri.address}"
            refused = cli(*options, "search", QUESTION)
            own = (
                '[tiny]\nkind = "embedder"\nformat = "gguf"\nrepository = "a/b"\n'
                'file = "c.gguf"\nsize = 1\nlicence = "MIT"'
            )
            (sample / "models.toml").write_text(own, "utf-8")
            without_prefixes = cli(*options, "search", QUESTION)
    assert unknown.code != 0
    assert "embedding.model or reranking.model to openai:tiny." in unknown.out + unknown.err
    assert refused.code == 5
    assert "localrag index" in refused.err
    assert without_prefixes.code == 0, "the user's own entry says that it has none"


def test_an_embedder_of_another_dimension_is_refused(hybrid: Workspace) -> None:
    folder = current(hybrid.corpus("main").vectors)
    assert folder is not None
    vectors = VectorIndex.open(folder)
    other = HashingEmbedder(dimension=vectors.dimension + 1)
    dense = Dense(vectors, lambda: other)
    with (
        CorpusStore.open(hybrid.corpus("main").store, read_only=True) as store,
        pytest.raises(IndexUnusable, match=r"have 32 numbers, .* have 33") as caught,
    ):
        dense.search(store, Query(QUESTION))
    assert caught.value.cure == "localrag index --rebuild"
    dense.close()


class Embedder384(HashingEmbedder):
    """An embedder in which one question has a given vector, and another.

    Args:
        vectors: of texts; all others are hashed.
    """

    def __init__(self, vectors: dict[str, "NDArray[np.float32]"]) -> None:
        super().__init__(dimension=384)
        self._vectors = vectors

    def _vector(self, text: str) -> "NDArray[np.float32]":
        return self._vectors[text] if text in self._vectors else super()._vector(text)


@pytest.mark.parametrize("fits", [True, False])
def test_the_vector_of_a_question_is_turned_for_the_embedder_that_the_matrix_fits(
    sample: Path, *, fits: bool
) -> None:
    with as_file(files("localrag.search").joinpath(ADAPTER)) as path, np.load(path) as stored:
        matrix, probe = stored["matrix"].astype(np.float32), stored["probe"]
    workspace = Workspace.locate(sample)
    place = workspace.corpus("main")
    embedder = Embedder384({PROBE: probe if fits else -probe})
    index(workspace, "main", embedder=embedder)
    vectors = VectorIndex.open(current(place.vectors) or place.vectors)
    # The question that the matrix turns to the first text.
    asked = np.linalg.solve(matrix, vectors.vectors[0])
    embedder = Embedder384(
        {PROBE: probe if fits else -probe, QUESTION: asked / np.linalg.norm(asked)}
    )
    dense = Dense(vectors, lambda: embedder)
    with CorpusStore.open(place.store, read_only=True) as store:
        as_embedded = dense.search(store, Query(QUESTION))
        turned = dense.search(store, Query(QUESTION), provisions=True)
    dense.close()
    assert (turned != as_embedded) == fits
    assert (max(turned.values()) == pytest.approx(1, abs=1e-3)) == fits


@pytest.fixture
def bare(hybrid: Workspace) -> Iterator[Retriever]:
    """The corpus with vectors, and with a reranker."""
    config = load(hybrid, {"reranking.model": "reranker"})
    with Retriever.open(hybrid, "main", config) as retriever:
        yield retriever


def found(retrieval: Retrieval) -> list[str]:
    return [hit.passage.id for hit in retrieval.hits]


@pytest.mark.parametrize(
    ("words", "meaning", "expected"),
    [
        (True, False, ["lexical"]),
        (False, True, ["dense"]),
        (True, True, ["dense", "lexical", "fuse"]),
    ],
)
def test_bare_search_runs_the_stages_asked_for_and_no_other(
    bare: Retriever, words: bool, meaning: bool, expected: list[str]
) -> None:
    retrieval = bare.rank(Query(QUESTION), 5, words=words, meaning=meaning)
    assert [stage.stage for stage in retrieval.trace.stages] == expected
    assert retrieval.hits == retrieval.trace.stages[-1].hits
    assert len(retrieval.hits) == 5


def test_bare_search_names_no_provision(bare: Retriever) -> None:
    cited = Query("渡し舟法第八条の定めは何か。")
    assert not bare.rank(cited, 5, words=True, meaning=True).reading.named


def test_words_stand_in_for_the_meaning_and_it_is_said(retriever: Retriever) -> None:
    by_meaning = retriever.rank(Query(QUESTION), 5, words=False, meaning=True)
    by_words = retriever.rank(Query(QUESTION), 5, words=True, meaning=False)
    assert found(by_meaning) == found(by_words)
    assert by_meaning.trace.events == (Fact(FactKind.WORDS_FOR_MEANING),)
    assert not by_words.trace.events


def test_hits_are_reread(bare: Retriever) -> None:
    hits = bare.rank(Query(QUESTION), 8, words=True, meaning=False).hits
    retrieval = bare.rerank(Query(QUESTION), hits, 3)
    (stage,) = retrieval.trace.stages
    assert stage.stage == "rerank"
    assert [hit.rank for hit in retrieval.hits] == [1, 2, 3]
    assert set(found(retrieval)) <= {hit.passage.id for hit in hits}
    scores = [hit.score for hit in retrieval.hits]
    assert scores == sorted(scores, reverse=True)


def test_without_a_reranker_hits_keep_their_order_and_it_is_said(retriever: Retriever) -> None:
    hits = retriever.rank(Query(QUESTION), 8, words=True, meaning=False).hits
    retrieval = retriever.rerank(Query(QUESTION), hits[::-1], 8)
    assert found(retrieval) == [hit.passage.id for hit in hits[::-1]]
    assert retrieval.trace.events == (Fact(FactKind.NO_RERANKER),)


def test_bare_search_refuses_what_is_no_question(retriever: Retriever) -> None:
    with pytest.raises(UsageError, match="no word"):
        retriever.rank(Query("。。。"), 5, words=True, meaning=False)
