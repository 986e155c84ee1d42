"""The conversations of a workspace: found, opened, renamed, deleted, exported."""

import asyncio
import threading
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input

from localrag.errors import FileExistsAlready
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query
from localrag.text.harmless import one_line
from localrag_tui.conversations import (
    PAGE,
    ConversationList,
    ConversationsDialogue,
    ConversationSearch,
)
from localrag_tui.shell.form import Form

from ...patience import PATIENCE
from .conftest import HOSTILE, settled


def titles(workspace) -> list[str]:
    with Conversations.open(workspace) as kept:
        return [conversation.title for conversation in kept.list()]


@pytest.fixture
def bench(workbench, workspace):
    """Makes the application over the workspace of these tests."""
    return lambda language="en", **choices: workbench(language, home=workspace.home, **choices)


async def test_the_newest_come_first_and_say_how_they_ended(bench, keep, opened, shown, until):
    ids = keep()
    app = bench(conversation=ids["茶会"])
    async with app.run_test(size=(100, 24)) as pilot:
        dialogue, chosen = await opened(app, pilot)
        rows = [row for row in shown(app).split("\n") if "2019-05" in row]
        told = [
            ("(no question yet)", "0 questions", "2019-05-05 12:00"),
            ("[red]赤[/red] ␛[31m", "interrupted", "4 questions"),
            ("ferry", "failed", "3 questions"),
            ("茶会", "in view · cancelled", "2 questions"),
            ("川", "1 question", "2019-05-01 12:00"),
        ]
        for row, parts in zip(rows, told, strict=True):
            for part in parts:
                assert part in row
        # The one in view is chosen: Enter goes back to it.
        assert dialogue.query_one(ConversationList).chosen.id == ids["茶会"]
        await pilot.press("down", "enter")
        await until(pilot, lambda: chosen)
    assert chosen == [ids["川"]]


async def test_search_finds_what_stands_in_questions_and_answers(bench, keep, opened, shown, until):
    ids = keep()
    app = bench()
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue, chosen = await opened(app, pilot)
        listed = dialogue.query_one(ConversationList)
        # Japanese needs no key before it; a slash goes to the field as well.
        await pilot.press("水", "位", "space", *"FERRY")
        await until(pilot, lambda: listed.shown == 1)
        assert dialogue.query_one(ConversationSearch).value == "水位 FERRY"
        await until(pilot, lambda: "Esc Clear" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: listed.shown == 5)
        assert app.focused is listed
        await until(pilot, lambda: "Esc Close" in shown(app))
        await pilot.press("slash", *"メートル")
        await until(pilot, lambda: listed.shown == 1)
        await until(pilot, lambda: "川" in shown(app))
        await pilot.press("d", "r", "x")
        await until(pilot, lambda: "Nothing holds all of these words." in shown(app))
        assert dialogue.query_one(ConversationSearch).value == "メートルdrx"
        await pilot.press("enter")
        assert app.screen is dialogue
        await pilot.press("backspace", "backspace", "backspace")
        await until(pilot, lambda: listed.shown == 1)
        await pilot.press("down")
        assert app.focused is listed
        await pilot.press("slash", "enter")
        await until(pilot, lambda: chosen)
    assert chosen == [ids["川"]]


async def test_a_new_one_and_no_choice_at_all(bench, opened, shown, until):
    app = bench()
    async with app.run_test(size=(80, 24)) as pilot:
        for keys, gives in (("n", [0]), ("ctrl+n", [0]), ("escape", [None])):
            _, chosen = await opened(app, pilot)
            await until(pilot, lambda: "There are no conversations yet" in shown(app))
            await pilot.press("r", "e", "d", keys)
            await until(pilot, lambda c=chosen, g=gives: c == g)


async def test_a_title_is_changed(bench, keep, opened, shown, until, workspace):
    keep()
    app = bench()
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue, _ = await opened(app, pilot)
        await pilot.press("end", "r")
        await until(pilot, lambda: isinstance(app.screen, Form))
        field = app.screen.query_one(Input)
        assert field.value == "川"
        field.value = ""
        await pilot.press("enter")
        await until(pilot, lambda: "at least one character" in shown(app))
        field.value = HOSTILE
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is dialogue and "川" not in shown(app))
        listed = dialogue.query_one(ConversationList)
        # It keeps its place among the others.
        assert (listed.highlighted, listed.chosen.title) == (4, one_line(HOSTILE))
        await until(pilot, lambda: "[red]赤[/red] ␛[31m" in shown(app))
    assert titles(workspace)[-1] == one_line(HOSTILE)


