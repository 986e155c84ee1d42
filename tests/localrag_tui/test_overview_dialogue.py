"""The overview of a corpus: what is in it, and where Enter leads from there."""

import pytest
from textual.widgets import Input

from localrag.corpus.types import Label
from localrag.errors import NotFoundError
from localrag_tui.ask.transcript import Examples
from localrag_tui.corpora.actions import OverviewDialogue, OverviewList
from localrag_tui.search.results import Results
from localrag_tui.search.screen import SearchField

from ..prepared import prepared_texts


async def opened(app, pilot, until) -> OverviewList:
    await until(pilot, lambda: app.screen.ready.is_set())
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(app.screen, OverviewDialogue))
    offered = app.screen.query_one(OverviewList)
    await until(pilot, lambda: offered.option_count)
    return offered


def documents_of(results) -> set[str]:
    return {hit.passage.document_id for hit in results.hits}


def choose(offered, value) -> None:
    values = [getattr(option, "value", None) for option in offered.options]
    offered.highlighted = values.index(value)


@pytest.fixture
def prepared_home(home, cli):
    workspace = prepared_texts(home)
    assert cli("index").code == 0
    return workspace.home


async def test_a_value_is_searched_within(workbench, until, shown):
    app = workbench("ja", mode="ask")
    async with app.run_test(size=(80, 24)) as pilot:
        offered = await opened(app, pilot, until)
        assert "種別" in shown(app)
        order = (Label("kind", "CabinetOrder"),)
        choose(offered, order)
        await until(pilot, lambda: "政令  1" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "search")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await until(pilot, lambda: "政令" in shown(app))
        app.screen.query_one(SearchField).value = "渡し舟"
        results = app.screen.query_one(Results)
        await until(pilot, lambda: documents_of(results) == {"599CO0000000002"})
        await until(pilot, lambda: app.memory.choices.filters.where == order)
        # From the Search screen itself, too; a heading is of passages.
        offered = await opened(app, pilot, until)
        choose(offered, (Label("chapter", "罰則"),))
        await pilot.press("enter")
        await until(pilot, lambda: "罰則" in shown(app).split("\n")[2])
        await until(pilot, lambda: documents_of(results) == {"599AC0000000001"})


async def test_layers_and_questions_are_shown_and_asked(
    workbench, until, shown, engine, prepared_home
):
    settings = {"embedding.model": "off"}
    app = workbench(mode="models", home=prepared_home, overrides=settings)
    async with app.run_test(size=(100, 40)) as pilot:
        offered = await opened(app, pilot, until)
        for words in (
            "2 documents, 2 passages",
            "layers: metadata (0 texts), synthetic-qa (2 texts), mk-summaries (2 texts)",
            "subject (told by a model)",
            "Subjects of questions",
            "all documents  2 questions  Lake Anvil and the mill.",
            "It answers 2 questions, such as:",
        ):
            assert words in shown(app)
        engine.will(NotFoundError("It is not there.", ""))
        choose(offered, "How deep is Lake Anvil?")
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "ask")
        await until(pilot, lambda: engine.asked)
        assert engine.asked[0][2].text == "How deep is Lake Anvil?"


async def test_an_empty_conversation_offers_them(workbench, until, shown, engine, prepared_home):
    app = workbench(mode="ask", home=prepared_home, overrides={"embedding.model": "off"})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "How deep is Lake Anvil?" in shown(app))
        assert "When was the Otter Mill built?" in shown(app)
        second = app.screen.query_one(Examples).options[1].value
        engine.will(NotFoundError("It is not there.", ""))
        await pilot.press("tab", "down", "enter")
        await until(pilot, lambda: engine.asked)
        assert engine.asked[0][2].text == second


async def test_it_is_left_without_a_choice(workbench, until, shown):
    app = workbench(mode="search", search="渡し守")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, until)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.query("SearchField"))
        assert app.current_mode == "search"
        assert app.screen.query_one("SearchField", Input).value == "渡し守"
        assert app.memory.choices.filters.where == ()


async def test_without_a_corpus_the_cure_is_named(workbench, until, shown, tmp_path):
    home = tmp_path / "empty"
    home.mkdir()
    app = workbench(mode="search", home=home)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.is_modal)
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.is_modal)
        await pilot.press("f9")
        await until(pilot, lambda: "Ctrl+P, then: Add documents" in shown(app))


async def test_look(workbench, snapshots, until):
    async def prepare(pilot):
        await opened(pilot.app, pilot, until)

    await snapshots(lambda language: workbench(language, mode="search"), prepare)
