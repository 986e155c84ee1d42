"""What is written outside the workspace is its owner's alone, whatever was there before."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.export import export
from localrag.ops.conversations.store import Conversations

Cli = Callable[..., Any]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions and links are of POSIX")


@pytest.fixture(autouse=True)
def open_mask() -> Iterator[None]:
    """Let new files be read by everyone, as far as the umask goes."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx", "docx", "md"])
def test_answers_of_a_batch(cli: Cli, sample: Path, tmp_path: Path, ending: str) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / f"answers.{ending}"
    questions.write_text(json.dumps({"question": "渡し守の資格"}), "utf-8")
    (tmp_path / "answers.jsonl").touch(0o644)
    for _ in range(2):
        assert cli("batch", str(questions), "--out", str(out)).code == 0
        written = [path for path in tmp_path.glob("answers*") if path.is_file()]
        assert {mode(path) for path in written} == {0o600}
        if ending != "jsonl":
            out.chmod(0o644)  # It is made again each time.


def test_a_link_in_the_place_of_answers_is_refused(cli: Cli, sample: Path, tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(json.dumps({"question": "渡し守の資格"}), "utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch(0o644)
    out.symlink_to(elsewhere)
    assert cli("batch", str(questions), "--out", str(out)).code == 2
    assert elsewhere.read_bytes() == b""


@pytest.mark.parametrize("ending", ["html", "md", "docx"])
def test_reports_of_check(cli: Cli, sample: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"report.{ending}"
    cli("check", "渡し舟法第8条による。", "--out", str(out))
    assert mode(out) == 0o600


@pytest.mark.parametrize("ending", ["md", "docx"])
def test_provisions(cli: Cli, sample: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"provision.{ending}"
    assert cli("show", "渡し舟法8条", "--out", str(out)).code == 0
    assert mode(out) == 0o600


def test_a_conversation_that_replaces_a_file(sample: Path, tmp_path: Path) -> None:
    out, target = tmp_path / "talk.md", tmp_path / "target.md"
    target.write_text("somebody's", "utf-8")
    out.symlink_to(target)
    workspace = Workspace.locate()
    with Conversations.open(workspace) as conversations:
        talk = conversations.new("舟").id
        export(conversations, workspace, talk, out, replace=True)
        assert (out.is_symlink(), target.read_text("utf-8")) == (False, "somebody's")
        out.chmod(0o644)
        export(conversations, workspace, talk, out, replace=True)
    assert mode(out) == 0o600
