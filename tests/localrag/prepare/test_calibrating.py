"""How near questions are to the prepared ones, through the verb and in Python."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.scripted import ScriptedChat, rewriting

from localrag.corpus.config import ChatConfig, Config
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import IndexUnusable, UsageError
from localrag.prepare import index as layer_index
from localrag.prepare.index import LayerIndex
from localrag.prepare.measuring import NEAREST, SAME_WORD, SENTENCE, UNRELATED, distributions
from localrag.prepare.preparing import prepare

SENTENCES = ("Ada Frost built a mill.", "She sold it to Bram Tully.", "He painted it red.")
REWRITTEN = (
    "Ada Frost built a mill.",
    "Ada Frost sold the mill to Bram Tully.",
    "Bram Tully painted the mill red.",
)
ASKED = (
    ("Who sold the mill to Bram Tully?", "Ada Frost"),
    ("Who painted the mill red?", "Bram Tully"),
)
CONFIG = Config(chat=ChatConfig(max_tokens=200))


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder of the settings is one without a model."""
    monkeypatch.setattr(layer_index, "embedder_id", lambda *_: "hashing")
    monkeypatch.setattr(layer_index, "open_embedder", lambda *_: HashingEmbedder())


@pytest.fixture
def prepared(home: Path) -> Workspace:
    folder = home / "texts"
    folder.mkdir(parents=True)
    (folder / "mill.txt").write_text(" ".join(SENTENCES))
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "main", [folder])
    return workspace


def make(workspace: Workspace) -> None:
    rewrites = map(rewriting, SENTENCES, REWRITTEN)
    pairs = [json.dumps({"pairs": [{"question": q, "answer": a}]}) for q, a in ASKED]
    model = ScriptedChat(*rewrites, *pairs)
    layers = ("decontextualized", "questions")
    list(prepare(workspace, "main", CONFIG, layers, opener=lambda *_: model))


def found(workspace: Workspace, *asked: str) -> dict[str, tuple[float, ...]]:
    with (
        CorpusStore.open(workspace.corpus("main").store, read_only=True) as store,
        LayerIndex.open(workspace, "main", CONFIG, store) as index,
    ):
        return {one.to: one.cosines for one in distributions(index, store, asked)}


@pytest.mark.usefixtures("embedded")
def test_the_same_question_has_a_cosine_of_one(prepared: Workspace) -> None:
    make(prepared)
    same = found(prepared, ASKED[0][0])
    assert same[NEAREST] == same[SAME_WORD] == (pytest.approx(1.0, abs=1e-5),)
    assert same[SENTENCE][0] < 1
    other = found(prepared, "When did the ferry leave?")
    assert other[NEAREST][0] < 1
    assert SAME_WORD not in other, "none asks when"


@pytest.mark.usefixtures("embedded")
def test_a_prepared_question_is_held_against_those_of_other_sentences(prepared: Workspace) -> None:
    make(prepared)
    sample = found(prepared)
    assert len(sample[NEAREST]) == len(sample[UNRELATED]) == len(ASKED)
    assert max(sample[NEAREST]) < 0.999, "its own does not count"


@pytest.mark.usefixtures("embedded")
def test_the_verb_tells_the_share_that_reaches_the_threshold(
    prepared: Workspace, cli: Callable[..., Any], tmp_path: Path
) -> None:
    make(prepared)
    asked = tmp_path / "asked.jsonl"
    asked.write_text(json.dumps({"question": ASKED[0][0]}) + "\n{broken\n")
    outcome = cli("calibrate", str(asked), "--corpus", "main", "--json")
    assert outcome.code == 0, outcome.err
    assert "line 2" in outcome.err
    by = {one["to"]: one for one in json.loads(outcome.out)}
    assert by[NEAREST]["reaching"] == 1.0
    assert by[NEAREST]["n"] == 1
    assert "0.8 or more" in cli("calibrate", "--corpus", "main").out


def test_without_vectors_or_layers_it_says_what_to_do(prepared: Workspace) -> None:
    with pytest.raises(UsageError, match="not prepared"):
        found(prepared)
    make(prepared)
    with pytest.raises(IndexUnusable, match="no vectors"):
        found(prepared)
