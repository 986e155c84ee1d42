"""How the Runs screen looks."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from localrag_tui.runs import work
from localrag_tui.runs.events import Behind, Halted, Progressed, Resumed, Step, Warned
from localrag_tui.runs.form import RunForm
from localrag_tui.runs.live import Live
from localrag_tui.runs.orders import BatchOrder
from localrag_tui.work.job import Job

pytestmark = pytest.mark.anyio


@pytest.fixture
def still_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job tells always the same, and does not end."""

    async def run(self: Job, on_event: Any) -> None:
        on_event(Resumed(20))
        on_event(Behind("main"))
        on_event(Progressed(81, 140, 61, 1, 30.0))
        await asyncio.Event().wait()

    async def kill(_: Job) -> None:
        for task in asyncio.all_tasks():
            if getattr(task.get_coro(), "__qualname__", "") == "Jobs._run":
                task.cancel()

    monkeypatch.setattr(Job, "run", run)
    monkeypatch.setattr(Job, "kill", kill)


async def test_a_list_with_a_run_under_way(
    workbench: Any, snapshots: Any, until: Any, done_batch: Any, still_jobs: None, monkeypatch: Any
) -> None:
    known = done_batch()
    made: list[Any] = []
    # The path of a test is another each time.
    monkeypatch.setattr("localrag_tui.runs.detail._path", lambda _: "/data/answers.out.jsonl")

    def make(language: str) -> Any:
        made.append(workbench(language, mode="runs"))
        return made[-1]

    async def prepare(pilot: Any) -> None:
        app = made[-1]
        await until(pilot, lambda: getattr(app.screen, "_lines", {}))
        assert known.questions is not None
        order = BatchOrder(app.workspace.home, "main", {}, known.questions, known.out)
        app.jobs.start(Job("a batch", work.batch, (order,)))
        key = str(known.out)
        await until(pilot, lambda: app.screen._lines[key].state.value == "running")

    def ready() -> bool:
        return made[-1].screen.query_one("#answers").virtual_size.height == 3

    await snapshots(make, prepare, ready=ready)


async def test_a_report(
    workbench: Any, snapshots: Any, until: Any, done_evaluation: Path, monkeypatch: Any
) -> None:
    assert done_evaluation.is_dir()
    made: list[Any] = []
    monkeypatch.setattr("localrag_tui.runs.report._files", lambda _: "/data/report.md")

    def make(language: str) -> Any:
        made.append(workbench(language, mode="runs"))
        return made[-1]

    async def prepare(pilot: Any) -> None:
        app = made[-1]
        await until(pilot, lambda: getattr(app.screen, "_lines", {}))
        await pilot.press("enter")

    def ready() -> bool:
        return len(made[-1].screen.query("ReportView DataTable")) >= 5

    await snapshots(make, prepare, ready=ready)


async def test_the_dialogues(workbench: Any, snapshots: Any, until: Any) -> None:
    for key in ("n", "e"):
        made: list[Any] = []

        def make(language: str, made: list[Any] = made) -> Any:
            made.append(workbench(language, mode="runs"))
            return made[-1]

        async def prepare(pilot: Any, key: str = key, made: list[Any] = made) -> None:
            app = made[-1]
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, RunForm))
            select = "#method" if key == "n" else "#corpus"
            await until(pilot, lambda: len(app.screen.query_one(select)._options) > 1)
            await pilot.press("ctrl+s")
            field = app.screen.query_one("#questions" if key == "n" else "#file", Input)
            await until(pilot, lambda: field.has_focus)

        await snapshots(make, prepare, name=key)


def test_what_a_run_tells_in_words():
    live = Live(running=True)
    assert "Reading and checking" in live.words()[0]
    live.hear(Step("statute-direct", 1, "", 2, 4))
    live.hear(Progressed(50, 100, 10, 0, 20.0))
    assert live.words() == [
        "statute-direct, order 1; part 2 of 4",
        "30.0 a minute · about 100 s left",
    ] or live.words()[1].startswith("30.0 a minute · about")
    for number in range(9):
        live.hear(Warned(f"warning {number}"))
        live.hear(Warned(f"warning {number}"))
    assert live.notes == ["warning 6", "warning 7", "warning 8"]
    live.hear(Halted("one", "It died.", "Start it."))
    assert live.words()[-1] == "one: It died. Start it."
    live.hear(Step("one", 0, "judge-model", 1, 1))
    assert live.words()[0] == "judge-model judges one, 1 of 1"
    live.stopping = True
    assert "Stopping; what is answered is kept." in live.words()
