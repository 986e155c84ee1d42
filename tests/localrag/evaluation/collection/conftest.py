"""A small prepared collection, and a model that plays every role of an evaluation over it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import ChatConfig, Config, EmbeddingConfig
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.prepare.layers import SYNTHETIC_QA
from localrag.prepare.preparing import prepare
from localrag.search.indexing.index import index
from localrag_models.chat import ChatRequest, Reply, ignore, never, overlook

PAGES = {
    "barn.txt": ("Tully Barn burned in 1880.", "When did the old Tully Barn burn?", "1880"),
    "lake.txt": ("Lake Anvil froze in 1881.", "When did the old Lake Anvil freeze?", "1881"),
    "mill.txt": ("The Otter Mill burned in 1902.", "When did the old Otter Mill burn?", "1902"),
    "weir.txt": ("Frost Weir broke in 1903.", "When did the old Frost Weir break?", "1903"),
}
CONFIG = Config(chat=ChatConfig(max_tokens=100), embedding=EmbeddingConfig(model="off"))


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with `PAGES`, indexed, with a synthetic question each; never write to it."""
    folder = tmp_path_factory.mktemp("texts")
    for name, (text, _, _) in PAGES.items():
        (folder / name).write_text(text)
    workspace = Workspace.locate(tmp_path_factory.mktemp("collection") / "home")
    workspace.init()
    add(workspace, "main", [folder])
    index(workspace, "main")
    replies = [
        json.dumps({"pairs": [{"sentences": [1], "question": question, "answer": answer}]})
        for _, question, answer in PAGES.values()
    ]
    model = ScriptedChat(*replies)
    (report,) = prepare(workspace, "main", CONFIG, [SYNTHETIC_QA], opener=lambda *_: model)
    assert report.outcomes["made"] == 4
    return workspace.home


@pytest.fixture
def workspace(collection: Path, home: Path) -> Workspace:
    """The same, to be written to."""
    shutil.copytree(collection, home)
    return Workspace.locate(home)


class Playing(ScriptedChat):
    """Answers by what it is asked for.

    Attributes:
        query: what it makes of several questions.
        claims: what it answers a question with.
        rating: what it gives two answers; called with the prompt.
        rated: the prompts of the judge.
    """

    def __init__(self) -> None:
        super().__init__()
        self.query = "What became of the old places?"
        self.claims: list[dict[str, Any]] = [{"sentences": [1], "text": "One burned."}]
        self.rating: Callable[[str], str] = lambda _: given(50, 50)
        self.rated: list[str] = []

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        fields = set((request.schema or {})["properties"])
        said = request.messages[-1].content
        if "first" in fields:
            self.rated.append(said)
            reply = self.rating(said)
        elif "query" in fields:
            reply = json.dumps({"query": self.query})
        elif "queries" in fields:
            reply = json.dumps({"plan": [], "queries": ["What burned?", "What broke?"]})
        else:
            reply = json.dumps({"claims": self.claims})
        self._replies = [reply]
        return super().chat(request, on_text, cancelled, on_read)


def given(first: int, second: int) -> str:
    """A reply of a judge that gives each answer one number on all measures."""
    measures = ("recall", "precision", "specificity", "breadth", "depth", "relevancy")
    both = {"first": dict.fromkeys(measures, first), "second": dict.fromkeys(measures, second)}
    return json.dumps({"reason": "so", **both})


@pytest.fixture
def model() -> Playing:
    return Playing()


@pytest.fixture(name="given")
def given_fixture() -> Callable[[int, int], str]:
    """A reply of a judge; see `given`."""
    return given
