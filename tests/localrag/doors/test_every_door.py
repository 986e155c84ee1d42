"""What was mended for one door holds at every other: each fault tried at each door.

A row is a fault with what is right of checking, asking and showing; a column is a door. Add a row
for a fault, and a column for a door: every cell is tried.
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from mcp import Client

import localrag
from localrag.corpus.config import ServeConfig
from localrag.doors.as_json.checks import check_as_json
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.guarding import GuardedDesk
from localrag.doors.serve.holders import Tokens
from localrag.doors.serve.http import application
from localrag.doors.serve.mcp import server_of
from localrag.errors import NotFoundError

from ...conftest import Outcome
from ...rows import each

Cli = Callable[..., Outcome]
Told = list[tuple[str, str, int, int]]
"""Of each citation its words, its verdict, where it begins and in which line."""

LAW = "599AC0000000001"
OLD = "2032-04-02"
"""A day more than five years behind the text of the sample."""


@dataclass(frozen=True)
class Fault:
    """A text that was once read wrongly, and what is right.

    Attributes:
        text: is checked.
        right: its citations.
        asked: is asked, and shown where `shown` is told.
        quoted: the articles of the law that are quoted first.
        said: a note of the answer; "" for none.
        shown: the articles that are shown; empty where an error is.
        refused: the error of what is shown; "" where it is `said`.
        as_of: the day whose law is meant; "" for today.
    """

    text: str
    right: Told
    asked: str
    quoted: list[str]
    said: str = ""
    shown: list[str] = field(default_factory=list)
    refused: str = ""
    as_of: str = ""

    @property
    def error(self) -> str:
        """What is said in place of what is shown."""
        return self.refused or self.said


FAULTS = {
    "range": Fault(
        "渡し舟法第14条第1項第1号乃至第9号による。",
        [("渡し舟法第14条第1項第1号乃至第9号", "does-not-hold", 0, 1)],
        "渡し舟法第14条第1項第1号乃至第9号",
        ["14"],
        "渡し舟法第14条第1項第1号乃至第9号: the law has no such provision",
    ),
    "range-of-articles": Fault(
        "渡し舟法第4条ないし第6条による。",
        [("渡し舟法第4条ないし第6条", "holds", 0, 1)],
        "渡し舟法第4条ないし第6条",
        ["4", "5", "6"],
        shown=["4", "5", "6"],
    ),
    "case-number": Fault(
        "渡し舟法第4条に基づく請求（令和3年（ワ）第12345号）。",
        [("渡し舟法第4条", "holds", 0, 1)],
        "渡し舟法第4条（令和3年（ワ）第12345号）",
        ["4"],
        shown=["4"],
    ),
    "place": Fault(
        "あ。\n\n\n渡し舟法4～6条による。",
        [("渡し舟法4～6条", "holds", 5, 4)],
        "\n\n渡し舟法4～6条",
        ["4", "5", "6"],
        shown=["4", "5", "6"],
    ),
    "own-article": Fault(
        "渡し舟法を守る。\n第1条（目的）\n第2条第4項による。\n第2条（雑則）\n前条による。\n",
        [("第2条第4項", "does-not-hold", 17, 3), ("前条", "holds", 36, 5)],
        "本契約第5条と渡し舟法第4条",
        ["4"],
        "第5条: the corpus has no law called 本契約",
    ),
    "old-text": Fault(
        "渡し舟法第2条第9項による。",
        [("渡し舟法第2条第9項", "not-checked", 0, 1)],
        "渡し舟法第2条第9項",
        ["2"],
        "later amendments may be missing",
        refused="the law has no such provision in its state of 2026-04-01",
        as_of=OLD,
    ),
}


def _told(found: Mapping[str, Any]) -> Told:
    return [
        (one["said"], one["verdict"], one["place"]["start"], one["place"]["line"])
        for one in found["findings"]
        if one["part"] == "citation"
    ]


def _articles(ids: list[str]) -> list[str]:
    """The articles of the law that ids of passages name, each once."""
    named = [re.match(rf"{LAW}#([0-9_]+)", one) for one in ids]
    return list(dict.fromkeys(one[1] for one in named if one))


def _answered(answer: Mapping[str, Any]) -> tuple[list[str], str]:
    """The articles that an answer quotes, and its notes; a batch has them in one list."""
    trace = answer["trace"]
    events = (
        trace["events"] if "events" in trace else [e for stage in trace for e in stage["events"]]
    )
    notes = "\n".join(event["words"] for event in events)
    return _articles([one["passage_id"] for one in answer["citations"]]), notes


def _given(fault: Fault) -> dict[str, str]:
    return {"as_of": fault.as_of} if fault.as_of else {}


def _on_day(fault: Fault) -> list[str]:
    return ["--as-of", fault.as_of] if fault.as_of else []


@each("fault", FAULTS.values())
def test_what_was_mended_holds_in_python(fault: Fault, sample_home: Path) -> None:
    settings = {"retrieval.as_of": fault.as_of} if fault.as_of else None
    with localrag.open(sample_home, settings).corpus() as corpus:
        assert _told(check_as_json(corpus.check(fault.text))) == fault.right
        answer = corpus.ask(fault.asked)
        quoted = _articles([one.passage_id for one in answer.citations])
        assert quoted[: len(fault.quoted)] == fault.quoted
        if fault.shown:
            shown = corpus.look_up(fault.asked)
            assert _articles([one.passage.id for one in shown.provisions]) == fault.shown
        else:
            with pytest.raises(NotFoundError, match=re.escape(fault.error)):
                corpus.look_up(fault.asked)


@each(("name", "fault"), FAULTS.items())
def test_what_was_mended_holds_at_the_command_line(
    name: str, fault: Fault, sample: Path, cli: Cli, tmp_path: Path
) -> None:
    # A copy: the batch notes itself among the runs of its workspace.
    home, day = ("--home", str(sample)), _on_day(fault)
    assert _told(cli(*home, "check", fault.text, "--json", *day).json) == fault.right
    quoted, notes = _answered(cli(*home, "ask", fault.asked, "--json", *day).json)
    assert quoted[: len(fault.quoted)] == fault.quoted
    assert fault.said in notes
    assert "12345" not in notes
    outcome = cli(*home, "show", fault.asked, "--json", *day)
    if fault.shown:
        ids = [one["passage"]["id"] for one in _provisions(outcome.json)]
        assert _articles(ids) == fault.shown
    else:
        assert outcome.code == 3
        assert fault.error in outcome.err

    questions, answers = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.answers.jsonl"
    questions.write_text(json.dumps({"question": fault.asked}), encoding="utf-8")
    assert cli(*home, "batch", str(questions), "--out", str(answers), *day).code in (0, 3)
    (line,) = answers.read_text(encoding="utf-8").splitlines()
    assert _answered(json.loads(line)) == (quoted, notes)


def _provisions(shown: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What is shown: one provision, or those of a range."""
    return shown.get("provisions") or [shown]


