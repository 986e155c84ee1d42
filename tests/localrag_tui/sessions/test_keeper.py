"""Conversations in a thread of their own."""

import asyncio
import threading

import pytest

from localrag.errors import StoreError
from localrag_tui.library import Keeper

from ...patience import PATIENCE


async def test_the_keeper_finishes_what_nobody_waits_for(workspace):
    keeper = Keeper(workspace)
    gate = threading.Event()
    busy = asyncio.create_task(keeper.do(lambda kept: gate.wait(PATIENCE)))
    writing = asyncio.create_task(keeper.do(lambda kept: kept.new("題")))
    await asyncio.sleep(0)
    writing.cancel()
    gate.set()
    assert await busy
    assert [talk.title for talk in await keeper.do(lambda kept: kept.list())] == ["題"]
    await keeper.close()
    await keeper.close()
    with pytest.raises(StoreError, match="closed"):
        await keeper.do(lambda kept: kept.list())
