"""``localrag batch`` as a user sees it: output, exit codes, interrupts, kills."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ....patience import PATIENCE, wait_for

Cli = Callable[..., Any]

QUESTION = "渡し舟を運航してはならない水位の基準は何か。"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two questions and a row that is none."""
    path = tmp_path / "questions.jsonl"
    path.write_text(
        f'{{"id": "a", "question": "{QUESTION}", "level": 1}}\n'
        "nonsense [bold]\x1b[2J\n"
        '{"question": "When was the Fennimore refractor finished?"}\n',
        encoding="utf-8",
    )
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Where the answers go."""
    return tmp_path / "answers.jsonl"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def many(path: Path, count: int) -> None:
    lines = (json.dumps({"question": f"渡し守の資格は何か ({n})"}) for n in range(count))
    path.write_text("\n".join(lines), encoding="utf-8")


def test_answers_are_those_of_ask(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    outcome = cli("batch", str(table), "--out", str(answers))
    assert outcome.code == 4, "a row failed"
    assert "3 rows; 0 supported, 2 quoted, 0 unsupported, 0 not found" in outcome.out
    assert "1 row failed: unreadable 1" in outcome.out
    assert "--retry-failed" in outcome.out
    assert "fields not read: level" in outcome.err
    assert "line 2: The line is not JSON" in outcome.err
    assert "\x1b" not in outcome.out + outcome.err
    asked = cli("ask", QUESTION, "--json").json
    first = read(answers)[0]
    assert first["answer"] == asked["text"]
    # A row keeps a problem as a fact; ask gives its words, and none where there is no problem.
    assert [one | {"problem": one["problem"] or ""} for one in first["citations"]] == (
        asked["citations"]
    )
    assert [stage["stage"] for stage in first["trace"]["stages"]] == [
        stage["stage"] for stage in asked["trace"]
    ]


def test_the_summary_as_json(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    report = cli("batch", str(table), "--out", str(answers), "--json").json
    assert report["statuses"] == {
        "supported": 0,
        "quoted": 2,
        "unsupported": 0,
        "not_found": 0,
    }
    assert report["failed"] == {"InputError": 1}
    assert (report["rows"], report["earlier"], report["asked"]) == (3, 0, 3)
    again = cli("batch", str(table), "--out", str(answers), "--json")
    assert (again.code, again.json["earlier"], again.json["asked"]) == (4, 3, 0)
    assert "3 rows are already done and left alone" in again.err


def test_a_dry_run_writes_nothing(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    outcome = cli("batch", str(table), "--dry-run", "--json")
    assert outcome.code == 4
    estimate = outcome.json
    assert (estimate["rows"], estimate["unreadable"], estimate["left"]) == (3, 1, 2)
    assert (estimate["sampled"], estimate["failed"]) == (1, 0)
    assert estimate["seconds"] > 0
    text = cli("batch", str(table), "--out", str(answers), "--dry-run").out
    assert "3 rows; 1 cannot be asked, 2 left to do" in text
    assert [path.name for path in table.parent.iterdir() if path != sample] == [table.name]


def test_a_dry_run_tells_what_the_method_cannot_answer(cli: Cli, sample: Path, table: Path) -> None:
    found = cli("batch", str(table), "--method", "statute-lexical", "--dry-run")
    told = found.out
    assert found.code == 4
    assert "3 rows; 1 cannot be asked, 0 left to do" in told
    assert "2 rows cannot be answered by the method" in told
    assert "failed" not in told


def test_a_slow_dry_run_shows_how_far_it_is(
    cli: Cli, sample: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.doors.cli.terminal._PATIENCE", 0.0)
    monkeypatch.setattr("localrag.doors.cli.render_batch.EVERY", 0.0)
    many(table, 3)
    tried = cli("batch", str(table), "--dry-run")
    assert "answering: 1 of 2 questions" in tried.err
    assert tried.code == 0


def test_help_in_the_usual_words(cli: Cli) -> None:
    told = cli("batch", "--help").out
    assert "QUESTIONS" in told.splitlines()[0]
    assert "the folder FILE.run" in " ".join(told.split())


def test_a_dry_run_of_the_rest(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    cli("batch", str(table), "--out", str(answers))
    before = answers.read_bytes()
    for option, left in (([], 0), (["--retry-failed"], 0), (["--restart"], 2)):
        estimate = cli("batch", str(table), "--out", str(answers), "--dry-run", "--json", *option)
        assert estimate.json["left"] == left
    refused = cli("--set", "retrieval.k=3", "batch", str(table), "--out", str(answers), "--dry-run")
    assert refused.code == 2
    assert answers.read_bytes() == before


def test_other_settings_name_the_cure(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    cli("batch", str(table), "--out", str(answers))
    refused = cli("--set", "retrieval.k=3", "batch", str(table), "--out", str(answers))
    assert refused.code == 2
    assert "retrieval.k was 10 and is 3" in refused.err
    assert "--restart" in refused.err
    cli("remove", "pages/kite-mail.md")
    behind = cli("batch", str(table), "--out", str(answers))
    assert behind.code == 2
    assert "corpus.generation" in behind.err
    assert "changed after it was indexed" in behind.err
    again = cli("batch", str(table), "--out", str(answers), "--restart", "--json")
    assert (again.code, again.json["asked"]) == (4, 3)


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["{table}"], 2, "--out FILE"),
        (["{folder}/none.jsonl", "--out", "{answers}"], 3, "none.jsonl cannot be read"),
        (["{folder}", "--out", "{answers}"], 3, "cannot be read"),
        (["{table}", "--out", "{folder}/none/answers.jsonl"], 2, "There is no folder"),
        (["{table}", "--out", "{table}"], 2, "overwrite the questions"),
        (["{table}", "--out", "{answers}", "--corpus", "none"], 3, "There is: main"),
        (["{table}", "--out", "{answers}", "--concurrency", "-1"], 2, "--concurrency"),
    ],
)
def test_malformed_requests(
    cli: Cli,
    sample: Path,
    table: Path,
    answers: Path,
    arguments: list[str],
    code: int,
    part: str,
) -> None:
    names = {"table": table, "answers": answers, "folder": table.parent}
    outcome = cli("batch", *(argument.format(**names) for argument in arguments))
    assert outcome.code == code
    assert part in outcome.err
    assert not answers.exists()


def test_without_an_index(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    shutil.rmtree(sample / "indexes" / "main" / "bm25")
    outcome = cli("batch", str(table), "--out", str(answers))
    assert outcome.code == 5
    assert "localrag index" in outcome.err
    assert not answers.exists()


def test_without_the_model(cli: Cli, sample: Path, table: Path, answers: Path) -> None:
    outcome = cli("--set", "chat.model=none", "batch", str(table), "--out", str(answers))
    assert outcome.code == 8
    assert not answers.exists()


def test_standard_input(shell: Cli, sample: Path, answers: Path) -> None:
    question = '{"question": "%s"}\n' % QUESTION  # noqa: UP031 - braces of JSON
    for _ in range(2):
        outcome = shell("batch", "-", "--out", str(answers), stdin=question)
        assert outcome.code == 0, outcome.err
    assert [row["status"] for row in read(answers)] == ["quoted"]


def start(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "localrag", "batch", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Started in the background, a shell and all its children are deaf to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def until_lines(path: Path, count: int) -> None:
    wait_for(lambda: path.read_bytes().count(b"\n") >= count)


# Enough that a fast machine is not done before it is stopped.
ROWS = 60


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_stopped_half_way(cli: Cli, sample: Path, tmp_path: Path, answers: Path) -> None:
    table = tmp_path / "many.jsonl"
    many(table, ROWS)
    process = start(str(table), "--out", str(answers))
    until_lines(answers, 5)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        meanwhile = cli("batch", str(table), "--out", str(answers))
    finally:
        os.killpg(process.pid, signal.SIGINT)
        os.kill(process.pid, signal.SIGCONT)
        _, err = process.communicate(timeout=PATIENCE)
    assert meanwhile.code == 6
    assert "Another process is writing" in meanwhile.err
    kept = answers.read_bytes().count(b"\n")
    assert 5 <= kept < ROWS
    assert process.returncode == 130
    assert f"stopped with {kept:,} of {ROWS:,} rows done" in err
    assert "the same command goes on from there" in err

    process = start(str(table), "--out", str(answers))
    until_lines(answers, kept + 5)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    kept = answers.read_bytes().count(b"\n")
    assert kept < ROWS
    again = cli("batch", str(table), "--out", str(answers), "--json")
    assert (again.code, again.json["earlier"], again.json["asked"]) == (0, kept, ROWS - kept)
    assert [row["row"] for row in read(answers)] == list(range(1, ROWS + 1))
