"""What is forgotten stands nowhere in the workspace any more."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.corpus.workspace import Workspace
from localrag.doors.forgetting import forget_conversation, forget_documents, forget_run
from localrag.errors import NotFoundError, UsageError
from localrag.methods.toolkit import Remembered
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query

from ...prepared import prepared_texts

Cli = Callable[..., Any]
SECRET = "白浜商会の買収"


def holding(root: Path, secret: str = SECRET) -> list[str]:
    """Files that hold a text, in UTF-8 or as JSON escapes."""
    spellings = (secret.encode(), json.dumps(secret).strip('"').encode())
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and any(one in path.read_bytes() for one in spellings)
    ]


def test_a_conversation(cli: Cli, home: Path) -> None:
    workspace = Workspace.locate()
    workspace.init()
    Remembered(workspace.searches).put("key", SECRET)
    with Conversations.open(workspace) as conversations:
        for text in (f"{SECRET}はいつか。", "渡し守とは何か。"):
            turn = conversations.begin(conversations.new().id, Query(text), "main", "", "")
            conversations.fail(turn.id, text)
        one, other = sorted(conversation.id for conversation in conversations.list())
    assert holding(home)
    refused = cli("forget", "--conversation", str(one))
    assert refused.code == 2, "it is asked for"
    assert cli("forget", "--conversation", str(one), "--yes").code == 0
    assert holding(home) == []
    with Conversations.open(workspace) as conversations:
        assert [found.id for found in conversations.list()] == [other]
    for number in (str(one), "9" * 20):
        assert cli("forget", "--conversation", number, "--yes").code == 3


def test_what_models_wrote_to_search_for(cli: Cli, home: Path) -> None:
    workspace = Workspace.locate()
    workspace.init()
    Remembered(workspace.searches).put("key", SECRET)
    assert holding(home)
    assert cli("forget", "--searches", "--run", "eval/a/b", "--yes").code == 2
    assert "--dry-run" in cli("forget", "--searches", "--dry-run").err
    assert cli("forget", "--searches", "--yes").code == 0
    assert holding(home) == []


def test_without_any_conversation(home: Path) -> None:
    Workspace.locate().init()
    with pytest.raises(NotFoundError):
        forget_conversation(Workspace.locate(), 1)


def test_what_a_restore_has_set_aside_is_named(cli: Cli, sample: Path, tmp_path: Path) -> None:
    assert cli("backup", str(tmp_path / "law.tar")).code == 0
    aside = cli("restore", str(tmp_path / "law.tar"), "--yes", "--json").json["before"]
    done = cli("forget", "--corpus", "main", "--yes")
    assert aside in done.err
    assert "remove it, too" in done.err
    with Conversations.open(Workspace.locate()) as conversations:
        number = conversations.new().id
    told = cli("forget", "--conversation", str(number), "--yes", "--json").json
    assert told["set_aside"] == [], "nobody had asked anything before"


def test_a_corpus_and_the_answers_that_quote_it(cli: Cli, home: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# {SECRET}\n\n{SECRET}は四月に行う。\n")
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": f"{SECRET}はいつ行うか。"}) + "\n")
    answers = tmp_path / "answers.jsonl"
    corpus = localrag.open(home).corpus("secret")
    corpus.add(page)
    corpus.index()
    corpus.batch(questions, answers)
    for_excel = answers.with_suffix(".csv")
    corpus.batch(questions, for_excel)
    assert holding(home)
    done = cli("forget", "--corpus", "secret", "--yes", "--json")
    assert done.code == 0, done.err
    assert done.json["stays"] == [str(answers), str(for_excel)]
    assert holding(home) == []
    assert not list(home.rglob("*secret*")), "nor its name"
    assert cli("forget", "--run", str(for_excel), "--yes").code == 0
    assert not answers.exists()
    assert not for_excel.exists()
    assert not answers.with_name("answers.jsonl.run").exists()
    assert not list((home / "runs" / "batches").iterdir())
    assert cli("forget", "--run", str(answers), "--yes").code == 3
    assert cli("forget", "--corpus", "secret", "--yes").code == 3


def test_an_evaluation_with_the_answers_that_are_its_own(home: Path) -> None:
    workspace = Workspace.locate()
    workspace.init()
    runs = workspace.runs

    def record(name: str, *answers: str) -> None:
        folder = runs / "eval" / "lawqa" / name
        folder.mkdir(parents=True)
        entries = [
            {
                "name": "extractive",
                "method": "extractive",
                "made_with": {},
                "answers": [f"runs/answers/lawqa/{one}/order-1.jsonl" for one in answers],
            }
        ]
        about = {"dataset": "lawqa", "split": "test", "sha256": "", "n": 1, "orders": 1}
        where = {"corpus": "main", "machine": "", "started": "2026-01-01T00:00:00+00:00"}
        (folder / "run.json").write_text(json.dumps({**about, **where, "entries": entries}))
        for one in answers:
            path = runs / "answers" / "lawqa" / one / "order-1.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET)

    record("first", "a", "b")
    record("second", "b")
    forget_run(workspace, "eval/lawqa/first")
    assert holding(home) == ["runs/answers/lawqa/b/order-1.jsonl"], "another run is made of it"
    forget_run(workspace, "eval/lawqa/second")
    assert holding(home) == []
    for name in ("eval", ".", "..", "eval/lawqa/first", "/etc"):
        with pytest.raises(NotFoundError):
            forget_run(workspace, name)


def test_a_run_half_forgotten(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers go first: without its record nobody would know them."""
    workspace = Workspace.locate()
    workspace.init()
    folder = workspace.runs / "eval" / "lawqa" / "first"
    answers = workspace.runs / "answers" / "lawqa" / "a" / "order-1.jsonl"
    for path in (folder / "run.json", answers):
        path.parent.mkdir(parents=True)
    entry = {"name": "extractive", "method": "extractive", "made_with": {}}
    entry["answers"] = [answers.relative_to(home).as_posix()]
    about = {"dataset": "lawqa", "split": "test", "sha256": "", "n": 1, "orders": 1}
    where = {"corpus": "main", "machine": "", "started": "2026-01-01T00:00:00+00:00"}
    (folder / "run.json").write_text(json.dumps({**about, **where, "entries": [entry]}))
    answers.write_text(SECRET)
    (folder / "report.json").write_text(SECRET)

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("localrag.doors.forgetting.shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            forget_run(workspace, "eval/lawqa/first")
    forget_run(workspace, "eval/lawqa/first")
    assert holding(home) == []
    assert not folder.exists()


def test_a_corpus_half_forgotten(cli: Cli, sample: Path) -> None:
    """Where its store is gone already, the same command removes the rest."""
    place = Workspace.locate().corpus("main")
    place.layers.mkdir()
    (place.layers / "sentences.jsonl").write_text(SECRET)
    place.store.unlink()
    assert cli("search", "渡し守").code == 3
    assert cli("forget", "--corpus", "main", "--yes").code == 0
    assert not place.store.parent.exists()
    assert not place.indexes.exists()
    assert cli("forget", "--corpus", "main", "--yes").code == 3


def test_one_thing_at_a_time(cli: Cli, home: Path) -> None:
    assert cli("init").code == 0
    for given in ([], ["--conversation", "1", "--corpus", "main"]):
        assert cli("forget", *given, "--yes").code == 2
    assert UsageError.exit_code == 2


@pytest.fixture
def office(cli: Cli, home: Path, tmp_path: Path) -> Path:
    """A corpus of a secret memo and another one."""
    cli("init")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "secret.md").write_text(f"# 覚書\n\n{SECRET}は四月である。\n", encoding="utf-8")
    (folder / "other.md").write_text("# 手引\n\n渡し守は舟を操る。\n", encoding="utf-8")
    assert cli("add", str(folder)).code == 0
    assert cli("index").code == 0
    return folder


