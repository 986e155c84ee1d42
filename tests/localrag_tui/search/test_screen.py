"""The Search screen, as it is used."""

import asyncio

from textual.events import Paste
from textual.widgets import Static

from localrag.errors import IndexUnusable
from localrag.text.facts import Fact, FactKind
from localrag_tui.corpora.actions import Welcome
from localrag_tui.library import Library
from localrag_tui.search.filters import FilterChips
from localrag_tui.search.results import Results
from localrag_tui.search.screen import MAX_CHARACTERS, SearchField
from localrag_tui.source.pane import SourcePane
from localrag_tui.source.screen import Panes

ORDER = "渡し舟の安全及び活用に関する法律施行令"


async def test_results_come_as_one_types(workbench, until, shown):
    app = workbench(mode="search")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: "Type to search main" in shown(app))
        await pilot.press(*"渡し守の資格")
        await until(pilot, lambda: "第三条（渡し守の資格）" in shown(app))
        assert app.screen.query_one(SearchField).value == "渡し守の資格"
        assert isinstance(app.focused, SearchField)
        await until(pilot, lambda: "implements" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "Type to search main" in shown(app))
        assert app.screen.query_one(SearchField).value == ""


async def test_only_the_newest_text_waits(workbench, until, monkeypatch):
    searched, gate, search = [], asyncio.Event(), Library.search

    async def slow(library, query, k=None):
        searched.append(query.text)
        await gate.wait()
        return await search(library, query, k)

    monkeypatch.setattr(Library, "search", slow)
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query("SearchField"))
        await pilot.press("渡")
        await until(pilot, lambda: searched)
        await pilot.press(*"し舟守")
        gate.set()
        await until(pilot, lambda: app.screen.query_one(Results).hits and len(searched) > 1)
        assert (searched[0], searched[-1]) == ("渡", "渡し舟守")
        assert len(searched) == 2


async def test_a_hit_opens_over_the_list_and_beside_it(workbench, until, shown, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        results = await searched(pilot, "渡し守の資格")
        await pilot.press("enter", "down")
        assert app.focused is results
        assert results.highlighted == 1
        passage = results.hits[1].passage
        await pilot.press("enter")
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.spot and pane.spot.passage_id == passage.id)
        assert not results.is_on_screen
        await pilot.press("escape")
        assert app.focused is results
        await pilot.press("escape")
        assert isinstance(app.focused, SearchField)

        await pilot.resize_terminal(140, 40)
        await pilot.press("down", "home")
        first = results.hits[0].passage.id
        await until(pilot, lambda: pane.spot and pane.spot.passage_id == first)
        assert results.is_on_screen
        assert app.focused is results


async def test_from_a_source_one_gets_to_two_beside_each_other(workbench, until, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(140, 40)) as pilot:
        await searched(pilot, "渡し守の資格")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen.query_one(SourcePane).spot is not None)
        await until(pilot, lambda: app.focused is app.screen.query_one(SourcePane).page)
        await pilot.press("v")
        await until(pilot, lambda: app.current_mode == "read")
        await until(pilot, lambda: len(app.screen.query_one(Panes).spots) == 2)
        await pilot.press("v")
        await until(pilot, lambda: len(app.screen.query_one(Panes).spots) == 1)


