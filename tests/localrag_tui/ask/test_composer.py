"""Where a question and its options are typed."""

import pytest
from textual.events import Paste

from localrag_tui.ask.composer import Composer, OptionsArea, QuestionArea


async def test_between_the_question_and_its_options(workbench, engine, answers, until, shown):
    engine.will(answers.chosen)
    app = workbench(method="statute-lexical")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "An option on each line" in shown(app))
        await until(pilot, lambda: "Tab Options" in shown(app))
        question, options = (app.screen.query_one(kind) for kind in (QuestionArea, OptionsArea))
        await pilot.press(*"who?", "down")
        await until(pilot, lambda: options.has_focus)
        await pilot.press("up")
        await until(pilot, lambda: question.has_focus)
        await pilot.press("tab", *"one", "enter")
        await until(pilot, lambda: "Enter Ask" in shown(app))
        await pilot.press(*"two")
        await until(pilot, lambda: "Enter Next option" in shown(app))
        await pilot.press("enter", "enter")
        await until(pilot, lambda: "b 乗せてよい" in shown(app))
        assert question.has_focus
        # A field that is hidden keeps no focus.
        options.focus()
        await until(pilot, lambda: options.has_focus)
        app.screen.query_one(Composer).choosing = False
        await until(pilot, lambda: question.has_focus)
        assert "Tab Options" not in shown(app)


async def test_what_is_restored_is_typed_on_at_its_end(workbench, until):
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        question = app.screen.query_one(QuestionArea)
        await pilot.press(*"how")
        kept = app.screen.kept()
        question.put("")
        app.screen.restore_soon(kept)
        await until(pilot, lambda: question.text == "how")
        await pilot.press("!")
        assert question.text == "how!"


@pytest.mark.parametrize("pasted", ["\n".join(map(str, range(10))), "水" * 1_440])
async def test_a_long_paste_is_undone_and_done_again(workbench, pasted):
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        question = app.screen.query_one(QuestionArea)
        app.post_message(Paste(pasted))
        await pilot.pause()
        assert question.typed == pasted
        await pilot.press("ctrl+z")
        assert question.typed == ""
        await pilot.press("ctrl+y")
        assert question.typed == pasted
        await pilot.press("ctrl+z", "x")
        assert question.typed == "x"


async def test_a_huge_text_is_deleted_with_one_key(workbench, until, bench_home):
    unsent = bench_home / "tui-unsent" / "1.json"
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        question = app.screen.query_one(QuestionArea)
        for keys in (["ctrl+u"], ["ctrl+a", "delete"]):
            app.post_message(Paste("水" * 50_000))
            await until(pilot, lambda: len(question.typed) == 50_000)
            await until(
                pilot,
                lambda: app.screen.query_one(Composer).border_title == "50,000 characters",
            )
            await until(pilot, unsent.exists)
            await pilot.press(*keys)
            assert question.text == ""
            await until(pilot, lambda: not unsent.exists())
        await pilot.press("ctrl+z")
        assert len(question.typed) == 50_000
        # What is typed in its place takes the place of all of it.
        await pilot.press("ctrl+a", "x")
        assert question.text == "x"
