"""Leaving while something runs: it is asked first."""

from localrag.language import _
from localrag_tui.shell.leaving import LeaveDialogue
from localrag_tui.work.job import Job, State


async def test_leaving_is_asked_while_something_runs(plain, shown, until, monkeypatch):
    monkeypatch.setattr(Job, "start", lambda self, *_: None, raising=False)
    app = plain(mode="runs")
    left: list[object] = []
    async with app.run_test(size=(80, 24)) as pilot:
        app.jobs.start(Job("[b]Batch\x1b[2J", print))
        app.push_screen(LeaveDialogue(), left.append)
        await until(pilot, lambda: "1 job is running." in shown(app))
        await until(pilot, lambda: "· [b]Batch␛[2J" in shown(app))
        await pilot.press("enter")
        assert left == [None]
        app.push_screen(LeaveDialogue(), left.append)
        await until(pilot, lambda: "Stop and leave" in shown(app))
        await pilot.press("tab", "enter")
        assert left == [None, True]
        assert not isinstance(app.screen, LeaveDialogue)


async def test_look(alone, snapshots):
    async def prepare(pilot):
        pilot.app.jobs.all.extend(
            Job(title, print, state=State.RUNNING)
            for title in (_("Index {corpus}").format(corpus="main"), "[red]渡し舟\x1b[2J")
        )
        await pilot.app.push_screen(LeaveDialogue())

    await snapshots(alone, prepare)
