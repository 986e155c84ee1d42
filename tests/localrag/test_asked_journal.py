"""The journal of questions: all that is asked, in a chain that shows where it was changed."""

import json
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.corpus.asked_journal import checked, journal_of, write_down
from localrag.corpus.workspace import Workspace
from localrag.errors import StorageError, StoreError

Cli = Callable[..., Any]


def test_what_is_asked_is_written_down_before_it_is_answered(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    workspace = Workspace.locate()
    assert cli("ask", "渡し舟とは何か。").code == 0
    assert not journal_of(workspace).exists(), "only where the settings say so"
    session = localrag.open(sample, {"journal.questions": True})
    with session.corpus("main") as corpus:
        corpus.ask("渡し守の資格は何か。")
        (tmp_path / "q.jsonl").write_text('{"question": "渡し場とは何か。"}\n')
        corpus.batch(tmp_path / "q.jsonl", tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in journal_of(workspace).read_text().splitlines()]
    assert [row["question"] for row in rows] == ["渡し守の資格は何か。", "渡し場とは何か。"]
    assert {(row["corpus"], row["method"]) for row in rows} == {("main", "extractive")}
    assert checked(workspace).questions == 2
    finding = next(f for f in cli("doctor", "--json").json if f["check"] == "journal")
    assert finding["health"] == "good"
    assert checked(workspace).last in finding["detail"]


def test_what_cannot_be_written_down_is_not_answered(sample: Path) -> None:
    journal_of(Workspace.locate()).mkdir()
    with (
        localrag.open(sample, {"journal.questions": True}).corpus("main") as corpus,
        pytest.raises(StorageError, match=r"asked\.jsonl"),
    ):
        corpus.ask("渡し守の資格は何か。")


@pytest.fixture
def kept(home: Path) -> Path:
    workspace = Workspace.locate()
    workspace.init()
    for number in range(5):
        write_down(workspace, "main", "extractive", f"問い{number}", ())
    return journal_of(workspace)


CHANGES: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
    "a word of the first line": (
        lambda lines: [lines[0].replace("問い0", "問い9"), *lines[1:]],
        2,
    ),
    "a word": (lambda lines: [*lines[:1], lines[1].replace("問い1", "問い9"), *lines[2:]], 3),
    "a line less": (lambda lines: [*lines[:2], *lines[3:]], 3),
    "the first line": (lambda lines: lines[1:], 1),
    "two changed places": (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
    "a line more": (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4),
    "no JSON": (lambda lines: [*lines[:4], "x\n"], 5),
    "no end": (lambda lines: [*lines[:4], lines[4].rstrip("\n")], 5),
}


@pytest.mark.parametrize(("change", "line"), CHANGES.values(), ids=CHANGES)
def test_the_first_broken_line_is_named(
    cli: Cli, kept: Path, change: Callable[[list[str]], list[str]], line: int
) -> None:
    assert checked(Workspace.locate()).questions == 5
    kept.write_text("".join(change(kept.read_text().splitlines(keepends=True))))
    with pytest.raises(StoreError, match=f"line {line} does not follow") as caught:
        checked(Workspace.locate())
    told = f"line {line - 1} or {line} was changed" if line > 1 else "line 1 was changed"
    assert told in caught.value.cure
    doctor = cli("doctor", "--json")
    assert doctor.code == 5
    assert f"line {line} " in next(f for f in doctor.json if f["check"] == "journal")["detail"]


def test_the_account_is_that_of_the_system(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks sets LOGNAME and USER as he likes."""
    pwd = pytest.importorskip("pwd")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    workspace = Workspace.locate()
    workspace.init()
    write_down(workspace, "main", "extractive", "渡し守とは何か。", ())
    row = json.loads(journal_of(workspace).read_text())
    assert row["user"] == pwd.getpwuid(os.getuid()).pw_name


def test_a_line_that_a_kill_cut_off_is_dropped(kept: Path) -> None:
    with kept.open("ab") as file:
        file.write(b'{"at": "20')
    write_down(Workspace.locate(), "main", "extractive", "\ud800 half", ("甲", "乙"))
    assert checked(Workspace.locate()).questions == 6


def _ask(home: str, number: int) -> None:
    for turn in range(10):
        write_down(Workspace(Path(home)), "main", "extractive", f"{number}-{turn}", ())


def test_several_processes_make_one_chain(kept: Path) -> None:
    context = multiprocessing.get_context("fork" if hasattr(__import__("os"), "fork") else "spawn")
    processes = [context.Process(target=_ask, args=(str(kept.parent), n)) for n in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert checked(Workspace.locate()).questions == 35
