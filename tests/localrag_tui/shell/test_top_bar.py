"""The bar of screens: where one is, and what is being worked on."""

from localrag_tui.jobs import JobsDialogue
from localrag_tui.work.jobs import Job


async def test_it_says_what_runs_and_opens_it(plain, shown, until):
    app = plain()
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Ask" in shown(app))
        assert "running" not in shown(app)
        job = Job("count", print)
        app.jobs.all.append(job)
        app.jobs._tell(job, None)
        await until(pilot, lambda: "1 job running" in shown(app))
        await pilot.click("#working")
        await until(pilot, lambda: isinstance(app.screen, JobsDialogue))
        app.jobs.all.clear()


async def test_look(plain, snapshots):
    await snapshots(lambda language: plain(language), of="TopBar")
