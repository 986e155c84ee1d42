"""Messages do not pile up, and what comes too late does not count once the application is left."""

import asyncio

from textual.css.query import NoMatches
from textual.widgets import Static
from textual.widgets._toast import Toast


async def test_the_same_message_stands_there_once(workbench, until):
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        app.clear_notifications()
        for _ in range(30):
            app.notify("The question holds no word.")
        app.notify("Another one.")
        await pilot.pause()
        shown = [notice.message for notice in app._notifications]
        assert shown == ["The question holds no word.", "Another one."]
        await until(pilot, lambda: len(app.screen.query(Toast)) == 2)
        await pilot.press("ctrl+p", "pagedown")
        app.exit()
        app._handle_exception(NoMatches("gone"))
    assert app.failure is None
    assert app.return_code == 0


async def test_what_works_for_a_part_that_goes_may_find_nothing_any_more(workbench):
    app = workbench(mode="models")

    async def look(part):
        part.remove()
        raise NoMatches("gone")

    async def look_late():
        while app.is_running:
            await asyncio.sleep(0)
        raise NoMatches("gone")

    async with app.run_test() as pilot:
        part = Static()
        await app.screen.mount(part)
        part.run_worker(look(part))
        await pilot.pause()
        assert app.is_running
        app.run_worker(look_late())
        await pilot.pause()
    assert app.failure is None


async def test_what_finds_nothing_while_all_is_there_is_a_failure(workbench, ended_by):
    app = workbench(mode="models")
    await ended_by(app, NoMatches("never there"))
    assert isinstance(app.failure, NoMatches)