async def test_what_goes_is_named_before_it_is_deleted(
    bench, keep, opened, shown, until, workspace
):
    keep()
    app = bench()
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue, _ = await opened(app, pilot)
        await pilot.press("down", "d")
        await until(pilot, lambda: "Its 4 questions go with their answers" in shown(app))
        await until(pilot, lambda: "[red]赤[/red] ␛[31m" in shown(app))
        # What cannot be undone is not the first choice.
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is dialogue)
        assert len(titles(workspace)) == 5
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Form))
        await pilot.click("#go")
        await until(pilot, lambda: len(titles(workspace)) == 4)
        await until(pilot, lambda: "赤" not in shown(app))
        assert dialogue.query_one(ConversationList).chosen.title == "ferry"
        for left in (3, 2, 1, 0):
            await pilot.press("d")
            await until(pilot, lambda: isinstance(app.screen, Form))
            await pilot.click("#go")
            await until(pilot, lambda left=left: len(titles(workspace)) == left)
            await until(pilot, lambda: app.screen is dialogue)
        await until(pilot, lambda: "There are no conversations yet" in shown(app))


async def test_one_that_another_workbench_deleted_is_told(
    bench, keep, opened, shown, until, workspace
):
    ids = keep()
    app = bench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        dialogue, _ = await opened(app, pilot)
        with Conversations.open(workspace) as kept:
            kept.delete(ids["川"])
        await pilot.press("end", "r")
        await until(pilot, lambda: isinstance(app.screen, Form))
        app.screen.query_one(Input).value = "別の川"
        await pilot.press("enter")
        await until(pilot, lambda: "There is no conversation" in shown(app))
        listed = dialogue.query_one(ConversationList)
        await until(pilot, lambda: listed.shown == 4)
        with Conversations.open(workspace) as kept:
            kept.delete(ids["茶会"])
        await pilot.press("end", "e")
        await until(pilot, lambda: app.screen.query(Input) and isinstance(app.screen, Form))
        await pilot.press("enter")
        await until(pilot, lambda: "There is no conversation" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialogue)


async def test_export_writes_a_file_and_replaces_none_unasked(
    bench, keep, opened, shown, until, tmp_path, monkeypatch
):
    keep()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    file = tmp_path / "here" / "川.md"
    app = bench("ja")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        dialogue, _ = await opened(app, pilot)

        async def export_to(path: str | None = None):
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, Form))
            await until(pilot, lambda: app.screen.query(Input))
            assert app.screen.query_one(Input).value == str(file)
            if path is not None:
                app.screen.query_one(Input).value = path
            await pilot.press("enter")

        await pilot.press("end")
        await export_to()
        await until(pilot, file.exists)
        await until(pilot, lambda: app.screen is dialogue and "書き出し先" in shown(app))
        text = file.read_text(encoding="utf-8")
        assert text.startswith("# 川\n")
        assert "- 水位が二メートルを超えるとき。 [1]" in text
        assert "**根拠あり" in text

        file.write_text("precious")
        await export_to()
        await until(pilot, lambda: "置き換えますか" in shown(app))
        await pilot.press("escape")
        # Not replaced: another name can be given.
        await until(pilot, lambda: app.screen.query(Input))
        assert file.read_text() == "precious"
        app.screen.query_one(Input).value = str(tmp_path / "no" / "such.md")
        await pilot.press("enter")
        await until(pilot, lambda: "書き込めません" in shown(app))
        app.screen.query_one(Input).value = " "
        await pilot.press("enter")
        await until(pilot, lambda: "ファイルが入力されていません" in shown(app))
        app.screen.query_one(Input).value = str(file)
        await pilot.press("enter")
        await until(pilot, lambda: "置き換えますか" in shown(app))
        await pilot.click("#go")
        await until(pilot, lambda: file.read_text(encoding="utf-8") == text)
        await until(pilot, lambda: app.screen is dialogue)


