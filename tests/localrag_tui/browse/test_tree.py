"""The tree of a corpus: unfolded level by level, thousands of documents page by page."""

from typing import Any

import pytest

from localrag import language
from localrag.corpus.database import row_mark
from localrag.errors import NotFoundError
from localrag.law.names import LawNames
from localrag_tui.shell.form import Form
from localrag_tui.source.screen import Panes
from localrag_tui.source.tree import DocumentShelf, PlaceTree, titles
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.work.jobs import State

ACT = "599AC0000000001"


async def test_it_is_unfolded_down_to_an_article_which_enter_opens(
    workbench: Any, until: Any, read: Any, under_cursor: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: under_cursor(app) == "Acts  1")
        await pilot.press("down", "right", "right")
        assert under_cursor(app) == "渡し舟の安全及び活用に関する法律"
        tree = app.screen.query_one(PlaceTree)
        await until(pilot, lambda: tree.cursor_node.children)
        await pilot.press("right", "right", "right", "down")
        await until(pilot, lambda: under_cursor(app) == "第二条（定義）")
        await pilot.press("enter")
        await until(pilot, lambda: read(app) == [f"> {ACT}#2"])
        await pilot.press("escape", "left")
        assert under_cursor(app) == "第一章　総則"
        await pilot.press("left", "left")
        assert under_cursor(app) == "渡し舟の安全及び活用に関する法律"
        await pilot.press("left", "left", "enter")
        assert under_cursor(app) == "Acts  1"
        assert not tree.cursor_node.is_expanded


async def test_another_language_leaves_it_unfolded(
    workbench: Any, until: Any, under_cursor: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: under_cursor(app) == "Acts  1")
        await pilot.press("escape", "down", "right")
        tree = app.screen.query_one(PlaceTree)
        await until(pilot, lambda: tree.cursor_node.children)
        await pilot.press("right", "right", "right", "down")
        await until(pilot, lambda: under_cursor(app) == "第二条（定義）")
        language.use("ja")
        await app.make_screens_anew()
        await until(pilot, lambda: app.screen.query_one(PlaceTree) is not tree)
        await until(pilot, lambda: under_cursor(app) == "第二条（定義）")


async def test_a_document_is_removed_with_its_key(
    workbench: Any, until: Any, shown: Any, under_cursor: Any, in_thread: None, store: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: under_cursor(app) == "Acts  1")
        await pilot.press("escape", "delete")
        assert not isinstance(app.screen, Form)
        assert "Del Remove" not in shown(app)
        await pilot.press("down")
        await until(pilot, lambda: "Del Remove" in shown(app))
        await pilot.press("delete")
        await until(pilot, lambda: "Remove 渡し舟の安全及び活用に関する法律?" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        with store() as there:
            assert there.document(ACT)
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Form))
        await pilot.press("left", "enter")
        await until(pilot, lambda: app.jobs.all and app.jobs.all[0].state is State.DONE)
        await pilot.press("escape")
        await until(pilot, lambda: "Acts  1" not in shown(app))
        with store() as there, pytest.raises(NotFoundError):
            there.document(ACT)


async def test_thousands_of_documents_are_listed_page_by_page(
    workbench: Any, shown: Any, until: Any, type_: Any, under_cursor: Any, store: Any
) -> None:
    with store() as opened, opened.transaction():
        titles = [f"項目{n}" for n in range(20_000)]
        opened._db.write_many("INSERT INTO works (id) VALUES (?)", ((title,) for title in titles))
        opened._db.write_many(
            "INSERT INTO documents (id, title, kind, source, characters, passages, fingerprint,"
            " metadata, work, mark) VALUES (?, ?, 'wikipedia', '', 0, 0, '', '{}',"
            " (SELECT key FROM works WHERE id = ?), ?)",
            ((*(title,) * 3, row_mark(title, title, title, "wikipedia", "{}")) for title in titles),
        )
        opened._db.write("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
    app = workbench(mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Wikipedia  20,000" in shown(app))
        tree = app.screen.query_one(PlaceTree)
        shelf = next(node for node in tree.root.children if "Wikipedia" in node.label.plain)
        tree.focus()
        tree.move_cursor(shelf)
        await pilot.press("right")
        await until(pilot, lambda: len(shelf.children) == 201)
        assert shelf.children[-1].label.plain == "19,800 more"
        # What is opened from elsewhere has its place before its page is read.
        app.screen.post_message(OpenSpot(Spot("項目300")))
        await until(pilot, lambda: app.screen.query_one(Panes).spots)
        await pilot.press("t")
        await until(pilot, lambda: under_cursor(app) == "項目300")
        await until(pilot, lambda: len(shelf.children) == 202)
        tree.move_cursor(shelf.children[-1])
        await pilot.press("enter")
        await until(pilot, lambda: len(shelf.children) == 401)
        assert under_cursor(app) == "項目200"
        titles = [node.label.plain for node in shelf.children]
        assert titles.count("項目300") == 1
        assert titles[-1] == "19,600 more"
        await pilot.press("f3")
        await type_(pilot, "項目19999")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query_one(Panes).spots[0].document_id == "項目19999")


async def test_titles_are_text(
    workbench: Any, shown: Any, until: Any, store: Any, under_cursor: Any
) -> None:
    hostile = "[red]凧[/] [@click=app.quit]\x1b[2J\u202e\n法" + "長" * 300
    with store() as opened:
        ((kind, metadata),) = opened._db.rows(
            "SELECT kind, metadata FROM documents WHERE id = '白鷺県'"
        )
        opened._db.write(
            "UPDATE documents SET title = ?, mark = ? WHERE id = '白鷺県'",
            (hostile, row_mark("白鷺県", "白鷺県", hostile, kind, metadata)),
        )
    app = workbench(mode="read")
    async with app.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: "[red]凧[/] [@click=app.quit]␛[2J" in shown(app))
        tree = app.screen.query_one(PlaceTree)
        assert all(len(line) <= 80 for line in shown(app).splitlines())
        app.screen.post_message(OpenSpot(Spot("白鷺県")))
        await until(pilot, lambda: app.screen.query_one(Panes).spots)
        await pilot.press("t")
        await until(pilot, lambda: under_cursor(app).startswith("[red]"))
        assert tree.has_focus


async def test_a_document_that_went_meanwhile_is_told(
    workbench: Any, shown: Any, until: Any, store: Any, under_cursor: Any
) -> None:
    app = workbench(mode="read")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: under_cursor(app) == "Acts  1")
        with store() as opened:
            opened.remove(ACT)
            names = LawNames.from_rows(opened.laws())
            assert titles(opened, names, DocumentShelf("Act", laws=True, count=1), after=ACT) == []
        await pilot.press("down", "down", "right")
        await until(pilot, lambda: "no document" in shown(app))
        await until(pilot, lambda: "localrag list" in shown(app))
