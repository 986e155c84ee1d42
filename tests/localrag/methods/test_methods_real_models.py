"""Every method run by real llama.cpp, with models of random weights for each of their tasks."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tiny_models.chat import write_chat_gguf
from tiny_models.scripted import searches

from localrag.answer.types import Answer
from localrag.corpus.config import Config, load
from localrag.corpus.inference.opening import open_embedder
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable
from localrag.methods.answering import Answerer, MethodResources, open_answers
from localrag.methods.catalogue import NAMES, method
from localrag.search.indexing.index import index
from localrag.search.types import Query
from localrag.text.facts import FactKind
from localrag_models.store import ModelStore

if TYPE_CHECKING:
    from tiny_models.encoder import TinyEncoder

CHOOSING = [name for name in NAMES if method(name).chooses]
# Random letters take up to four tokens each.
SETTINGS = {"max_tokens": 1600, "context": 8192}


def configured(workspace: Workspace, **chat: Any) -> Config:
    settings = load(workspace).model_dump()
    settings["chat"] |= {"model": "tiny", **SETTINGS, **chat}
    settings["runtime"] |= {"threads": 1}
    settings["retrieval"] |= {"k": 3}
    return Config.model_validate(settings)


@pytest.fixture(scope="module")
def workspace(
    law_home: Path,
    tiny_encoder: "TinyEncoder",
    tmp_path_factory: pytest.TempPathFactory,
) -> Workspace:
    """The invented laws with vectors, an embedder, a reranker and a chat model."""
    home = tmp_path_factory.mktemp("real") / "home"
    shutil.copytree(law_home, home)
    workspace = Workspace.locate(home)
    store = ModelStore(workspace.models)
    chat = home.with_name("tiny-qwen3.gguf")
    write_chat_gguf(chat, context=SETTINGS["context"])
    store.add(chat, name="tiny")
    store.add(tiny_encoder.gguf, name="e5")
    store.add(tiny_encoder.reranker_gguf, name="reranker")
    config = with_search_models(configured(workspace))
    embedder = open_embedder(workspace, config)
    assert embedder is not None
    with embedder:
        index(workspace, "main", embedder=embedder)
    return workspace


def with_search_models(config: Config) -> Config:
    return config.model_copy(
        update={
            "embedding": config.embedding.model_copy(update={"model": "e5"}),
            "reranking": config.reranking.model_copy(update={"model": "reranker"}),
        }
    )


@pytest.fixture(scope="module")
def resources(workspace: Workspace) -> Iterator[MethodResources]:
    with MethodResources(workspace, "main", with_search_models(configured(workspace))) as opened:
        yield opened


@pytest.fixture
def answer(resources: MethodResources) -> Callable[..., Answer]:
    def run(name: str, query: Query) -> Answer:
        contexts = {query: "第三条第二項　前項の許可の有効期間は、三年とする。"}
        return Answerer(method(name), resources, contexts).answer(query)

    return run


@pytest.mark.parametrize("name", CHOOSING)
def test_every_reply_is_bound_and_the_label_is_one_of_the_options(
    answer: Callable[..., Answer], question: Query, name: str
) -> None:
    found = answer(name, question)
    assert found.label in set("abcd")
    assert found.text == question.options["abcd".index(found.label)]
    good = [call for call in found.trace.calls if not call.problem]
    # A reply to the same question and prompt may be stored by an earlier method.
    events = [event.kind for stage in found.trace.stages for event in stage.events]
    remembered = events.count(FactKind.REPLY_REMEMBERED)
    assert len(good) + remembered == method(name).calls.of(4)


def test_fewer_options_bound_the_label_further(
    answer: Callable[..., Answer], question: Query
) -> None:
    asked = Query(question.text, question.options[:2])
    assert answer("statute-options", asked).label in set("ab")


def test_meaning_and_reranking_take_part(
    play: Callable[..., Any], workspace: Workspace, question: Query
) -> None:
    config = with_search_models(configured(workspace))
    asked = Query(question.text, question.options[:3])
    replies = [
        *(searches(text) for text in ("許可の期間", "大凧の定義", "凧揚げ規制法第三条")),
        *[{"reason": "甲", "verdict": "正しい"}] * 3,
        {"reason": "甲", "label": "a"},
        {"reason": "甲", "label": "a"},
    ]
    played = play("statute-options", asked, *replies, home=workspace.home, config=config)
    stages = {
        label: [one.stage for one in played.trace.stages if one.subject == f"option {label}"]
        for label in "abc"
    }
    assert stages == {
        "a": ["dense", "lexical", "fuse", "rerank", "evidence"],
        "b": ["dense", "rerank", "evidence"],
        "c": ["lexical", "rerank", "evidence"],
    }
    assert not any("BM25 replaces" in str(event) for event in played.trace.events)


@pytest.mark.parametrize("name", ["naive", "naive-qd"])
def test_multi_hop_questions_are_searched_for_by_meaning(
    answer: Callable[..., Answer], name: str
) -> None:
    found = answer(name, Query("大凧を揚げる許可を受けた者を何というか。"))
    stages = {record.stage for record in found.trace.stages}
    assert {"dense", "evidence"} <= stages <= {"dense", "evidence", "decomposition"}
    good = [call for call in found.trace.calls if not call.problem]
    assert method(name).calls.of(0) <= len(good) <= method(name).calls.most(0)


def test_the_same_question_gets_the_same_answer(
    answer: Callable[..., Answer], question: Query
) -> None:
    one, other = (answer("statute-gepa", question) for _ in range(2))
    assert (one.label, one.claims) == (other.label, other.claims)


@pytest.mark.parametrize("name", ["statute-direct", "statute-fixed", "statute-options"])
def test_a_context_too_small_is_a_typed_failure_with_a_cure(
    workspace: Workspace, question: Query, name: str
) -> None:
    config = configured(workspace, context=512, max_tokens=400)
    config = config.model_copy(update={"method": config.method.model_copy(update={"name": name})})
    with (
        open_answers(workspace, "main", config) as answers,
        pytest.raises(ModelUnusable) as caught,
    ):
        answers.answer(question)
    assert caught.value.kind == "ContextExceeded"
    assert "context" in caught.value.cure