async def test_thousands_are_listed_as_they_are_looked_at(bench, opened, until, workspace, shown):
    count = 2 * PAGE + 30
    with Conversations.open(workspace) as kept, kept._db.transaction():
        for number in range(count):
            kept.new(f"会話 {number}")
    app = bench()
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue, chosen = await opened(app, pilot)
        listed = dialogue.query_one(ConversationList)
        assert listed.shown == PAGE
        # One that is written meanwhile moves to the top, and nothing is shown twice.
        with Conversations.open(workspace) as kept:
            talk = kept.list()[PAGE - 1]
            kept.begin(talk.id, Query("続き"), "main", "", "")
        for pages in (2, 3):
            await pilot.press("end")
            await until(pilot, lambda pages=pages: listed.shown == min(pages * PAGE, count))
        await pilot.press("end")
        await until(pilot, lambda: "会話 0 " in shown(app))
        assert len({conversation.id for conversation in listed._shown}) == count
        await pilot.press("enter")
        await until(pilot, lambda: chosen)
    with Conversations.open(workspace) as kept:
        assert kept.get(chosen[0]).title == "会話 0"


async def test_conversations_that_cannot_be_read_are_told(
    bench, keep, opened, shown, until, workspace
):
    workspace.conversations.write_bytes(b"no database at all " * 100)
    app = bench()
    async with app.run_test(size=(100, 24), notifications=True) as pilot:
        app.push_screen(ConversationsDialogue())
        await until(pilot, lambda: "damaged" in shown(app))
        await pilot.press("r", "d", "e", "slash", "x", "escape", "escape")
        await until(pilot, lambda: not isinstance(app.screen, ConversationsDialogue))
    assert workspace.conversations.stat().st_size == 1900


async def test_a_long_paste_into_the_search_is_cut(bench, keep, opened, until, shown):
    keep()
    app = bench()
    async with app.run_test(size=(80, 24)) as pilot:
        dialogue, _ = await opened(app, pilot)
        field = dialogue.query_one(ConversationSearch)
        field.focus()
        field.insert_text_at_cursor("語 " * 25_000)
        await until(pilot, lambda: "Nothing holds all" in shown(app) or not field.value)
        assert len(field.value) <= 200


async def test_the_screen_is_as_it_was(snapshots, workbench, keep, workspace, until):
    ids = keep()

    async def prepare(pilot):
        # The screen below is looked at by its own test.
        await until(pilot, lambda: pilot.app.screen.query("TopBar"))
        for part in pilot.app.screen.children:
            part.display = False
        pilot.app.push_screen(ConversationsDialogue())
        await until(pilot, lambda: settled(pilot.app.screen))

    await snapshots(
        lambda language: workbench(language, home=workspace.home, conversation=ids["ferry"]),
        prepare,
    )


async def test_what_is_asked_first_is_as_it_was(snapshots, alone, keep, until, monkeypatch):
    keep()
    # The folder of a test is called otherwise each time.
    monkeypatch.setattr("localrag_tui.conversations.working_folder", lambda: Path("/srv"))
    monkeypatch.setattr("localrag.ops.conversations.export.file_name", lambda _title: "ferry")

    def is_there(_conversations, _workspace, _id, path, **_how):
        raise FileExistsAlready(path)

    monkeypatch.setattr("localrag.ops.conversations.export.export", is_there)

    async def open_(pilot, keys):
        app = pilot.app
        dialogue = ConversationsDialogue()
        app.push_screen(dialogue)
        await until(pilot, lambda: settled(dialogue))

        async def press(key, before):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, Form) and app.screen is not before)

        await pilot.press("down")
        for key in keys:
            await press(key, app.screen)
        dialogue.query_one(".box").visible = False

    asked = {"rename": ("r",), "delete": ("d",), "export": ("e",), "replace": ("e", "enter")}
    await snapshots(alone, {name: partial(open_, keys=keys) for name, keys in asked.items()})


async def test_keys_that_come_before_the_list_do_nothing(bench, keep, until, workspace, held):
    keep()
    app = bench()
    there = threading.Event()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.is_mounted)
        holding = asyncio.create_task(app.conversations.do(lambda _kept: there.wait(PATIENCE)))
        dialogue = ConversationsDialogue()
        await app.push_screen(dialogue)
        await pilot.press("d", "r", "e", "enter")
        assert app.screen is dialogue
        there.set()
        await holding
        await until(pilot, lambda: dialogue.query_one(ConversationList).seen)
        await pilot.pause()
        assert app.screen is dialogue
    assert len(titles(workspace)) == 5
