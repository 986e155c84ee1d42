"""Questions over a collection: how a model makes them, and how they are read back."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import ChatConfig, Config, EmbeddingConfig
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, ModelUnusable, NotFoundError, UsageError
from localrag.evaluation.datasets.loading import load
from localrag.evaluation.queries import QueriesReport, make_queries
from localrag.evaluation.types import Gold, GoldSentence
from localrag.text.progress import Progress
from localrag_models.errors import ServerUnreachable

CONFIG = Config(chat=ChatConfig(max_tokens=100), embedding=EmbeddingConfig(model="off"))
ASKED = '{"query": "What became of the old places?"}'
ALSO_ASKED = '{"query": "When were the old places lost?"}'

Make = Callable[..., tuple[QueriesReport, ScriptedChat]]


@pytest.fixture
def make(workspace: Workspace, tmp_path: Path) -> Make:
    def made(*replies: Any, n: int = 2, **options: Any) -> tuple[QueriesReport, ScriptedChat]:
        model = ScriptedChat(*replies)
        path = tmp_path / "queries.toml"
        options = {"aspects": 2, "opener": lambda *_: model, **options}
        return make_queries(workspace, "main", CONFIG, path, n, **options), model

    return made


def test_they_are_a_dataset_that_an_evaluation_reads(make: Make, workspace: Workspace) -> None:
    events: list[Progress] = []
    report, model = make(ASKED, ALSO_ASKED, on_event=events.append)
    assert (report.questions, report.earlier, report.refused) == (2, 0, 0)
    assert [(one.done, one.total) for one in events] == [(1, 2), (2, 2)]
    read = load(workspace, str(report.declaration), corpus="main")
    assert read.dataset.measure == "collection"
    assert "scripted" in read.dataset.title
    first, second = read.questions
    assert first.query.text == "What became of the old places?"
    assert len(set(first.gold)) == 2
    assert first.id != second.id
    shown = model.requests[0].messages[-1].content
    lines = report.declaration.with_suffix(".jsonl").read_text().splitlines()
    aspects = json.loads(lines[0])["aspects"]
    for aspect, gold, sentence in zip(aspects, first.gold, first.sentences, strict=True):
        title = aspect["document"].removesuffix(".txt")
        assert f"- {title}: {aspect['question']}" in shown
        assert gold == Gold(aspect["document"])
        assert sentence == GoldSentence(aspect["document"], aspect["text"])
        assert aspect["answer"] in first.answer


def test_what_ends_it_loses_nothing(make: Make) -> None:
    with pytest.raises(ModelUnusable):
        make(ASKED, ServerUnreachable("gone", "start it"), n=3)
    report, model = make(ALSO_ASKED, '{"query": "Which old places burned?"}', n=3)
    assert (report.questions, report.earlier, len(model.requests)) == (3, 1, 2)
    report, model = make(n=3)
    assert (report.questions, report.earlier, model.requests) == (3, 3, [])


@pytest.mark.parametrize(
    "replies",
    [['{"query": "When did the old Otter Mill burn?"}'], ['{"query": "…"}'], ["no", "{}"]],
    ids=["copied", "no word", "malformed twice"],
)
def test_replies_that_are_no_question_of_their_own_are_refused(
    make: Make, replies: list[str]
) -> None:
    report, _ = make(*replies, ASKED, n=1)
    assert (report.questions, report.refused) == (1, 1)
    assert len(report.calls) == len(replies) + 1


@pytest.mark.parametrize(
    "text",
    [
        "Who directed the films listed?",
        "資料の映画は誰の作か。",
        "What became of the places mentioned in the text?",
        "When were these places lost?",
        "Was it?",
        "How did the old structures of Tarn come to be built?",
        "What became of the old places in 1910?",
    ],
    ids=[
        "list",
        "material",
        "text",
        "these",
        "pronoun",
        "name of the example",
        "figure of its own",
    ],
)
def test_a_question_that_leans_on_the_prompt_or_invents_is_refused(make: Make, text: str) -> None:
    report, _ = make(json.dumps({"query": text}), ASKED, n=1)
    assert (report.questions, report.refused) == (1, 1)


def test_the_same_question_is_asked_once(make: Make) -> None:
    report, _ = make(ASKED, ASKED, ALSO_ASKED)
    assert (report.questions, report.refused) == (2, 1)
    report, _ = make(ASKED, n=3)
    assert (report.questions, report.earlier, report.refused) == (2, 2, 1)


def test_the_same_aspects_are_asked_about_once(make: Make, tmp_path: Path) -> None:
    # Every one of the four documents begins a group, and each group holds all four.
    report, model = make(ASKED, ALSO_ASKED, n=4, aspects=4)
    assert (report.questions, report.refused, len(model.requests)) == (1, 0, 1)


def test_a_corpus_that_gives_none_is_an_error(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No question could be made"):
        make(aspects=5)
    assert not (tmp_path / "queries.toml").exists()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"declaration": "queries.jsonl"}, UsageError),
        ({"corpus": "other"}, NotFoundError),
        ({"opener": lambda *_: None}, UsageError),
    ],
    ids=["no declaration", "no corpus", "no model"],
)
def test_what_cannot_be_made_is_told(
    workspace: Workspace, tmp_path: Path, change: dict[str, Any], error: type[Exception]
) -> None:
    given = {"declaration": "queries.toml", "corpus": "main", "opener": lambda *_: ScriptedChat()}
    given |= change
    path = tmp_path / given["declaration"]
    with pytest.raises(error):
        make_queries(workspace, given["corpus"], CONFIG, path, 1, opener=given["opener"])
    assert list(tmp_path.glob("*.toml")) == []


def test_a_file_goes_on_with_its_corpus_alone(
    make: Make, workspace: Workspace, tmp_path: Path
) -> None:
    # A kill leaves the questions without their declaration.
    with pytest.raises(ModelUnusable):
        make(ASKED, ServerUnreachable("gone", "start it"))
    before = (tmp_path / "queries.jsonl").read_bytes()
    shutil.copytree(workspace.corpus("main").store.parent, workspace.corpus("other").store.parent)
    other = ScriptedChat(ALSO_ASKED)
    path, opener = tmp_path / "queries.toml", lambda *_: other
    with pytest.raises(UsageError, match=r"of the corpus 'main', not of 'other'") as raised:
        make_queries(workspace, "other", CONFIG, path, 2, aspects=2, opener=opener)
    assert "--corpus main" in raised.value.cure
    assert other.requests == []
    assert (tmp_path / "queries.jsonl").read_bytes() == before


def test_every_model_that_made_some_is_declared(make: Make, workspace: Workspace) -> None:
    make(ASKED, n=1)
    other = ScriptedChat(ALSO_ASKED)
    other.id = "another"
    report, _ = make(opener=lambda *_: other)
    assert report.models == ("scripted", "another")
    read = load(workspace, str(report.declaration), corpus="main")
    assert read.dataset.title.endswith("made by scripted and another")
    assert "made by scripted and another of" in read.dataset.source


def test_a_damaged_file_is_told_with_its_line(make: Make, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(InputError, match=r"Line 1 of .*queries\.jsonl"):
        make(ASKED)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"aspects": []}, "no list with an aspect"),
        ({"aspects": ["x"]}, "no object"),
        ({"aspects": [{"document": "a.txt", "text": "x", "question": "q"}]}, "'answer'"),
        ({"question": " "}, "'question'"),
        ({"question": "…"}, "no word"),
    ],
)
def test_a_defect_is_named(
    workspace: Workspace, tmp_path: Path, make: Make, change: dict[str, Any], problem: str
) -> None:
    report, _ = make(ASKED, n=1)
    path = report.declaration.with_suffix(".jsonl")
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(InputError) as raised:
        load(workspace, str(report.declaration), corpus="main")
    assert problem in raised.value.cause


def test_the_verb_makes_them(
    workspace: Workspace, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedChat(ASKED, ASKED)
    make_with = make_queries.__kwdefaults__
    assert make_with is not None
    monkeypatch.setitem(make_with, "opener", lambda *_: model)
    path = tmp_path / "made.toml"
    made = cli("--set", "embedding.model=off", "eval", "queries", str(path), "--n", "1", "--json")
    assert made.code == 0, made.err
    assert made.json["questions"] == 1
    again = cli("--set", "embedding.model=off", "eval", "queries", str(path), "--n", "1")
    assert "questions: 1; made before: 1; refused by code: 0" in again.out
    assert f"localrag eval {path}" in again.out.replace("\n", "")
