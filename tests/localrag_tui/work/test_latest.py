"""Of what is wanted while something is done only the newest waits."""

import asyncio

from localrag_tui.shell.base import Latest


async def test_the_newest_wins():
    done, gate = [], asyncio.Event()

    async def work(wanted: str) -> None:
        await gate.wait()
        done.append(wanted)

    latest = Latest(work)
    first = asyncio.create_task(latest.want("a"))
    await asyncio.sleep(0)
    await latest.want("ab")
    await latest.want("abc")
    assert latest.overtaken
    gate.set()
    await first
    assert done == ["a", "abc"]
    assert not latest.overtaken


async def test_after_a_failure_the_next_is_done():
    done = []

    async def work(wanted: int) -> None:
        done.append(1 / wanted)

    latest = Latest(work)
    try:
        await latest.want(0)
    except ZeroDivisionError:
        await latest.want(2)
    assert done == [0.5]
