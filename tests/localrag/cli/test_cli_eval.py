"""``localrag eval`` as a user sees it: output, exit codes, going on, comparing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.workspace import Workspace
from localrag_models.store import ModelStore

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


def test_from_questions_to_a_report(cli: Cli, ferries: Path) -> None:
    planned = ask(cli, ferries, "--model", "tiny", "--orders", "2", "--dry-run", "--json").json
    assert planned["entries"][0]["calls"] == 6
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


@pytest.mark.parametrize(
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
