"""What was mended for one door holds at every other: each fault tried at each door.

A row is a fault with what is right; a column is a door. Add a row for a fault, and a column for a
door: every cell is tried.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import localrag
from localrag.as_json.checks import check_as_json
from localrag.serve.calls import WORK
from localrag.serve.desk import Desk

from ..conftest import Outcome

Cli = Callable[..., Outcome]
Told = list[tuple[str, str, int, int]]
"""Of each citation its words, its verdict, where it begins and in which line."""


@dataclass(frozen=True)
class Fault:
    """A text that was once read wrongly, and what is right.

    Attributes:
        text: is checked.
        right: its citations.
    """

    text: str
    right: Told


FAULTS = {
    "range": Fault(
        "渡し舟法第14条第1項第1号乃至第9号による。",
        [("渡し舟法第14条第1項第1号乃至第9号", "does-not-hold", 0, 1)],
    ),
    "case-number": Fault(
        "渡し舟法第4条に基づく請求（令和3年（ワ）第12345号）。",
        [("渡し舟法第4条", "holds", 0, 1)],
    ),
    "place": Fault("あ。\n\n\n渡し舟法4～6条による。", [("渡し舟法4～6条", "holds", 5, 4)]),
    "own-article": Fault(
        "渡し舟法を守る。\n第1条（目的）\n第2条第4項による。\n第2条（雑則）\n前条による。\n",
        [("第2条第4項", "does-not-hold", 17, 3), ("前条", "holds", 36, 5)],
    ),
}


def _told(found: dict[str, object]) -> Told:
    findings = found["findings"]
    assert isinstance(findings, list)
    return [
        (one["said"], one["verdict"], one["place"]["start"], one["place"]["line"])
        for one in findings
        if one["part"] == "citation"
    ]


def _python(text: str, home: Path, _cli: Cli) -> Told:
    with localrag.open(home).corpus() as corpus:
        return _told(check_as_json(corpus.check(text)))


def _command_line(text: str, home: Path, cli: Cli) -> Told:
    outcome = cli("--home", str(home), "check", text, "--json")
    return _told(json.loads(outcome.out))


DOORS: dict[str, Callable[[str, Path, Cli], Told]] = {
    "python": _python,
    "command line": _command_line,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_mended_holds_at_this_door(
    fault: str, door: str, sample_home: Path, cli: Cli
) -> None:
    wanted = FAULTS[fault]
    assert DOORS[door](wanted.text, sample_home, cli) == wanted.right


@pytest.mark.anyio
@pytest.mark.parametrize("fault", FAULTS)
async def test_what_was_mended_holds_for_programs(fault: str, sample_home: Path) -> None:
    """The desk carries out the calls of HTTP, of MCP and of the page."""
    wanted = FAULTS[fault]
    async with Desk(localrag.open(sample_home)) as desk:
        for filled in ("", "。" * 3_000):
            call = WORK["check"].takes.model_validate({"text": wanted.text + filled})
            assert _told(json.loads(await desk.carry_out("check", call))) == wanted.right


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
