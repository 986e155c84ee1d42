"""``localrag eval`` as a user sees it: output, exit codes, going on, comparing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.workspace import Workspace
from localrag_models.store import ModelStore

from ....rows import each

pytestmark = pytest.mark.usefixtures("undrawn")

Cli = Callable[..., Any]

BOUND = ("--set", "chat.max_tokens=1200", "--set", "runtime.threads=1")


@pytest.fixture
def ferries(sample: Path, tiny_chat: Path, tmp_path: Path) -> Path:
    """Three questions of a user's own, and a workspace with the tiny model."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("scipy")
    ModelStore(Workspace.locate(sample).models).add(tiny_chat, name="tiny", kind="chat")
    path = tmp_path / "ferries.jsonl"
    rows = (
        {
            "id": f"q{number}",
            "question": f"渡し守の資格は何か ({number})",
            "options": {"a": "十八歳以上の者", "b": "講習を修了した者"},
            "answer": "b",
        }
        for number in range(3)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def ask(cli: Cli, dataset: Path, *arguments: str) -> Any:
    return cli(
        *BOUND, "eval", str(dataset), "--method", "statute-direct", "--corpus", "main", *arguments
    )


def test_the_group_teaches(cli: Cli) -> None:
    for told in (cli("eval"), cli("eval", "--help")):
        assert told.code == 0
        assert "localrag eval lawqa --method" in told.out
        assert "eval run DATASET" in told.out
    for verb in ("run", "compare", "list"):
        told = cli("eval", verb, "--help").out
        assert "Examples:" in told
        assert "Exit codes:" in told
        assert "--json" in told


def test_from_questions_to_a_report(cli: Cli, ferries: Path, drawn: None) -> None:
    planned = ask(cli, ferries, "--model", "tiny", "--orders", "2", "--dry-run", "--json").json
    assert [planned["entries"][0][key] for key in ("calls", "most_calls")] == [6, 6]
    outcome = ask(cli, ferries, "--model", "tiny", "--orders", "2")
    assert outcome.code in (0, 4), outcome.err
    assert "ferries.jsonl: 3 questions in 2 orders; 6 asked now" in outcome.out
    assert "statute-direct" in outcome.out
    report = Path(outcome.out.split("report: ")[1].strip())
    assert report.read_text(encoding="utf-8").startswith("# Evaluation")

    again = ask(cli, ferries, "--model", "tiny", "--orders", "2", "--json")
    assert again.code == outcome.code
    assert again.json["asked"] == 0
    assert again.json["folder"] == str(report.parent)
    made_with = again.json["entries"][0]["made_with"]
    assert made_with["chat.weights"].startswith("tiny@")
    assert made_with["dataset.sha256"]

    other = ask(cli, ferries, "--model", "tiny", "--run", "other", "--limit", "2")
    assert "2 questions; 0 asked now" in other.out
    listed = cli("eval", "list", "--json").json
    assert [one["run"] for one in listed] == [again.json["run"], "other"]
    assert "ferries/other" in cli("eval", "list").out
    compared = cli("eval", "compare", again.json["run"], "ferries/other")
    assert compared.code == 0, compared.err
    assert "statute-direct" in compared.out
    assert cli("eval", "compare", again.json["run"], "other", "--json").json["questions"] == 2


def test_what_stood_in_is_seen_at_once(cli: Cli, ferries: Path) -> None:
    outcome = cli(
        *BOUND, "eval", str(ferries), "--method", "statute-fixed", "--method", "statute-direct",
        "--model", "tiny", "-c", "main",
    )  # fmt: skip
    assert outcome.code in (0, 4), outcome.err
    head, fixed, direct = outcome.out.splitlines()[1:4]
    assert [head.split()[-3:], fixed.split()[-1], direct.split()[-1]] == [
        ["median", "s", "notes"],
        "(1)",
        "–",
    ]
    assert "calls and median s are per answer" in outcome.out
    note = "(1) no vectors or no model for them: BM25 replaces search by meaning"
    assert f"{note}: statute-fixed 3" in outcome.out


def test_citations_that_lead_nowhere_are_counted_together(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    asked = tmp_path / "asked.jsonl"
    cited = ("海上運送法第九条", "港則法第三条第二項")
    rows = (
        {"id": law, "question": f"{law}で正しいものは", "options": ["甲", "乙"], "answer": "a"}
        for law in cited
    )
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    method = ("--method", "statute-lexical", "-c", "main")
    outcome = cli(*BOUND, "eval", str(asked), *method, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["entries"][0]["notes"] == {"no-such-law": 2, "cited-law-lacking": 2}


def test_questions_of_a_user_and_runs_that_are_kept(
    cli: Cli, ferries: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text("".join(ferries.read_text(encoding="utf-8").splitlines(True)[:2]))
    given = ("--model", "tiny", "--run", "mine")
    outcome = ask(cli, ferries, *given, "--questions", str(own))
    assert outcome.code in (0, 4), outcome.err
    assert "ferries, own questions own.jsonl: 2 questions" in outcome.out
    refused = ask(cli, ferries, *given)
    assert refused.code == 2
    assert "asks something else" in refused.err
    assert "another name with --run" in refused.err

    record = Path(outcome.out.split("report: ")[1].strip()).with_name("run.json")
    run = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**run, "finished": ""}), encoding="utf-8")
    compared = cli("eval", "compare", "mine", "mine")
    assert compared.code == 2
    assert "The run mine is not finished" in compared.err


def test_failures_have_their_exit_code(cli: Cli, ferries: Path) -> None:
    outcome = cli(
        "--set", "chat.max_tokens=3",
        "eval", "--method", "statute-direct", "--model", "tiny", "-c", "main", str(ferries),
    )  # fmt: skip
    assert outcome.code == 4
    assert "--retry-failed" in outcome.out
    assert "failed: [1/1] statute-direct, row 1" in outcome.err


def test_without_a_model(cli: Cli, ferries: Path) -> None:
    outcome = ask(cli, ferries)
    assert outcome.code == 2
    assert "--model" in outcome.err
    assert ask(cli, ferries, "--model", "none").code == 8


@each(
    ("arguments", "code", "part"),
    [
        (["eval", "none", "--method", "statute-direct"], 3, "no dataset 'none'"),
        (["eval", "lawqa"], 2, "--method"),
        (["eval", "compare", "one"], 2, "RUN"),
        (["eval", "compare", "one", "two"], 3, "no run 'one'"),
        (["eval", "lawqa", "--method", "all", "--orders", "5"], 2, "--orders"),
    ],
)
def test_malformed_requests(
    cli: Cli, sample: Path, arguments: list[str], code: int, part: str
) -> None:
    outcome = cli(*arguments)
    assert outcome.code == code
    assert part in outcome.err


def test_before_the_first_run(cli: Cli, sample: Path) -> None:
    assert "no run yet" in cli("eval", "list").out
    damaged = sample / "runs" / "eval" / "lawqa" / "torn" / "run.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text('{"dataset": ')
    assert "cannot be read" in cli("eval", "list").err


def test_each_question_of_its_own_documents(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    asked = tmp_path / "q.json"
    paragraphs = [
        {"title": "Tarn Ferries", "paragraph_text": "Ada Moss founded it.", "is_supporting": True},
        {"title": "Anvil Ferries", "paragraph_text": "Ben Roe founded it."},
    ]
    question = {"id": "q", "question": "Who founded Tarn Ferries?", "answer": "Ada Moss"}
    asked.write_text(json.dumps([question | {"paragraphs": paragraphs}]), encoding="utf-8")
    (tmp_path / "ferries.toml").write_text(
        'title = "Ferries"\nsource = "invented"\nlicence = "CC0"\nreader = "multihop"\n'
        'measure = "multihop"\n[[splits]]\nname = "dev"\nfile = "q.json"\n',
        encoding="utf-8",
    )
    evaluated = ("eval", str(tmp_path / "ferries.toml"), "--method", "extractive", "-c", "paper")
    assert cli("init").code == 0
    lacking = cli(*evaluated, "--own-documents")
    assert lacking.code == 3
    assert f"localrag add {asked} --corpus paper" in "".join(lacking.err.split("\n"))
    assert cli("add", str(asked), "--corpus", "paper").code == 0
    assert cli("index", "--corpus", "paper").code == 0
    own = cli(*evaluated, "--own-documents", "--json").json
    assert (own["own_documents"], own["n"], own["entries"][0]["refusals"]) == (True, 1, {})
    both = cli(*evaluated, "--unanswerable")
    assert "2 questions, each of its own documents; 2 asked now" in both.out
    assert "refused, without an answer" in both.out
