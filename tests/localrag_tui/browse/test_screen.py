"""Reading: names, pages, two beside each other; what was open is there again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from localrag import language
from localrag_tui.source.page import DocumentPage
from localrag_tui.source.screen import Panes
from localrag_tui.source.tree import PlaceTree
from localrag_tui.spot import OpenSpot, Spot

ACT = "599AC0000000001"
ORDER = "599CO0000000002"


async def test_a_name_is_typed_and_enter_opens_the_law(
    workbench: Any, shown: Any, until: Any, type_: Any, read: Any, under_cursor: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(120, 30)) as pilot:
        await type_(pilot, "渡し舟法")
        await until(pilot, lambda: "渡し舟法施行規則" in shown(app))
        assert not app.screen.query_one(PlaceTree).is_on_screen
        await pilot.press("down", "enter")
        await until(pilot, lambda: "第一条" in shown(app) and isinstance(app.focused, DocumentPage))
        assert app.screen.query_one(Panes).spots[0].document_id == ORDER
        # The tree is there again, at the law that was opened.
        await until(pilot, lambda: under_cursor(app).endswith("施行令"))
        # In the page the tree can be asked for, and typing a name begins anew.
        app.screen.post_message(OpenSpot(Spot(ACT, passage_id=f"{ACT}#8", start=2_000, end=2_000)))
        await until(pilot, lambda: read(app) == [f"> {ACT}#8"])
        await pilot.press("t")
        await until(pilot, lambda: under_cursor(app).startswith("第"))
        assert isinstance(app.focused, PlaceTree)
        await pilot.press("f3")
        assert isinstance(app.focused, Input)


async def test_a_citation_is_opened_before_it_is_found(
    workbench: Any, until: Any, type_: Any, read: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await type_(pilot, "渡し舟法8条")
        await pilot.press("enter")
        await until(pilot, lambda: read(app) == [f"> {ACT}#8"])
        await until(pilot, lambda: isinstance(app.focused, DocumentPage))
        await pilot.press("escape")
        assert isinstance(app.focused, PlaceTree)
        await pilot.press("slash")
        await type_(pilot, "17条")
        await pilot.press("enter")
        await until(pilot, lambda: read(app) == [f"> {ACT}#17"])


async def test_in_a_narrow_terminal_page_and_tree_take_turns(
    workbench: Any, shown: Any, until: Any, type_: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await type_(pilot, "渡し舟法8条")
        await pilot.press("enter")
        await until(pilot, lambda: "水位又は風速" in shown(app))
        assert "Records" not in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: "第八条（運航の制限）" in shown(app))
        assert "水位又は風速" not in shown(app)
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: "Records" in shown(app) and "水位又は風速" in shown(app))
        await pilot.press("slash")
        await type_(pilot, "ほたる")
        await until(pilot, lambda: "Nothing is called so." in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "Records" in shown(app))
        assert app.screen.query_one(Input).value == ""


async def test_two_places_beside_each_other(
    workbench: Any, until: Any, type_: Any, read: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("v")
        assert read(app) == []
        await type_(pilot, "渡し舟法8条")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.focused, DocumentPage))
        await pilot.press("v")
        await until(pilot, lambda: read(app) == [f"{ACT}#8", f"> {ACT}#8"])
        app.screen.post_message(OpenSpot(Spot(ORDER, passage_id=f"{ORDER}#2")))
        await until(pilot, lambda: read(app)[1] == f"> {ORDER}#2")
        await pilot.press("shift+tab")
        await until(pilot, lambda: read(app)[0].startswith(f"> {ACT}"))
        panes = app.screen.query_one(Panes).all
        assert panes[0].region.y == panes[1].region.y
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: panes[0].region.y < panes[1].region.y)
        await pilot.press("v")
        await until(pilot, lambda: read(app) == [f"> {ACT}#8"])


async def test_what_was_open_is_there_again(
    workbench: Any, bench_home: Path, until: Any, type_: Any, read: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(140, 40)) as pilot:
        await type_(pilot, "渡し舟法8条")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.focused, DocumentPage))
        await pilot.press("v")
        await until(pilot, lambda: len(read(app)) == 2)
        app.screen.post_message(OpenSpot(Spot(ORDER, passage_id=f"{ORDER}#2", start=100, end=100)))
        await until(pilot, lambda: read(app)[1] == f"> {ORDER}#2")
        # It is on the disk before anybody leaves.
        await until(pilot, lambda: _kept(bench_home) == [ACT, ORDER])
    again = workbench(mode="read")
    async with again.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: len(read(again)) == 2)
        assert [spot.document_id for spot in again.screen.query_one(Panes).spots] == [ACT, ORDER]
        assert isinstance(again.focused, Input)


async def test_another_language_leaves_everything_open(
    workbench: Any, shown: Any, until: Any, read: Any
) -> None:
    app = workbench(mode="read", reading={"main": ((ACT, 0), (ORDER, 0))})
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: len(read(app)) == 2)
        language.use("ja")
        await app.make_screens_anew()
        await until(pilot, lambda: "法令名" in shown(app) and len(read(app)) == 2)


async def test_another_corpus_has_its_own_pages(
    workbench: Any, cli: Any, bench_home: Path, until: Any, shown: Any, read: Any, tmp_path: Path
) -> None:
    note = tmp_path / "覚書.md"
    note.write_text("# 凧の覚書\n\n凧が揚がる。\n", encoding="utf-8")
    home = ("--home", str(bench_home))
    assert cli(*home, "add", str(note), "--corpus", "notes").code == 0
    app = workbench(mode="read", reading={"main": ((ACT, 0),), "gone": (("x", 1),)})
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: len(read(app)) == 1)
        app.memory.remember(corpus="notes")
        await pilot.press("f2", "f3")
        await until(pilot, lambda: "凧の覚書" in shown(app))
        await until(pilot, lambda: read(app) == [])
        app.memory.remember(corpus="gone")
        await pilot.press("f2", "f3")
        await until(pilot, lambda: "The corpus gone has no documents" in shown(app))
        app.memory.remember(corpus="notes")
        await pilot.press("f2", "f3")
        await until(pilot, lambda: "The corpus gone" not in shown(app))
        await until(pilot, lambda: "凧の覚書" in shown(app))
        app.memory.remember(corpus="main")
        await pilot.press("f2", "f3")
        await until(pilot, lambda: len(read(app)) == 1)
        # What is entered meanwhile is seen when one comes back.
        assert cli(*home, "add", str(note)).code == 0
        await pilot.press("f2", "f3")
        await until(pilot, lambda: "凧の覚書" in shown(app))
        assert len(read(app)) == 1


@pytest.mark.parametrize(("corpus", "made"), [("none", False), ("empty", True)])
async def test_without_documents_it_says_what_to_do(
    workbench: Any, shown: Any, until: Any, bench_home: Path, corpus: str, made: bool
) -> None:
    if made:
        from localrag.corpus.store import CorpusStore
        from localrag.corpus.workspace import Workspace

        path = Workspace.locate(bench_home).corpus(corpus).store
        CorpusStore.open(path, create=True).close()
    app = workbench(mode="read", corpus=corpus)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: f"The corpus {corpus} has no documents yet." in shown(app))
        await until(pilot, lambda: "Try the sample corpus" in shown(app))
        await pilot.press("down", "enter", "right", "t", "v", "escape")
        await until(pilot, lambda: "no documents yet" in shown(app))


async def test_a_damaged_corpus_is_told_with_its_cure(
    workbench: Any, shown: Any, until: Any, store: Any
) -> None:
    with store() as opened:
        path = opened.path
    path.write_bytes(b"\x1b[31mno store" * 1_000)
    app = workbench(mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "corpus.sqlite" in shown(app).replace("\n", ""))
        assert "no documents yet" not in shown(app)


def _kept(home: Path) -> list[str]:
    """The documents that the file of choices says are open."""
    choices = json.loads((home / "tui.json").read_bytes())
    return [document for document, _ in choices.get("reading", {}).get("main", ())]


def _at_article_8(until: Callable[..., Any], type_: Any) -> Any:
    async def prepare(pilot: Pilot[None]) -> None:
        await type_(pilot, "渡し舟法8条")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, DocumentPage))
        await until(pilot, lambda: pilot.app.screen.query_one(Panes).all[0].provision is not None)

    return prepare


async def test_look(workbench: Any, snapshots: Any, until: Any, type_: Any) -> None:
    await snapshots(lambda language: workbench(language, mode="read"), _at_article_8(until, type_))


async def test_look_of_the_tree(
    workbench: Any, snapshots: Any, until: Any, under_cursor: Any
) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: under_cursor(pilot.app))
        await pilot.press("down", "down", "right", "down", "right", "down")
        await until(pilot, lambda: "第一条" in under_cursor(pilot.app))

    await snapshots(lambda language: workbench(language, mode="read"), prepare)


async def test_look_of_two(workbench: Any, snapshots: Any, until: Any, type_: Any) -> None:
    one = _at_article_8(until, type_)

    async def prepare(pilot: Pilot[None]) -> None:
        await one(pilot)
        await pilot.press("v")
        panes = pilot.app.screen.query_one(Panes)
        await until(pilot, lambda: len(panes.spots) == 2 and panes.all[1].provision is not None)

    await snapshots(lambda language: workbench(language, mode="read"), prepare)


async def test_a_name_that_is_typed_in_the_tree_is_looked_up(
    workbench: Any, shown: Any, until: Any
) -> None:
    app = workbench("ja", mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(PlaceTree) and "法律" in shown(app))
        app.screen.query_one(PlaceTree).focus()
        await pilot.press(*"渡し舟")
        await until(pilot, lambda: app.screen.query_one(Input).value == "渡し舟")
        await until(pilot, lambda: "渡し舟法施行令" in shown(app))


async def test_the_help_names_how_a_page_is_moved_searched_and_copied(
    workbench: Any, shown: Any, until: Any
) -> None:
    app = workbench("ja", mode="read")
    async with app.run_test(size=(100, 60)) as pilot:
        await until(pilot, lambda: app.screen.query(PlaceTree))
        app.screen.post_message(OpenSpot(Spot(ACT, passage_id=f"{ACT}#8")))
        await until(pilot, lambda: isinstance(app.focused, DocumentPage))
        await pilot.press("f1")
        await until(pilot, lambda: "source.copy_one" in shown(app))
        for name in ("source.find_next", "source.find_previous", "source.page_down", "read.reveal"):
            assert name in shown(app), name
        await pilot.press("escape", "f2", "f1")
        await until(pilot, lambda: "ask.undo" in shown(app))