def test_a_document_is_gone_to_the_byte(cli: Cli, office: Path, home: Path) -> None:
    assert holding(home)
    dry = cli("forget", "--document", "secret.md", "--dry-run", "--json")
    assert (dry.json["forgotten"], dry.json["dry_run"]) == (["secret.md"], True)
    assert cli("forget", "--document", "secret.md").code == 2, "it is asked for"
    assert holding(home)
    done = cli("forget", "--document", "secret.md", "--yes")
    assert done.code == 0, done.err
    assert "localrag index" in done.out
    assert holding(home) == []
    assert holding(home, "secret.md") == []
    assert cli("index").code == 0
    assert holding(home) == []
    assert cli("search", "渡し守").code == 0
    assert [one["id"] for one in cli("list", "main", "--json").json] == ["other.md"]
    findings = {one["check"]: one["health"] for one in cli("doctor", "--json").json}
    assert findings["store main"] == findings["index main"] == "good"
    assert cli("forget", "--document", "secret.md", "--yes").code == 3


def test_what_was_removed_before_is_wiped(cli: Cli, office: Path, home: Path) -> None:
    removed = cli("remove", "secret.md")
    assert "localrag forget --removed --corpus main" in removed.err
    assert cli("index").code == 0
    assert holding(home), "remove alone leaves words in free space"
    assert cli("forget", "--removed", "--yes").code == 0
    assert holding(home) == []
    assert cli("index").code == 0
    assert cli("search", "渡し守").code == 0


def test_several_documents_or_none(cli: Cli, office: Path, home: Path) -> None:
    refused = cli("forget", "--document", "secret.md", "--document", "nothing.md", "--yes")
    assert refused.code == 3
    assert holding(home)
    both = cli("forget", "--document", "secret.md", "--document", "other.md", "--yes", "--json")
    assert both.json["forgotten"] == ["secret.md", "other.md"]
    assert holding(home) == []


def test_what_quotes_a_document_is_named(cli: Cli, office: Path, tmp_path: Path) -> None:
    rows, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    rows.write_text(json.dumps({"question": f"{SECRET}はいつか"}), encoding="utf-8")
    assert cli("batch", str(rows), "--out", str(out)).code == 0
    with localrag.open().corpus() as corpus:
        answer = corpus.ask(f"{SECRET}はいつか")
    with Conversations.open(Workspace.locate()) as conversations:
        talk = conversations.new("舟").id
        turn = conversations.begin(talk, Query(f"{SECRET}はいつか"), "main", "", "")
        conversations.finish(turn.id, answer, 1.0)
    done = cli("forget", "--document", "secret.md", "--yes", "--json")
    assert done.json["stays"] == [str(out), talk]


def test_a_law_by_its_title(cli: Cli, sample: Path) -> None:
    done = cli("forget", "--document", "渡し舟法", "--yes", "--json")
    assert done.json["forgotten"] == ["599AC0000000001"]
    assert cli("show", "渡し舟法8条").code == 3
    assert holding(sample, "渡し舟事業者は、政令で定める資格") == []


def test_what_a_model_made_of_a_document(home: Path) -> None:
    workspace = prepared_texts(home)
    corpora, runs = home / "corpora", home / "indexes"
    assert holding(corpora, "Lake Anvil")
    found = forget_documents(workspace, "main", ["lake.txt"])
    assert found.rows > 0
    assert holding(corpora, "Lake Anvil") == holding(runs, "Lake Anvil") == []
    assert holding(corpora, "Otter Mill"), "what was made of others stays"
