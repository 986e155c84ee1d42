"""A user can follow an answer in the making, and stop it at any moment."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.answer.types import Answer, Cancelled, Watch
from localrag.corpus.config import ChatConfig, Config, MethodConfig, RuntimeConfig
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import method
from localrag.search.types import Query, StageRecord
from localrag_models.store import ModelStore

QUESTION = Query("渡し舟を運航してはならない水位の基準は何か。")
CHOICE = Query(
    "渡し守になれるのはどれか。", ("三年以上操縦に従事した者", "十年以上操縦に従事した者")
)
NOTHING = json.dumps({"claims": []})


class Follower(Watch):
    """Notes the events, and stops after a number of them."""

    def __init__(self, patience: int = 1_000) -> None:
        self.stages: list[str] = []
        self.pieces = 0
        self.read: list[tuple[int, int]] = []
        self.loaded: list[tuple[str, int, int]] = []
        self._patience = patience

    def stage(self, record: StageRecord) -> None:
        self.stages.append(record.stage)
        self._patience -= 1

    def loading(self, model: str, done: int, total: int) -> None:
        self.loaded.append((model, done, total))

    def reading(self, done: int, total: int) -> None:
        self.read.append((done, total))

    def wrote(self, piece: str) -> None:
        self.pieces += 1
        self._patience -= 1

    def cancelled(self) -> bool:
        return self._patience <= 0


Ask = Callable[[str, Follower, ScriptedChat], Answer]


@pytest.fixture
def answer(sample_home: Path, scripted: Any) -> Ask:
    def ask(name: str, follower: Follower, model: ScriptedChat) -> Answer:
        config = Config(chat=ChatConfig(max_tokens=100, write_searches=False))
        with scripted(sample_home, model, config) as resources:
            return Answerer(method(name), resources).answer(QUESTION, follower)

    return ask


def test_the_stages_are_told_as_the_trace_has_them(answer: Ask) -> None:
    for name in ("extractive", "generative"):
        follower = Follower()
        made = answer(name, follower, ScriptedChat(NOTHING))
        assert follower.stages == [stage.stage for stage in made.trace.stages]
        assert (follower.pieces > 0) == (name == "generative")


def test_how_much_of_the_prompt_is_read_is_told_before_anything_is_written(answer: Ask) -> None:
    follower = Follower()
    made = answer("generative", follower, ScriptedChat(NOTHING))
    (call,) = made.trace.calls
    assert follower.read == [(0, 0), (call.prompt // 2, call.prompt), (call.prompt, call.prompt)]


def test_a_model_is_told_to_be_loaded_byte_by_byte(sample: Path, tiny_chat: Path) -> None:
    ModelStore(sample / "models").add(tiny_chat, name="tiny")
    config = Config(
        chat=ChatConfig(model="tiny", context=512, write_searches=False),
        runtime=RuntimeConfig(threads=1),
    )
    follower = Follower()
    with MethodResources(Workspace.locate(sample), "main", config) as resources:
        resources.open(model=True, on_load=follower.loading)
        resources.open(model=True, on_load=follower.loading)
    size = tiny_chat.stat().st_size
    assert follower.loaded[0] == ("tiny", 0, 0)
    assert follower.loaded[-1] == ("tiny", size, size)
    assert follower.loaded == sorted(follower.loaded)


def test_the_loading_of_a_model_is_given_up(sample: Path, tiny_chat: Path) -> None:
    ModelStore(sample / "models").add(tiny_chat, name="tiny")
    config = Config(
        chat=ChatConfig(model="tiny", context=512, write_searches=False),
        runtime=RuntimeConfig(threads=1),
    )

    def unwanted(_: str, done: int, total: int) -> None:
        if done:
            raise Cancelled

    with MethodResources(Workspace.locate(sample), "main", config) as resources:
        with pytest.raises(Cancelled):
            resources.open(model=True, on_load=unwanted)
        assert not resources.has_model
        assert resources.model.id.startswith("tiny")


def test_an_answer_of_quotations_is_given_up_after_a_stage(answer: Ask) -> None:
    with pytest.raises(Cancelled):
        answer("extractive", Follower(patience=1), ScriptedChat())


@pytest.mark.parametrize("more", [1, 3])
def test_a_reply_is_given_up_in_the_middle_and_not_asked_for_again(answer: Ask, more: int) -> None:
    stages = Follower()
    answer("generative", stages, ScriptedChat(NOTHING))
    model = ScriptedChat(NOTHING)
    follower = Follower(patience=len(stages.stages) + more)
    with pytest.raises(Cancelled):
        answer("generative", follower, model)
    assert follower.pieces == more
    assert len(model.requests) == 1


def test_a_method_is_given_up_between_its_searches_too(sample_home: Path) -> None:
    workspace = Workspace.locate(sample_home)
    chosen = method("statute-lexical")
    with MethodResources(workspace, "main", Config()) as resources:
        answerer = Answerer(chosen, resources, settings=MethodConfig(name=chosen.name))
        follower = Follower()
        answer = answerer.answer(CHOICE, follower)
        assert follower.stages == [stage.stage for stage in answer.trace.stages]
        with pytest.raises(Cancelled):
            answerer.answer(CHOICE, Follower(patience=1))
