"""Batches and evaluations that are begun, stopped, killed and resumed from the workbench."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from textual.widgets import Input

from localrag.evaluation import record
from localrag.ops import batch
from localrag.ops.batch.folder import BatchFolder
from localrag.ops.batch.origin import read
from localrag_tui.runs.starting import BatchDialogue, EvaluationDialogue
from localrag_tui.shell.listing import CheckList

from ...patience import wait_for

pytestmark = pytest.mark.anyio

_BEGIN = """
import asyncio, sys
from pathlib import Path
from localrag.corpus.workspace import Workspace
from localrag_tui.app import Workbench

async def main():
    home = Path(sys.argv[1])
    home.joinpath("tui.json").write_text('{"mode": "runs"}')
    app = Workbench(Workspace.locate(home), {"language": "en"})
    async with app.run_test(size=(80, 24)) as pilot:
        while not hasattr(app.screen, "action_new_batch"):
            await pilot.pause(0.05)
        await pilot.press("n")
        while not app.screen.query("#questions"):
            await pilot.pause(0.05)
        app.screen.query_one("#questions").value = sys.argv[2]
        while not app.screen.query_one("#answers").value:
            await pilot.pause(0.05)
        await pilot.press("ctrl+s")
        await pilot.pause(600)

asyncio.run(main())
"""


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


async def test_a_batch_goes_on_after_the_application_was_killed(
    workbench: Any, shown: Any, until: Any, table: Any, workspace: Any
) -> None:
    questions = table(50)
    out = questions.with_name("questions.answers.jsonl")
    command = [sys.executable, "-c", _BEGIN, str(workspace.home), str(questions)]
    with subprocess.Popen(command) as application:
        try:
            wait_for(lambda: len(lines(out)) >= 3)
        finally:
            application.kill()
    wait_for(lambda: not BatchFolder(out).busy)
    before = lines(out)
    assert 3 <= len(before) < 50
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "stopped" in shown(app))
        await pilot.press("s")
        await until(pilot, lambda: "50 / 50" in shown(app))
        await until(pilot, lambda: "finished" in shown(app))
    after = lines(out)
    assert [json.loads(line)["row"] for line in after] == list(range(1, 51))
    # A row that had been asked twice would have taken other fractions of a second.
    whole = before if before[-1].endswith(b"}") else before[:-1]
    assert set(whole) <= set(after)


async def test_a_batch_is_begun_stopped_and_resumed_by_keys(
    workbench: Any, shown: Any, until: Any, table: Any
) -> None:
    questions = table(100)
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, BatchDialogue))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "No file is named." in shown(app))
        app.screen.query_one("#questions", Input).value = str(questions.with_name("[b]none.jsonl"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "cannot be read" in " ".join(shown(app).split()))
        app.screen.query_one("#questions", Input).value = str(questions)
        answers = app.screen.query_one("#answers", Input)
        beside = str(questions.with_name("questions.answers.jsonl"))
        await until(pilot, lambda: answers.value == beside)
        answers.value = str(questions)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "overwrite the questions" in shown(app))
        await until(
            pilot, lambda: "Name another file for the answers." in " ".join(shown(app).split())
        )
        assert "--out" not in shown(app)
        answers.value = str(out := questions.with_name("out.jsonl"))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "100 rows · 100 to ask · about" in shown(app))
        assert not out.exists()
        await pilot.press("ctrl+s")
        started: list[psutil.Process] = []

        def held() -> bool:
            """Suspend the batch at once: it goes on, and ends, while the screen is painted."""
            if len(lines(out)) >= 3:
                started.extend(psutil.Process().children(recursive=True))
                for process in started:
                    process.suspend()
            return bool(started)

        await until(pilot, held)
        await until(pilot, lambda: re.search(r"out\.jsonl +running", shown(app)))
        assert "There is no run yet" not in shown(app)
        await pilot.press("x")
        for process in started:
            process.resume()
        await until(pilot, lambda: not app.jobs.running)
        await until(pilot, lambda: " stopped " in shown(app))
        stopped = len(lines(out))
        assert stopped < 100
        await pilot.press("s")
        await until(pilot, lambda: "100 / 100" in shown(app))
        await until(pilot, lambda: not app.jobs.running)
        await until(pilot, lambda: "out.jsonl: " not in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "rows are already done and left alone" in shown(app))
    assert len(lines(out)) == 100


async def test_a_batch_is_of_the_day_that_its_form_says_and_records_it(
    workbench: Any, shown: Any, until: Any, table: Any, earlier_state: str, in_thread: None
) -> None:
    questions = table(texts=["渡し守が渡し舟を運航してはならないのはどのようなときか。"])
    out = questions.with_name("questions.answers.jsonl")
    app = workbench(mode="runs", overrides={"retrieval.as_of": "2024-05-01"})
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, BatchDialogue))
        day = app.screen.query_one("#as_of", Input)
        assert day.value == "2024-05-01"
        app.screen.query_one("#questions", Input).value = str(questions)
        await until(pilot, lambda: app.screen.query_one("#answers", Input).value == str(out))
        day.value = "令和2年"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "令和2年 is not a date." in shown(app))
        assert app.focused is day
        day.value = "令和2年4月1日"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: lines(out))
        await until(pilot, lambda: not app.jobs.running)
    (answer,) = map(json.loads, lines(out))
    assert any(earlier_state in one["quote"] for one in answer["citations"])
    assert read(BatchFolder(out).origin)["retrieval.as_of"] == "2020-04-01"


async def test_what_differs_is_told_and_nothing_is_lost(
    workbench: Any, shown: Any, until: Any, done_batch: Any, in_thread: None
) -> None:
    known = done_batch()
    kept = lines(known.out)
    origin = BatchFolder(known.out).origin
    made = dict(read(origin) or {})
    origin.write_text(json.dumps({**made, "corpus.generation": 99}), encoding="utf-8")
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "answers.out.jsonl" in shown(app))
        await pilot.press("t")
        await until(
            pilot, lambda: "corpus.generation was 99 and is" in " ".join(shown(app).split())
        )
        assert lines(known.out) == kept
        origin.write_text(json.dumps(made), encoding="utf-8")
        await pilot.press("t")
        await until(pilot, lambda: not app.jobs.running)
        await until(
            pilot, lambda: "3 / 3               " in shown(app) or "unreadable" not in shown(app)
        )
    assert {json.loads(line)["status"] for line in lines(known.out)} <= {
        "supported",
        "quoted",
        "unsupported",
        "not_found",
    }


async def test_an_evaluation_is_forecast_begun_and_gone_on_with(
    workbench: Any, shown: Any, until: Any, done_evaluation: Path, tmp_path: Path, in_thread: None
) -> None:
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "ferries/first" in shown(app))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EvaluationDialogue))
        await until(pilot, lambda: "each with id, question, options (2 to 8)" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "No questions are named." in shown(app))
        app.screen.query_one("#file", Input).value = str(tmp_path / "ferries.jsonl")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "No method is chosen." in shown(app))
        await until(pilot, lambda: app.screen.query_one("#methods", CheckList).option_count)
        app.screen.query_one("#methods", CheckList).select("statute-lexical")
        app.screen.query_one("#limit", Input).value = "5"
        app.screen.query_one("#run", Input).value = "second"
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "statute-lexical: 0 to ask · 5 answered" in shown(app))
        app.screen.query_one("#run", Input).value = "first"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "asks something else" in " ".join(shown(app).split()))
        # What cannot begin stays open, and nothing that was typed is lost.
        assert isinstance(app.screen, EvaluationDialogue)
        app.screen.query_one("#run", Input).value = "second"
        app.screen.query_one("#methods", CheckList).highlighted = 0
        await until(pilot, lambda: "Needs questions without options." in shown(app))
        app.screen.query_one("#methods", CheckList).select("extractive")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "chooses between no options" in " ".join(shown(app).split()))
        assert app.screen.query_one("#run", Input).value == "second"
        assert app.focused is app.screen.query_one("#methods", CheckList)
        app.screen.query_one("#methods", CheckList).deselect("extractive")
        app.screen.query_one("#methods", CheckList).select("statute-direct")
        await pilot.press("ctrl+s")
        # What a shell has as --model is a key here.
        await until(pilot, lambda: "Models (F6): u uses one" in " ".join(shown(app).split()))
        assert "--model" not in shown(app)
        app.screen.query_one("#methods", CheckList).deselect("statute-direct")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "ferries/second" in shown(app))
        await until(pilot, lambda: not app.jobs.running)
    assert (done_evaluation.parent / "second" / "report.md").is_file()


async def test_a_form_says_in_japanese_what_it_needs_and_what_is_wrong(
    workbench: Any, shown: Any, until: Any, tmp_path: Path
) -> None:
    missing = str(tmp_path / "none.jsonl")
    app = workbench("ja", mode="runs")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: "JSON Lines（1 行に" in shown(app))
        app.screen.query_one("#questions", Input).value = missing
        answers = app.screen.query_one("#answers", Input)
        await until(pilot, lambda: answers.value)
        # What is proposed gives way to what is typed.
        await pilot.press("tab", *"/x.jsonl")
        assert answers.value == "/x.jsonl"
        await pilot.press("ctrl+s")
        await until(
            pilot, lambda: "その名前のファイルもフォルダーもありません" in whole(shown(app))
        )
        assert f"{missing}を読めません" in whole(shown(app))
        assert "No such file" not in shown(app)


def whole(screen: str) -> str:
    """What stands there, without the places where it is broken into lines."""
    return "".join(screen.split())


async def test_an_evaluation_of_questions_of_ones_own_measures_the_current_corpus(
    workbench: Any,
    shown: Any,
    until: Any,
    shell: Any,
    done_evaluation: Path,
    workspace: Any,
    tmp_path: Path,
    in_thread: None,
) -> None:
    main = workspace.home / "corpora" / "main"
    shutil.copytree(main, main.with_name("second"))
    assert shell("index", "--corpus", "second").code == 0
    app = workbench(mode="runs", corpus="second")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "ferries/first" in shown(app))
        await pilot.press("e")
        await until(pilot, lambda: "(the dataset's, else second)" in shown(app))
        await until(pilot, lambda: app.screen.query_one("#methods", CheckList).option_count)
        app.screen.query_one("#file", Input).value = str(tmp_path / "ferries.jsonl")
        app.screen.query_one("#methods", CheckList).select("statute-lexical")
        app.screen.query_one("#run", Input).value = "second"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "ferries/second" in shown(app))
        await until(pilot, lambda: not app.jobs.running)
    run = record.read(done_evaluation.parent / "second")
    assert run is not None
    assert run.corpus == "second"


async def test_a_batch_from_a_stream_cannot_be_resumed_here(
    workbench: Any, shown: Any, until: Any, shell: Any, workspace: Any, tmp_path: Path
) -> None:
    out = tmp_path / "streamed.jsonl"
    row = '{"question": "渡し舟とは"}\n'
    assert shell("batch", "-", "--out", str(out), stdin=row).code == 0
    (known,) = batch.known(workspace)
    assert known.questions is None
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "streamed.jsonl" in shown(app))
        await pilot.press("s")
        await until(pilot, lambda: "It cannot be resumed" in shown(app))
        assert app.jobs.all == []
