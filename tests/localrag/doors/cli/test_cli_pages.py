"""The page of a document in every citation: printed, as JSON, and in each kind of file."""

import json
from collections.abc import Callable
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from printed_pages import PrintedPages

import localrag
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.export import export
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query

Cli = Callable[..., Any]
QUESTION = "渡し舟の運航を休むときは、誰に届け出るか。"
HALVES = (
    "渡し舟の船頭は、運航を休むときは、あらかじめその旨を桟橋の",
    "管理者に届け出なければならない。",
)


@pytest.fixture
def pages(cli: Cli, home: Path, tmp_path: Path) -> Path:
    """A corpus with a document of three pages; its first sentence begins on page 2, ends on 3."""
    printed = PrintedPages()
    printed.page()
    printed.text(60, 740, "待合所の灯火は、日没の一時間前に点ける。")
    for half in HALVES:
        printed.page()
        printed.text(60, 740, half)
    printed.text(60, 720, "手荷物は、一人につき二個までとする。")
    file = tmp_path / "手引.pdf"
    file.write_bytes(printed.to_bytes())
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    return file


def test_what_is_printed(cli: Cli, pages: Path) -> None:
    assert "手引 2–3頁" in cli("search", QUESTION).out
    assert "手引 2–3頁" in cli("ask", QUESTION).out
    assert "手引 1頁" in cli("ask", "待合所の灯火はいつ点けるか。").out
    assert "手引 3頁" in cli("ask", "手荷物は一人に何個までか。").out
    assert "手引 2–3頁" in cli("show", "手引.pdf#2").out


def test_json(cli: Cli, pages: Path) -> None:
    (hit, *_) = cli("search", QUESTION, "--json").json["hits"]
    assert (hit["passage"]["header"], hit["passage"]["page"]) == ("手引 2–3頁", 2)
    (citation, *_) = cli("ask", QUESTION, "--json").json["citations"]
    assert citation["quote"] == "".join(HALVES)
    assert [citation[name] for name in ("label", "page", "last_page")] == ["手引 2–3頁", 2, 3]


@pytest.mark.parametrize("kind", ["csv", "md", "xlsx", "docx"])
def test_results_of_a_batch(kind: str, cli: Cli, pages: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": QUESTION}), encoding="utf-8")
    out = tmp_path / f"answers.{kind}"
    assert cli("batch", str(questions), "--out", str(out)).code == 0
    data = out.read_bytes()
    if kind in ("xlsx", "docx"):
        with ZipFile(BytesIO(data)) as archive:
            data = b"".join(archive.read(name) for name in archive.namelist())
    assert "手引 2–3頁" in unescape(data.decode(errors="replace"))


@pytest.mark.parametrize("kind", ["md", "docx"])
def test_an_exported_conversation(
    kind: str, cli: Cli, pages: Path, home: Path, tmp_path: Path
) -> None:
    workspace, out = Workspace(home), tmp_path / f"conversation.{kind}"
    with localrag.open(home).corpus() as corpus, Conversations.open(workspace) as conversations:
        talk = conversations.new("休航").id
        turn = conversations.begin(talk, Query(QUESTION), "default", "extractive", "")
        conversations.finish(turn.id, corpus.ask(QUESTION), 1.0)
        export(conversations, workspace, talk, out)
    data = out.read_bytes()
    if kind == "docx":
        with ZipFile(BytesIO(data)) as archive:
            data = archive.read("word/document.xml")
    assert "手引 2–3頁" in unescape(data.decode())


def test_a_sentence_over_a_page_end_is_checked_as_one(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    printed = PrintedPages()
    for number, half in enumerate(("渡し舟の安全及び活用に関する法律第", "八条に基づく。"), 1):
        printed.page()
        printed.text(60, 800, "意見書（案）")
        printed.text(60, 740, half)
        printed.text(280, 40, f"- {number} -")
    file = tmp_path / "意見書.pdf"
    file.write_bytes(printed.to_bytes())
    checked = cli("check", str(file), "--json").json
    (finding,) = checked["findings"]
    assert finding["verdict"] == "holds"
    assert "第八条" in json.dumps(finding, ensure_ascii=False)


def test_a_hard_wrapped_text_file_is_quoted_by_sentences(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    text = (
        "渡し場の使用について、次のとおり定める。渡し場を使用する者は、あらかじめ管理者の\n"
        "許可を受けなければならない。許可を受けた者は、使用料として一回につき三百円を支払\n"
        "うものとし、支払った使用料は返還しない。ただし、天災その他やむを得ない事由により\n"
        "渡し場を使用することができないときは、この限りでない。\n"
    )
    file = tmp_path / "規約.txt"
    file.write_text(text, encoding="utf-8")
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    (citation, *_) = cli("ask", "使用料はいくら支払うか。", "--json").json["citations"]
    assert citation["quote"].startswith(
        "許可を受けた者は、使用料として一回につき三百円を支払うものとし"
    )
    assert "\n" not in citation["quote"]
