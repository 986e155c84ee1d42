"""Filters: chosen in the dialogue, shown as chips, cleared by a key."""

from textual.widgets import Input

from localrag.corpus.types import Label
from localrag.errors import NotFoundError
from localrag.search.types import Filters
from localrag_tui.search.filters import FilterChips, FilterDialogue, LabelChoice, LawChoice
from localrag_tui.search.results import Results
from localrag_tui.shell.listing import CheckList

ACT, ORDER = "599AC0000000001", "599CO0000000002"


async def opened(app, pilot, until) -> FilterDialogue:
    await until(pilot, lambda: app.screen.query("FilterChips"))
    app.screen.query_one(FilterChips).focus()
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, FilterDialogue))
    return app.screen


async def test_a_law_and_a_type_narrow_the_search(workbench, until, shown, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        results = await searched(pilot, "渡し守")
        assert len({hit.passage.document_id for hit in results.hits}) > 2
        dialogue = await opened(app, pilot, until)
        laws = dialogue.query_one(LawChoice).query_one(CheckList)
        await pilot.press(*"施行令")
        await until(pilot, lambda: laws.option_count)
        await pilot.press("enter", *"渡し舟")
        await until(pilot, lambda: laws.option_count > 2)
        assert laws.selected == [ORDER]
        await pilot.press("tab", "down", "down", "space", "ctrl+s")
        chosen = {ORDER, laws.options[1].value}
        await until(pilot, lambda: app.screen.query("Results"))
        await until(pilot, lambda: {hit.passage.document_id for hit in results.hits} <= chosen)
        await until(pilot, lambda: "law: " in shown(app))
        await until(pilot, lambda: "and 1 more" in shown(app))
        assert set(app.screen.query_one(FilterChips)._values) == {"documents"}

        app.screen.query_one(FilterChips).focus()
        await pilot.press("x")
        await until(pilot, lambda: "law: all" in shown(app))
        await until(pilot, lambda: len({h.passage.document_id for h in results.hits}) > 2)


async def test_tab_goes_past_the_list_of_laws_while_it_is_empty(workbench, until):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue = await opened(app, pilot, until)
        laws = dialogue.query_one(LawChoice).query_one(CheckList)
        await pilot.press("tab", "tab")
        assert app.focused is dialogue.query_one("#values")
        await pilot.press("shift+tab", "shift+tab", *"渡し舟")
        await until(pilot, lambda: laws.option_count)
        await pilot.press("tab")
        assert app.focused is laws


async def test_dates_are_checked_and_nothing_is_lost(workbench, until, shown):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue = await opened(app, pilot, until)
        start, end = dialogue.query_one("#from", Input), dialogue.query_one("#to", Input)
        # What is only an example does not look like a value.
        assert "e.g. 2024-04-01" in shown(app)
        start.value = "2024-13-40"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "2024-13-40 is not a date." in shown(app))
        assert app.focused is start
        start.value, end.value = "2025-01-01", "2024-01-01"
        await pilot.press("enter")
        await until(pilot, lambda: "The first date is after the last." in shown(app))
        end.value = "2025-12-31"
        await pilot.press("enter")
        await until(pilot, lambda: "2025-01-01 - 2025-12-31" in shown(app))
        await until(
            pilot,
            lambda: (
                app.memory.choices.filters == Filters(date_from="2025-01-01", date_to="2025-12-31")
            ),
        )


async def test_every_kind_of_value_can_be_chosen_and_cleared(workbench, until, shown):
    app = workbench(mode="search")
    async with app.run_test(size=(100, 30)) as pilot:
        dialogue = await opened(app, pilot, until)
        values = dialogue.query_one("#values", CheckList)
        for value in ("law_types Act", "kinds law", "layers articles"):
            values.select(value)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Acts" in shown(app))
        await until(pilot, lambda: "Laws" in shown(app))
        await until(pilot, lambda: "articles" in shown(app))
        await opened(app, pilot, until)
        # Lifting them is all there is to do.
        await pilot.click("#clear")
        await until(pilot, lambda: "type: all" in shown(app))


async def test_metadata_narrow_the_search(workbench, until, shown, searched):
    word = "Cabinet orders"
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        results = await searched(pilot, "渡し舟")
        dialogue = await opened(app, pilot, until)
        choice = dialogue.query_one(LabelChoice)
        choice.query_one(Input).focus()
        offered = choice.query_one(CheckList)
        await pilot.press(*"政")
        await until(pilot, lambda: f"{word}  1" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: offered.selected == ["kind=CabinetOrder"])
        await pilot.press("ctrl+s")
        await until(pilot, lambda: {hit.passage.document_id for hit in results.hits} == {ORDER})
        assert word in shown(app).split("\n")[2]
        assert app.screen.query_one(FilterChips)._values == {"where": word}
        # It is there when the dialogue is opened again, and is taken away as it was chosen.
        again = (await opened(app, pilot, until)).query_one(LabelChoice)
        assert again.labels == (Label("kind", "CabinetOrder"),)
        again.query_one(CheckList).focus()
        await pilot.press("down", "space", "ctrl+s")
        await until(pilot, lambda: len({hit.passage.document_id for hit in results.hits}) > 1)


async def test_questions_are_limited_to_metadata(workbench, until, shown, engine):
    limits = {"where": [["chapter", "罰則"], ["kind", "Gone"]]}
    app = workbench(mode="ask", asked_of=limits)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "only: 罰則" in shown(app))
        engine.will(NotFoundError("It is not there.", ""))
        await pilot.press(*"罰金は", "enter")
        await until(pilot, lambda: engine.asked)
        assert engine.asked[0][2].filters == Filters(where=(Label("chapter", "罰則"),))


async def test_left_the_filters_stay_as_they_were(workbench, until, shown):
    app = workbench(mode="search", filters={"documents": [ACT]})
    async with app.run_test(size=(100, 30)) as pilot:
        dialogue = await opened(app, pilot, until)
        assert dialogue.query_one(LawChoice).chosen == [ACT]
        dialogue.query_one("#values", CheckList).select("law_types Act")
        await pilot.press("escape")
        await until(pilot, lambda: "渡し舟の" in shown(app))


async def test_what_the_corpus_does_not_hold_is_dropped(workbench, until, shown):
    gone = {
        "documents": ["gone"],
        "law_types": ["Act", "Gone"],
        "kinds": ["gone"],
        "where": [["kind", "Act"], ["kind", "Gone"], ["gone", "Act"]],
    }
    app = workbench(mode="search", filters=gone, search="渡し守")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen.query("Results"))
        results = app.screen.query_one(Results)
        await until(pilot, lambda: results.hits and "Acts" in shown(app))
        assert {hit.passage.document_id for hit in results.hits} == {ACT}


async def test_where_filters_leave_nothing_that_is_told(workbench, until, shown):
    app = workbench(mode="search", filters={"law_types": ["Act"]}, search="Observatory")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "The filters leave out a part" in shown(app))
        await pilot.press("tab", "x")
        await until(pilot, lambda: app.screen.query_one(Results).hits)
