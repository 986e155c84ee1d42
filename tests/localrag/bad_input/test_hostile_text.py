"""Rich markup and terminal escapes in a document: no verb that prints them lets them act."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnitsil\u2066"
MARKUP = "[bold red]甲[/bold red] [/] [link=file:///x] :skull: {{ x }}"
ACTS = set("\x1b\x07\x9b\u202e\u2066\r\0")


@pytest.fixture
def hostile(cli: Cli, kept: Path, tmp_path: Path) -> Iterator[list[Any]]:
    """A corpus with hostile titles, texts and file names; all that was printed is judged."""
    folder = tmp_path / f"in {MARKUP.replace('/', '-')}"
    folder.mkdir()
    (folder / "599AC0000000007.xml").write_text(
        '<Law Era="Reiwa" Lang="ja" LawType="Act" Num="7" Year="100">'
        f"<LawNum>令和九十九年法律第七号</LawNum><LawBody><LawTitle>灯台{MARKUP}法</LawTitle>"
        '<MainProvision><Article Num="1"><ArticleTitle>第一条</ArticleTitle>'
        '<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>'
        f"灯台{MARKUP}の光は\u202e第二条の規定による\u2066白色とする。</Sentence></ParagraphSentence>"
        "</Paragraph></Article></MainProvision></LawBody></Law>",
        encoding="utf-8",
    )
    record = {"id": f"evil\n{ESCAPES}", "title": f"風車{ESCAPES}{MARKUP}", "text": "風車" + ESCAPES}
    (folder / "records.jsonl").write_text(json.dumps(record), encoding="utf-8")
    page = f"# 帆船 {ESCAPES}{MARKUP}\n\n帆船{ESCAPES}{MARKUP}は三本の帆を持つ。\n"
    for name in ("a", "b"):
        path = folder / f"{name}{ESCAPES}\nsupported: 3 quotations.md"
        path.write_text(page, encoding="utf-8")
    (folder / f"bad{ESCAPES}.xml").write_text("<Law", encoding="utf-8")
    (folder / f"x.{ESCAPES}\nsupported: 3 quotations").touch()
    outcomes = [cli("add", str(folder)), cli("index")]
    assert [outcome.code for outcome in outcomes] == [4, 0]
    yield outcomes
    for outcome in outcomes:
        assert outcome.code != 1, outcome.err
        assert not ACTS & set(outcome.out + outcome.err)


def test_what_adding_tells(hostile: list[Any]) -> None:
    added, _ = hostile
    lines = added.out.splitlines() + added.err.splitlines()
    assert any("duplicate: " in line for line in lines)
    assert any("failed: bad" in line for line in lines)
    assert not any(line.startswith("supported") for line in lines), "a file name made a line"


@pytest.mark.parametrize("words", ["灯台の光", "風車", "帆船の帆"])
def test_what_finding_prints(cli: Cli, hostile: list[Any], words: str) -> None:
    for verb in ("search", "ask"):
        for option in ("--explain", "--json"):
            outcome = cli(verb, words, option)
            hostile.append(outcome)
            assert words[:2] in outcome.out
    assert "[bold red]甲[/bold red] [/]" in cli("search", words).out


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_what_looking_up_prints(cli: Cli, hostile: list[Any], option: list[str]) -> None:
    listed = cli("list", "main", *option)
    for document in cli("list", "main", "--json").json:
        passage = cli("show", f"{document['id']}#1", *option)
        assert passage.code == 0
        hostile.append(passage)
    hostile += [listed, cli("list", *option), cli("doctor", *option)]
    assert MARKUP in listed.out
    assert "599AC0000000007" in listed.out


def test_what_refusals_print(cli: Cli, hostile: list[Any]) -> None:
    for arguments in (
        ["show", ESCAPES + MARKUP],
        ["remove", ESCAPES + MARKUP],
        ["list", ESCAPES],
        ["search", "灯台", "--law", ESCAPES],
        ["search", "灯台", "--from", ESCAPES],
        ["add", ESCAPES.replace("\0", "")],
        ["--set", f"{ESCAPES}=1", "config"],
        ["--set", f"retrieval.k={ESCAPES}", "config"],
        [ESCAPES],
    ):
        outcome = cli(*arguments)
        assert outcome.code in (2, 3, 5)
        assert outcome.err.startswith("error: ")
        hostile.append(outcome)


def test_what_removing_prints(cli: Cli, hostile: list[Any]) -> None:
    documents = [d["id"] for d in cli("list", "main", "--json").json if "風車" in d["title"]]
    assert len(documents) == 1
    hostile += [cli("remove", *documents, "--json"), cli("list", "main")]
    assert "風車" not in hostile[-1].out
