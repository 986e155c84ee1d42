"""A name is one line that hides nothing, wherever it is shown."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest

from localrag import language
from localrag.corpus.workspace import Workspace
from localrag.doors.cli import terminal
from localrag.ops.conversations.export import export
from localrag.ops.conversations.store import Conversations
from localrag.text.harmless import harmless, json_text, one_line

from ..rows import each

Cli = Callable[..., Any]

ACTS = "\n\r\x0b\x0c\x1b\x85\u2028\u2029\u202e\u2066\u200b\u200f\u2060\ufeff\xad"
"""What breaks a line, moves the cursor, reorders or hides."""
FORGED = " 1 民法 第七百九条  (forged)"
NAME = f"手引{ACTS}\n{FORGED}\n   129AC0000000089#709\u202e.md"
WORDS = "灯台の鐘は霧の日に三度鳴らす。"


@pytest.fixture
def corpus(cli: Cli, home: Path, tmp_path: Path) -> str:
    """A corpus of one document: a member of a zip with a hostile name, and hostile headings."""
    cli("init")
    path = tmp_path / "papers.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(NAME, f"# 鐘\u202e\u2028{FORGED}\u200b\n\n{WORDS}\n")
    assert cli("add", str(path)).code == 0
    assert cli("index").code == 0
    return "main"


def unsafe(text: str) -> set[str]:
    """What of it acts or hides, and whether a line of it is forged."""
    found = {char for char in ACTS if char in text and char != "\n"}
    return found | {line for line in text.split("\n") if line.startswith(FORGED[:6])}


@each("char", ACTS)
def test_every_such_character_is_shown(char: str) -> None:
    shown = one_line(f"a{char}b")
    assert len(shown) == 3 or shown == f"a<U+{ord(char):04X}>b"
    assert shown.isprintable()
    assert char not in json_text([char]) or char in "\u200b\u200f\u2060\ufeff\xad"


def test_texts_keep_their_lines() -> None:
    assert harmless("一\n二\t三") == "一\n二\t三"


@pytest.mark.parametrize(
    "line",
    [
        ("search", "灯台の鐘"),
        ("search", "灯台の鐘", "--explain"),
        ("search", "灯台の鐘", "--json"),
        ("ask", "灯台の鐘はいつ鳴らすか"),
        ("ask", "灯台の鐘はいつ鳴らすか", "--explain"),
        ("ask", "灯台の鐘はいつ鳴らすか", "--json"),
        ("ask", "灯台の株主総会の決議の要件は何か"),
        ("ask", "灯台の株主総会の決議の要件は何か", "--json"),
        ("list", "main"),
        ("list", "main", "--json"),
        ("overview",),
        ("doctor",),
        ("show", f"x{NAME}"),
        ("remove", f"x{NAME}"),
        ("search", "-c", f"x{NAME}", "灯台"),
        ("add", f"x{NAME}"),
        ("models", "remove", f"x{NAME}"),
        ("restore", f"x{NAME}"),
        ("check", f"x{NAME}第一条"),
    ],
)
def test_the_command_line(cli: Cli, corpus: str, line: tuple[str, ...]) -> None:
    told = cli(*line)
    assert not unsafe(told.out)
    assert not unsafe(told.err)


def test_it_is_shown_and_removed_by_the_name_that_is_listed(cli: Cli, corpus: str) -> None:
    (listed,) = cli("list", corpus, "--json").json
    assert unsafe(listed["id"]) == set()
    assert "\n" not in listed["id"]
    shown = cli("show", listed["id"])
    assert (shown.code, unsafe(shown.out)) == (0, set())
    assert WORDS in shown.out
    assert cli("remove", listed["id"]).code == 0


@pytest.mark.parametrize("ending", ["md", "docx"])
def test_a_file_of_a_provision(cli: Cli, corpus: str, tmp_path: Path, ending: str) -> None:
    (listed,) = cli("list", corpus, "--json").json
    out = tmp_path / f"shown.{ending}"
    assert cli("show", listed["id"], "--out", str(out)).code == 0
    assert not unsafe(_text(out))


@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx", "docx", "md"])
def test_answers_of_a_batch(cli: Cli, corpus: str, tmp_path: Path, ending: str) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / f"answers.{ending}"
    questions.write_text(json.dumps({"question": "灯台の鐘はいつ鳴らすか"}), "utf-8")
    assert cli("batch", str(questions), "--out", str(out)).code == 0
    assert WORDS[:5] in _text(out)
    assert not unsafe(_text(out))


@pytest.mark.parametrize("ending", ["md", "docx"])
def test_a_conversation(cli: Cli, corpus: str, tmp_path: Path, ending: str) -> None:
    workspace, out = Workspace.locate(), tmp_path / f"talk.{ending}"
    with Conversations.open(workspace) as conversations:
        export(conversations, workspace, conversations.new(NAME).id, out)
    assert not unsafe(_text(out))


def test_what_an_earlier_version_stored(capsys: pytest.CaptureFixture[str]) -> None:
    language.use("en")
    terminal.say((NAME, "bold"), "  ", NAME)
    terminal.tell("note: ", NAME)
    terminal.table(["name"], [[NAME]])
    terminal.columns(["name"], [[NAME]])
    terminal.failure(NAME, NAME)
    printed = capsys.readouterr()
    assert not unsafe(printed.out)
    assert not {char for char in ACTS if char in printed.err and char != "\n"}
    assert not any(line.startswith((" 1", "129")) for line in printed.err.split("\n"))


def _text(path: Path) -> str:
    if path.suffix == ".docx":
        return "\n".join(one.text for one in docx.Document(str(path)).paragraphs)
    if path.suffix == ".xlsx":
        rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        return "\n".join(str(cell) for row in rows for cell in row)
    text = path.read_text("utf-8-sig")
    if path.suffix == ".csv":
        return "\n".join(cell for row in csv.reader(io.StringIO(text)) for cell in row)
    return text