Ask = Callable[[str, dict[str, str]], Awaitable[dict[str, Any]]]


@asynccontextmanager
async def _http(desk: Desk, folder: Path) -> AsyncIterator[Ask]:
    async with _browsing(desk, folder) as client:

        async def ask(name: str, arguments: dict[str, str]) -> dict[str, Any]:
            return dict((await client.post(f"/{name}", json=arguments)).json())

        yield ask


@asynccontextmanager
async def _browsing(desk: Desk, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    tokens = Tokens(folder / "none.toml")
    limits = ServeConfig()
    app = application(GuardedDesk(desk, limits.queue), limits, tokens)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://127.0.0.1",
        headers={"authorization": f"Bearer {tokens.started()}"},
    ) as client:
        yield client


@asynccontextmanager
async def _mcp(desk: Desk, _folder: Path) -> AsyncIterator[Ask]:
    async with Client(server_of(desk)) as client:

        async def ask(name: str, arguments: dict[str, str]) -> dict[str, Any]:
            result = await client.call_tool(name, {**arguments, "characters": 1_000_000})
            told = result.structured_content
            return dict(told) if told else {"error": str(result.content)}

        yield ask


@pytest.mark.anyio
@pytest.mark.parametrize("opened", [_http, _mcp], ids=["http", "mcp"])
async def test_what_was_mended_holds_for_programs(
    opened: Any, sample_home: Path, tmp_path: Path, loopback: None
) -> None:
    # A long text is checked in a process of its own, whatever the door: once for each fault.
    fillings = ("", "。" * 3_000) if opened is _http else ("",)
    async with Desk(localrag.open(sample_home)) as desk, opened(desk, tmp_path) as ask:
        await _holds(ask=ask, fillings=fillings)


@each("fault", FAULTS.values())
async def _holds(fault: Fault, ask: Ask, fillings: Sequence[str]) -> None:
    day = _given(fault)
    for filled in fillings:
        assert _told(await ask("check", {"text": fault.text + filled, **day})) == fault.right
    quoted, notes = _answered(await ask("ask", {"question": fault.asked, **day}))
    assert quoted[: len(fault.quoted)] == fault.quoted
    assert fault.said in notes
    shown = await ask("show", {"citation": fault.asked, **day})
    if fault.shown:
        ids = [one["passage"]["id"] for one in _provisions(shown)]
        assert _articles(ids) == fault.shown
    else:
        assert fault.error in str(shown)


@pytest.mark.anyio
@each("fault", FAULTS.values())
async def test_what_was_mended_holds_on_the_page(
    fault: Fault, sample_home: Path, tmp_path: Path
) -> None:
    settings = {"retrieval.as_of": fault.as_of} if fault.as_of else None
    async with (
        Desk(localrag.open(sample_home, settings)) as desk,
        _browsing(desk, tmp_path) as client,
    ):
        client.headers.update({"accept": "text/html", "origin": "http://127.0.0.1"})
        asked = await client.post("/answers", data={"question": fault.asked})
        page = unquote((await client.get(asked.headers["location"])).text)
        assert _articles(re.findall(rf"at=({LAW}#[0-9_.]+)", page))[: len(fault.quoted)] == (
            fault.quoted
        )
        assert fault.said in page
        shown = (await client.get("/provision", params={"at": fault.asked})).text
        assert fault.shown or fault.error in shown
        for article in fault.shown:
            assert f"第{'〇一二三四五六'[int(article)]}条" in shown


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
