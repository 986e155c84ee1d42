"""Messages do not pile up, and what comes too late does not count once the application is left."""

import asyncio

import pytest
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.widgets import Static
from textual.widgets._toast import Toast

from localrag_tui.shell.base import finish


async def test_the_same_message_stands_there_once(workbench, until, shown):
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        app.clear_notifications()
        for _ in range(30):
            app.notify("The question holds no word.")
        app.notify("Another one.")
        await pilot.pause()
        await until(pilot, lambda: len(app.screen.query(Toast)) == 2)
        assert shown(app).count("The question holds no word.") == 1
        app.notify("Another one.")
        await pilot.pause()
        await until(pilot, lambda: len(app.screen.query(Toast)) == 2)
        await pilot.press("ctrl+p", "pagedown")
        app.exit()
    assert app.failure is None
    assert app.return_code == 0


async def test_a_message_is_broken_as_a_page_is(plain, until):
    app = plain()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        app.clear_notifications()
        app.notify("あ" * 28 + "、" + "い" * 26 + "「う」" + " localrag.toml")
        await until(pilot, lambda: app.screen.query(Toast))
        toast = app.screen.query_one(Toast)
        assert toast.content_size.width == 57
        rows = [
            row.text.strip() for row in toast.render_lines(toast.content_region.at_offset((2, 1)))
        ]
        assert rows == ["あ" * 27, "あ、" + "い" * 26, "「う」 localrag.toml"]


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


async def test_what_is_being_removed_goes_though_its_worker_is_cancelled(workbench, until):
    app = workbench(mode="models")
    going, may_go = asyncio.Event(), asyncio.Event()

    class Slow(Static):
        async def on_unmount(self):
            going.set()
            await may_go.wait()

    async with app.run_test() as pilot:
        room = Vertical(Slow())
        await app.screen.mount(room)
        worker = app.run_worker(finish(room.remove_children()))
        await going.wait()
        worker.cancel()
        while not worker.is_finished:
            await asyncio.sleep(0)
        may_go.set()
        await until(pilot, lambda: not room.children)
    assert worker.is_cancelled
    assert app.failure is None


async def test_what_finds_nothing_while_all_is_there_is_a_failure(workbench, ended_by):
    app = workbench(mode="models")
    await ended_by(app, NoMatches("never there"))


async def test_what_ends_it_in_a_handler_is_told_by_its_traceback(workbench):
    async def use(app):
        async with app.run_test() as pilot:
            app.call_later(lambda: 1 // 0)
            await pilot.pause()

    app = workbench(mode="models")
    with pytest.raises(ZeroDivisionError):
        await use(app)
    assert str(app.broken).startswith("ZeroDivisionError")
    assert "Traceback" in app.broken.__notes__[0]


async def test_what_a_message_covered_by_half_is_painted_once_it_is_gone(plain, until, monkeypatch):
    app = plain(mode="ask")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        painted = []
        monkeypatch.setattr(app.screen, "refresh", lambda *_a, **_k: painted.append(True))
        app.notify("x", timeout=0.01)
        await until(pilot, lambda: painted)
