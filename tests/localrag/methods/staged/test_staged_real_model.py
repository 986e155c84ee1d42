"""`staged` run by real llama.cpp, with models of random weights for each of their tasks."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tiny_models.chat import write_chat_gguf

from localrag.answer.types import Answer, Stage, Status, Unanswered
from localrag.corpus.config import MethodConfig, load
from localrag.corpus.inference.opening import open_embedder
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import method
from localrag.search.indexing.index import index
from localrag.search.types import Query
from localrag_models.store import ModelStore

if TYPE_CHECKING:
    from tiny_models.encoder import TinyEncoder


@pytest.fixture(scope="module")
def workspace(
    staged_home: Path, tiny_encoder: "TinyEncoder", tmp_path_factory: pytest.TempPathFactory
) -> Workspace:
    """The invented world with vectors, an embedder, a reranker and a chat model."""
    home = tmp_path_factory.mktemp("real") / "home"
    shutil.copytree(staged_home, home)
    workspace = Workspace.locate(home)
    store = ModelStore(workspace.models)
    chat = home.with_name("tiny-qwen3.gguf")
    write_chat_gguf(chat, context=8192)
    store.add(chat, name="tiny")
    store.add(tiny_encoder.gguf, name="e5")
    store.add(tiny_encoder.reranker_gguf, name="reranker")
    workspace.settings.write_text(
        'chat.model = "tiny"\nchat.max_tokens = 1200\nchat.context = 8192\n'
        'chat.temperature = 1.0\nembedding.model = "e5"\nreranking.model = "reranker"\n'
        "runtime.threads = 1\n"
    )
    config = load(workspace)
    embedder = open_embedder(workspace, config)
    assert embedder is not None
    with embedder:
        index(workspace, "main", embedder=embedder)
    return workspace


@pytest.fixture(scope="module")
def resources(workspace: Workspace) -> Iterator[MethodResources]:
    with MethodResources(workspace, "main", load(workspace)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "stages"),
    [
        ("『青い灯台』の監督の生年月日はいつですか？", "1-2-3"),
        ("渡瀬市の市の花は何色ですか？", "2-1"),
        ("黒潮レンと青凪ハルはどちらが年上ですか？", "3"),
    ],
)
def test_whatever_a_model_replies_the_answer_says_what_carries_it(
    resources: MethodResources, question: str, stages: str
) -> None:
    settings = MethodConfig.model_validate({"stages": stages})
    answerer = Answerer(method("staged"), resources, settings=settings)
    answer: Answer | None = None
    try:
        answer = answerer.answer(Query(question))
        trace = answer.trace
    except Unanswered as failed:
        trace = failed.trace
    assert trace.calls[0].purpose == "decomposition"
    assert sum(not call.problem for call in trace.calls) <= method("staged").calls.most(0)
    if answer is None:
        assert all("cut short" in str(call.problem) for call in trace.calls[-2:])
        return
    assert bool(answer.text) is (answer.status is not Status.NOT_FOUND)
    assert bool(answer.doubts) is (answer.status is not Status.SUPPORTED)
    assert answer.derivation is not None
    asked = {tuple(Stage)[int(number) - 1] for number in stages.split("-")}
    assert {stage for step in answer.derivation.steps for stage in step.tried} <= asked


def test_meaning_and_reranking_take_part(
    staged: Callable[..., Any], split: Callable[..., Any], workspace: Workspace
) -> None:
    query = ("渡瀬市の市の花は何ですか？", "渡瀬市", "市の花")
    replies = [{"hit": 0, "object": ""}, {"hit": 0, "triple": None}]
    config = load(workspace)
    played = staged(
        query[0], split(query), *replies, config=config, home=workspace.home, stages="1-2"
    )
    assert not any(
        "BM25 replaces" in str(event) or "no model" in str(event) for event in played.trace.events
    )
    searched = [stage.stage for stage in played.trace.stages if stage.subject == "query 1"]
    assert searched == [
        "subject", "dense", "fuse", "rerank", "evidence",
        "dense", "lexical", "fuse", "rerank", "evidence",
    ]  # fmt: skip
