"""Where a question and its options are typed."""

from localrag_tui.ask.composer import Composer
from localrag_tui.ask.typing_area import OptionsArea, QuestionArea


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
        await until(pilot, lambda: "b  乗せてよい" in shown(app))
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