async def test_a_hit_tells_which_words_stand_in_it(workbench, until, shown, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        results = await searched(pilot, "渡し守の資格 zzqx")
        await until(pilot, lambda: "has: " in shown(app))
        told = next(line for line in shown(app).split("\n") if "has: " in line)
        words = told.split("has: ")[1].split("  ·")[0].split(", ")
        first = results.hits[0].passage
        assert "資格" in "".join(words)
        assert all(word.strip() in f"{first.header}\n{first.text}" for word in words)
        # What was looked up besides can be read to its end.
        besides = "となることができる" if "→" in shown(app) else ""
        assert besides in "".join(shown(app).split())


async def test_the_keys_tell_how_one_gets_to_the_hits(workbench, until, shown, searched):
    app = workbench("ja", mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        results = await searched(pilot, "渡し守の資格")
        assert "↓ 結果へ" in shown(app)
        await pilot.press("tab")
        assert isinstance(app.focused, FilterChips)
        assert "↓ 結果へ" in shown(app)
        await pilot.press("down")
        assert app.focused is results
        app.screen.query_one(SearchField).focus()
        await pilot.press("f1")
        await until(pilot, lambda: "Enterか↓で結果へ移り" in "".join(shown(app).split()))
        row = next(row for row in shown(app).split("\n") if "search.results" in row)
        assert "Enter" in row
        assert "↓" in row


async def test_the_citation_is_copied(workbench, until, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await searched(pilot, "渡し舟法施行令 3条")
        await pilot.press("enter", "c")
        await until(pilot, lambda: app.clipboard)
        assert app.clipboard == f"{ORDER}第3条"


async def test_nothing_found_says_what_to_try(workbench, until, shown):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query("SearchField"))
        await pilot.press(*"zzqx")
        await until(pilot, lambda: "Nothing was found" in shown(app))
        await until(pilot, lambda: "Fewer words" in shown(app))
        await pilot.press("enter")
        assert isinstance(app.focused, SearchField)
        for _ in range(4):
            await pilot.press("backspace")
        await pilot.press(*"「、」")
        await until(pilot, lambda: "Type to search main" in shown(app))


async def test_an_index_that_is_behind_or_missing_is_told(workbench, until, shown, cli, tmp_path):
    page = tmp_path / "bridge.txt"
    page.write_text("橋の話。", encoding="utf-8")
    app = workbench(mode="search")
    assert cli("add", str(page)).code == 0
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, lambda: "The index is out of date" in shown(app))
        await pilot.press(*"渡し舟")
        await until(pilot, lambda: app.screen.query_one(Results).hits)
        await until(pilot, lambda: "The index is out of date" in shown(app))


async def test_without_an_index_the_cure_is_named(workbench, until, shown, monkeypatch):
    async def fails(*_):
        cure = Fact(FactKind.TO_INDEX, corpus="main")
        raise IndexUnusable("The corpus 'main' has no [red]index[/red].", cure)

    monkeypatch.setattr(Library, "search", fails)
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: app.screen.query("SearchField"))
        await pilot.press(*"渡し舟")
        await until(pilot, lambda: "has no [red]index[/red]." in shown(app))
        await until(pilot, lambda: "Ctrl+P, then: Index the corpus" in shown(app))
        assert "localrag index" not in shown(app)
        assert app.screen.query_one(SearchField).value == "渡し舟"


async def test_without_a_corpus_the_cure_is_named(workbench, until, shown, tmp_path):
    home = tmp_path / "empty"
    home.mkdir()
    app = workbench(mode="search", home=home)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Welcome))
        await pilot.press("escape")
        await until(pilot, lambda: "There is no corpus" in shown(app))
        assert "Ctrl+P, then: Add documents" in shown(app)
        assert "localrag add" not in shown(app)


async def test_the_search_is_there_again(workbench, until, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        await searched(pilot, "渡し守")
        await until(pilot, lambda: app.memory.choices.search == "渡し守")
    again = workbench(mode="search")
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: again.screen.query("Results"))
        await until(pilot, lambda: again.screen.query_one(Results).hits)
        assert again.screen.query_one(SearchField).value == "渡し守"


async def test_what_is_pasted_is_one_line_that_fits(workbench, until, shown):
    app = workbench(mode="search")
    async with app.run_test(size=(100, 24), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        field = app.screen.query_one(SearchField)
        field.post_message(Paste("渡し守\x1b[31m\nの資格"))
        await until(pilot, lambda: field.value == "渡し守␛[31m の資格")
        await until(pilot, lambda: app.screen.query_one(Results).hits)
        field.post_message(Paste("渡" * 50_000))
        await until(pilot, lambda: len(field.value) == MAX_CHARACTERS)
        await until(pilot, lambda: "Of 50,000 characters" in shown(app))
        await pilot.press("backspace")
        assert len(field.value) == MAX_CHARACTERS - 1


async def test_hostile_documents_are_shown_as_they_are(workbench, until, shown, cli, tmp_path):
    page = tmp_path / "[red]x.txt"
    page.write_text("[link=x]水車[/link] \x1b[2J\u202e水車小屋", encoding="utf-8")
    app = workbench(mode="search")
    assert cli("add", str(page)).code == 0
    assert cli("index").code == 0
    async with app.run_test(size=(100, 24), notifications=True) as pilot:
        await until(pilot, lambda: app.screen.query("SearchField"))
        await pilot.press(*"水車小屋")
        await until(pilot, lambda: "[link=x]水車[/link]" in shown(app))
        await pilot.press("enter", "s")
        await until(pilot, lambda: app.screen.query("Ranking"))
        await until(pilot, lambda: "[red]x" in shown(app))


async def test_a_click_opens_a_hit(workbench, until, searched):
    app = workbench(mode="search")
    async with app.run_test(size=(80, 24)) as pilot:
        await searched(pilot, "渡し守の資格")
        await pilot.click(Results, offset=(10, 4))
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.spot)
        second = app.screen.query_one(Results).hits[1].passage
        assert pane.spot.passage_id == second.id
        assert app.screen.query_one("#figures", Static)
