"""How the Runs screen looks."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from localrag.ops.batch.rows import ROWS
from localrag.ops.batch.types import ANSWERING
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress
from localrag_tui.runs import work
from localrag_tui.runs.detail import Live
from localrag_tui.runs.rows import AnswerDialogue
from localrag_tui.runs.starting import BatchDialogue, EvaluationDialogue, RunForm
from localrag_tui.runs.work import BatchOrder, EntryHalted, EntryStep, Warned
from localrag_tui.work.jobs import Job

from .conftest import HOSTILE

pytestmark = pytest.mark.anyio


@pytest.fixture
def still_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job tells always the same, and does not end."""

    async def run(self: Job, on_event: Any) -> None:
        on_event(Fact(FactKind.GOES_ON, rows=20))
        on_event(Fact(FactKind.INDEX_BEHIND, corpus="main"))
        on_event(Progress(ANSWERING, 81, 140, 30.0, earlier=20, failed=1))
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
    monkeypatch.setattr("localrag_tui.runs.detail._files", lambda _: "/data/report.md")

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


async def test_the_dialogues(alone: Any, snapshots: Any, until: Any) -> None:
    async def open_(pilot: Any, dialogue: type[RunForm], select: str, first: str) -> None:
        app = pilot.app
        await app.push_screen(dialogue())
        await until(pilot, lambda: len(app.screen.query_one(select)._options) > 1)
        await pilot.press("ctrl+s")
        field = app.screen.query_one(first, Input)
        await until(pilot, lambda: field.has_focus)

    states = {
        "n": partial(open_, dialogue=BatchDialogue, select="#method", first="#questions"),
        "e": partial(open_, dialogue=EvaluationDialogue, select="#corpus", first="#file"),
    }
    await snapshots(alone, states)


async def test_one_row(alone: Any, snapshots: Any) -> None:
    held = {
        "passage_id": "1#8",
        "label": "渡し舟法 第八条",
        "quote": "渡し守は、水位が",
        "state": "2026-04-01",
        "verified": True,
    }
    rejected = {
        "passage_id": "1#9",
        "label": "渡し舟法 第九条",
        "quote": HOSTILE,
        "problem": "not in its source",
    }
    answered = {
        "row": 7,
        "line": 7,
        "id": "q7",
        "question": "渡し舟を運航してはならないのはどのときか。",
        "options": ["水位が基準を超えるとき", "晴天のとき"],
        "label": "a",
        "status": "supported",
        "claims": [{"text": "水位が政令で定める基準を超えるとき。", "citations": [1]}],
        "citations": [held, rejected],
    }
    spoiled = {
        **answered,
        "label": "",
        "status": "unsupported",
        "quotations": [{**held, "label": HOSTILE}],
        "nearest": [{"passage_id": "1#10", "label": HOSTILE, "beginning": "渡し守は、…"}],
        "claims": [
            {"text": "水位が基準を超えるとき。", "citations": [1], "moved": True},
            {
                "text": "九メートルのとき。",
                "citations": [1],
                "mismatches": [{"kind": "figure", "written": f"九メートル{HOSTILE}"}],
            },
        ],
    }
    beside = {
        **answered,
        "label": "",
        "status": "quoted",
        "absent": ["会社法"],
        "claims": [],
        "answer": "渡し守は、水位が",
        "citations": [{**held, "beside": True}],
    }
    broke = {"type": "InputError", "cause": f"It broke: {HOSTILE}", "cure": "Mend it."}
    failed = {
        "row": 8,
        "line": 8,
        "id": "q8",
        "question": "川幅は。",
        "options": [],
        "status": "failed",
        "error": broke,
    }

    async def open_(pilot: Any, row: dict[str, Any]) -> None:
        await pilot.app.push_screen(AnswerDialogue(ROWS.validate_python(row), "main"))

    rows = {"answered": answered, "spoiled": spoiled, "beside": beside, "failed": failed}
    states = {name: partial(open_, row=row) for name, row in rows.items()}
    await snapshots(alone, states)


def test_what_a_run_tells_in_words():
    live = Live(running=True)
    assert "Reading and checking" in live.words()[0]
    live.hear(EntryStep("statute-direct", 1, "", 2, 4))
    live.hear(Progress(ANSWERING, 50, 100, 20.0, earlier=40))
    assert live.words() == [
        "statute-direct, order 1; part 2 of 4",
        "30.0 a minute · about 100 s left",
    ] or live.words()[1].startswith("30.0 a minute · about")
    for number in range(9):
        live.hear(Warned(f"warning {number}"))
        live.hear(Warned(f"warning {number}"))
    assert live.notes == ["warning 6", "warning 7", "warning 8"]
    live.hear(EntryHalted("one", "It died.", "Start it."))
    assert live.words()[-1] == "one: It died. Start it."
    live.hear(EntryStep("one", 0, "judge-model", 1, 1))
    assert live.words()[0] == "judge-model judges one, 1 of 1"
    live.stopping = True
    assert "Stopping; answers are kept." in live.words()
