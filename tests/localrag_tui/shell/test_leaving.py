"""Leaving while something runs: it is asked first, and the arrow keys go between the buttons."""

from localrag.language import _
from localrag_tui.shell.form import Form
from localrag_tui.work.jobs import Job, State


async def test_leaving_is_asked_while_something_runs(plain, shown, until, monkeypatch):
    monkeypatch.setattr(Job, "start", lambda self, *_: None, raising=False)
    app = plain(mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        app.jobs.all.append(Job("[b]Batch\x1b[2J", print))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: "1 job is running." in shown(app))
        await until(pilot, lambda: "· [b]Batch␛[2J" in shown(app))
        await until(pilot, lambda: app.focused and app.focused.id == "leave")
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: "Stop and leave" in shown(app))
        await pilot.press("left")
        assert app.focused.id == "go"
        await pilot.press("down", "up", "right", "left")
        assert app.focused.id == "go"
        assert app.is_running
        await pilot.press("enter")
        await until(pilot, lambda: not app.is_running)
    app.jobs.all.clear()


async def test_a_second_time_means_it(plain, until):
    app = plain(mode="runs")
    async with app.run_test() as pilot:
        app.jobs.all.append(Job("Batch", print))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, Form))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)


async def test_look(alone, snapshots):
    async def prepare(pilot):
        pilot.app.jobs.all.extend(
            Job(title, print, state=State.RUNNING)
            for title in (_("Index {corpus}").format(corpus="main"), "[red]渡し舟\x1b[2J")
        )
        await pilot.app.action_quit()

    await snapshots(alone, prepare)
