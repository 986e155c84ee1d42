"""A check in its process: it is shown, it can be stopped, and nothing of it stays behind."""

import psutil
from textual.events import Paste

from localrag_tui.check import screen as check_screen
from localrag_tui.check.screen import CheckField
from localrag_tui.jobs import JobView
from localrag_tui.work.jobs import State, told

from ..work import deeds

TEXT = "渡し舟法第44条も見よ。\n渡し舟法第8条も見よ。"


async def paste(pilot, until, text):
    """Pastes a text, and gives the number of the process that checks it."""
    await until(pilot, lambda: pilot.app.screen.ready.is_set())
    screen = pilot.app.screen
    before = screen.job
    screen.query_one(CheckField).post_message(Paste(text))
    await until(pilot, lambda: screen.job is not before and screen.job.last)
    return screen.job.last


async def test_escape_stops_it_and_another_text_takes_its_place(
    workbench, until, shown, monkeypatch
):
    monkeypatch.setattr(check_screen, "check_text", deeds.endless)
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        pid = await paste(pilot, until, TEXT)
        screen, first = app.screen, app.screen.job
        assert screen.query(JobView)
        assert "1 job running" in shown(app)
        assert "Esc Stop" in shown(app)
        # The newest text is the one that is wanted.
        second = await paste(pilot, until, TEXT * 2)
        assert (first.state, second) != (State.RUNNING, pid)
        await until(pilot, lambda: not psutil.pid_exists(pid))
        await pilot.press("escape")
        await until(pilot, lambda: screen.job.state is State.STOPPED)
        await until(pilot, lambda: not screen.query(JobView))
        assert not psutil.pid_exists(second)
        assert told(screen.job) == "Stopped."
        await until(pilot, lambda: "paste the text itself" in " ".join(shown(app).split()))


async def test_what_is_found_comes_from_a_process(workbench, until, shown):
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.ready.is_set())
        app.screen.query_one(CheckField).post_message(Paste(TEXT))
        await until(pilot, lambda: "does not hold 1, not checked 0, holds 1" in shown(app))
        await pilot.press("f4", "f7")
        await until(pilot, lambda: "渡し舟法第44条" in shown(app))
