"""A small corpus with all layers of documents, as a scripted model makes them."""

import json
from pathlib import Path

from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import ChatConfig, Config, EmbeddingConfig
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.prepare.layers import METADATA, MK_SUMMARIES, SYNTHETIC_QA
from localrag.prepare.metadata import Category
from localrag.prepare.preparing import prepare

LAYERS = [METADATA, SYNTHETIC_QA, MK_SUMMARIES]


def prepared_texts(home: Path) -> Workspace:
    """Make a corpus of two texts, sorted by subject, each with a question that it answers.

    Args:
        home: the folder of its workspace, which is made.
    """
    folder = home / "texts"
    folder.mkdir(parents=True)
    (folder / "lake.txt").write_text("Lake Anvil is 90 metres deep.")
    (folder / "mill.txt").write_text("The Otter Mill was built in 1871.")
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "main", [folder])
    model = ScriptedChat(
        '{"subject": ["water"]}',
        '{"subject": ["building"]}',
        _asked("How deep is Lake Anvil?", "90 metres"),
        _asked("When was the Otter Mill built?", "1871"),
        json.dumps({"summary": "Lake Anvil and the mill."}),
        json.dumps({"summary": "The Otter Mill and the lake."}),
    )
    categories = {"subject": Category(about="what", values=("water", "building"))}
    config = Config(chat=ChatConfig(max_tokens=200), embedding=EmbeddingConfig(model="off"))
    list(
        prepare(
            workspace,
            "main",
            config,
            LAYERS,
            categories=categories,
            least=2,
            opener=lambda *_: model,
        )
    )
    return workspace


def _asked(question: str, answer: str) -> str:
    return json.dumps({"pairs": [{"sentences": [1], "question": question, "answer": answer}]})
