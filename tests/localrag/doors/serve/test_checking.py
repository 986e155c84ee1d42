"""Checks of long texts: apart from searches, one at a time of each holder, as long as one waits."""

import json
from collections.abc import Callable
from contextlib import suppress

import anyio
import psutil
import pytest

from localrag.doors.calls import CheckCall
from localrag.doors.serve.holders import Tokens

from ....patience import PATIENCE, comes

LONG = "渡し舟法第四条第三項、" * 300
VERY_LONG = "「渡し舟法」第一条「第二条」" * 7_000


@pytest.fixture
def checking() -> Callable[[], bool]:
    """Says whether a process of this test checks a text; other tests may have left some."""

    def started() -> set[int]:
        found = set()
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                found |= {child.pid} if "spawn_main" in " ".join(child.cmdline()) else set()
        return found

    before = started()
    return lambda: bool(started() - before)


async def test_a_long_text_is_checked_and_what_is_listed_is_bounded(serve) -> None:
    async with serve() as client:
        told = (await client.post("/check", json={"text": LONG * 5})).json()
    assert told["counts"] == {"holds": 1500, "does-not-hold": 0, "not-checked": 0}
    assert len(told["findings"]) + told["left_out"] == 1500
    assert len(json.dumps(told)) < 1_000_000


async def test_a_check_ends_when_nobody_waits_for_it(desk, checking) -> None:
    call = CheckCall(text=VERY_LONG[:100_000])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.carry_out, "check", call, "office")
        await comes(checking)
        tasks.cancel_scope.cancel()
    await comes(lambda: not checking())


async def test_each_holder_has_a_turn_and_searches_wait_for_none(serve, checking, tmp_path) -> None:
    tokens = Tokens(tmp_path / "tokens.toml")
    greedy, other = tokens.add("greedy", ["main"]), tokens.add("other", ["main"])
    ended: list[str] = []

    async with serve(tokens, greedy) as client:
        theirs = {"authorization": f"Bearer {other}"}

        async def check(name: str, text: str, headers: dict[str, str] | None = None) -> None:
            reply = await client.post("/check", json={"text": text}, headers=headers)
            assert reply.status_code == 200
            ended.append(name)

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                for number in range(3):
                    tasks.start_soon(check, "greedy", f"{LONG}{number}")
                await comes(checking)
                tasks.start_soon(check, "other", LONG, theirs)
                reply = await client.post("/search", json={"query": "渡し守"}, headers=theirs)
                assert reply.status_code == 200
                assert ended.count("greedy") < 3
    assert ended.index("other") < 3, ended


@pytest.fixture(autouse=True)
def _processes(loopback: None) -> None:
    """Processes that check are spoken to over pipes, which need no network."""
