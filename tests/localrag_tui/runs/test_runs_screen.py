"""The Runs screen: what is listed, what is shown of a run, what is told of a damaged one."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.containers import VerticalScroll
from textual.widgets import OptionList, TabbedContent

from localrag.ops import batch
from localrag.ops.batch.folder import BatchFolder
from localrag.ops.batch.rows import ROWS
from localrag_tui.runs.detail import ReportView
from localrag_tui.runs.rows import AnswerDialogue, RowList
from localrag_tui.runs.work import Runs, RunState

pytestmark = pytest.mark.anyio


async def test_runs_are_listed_with_their_states_and_counts(
    workbench: Any, shown: Any, until: Any, done_batch: Any, done_evaluation: Path, workspace: Any
) -> None:
    done_batch()
    moved = done_batch("渡し舟", name="moved")
    moved.questions.unlink()
    (done_evaluation.parent / "broken").mkdir()
    (done_evaluation.parent / "broken" / "run.json").write_text("{", encoding="utf-8")
    (workspace.runs / "batches" / "0.json").write_text("[", encoding="utf-8")
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "ferries/first" in shown(app))
        rows = {line.split()[0]: line for line in shown(app).splitlines()[2:8] if line.split()}
        assert "finished" in rows["answers.out.jsonl"]
        assert "3 / 3       1" in rows["answers.out.jsonl"]
        assert "24 / 24" in rows["ferries/first"]
        assert "missing" in rows["moved.out.jsonl"]
        assert "damaged" in rows["run.json"] if "run.json" in rows else "damaged" in rows["broken"]
        assert "damaged" in rows["0.json"]
        table = app.screen.query_one("#runs")
        for row in range(table.row_count):
            table.move_cursor(row=row)
            await pilot.pause()
            if app.screen._chosen.key == str(moved.out):
                break
        await until(pilot, lambda: "Moved or removed:" in shown(app))
        await pilot.press("delete")
        await until(pilot, lambda: "moved.out.jsonl" not in shown(app).split("Off the list")[0])
        assert moved.out.exists()
        assert len(batch.known(workspace)) == 1


async def test_answers_and_failures_are_read_and_a_citation_opened(
    workbench: Any, shown: Any, until: Any, done_batch: Any
) -> None:
    done_batch()
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "answers.out.jsonl" in shown(app))
        assert "Failures" not in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: "これは失敗" in shown(app) or "It broke" in shown(app))
        await until(pilot, lambda: "Failures 1" in shown(app))
        await until(pilot, lambda: "[red]␛[2J" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AnswerDialogue))
        await until(pilot, lambda: "[1] 第一条" in shown(app))
        await until(pilot, lambda: "rejected: the quotation is not in the passage" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.memory.choices.mode == "read")
        await pilot.press("f5")
        await until(pilot, lambda: "Failures 1" in shown(app))
        app.screen.query_one(TabbedContent).active = "pane-failures"
        app.screen.query_one("#failures", RowList).focus()
        await until(pilot, lambda: "unreadable" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Mend [b]it[/b]." in shown(app))
        await pilot.press("c", "escape", "escape")
        assert "It broke: [red]␛[2J" in app.clipboard
        await until(pilot, lambda: "begun" in shown(app))


async def test_a_long_answer_is_scrolled_at_once_and_its_citations_are_reached(
    alone: Any, shown: Any, until: Any
) -> None:
    cited = {"passage_id": "1#8", "label": "渡し舟法 第八条", "quote": "渡し守は", "verified": True}
    row = {
        "row": 7,
        "line": 7,
        "id": "q7",
        "question": "いつ",
        "options": [],
        "status": "supported",
        "answer": "長い回答。" * 300,
        "citations": [cited],
    }
    app = alone("ja")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(AnswerDialogue(ROWS.validate_python(row), "main"))
        await until(pilot, lambda: "Tab 引用" in shown(app))
        text = app.screen.query_one(VerticalScroll)
        await pilot.press("pagedown", "down")
        assert text.scroll_offset.y > 10
        assert "渡し舟法 第八条" not in shown(app)
        await pilot.press("tab")
        await until(pilot, lambda: "渡し舟法 第八条" in shown(app))
        assert app.focused is app.screen.query_one(OptionList)
        assert "Tab 引用" not in shown(app)


async def test_the_report_of_an_evaluation_is_read(
    workbench: Any, shown: Any, until: Any, done_evaluation: Path
) -> None:
    app = workbench(mode="runs", language="en")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "50 %" in shown(app))
        await until(pilot, lambda: "statute-lexical █" in shown(app))
        assert "Scores with their 95 % intervals" in shown(app)
        await until(pilot, lambda: "Scores" in shown(app))
        await until(pilot, lambda: "always a" in shown(app))
        await pilot.press("s")
        await until(pilot, lambda: "It is finished" in shown(app))
        app.screen.query_one(TabbedContent).active = "pane-entries"
        await until(pilot, lambda: "12 / 12" in shown(app))
        assert shown(app).count("statute-lexical") >= 2
    (done_evaluation / "report.json").write_text("{", encoding="utf-8")
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "The report" in shown(app))
        assert "give the command of the evaluation again" in " ".join(
            shown(app).replace("▕", "").split()
        )


async def test_the_arrows_go_from_part_to_part(workbench, done_evaluation, until, shown):
    assert done_evaluation.exists()
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "Report" in shown(app))
        await pilot.press("enter")
        report = app.screen.query_one(ReportView)
        await until(pilot, lambda: app.focused is report)
        assert "← → Parts" in shown(app)
        await pilot.press("left")
        await until(pilot, lambda: app.focused is not report and app.focused.id == "entries")
        await pilot.press("right", "right")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "answers")


async def test_a_report_has_the_whole_width_once_it_is_zoomed(
    workbench: Any, shown: Any, until: Any, done_evaluation: Path
) -> None:
    app = workbench("ja", mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "50 %" in shown(app))
        report = app.screen.query_one(ReportView)
        half = report.size.width
        await pilot.press("z")
        await until(pilot, lambda: report.size.width > 130)
        assert app.screen.query_one("#runs").region.width == 0
        assert app.focused is report
        await pilot.press("z")
        await until(pilot, lambda: report.size.width == half)
        await pilot.press("z", "escape")
        await until(pilot, lambda: report.size.width == half)
        assert app.focused is app.screen.query_one("#runs")


async def test_questions_have_the_width_that_ids_and_outcomes_leave(
    workbench: Any, shown: Any, until: Any, done_batch: Any
) -> None:
    question = "渡し守が渡し舟を運航してはならないのは、\nどのようなときか"
    done_batch(question)
    app = workbench("ja", mode="runs")
    async with app.run_test(size=(140, 40)) as pilot:
        # Beside the list it is cut where the run ends, not before; a break in it is a blank.
        await until(pilot, lambda: "渡し守が渡し舟を運航してはならないの" in shown(app))
        await pilot.press("z")
        await until(pilot, lambda: "ならないのは、 どのようなときか" in shown(app))


async def test_a_run_of_another_process_is_seen_and_left_alone(
    workbench: Any, shown: Any, until: Any, done_batch: Any, workspace: Any
) -> None:
    known = done_batch()
    runs = Runs(workspace, {})
    with BatchFolder(known.out).held():
        (line,) = runs.lines()
        assert line.state is RunState.ELSEWHERE
        app = workbench(mode="runs")
        async with app.run_test(size=(140, 40), notifications=True) as pilot:
            await until(pilot, lambda: "elsewhere" in shown(app))
            await pilot.press("s")
            await until(pilot, lambda: "It is running already." in shown(app))
            await pilot.press("x")
            await until(pilot, lambda: "Another process runs it" in shown(app))
            assert app.jobs.all == []


async def test_a_hundred_thousand_answers_are_scrolled_through(
    workbench: Any, shown: Any, until: Any, done_batch: Any, workspace: Any
) -> None:
    known = done_batch("渡し舟")
    rest = b', "line": 1, "id": null, "question": "q", "options": [], "status": "supported"}\n'
    known.out.write_bytes(b"".join(b'{"row": %d' % row + rest for row in range(1, 100_001)))
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "out.jsonl" in shown(app))
        # The note says how many rows there are.
        await until(pilot, lambda: "1 / 1" in shown(app))
        book = Runs(workspace, {}).book(known.out)
        assert len(book.numbers()) == 100_000
        rows = RowList("nothing", id="many")
        await app.screen.mount(rows)
        rows.focus()
        fetched: list[int] = []

        async def fetch(places: Any) -> Any:
            from localrag_tui.runs.rows import RowCells

            fetched.append(len(places))
            return {place: RowCells(str(place.number), "id", "ok", HERE) for place in places}

        from localrag_tui.runs.rows import RowPlace

        rows.show([RowPlace(0, n) for n in book.numbers()], fetch, anew=True)
        await pilot.press("end")
        await until(pilot, lambda: f"100000  id  ok  {HERE}" in shown(app))
        await pilot.press("home", "pagedown", "up")
        await until(pilot, lambda: "     2  id" in shown(app))
        assert max(fetched) <= 300


HERE = "ここ"


async def test_nothing_is_there_yet(workbench: Any, shown: Any, until: Any) -> None:
    app = workbench(mode="runs", language="ja")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "実行はまだありません" in shown(app))
        await pilot.press("s", "x", "t", "delete", "enter", "escape")
        await until(pilot, lambda: "実行はまだありません" in shown(app))


async def test_hints_name_the_keys_as_they_were_remapped(
    workbench: Any, shown: Any, until: Any
) -> None:
    app = workbench(mode="runs", overrides={"tui.keys": {"runs.batch": "f12"}})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "F12 begins a batch, e an evaluation." in shown(app))


async def test_what_is_finished_without_a_failure_has_nothing_to_be_asked_again(
    workbench: Any, shown: Any, until: Any, done_evaluation: Path
) -> None:
    app = workbench(mode="runs")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: "50 %" in shown(app))
        await pilot.press("t")
        await until(pilot, lambda: "none of its questions has failed" in shown(app))
        assert not app.jobs.all


async def test_nothing_is_said_of_runs_before_they_are_looked_up(
    workbench: Any, shown: Any, until: Any, done_evaluation: Path, monkeypatch: Any
) -> None:
    gate, lines = Event(), Runs.lines

    def slow(runs: Runs) -> Any:
        gate.wait()
        return lines(runs)

    monkeypatch.setattr(Runs, "lines", slow)
    app = workbench("ja", mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query("#nothing"))
        assert not app.screen.query_one("#nothing").display
        gate.set()
        await until(pilot, lambda: app.screen.query_one("#runs").row_count)


async def test_quotations_stand_below_their_places_and_a_row_is_called_a_row(
    alone: Any, shown: Any, until: Any
) -> None:
    quote = "第三十九条　" + "使用者は、有給休暇を与えなければならない" * 2 + "。"
    cited = {"passage_id": "1#39", "label": "労働基準法 第三十九条", "quote": quote}
    row = {
        "row": 3,
        "line": 3,
        "id": "3",
        "question": "いつ",
        "options": [],
        "status": "quoted",
        "answer": quote,
        "citations": [{**cited, "verified": True}],
        "where": [["kind", "Act"], ["chapter", "罰則"]],
    }
    app = alone("ja")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(AnswerDialogue(ROWS.validate_python(row), "main"))
        await until(pilot, lambda: "3 行目 · ID 3" in shown(app))
        rows = [line.strip() for line in shown(app).split("\n")]
        place = rows.index("[1] 労働基準法 第三十九条")
        # The number stays with its text, no row begins with 。, and nothing is said twice.
        assert rows[place + 1].startswith("第三十九条　使用者は")
        assert not any(line.startswith("。") for line in rows)
        assert shown(app).count("第三十九条　使用者は") == 1
        assert "限定：種別 法律、見出し 罰則" in rows


async def test_the_form_of_an_evaluation_says_what_it_needs_and_what_methods_do(
    workbench: Any, shown: Any, until: Any
) -> None:
    app = workbench("ja", mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        await until(pilot, lambda: "extractive" in shown(app))
        assert "方法（Space で選択）" in shown(app)
        assert "docs/" not in shown(app)
        assert "localrag data" not in shown(app)
        # Each says beside its name what it does; that under the cursor in full.
        line = next(line for line in shown(app).split("\n") if "extractive" in line)
        assert "モデルなし" in line
        await until(pilot, lambda: "最も近い文や条文を原文のまま引用します" in shown(app))
