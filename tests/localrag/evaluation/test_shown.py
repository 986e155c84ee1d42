"""Gold sentences: what the dataset says of them, and which of them a model was shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import load as load_config
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.evaluation.datasets.loading import load
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.planning import plan
from localrag.evaluation.report import MARKDOWN
from localrag.evaluation.report import read as read_report
from localrag.evaluation.runner import evaluate
from localrag.evaluation.searching import shown
from localrag.evaluation.types import GoldSentence
from localrag.search.indexing.index import index
from localrag.search.types import TextSpan
from localrag_models.store import ModelStore

FERRIES: dict[str, Any] = {
    "_id": "h1",
    "question": "Are Tarn Ferries and Quill Ferries in the same town?",
    "answer": "no",
    "supporting_facts": [["Tarn Ferries", 1], ["Quill Ferries", 0], ["Tarn Ferries", 7]],
    "context": [
        ["Tarn Ferries", ["A company with boats.", " It is in Tarn."]],
        ["Ada Moss", ["An architect of harbours."]],
        ["Quill Ferries", ["A company in Quillmere.", " It has ferries."]],
    ],
}
TEXTS = {
    "t": "A company (Inc. of 1871) with boats. It is in Tarn. It has nine boats.",
    "q": "A company in Quillmere.",
}
GOLD = (GoldSentence("t", " It is in  Tarn."), GoldSentence("q", "A company in Quillmere."))


def text_of(span: TextSpan) -> str:
    return TEXTS[span.document][span.start : span.end]


def test_gold_sentences_are_those_of_the_supporting_facts() -> None:
    (question,) = read("multihop", "dev.json", json.dumps([FERRIES]).encode(), Sources())
    assert question.sentences == (
        GoldSentence("Tarn Ferries", "It is in Tarn."),
        GoldSentence("Quill Ferries", "A company in Quillmere."),
    ), "a number of no sentence, of which the published files have some, is none"


def test_a_sentence_is_shown_where_its_words_are() -> None:
    whole = TextSpan("t", 0, len(TEXTS["t"]))
    assert shown(GOLD, [whole], text_of) == (True, False)
    middle = TEXTS["t"].index("is in")
    halves = [TextSpan("t", middle, middle + 11), TextSpan("t", 36, middle)]
    assert shown(GOLD, halves, text_of) == (True, False), "in whatever pieces and order"
    assert shown(GOLD, halves[:1], text_of) == (False, False), "not where a part is missing"
    assert shown(GOLD, [TextSpan("q", 0, 23)], text_of) == (False, True)
    assert shown(GOLD, [], text_of) == (False, False)


def test_a_report_tells_the_sentences_that_were_shown(
    tmp_path: Path, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llama_cpp")
    pytest.importorskip("scipy")
    workspace = Workspace.locate(tmp_path / "home")
    workspace.init()
    path = tmp_path / "q.json"
    path.write_text(json.dumps([FERRIES]), encoding="utf-8")
    (tmp_path / "q.toml").write_text(
        'title = "Ferries"\nsource = "invented"\nlicence = "CC0"\nreader = "multihop"\n'
        'measure = "multihop"\n[[splits]]\nname = "dev"\nfile = "q.json"\n',
        encoding="utf-8",
    )
    add(workspace, "main", [path])
    index(workspace, "main")
    ModelStore(workspace.models).add(tiny_chat, name="tiny", kind="chat")
    questions = load(workspace, str(tmp_path / "q.toml"), corpus="main")
    assert [one.document for one in questions.questions[0].sentences] == ["q.json:1", "q.json:3"]
    for k, recall in ((3, 1.0), (1, 0.5)):
        chat = ScriptedChat(json.dumps({"claims": []}))
        monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_, chat=chat: chat)
        config = load_config(workspace, {"chat.model": "tiny", "retrieval.k": k})
        finished = evaluate(plan(workspace, questions, "main", config, ["naive"]))
        (entry,) = read_report(finished.folder).figures.entries
        assert entry.sentences_shown
        assert entry.sentences_shown.recall.value == recall
        assert entry.sentences_shown.all_found.value == int(recall)
    text = (finished.folder / MARKDOWN).read_text(encoding="utf-8")
    assert "| naive | sentences | 1 | 100.0 %" in text
