"""Questions that a user gives in the place of a split."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from localrag.corpus.workspace import Workspace
from localrag.evaluation.datasets.loading import load

DECLARATION = """\
title = "渡し舟の問題集"
source = "https://example.org/ferry_questions"
licence = "CC0"
reader = "choices"

[[splits]]
name = "train"
file = "train.jsonl"
sha256 = "{sha256}"

[[published.statute-direct]]
score = 0.5
conditions = "another model"
source = "a study"
"""


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """A declaration whose only split has the hash of `train.jsonl`."""
    row = {
        "id": "q1",
        "question": "渡し守の資格は",
        "options": {"a": "甲", "b": "乙"},
        "answer": "b",
    }
    content = json.dumps(row, ensure_ascii=False).encode() + b"\n"
    (tmp_path / "train.jsonl").write_bytes(content)
    path = tmp_path / "ferries.toml"
    path.write_text(DECLARATION.format(sha256=sha256(content).hexdigest()), encoding="utf-8")
    return path


def test_nothing_is_claimed_for_them(declared: Path, home: Path) -> None:
    file = declared.with_name("mine.jsonl")
    file.write_bytes(declared.with_name("train.jsonl").read_bytes() + b"\n")
    read = load(Workspace.locate(home), str(declared), file=file)
    assert (read.own, read.split, read.dataset.name) == (True, "mine.jsonl", "ferries")
    assert read.dataset.title == (
        f"own questions, read as ferries: mine.jsonl (sha256 {read.sha256[:12]})"
    )
    assert (read.dataset.source, read.dataset.licence, read.dataset.published) == ("", "", {})
    assert [one.answer for one in read.questions] == ["b"]


def test_the_file_of_a_split_is_that_split(declared: Path, home: Path) -> None:
    copy = declared.with_name("copy.jsonl")
    copy.write_bytes(declared.with_name("train.jsonl").read_bytes())
    workspace = Workspace.locate(home)
    assert load(workspace, str(declared), file=copy) == load(workspace, str(declared))
