"""Each stage's ranking side by side."""

from dataclasses import replace

from textual.containers import HorizontalScroll

from localrag.search.types import Trace
from localrag.text.facts import Fact, FactKind
from localrag_tui.library import Library
from localrag_tui.search.results import Ranking
from localrag_tui.source.pane import SourcePane


async def test_a_passage_is_followed_through_the_stages(workbench, until, shown, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        results = await searched(pilot, "渡し守の資格")
        await pilot.press("enter", "down", "s")
        await until(pilot, lambda: isinstance(app.focused, Ranking))
        resolve, lexical, fuse, expand = app.screen.query(Ranking)
        second = results.hits[1].passage.id
        assert app.focused is expand
        assert expand.highlighted == 1
        await pilot.press("up")
        first = results.hits[0].passage.id
        for column in (lexical, fuse, expand):
            marked = column.highlighted
            assert marked is None or column.hits[marked].passage.id == first
        await until(pilot, lambda: "expanded no. 1" in shown(app))
        assert "the first of each step has 100" in " ".join(shown(app).split())
        assert resolve.highlighted is None

        room = app.screen.query_one(HorizontalScroll)
        each = expand.size.width
        assert "citations  0" not in shown(app)
        await pilot.press("left", "left", "left")
        assert app.focused is resolve
        assert room.scroll_x == 0
        await until(pilot, lambda: "citations  0" in shown(app))
        await pilot.press("left", "right", "right", "right")
        assert app.focused is expand
        assert room.scroll_x == each == 26

        await pilot.press("down", "s")
        await until(pilot, lambda: app.focused is results)
        assert results.hits[results.highlighted].passage.id == second


async def test_another_search_changes_the_columns(workbench, until, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(140, 40)) as pilot:
        await searched(pilot, "渡し守の資格")
        await pilot.press("enter", "s")
        await until(pilot, lambda: isinstance(app.focused, Ranking))
        assert not app.screen.query_one(SourcePane).display
        before = app.focused.hits
        results = await searched(pilot, "水位の基準")
        await until(pilot, lambda: [*app.screen.query(Ranking)][-1].hits == results.hits)
        assert results.hits != before
        chosen = [*app.screen.query(Ranking)][-1].hits[0].passage.id
        await until(pilot, lambda: isinstance(app.focused, Ranking))
        await pilot.press("home", "enter")
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.spot and pane.spot.passage_id == chosen)
        assert pane.display
        await pilot.press("escape", "escape")
        await until(pilot, lambda: results.is_on_screen)


async def test_a_stage_that_was_left_out_says_why(workbench, until, shown, searched, monkeypatch):
    search = Library.search

    async def without_words(library, query, k=None):
        found = await search(library, query, k)
        first, words, *others = found.trace.stages
        words = replace(
            words, hits=(), events=(Fact(FactKind.SAID, words="search by [red]words[/red] is off"),)
        )
        return replace(found, trace=Trace((first, words, *others)))

    monkeypatch.setattr(Library, "search", without_words)
    app = workbench(mode="search")
    async with app.run_test(size=(100, 24)) as pilot:
        await searched(pilot, "渡し守の資格")
        await until(pilot, lambda: "search by [red]words[/red] is off" in shown(app))
        await pilot.press("enter", "s", "left", "left", "left")
        await until(pilot, lambda: "words  0" in shown(app))
        await until(pilot, lambda: "[red]words[/red]" in shown(app))
