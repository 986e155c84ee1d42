"""From nothing to a corpus that answers: the welcome, adding, indexing, choosing."""

import shutil
from pathlib import Path

import pytest

from localrag.corpus.workspace import Workspace
from localrag_tui.corpora import actions
from localrag_tui.corpora.actions import CorporaDialogue, CorporaList, Welcome
from localrag_tui.corpora.work import add_documents, index_corpus, overview
from localrag_tui.shell.form import Form
from localrag_tui.work.jobs import State

pytestmark = pytest.mark.anyio


@pytest.fixture
def empty_home(home: Path) -> Path:
    """A workspace without a corpus."""
    Workspace.locate(home).init()
    return home


def unwrapped(screen: str) -> str:
    """What stands there, without the places where it is broken into lines."""
    return "".join(screen.split())


async def test_from_the_welcome_to_a_first_search(workbench, empty_home, shown, until):
    from localrag.search.types import Query

    app = workbench(home=empty_home)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Welcome))
        await pilot.press("1")
        await until(pilot, lambda: "Add the sample corpus to main …" in shown(app))
        assert "There is no corpus" not in shown(app)
        await until(pilot, lambda: app.jobs.all and app.jobs.all[0].state is State.DONE)
        await until(pilot, lambda: app.current_mode == "ask")
        await until(pilot, lambda: "12 documents added" in shown(app))
        await until(pilot, lambda: "Ask about the 12 documents" in shown(app))
        await until(pilot, lambda: "渡し舟を運航してはならない" in shown(app))
        found = await app.library.search(Query("渡し舟"), 3)
        assert found.hits


async def test_beside_documents_the_sample_gets_a_corpus_of_its_own(
    workbench, empty_home, shown, until, tmp_path
):
    from localrag.corpus.config import load

    workspace = Workspace.locate(empty_home)
    page = tmp_path / "page.md"
    page.write_text("# 灯台\n\n灯台は岬に立つ。\n")
    add_documents(lambda _event: None, workspace, "main", [page], load(workspace))
    app = workbench(home=empty_home)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: "Ask about the 1 document of “main”" in shown(app))
        for _again in range(2):
            actions.try_sample(app)
            await until(pilot, lambda: app.jobs.all and app.jobs.all[-1].state is State.DONE)
            assert app.corpus == "sample"
            await until(pilot, lambda: "Ask about the 12 documents of “sample”" in shown(app))
            await until(pilot, lambda: "sample · " in shown(app))
        rows = {row.name: row for row in overview(workspace)}
        assert {name: row.documents for name, row in rows.items()} == {"main": 1, "sample": 12}
        assert rows["main"].index == "fresh"


async def test_the_welcome_is_shown_once_there_is_nothing_and_can_be_left(
    workbench, empty_home, until
):
    app = workbench("ja", home=empty_home)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Welcome))
        await pilot.press("3")
        assert not isinstance(app.screen, Welcome)
        assert app.jobs.all == []


async def test_own_documents_are_asked_for_and_bad_input_is_told(
    workbench, empty_home, shown, until, tmp_path
):
    app = workbench(home=empty_home)
    async with app.run_test(size=(80, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Welcome))
        await pilot.press("2")
        await until(pilot, lambda: app.screen.query("#path"))
        await pilot.press("enter")
        await until(pilot, lambda: "No file or folder is named." in shown(app))
        app.screen.query_one("#path").value = f"{tmp_path}/[red]none"
        await pilot.press("enter")
        await until(pilot, lambda: "[red]none." in unwrapped(shown(app)))
        app.screen.query_one("#path").value = str(tmp_path)
        app.screen.query_one("#corpus").value = "../evil"
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be the name of a corpus" in shown(app))
        assert app.screen.query_one("#path").value == str(tmp_path)
        await pilot.press("escape")
        assert app.jobs.all == []


async def test_documents_are_added_and_what_failed_is_told(workbench, until, tmp_path, shown):
    files = tmp_path / "files"
    files.mkdir()
    (files / "[red]page.md").write_text("# 灯台\n\n灯台は岬に立つ。\n")
    (files / "broken.xml").write_text("<Law>")
    (files / "song.mp3").write_bytes(b"x")
    app = workbench()
    async with app.run_test(size=(100, 40)) as pilot:
        actions.add(app)
        await until(pilot, lambda: app.screen.query("#path"))
        app.screen.query_one("#path").value = str(files)
        app.screen.query_one("#corpus").value = "own"
        await pilot.press("enter")
        await until(pilot, lambda: app.jobs.all and app.jobs.all[0].state is not State.RUNNING)
        await until(pilot, lambda: "own: 1 document added" in shown(app))
        await until(pilot, lambda: "1 could not be entered" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "broken.xml" in shown(app))
        assert "left out, no reader for this kind of file: .mp3 1" in shown(app)
        await until(pilot, lambda: app.corpus == "own")


async def test_a_corpus_is_chosen_and_remembered(workbench, bench_home, shown, until):
    corpora = bench_home / "corpora"
    shutil.copytree(corpora / "main", corpora / "second")
    (corpora / "torn").mkdir()
    (corpora / "torn" / "corpus.sqlite").write_bytes(b"no store")
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        actions.choose(app)
        await until(pilot, lambda: isinstance(app.screen, CorporaDialogue) and "torn" in shown(app))
        await until(pilot, lambda: "up to date" in shown(app))
        await until(pilot, lambda: "not indexed" in shown(app))
        await pilot.press("end", "enter")
        assert isinstance(app.screen, CorporaDialogue), "a damaged corpus is not chosen"
        await until(pilot, lambda: "torn/corpus.sqlite" in unwrapped(shown(app)))
        await pilot.press("up", "enter")
        await until(pilot, lambda: not isinstance(app.screen, CorporaDialogue))
        await until(pilot, lambda: app.memory.choices.corpus == "second")


async def test_the_cursor_begins_at_the_corpus_in_use_and_ends_at_the_ends(
    workbench, bench_home, shown, until
):
    corpora = bench_home / "corpora"
    for name in ("before", "newest"):
        shutil.copytree(corpora / "main", corpora / name)
    app = workbench("ja", corpus="main")
    async with app.run_test(size=(80, 24)) as pilot:
        actions.choose(app)
        await until(pilot, lambda: isinstance(app.screen, CorporaDialogue) and "163" in shown(app))
        (line,) = (line for line in shown(app).splitlines() if "使用中" in line)
        assert "main" in line
        listing = app.screen.query_one(CorporaList)
        places = [listing.highlighted]
        for key in ("down", "down", "up", "up", "up"):
            await pilot.press(key)
            places.append(listing.highlighted)
        assert places == [1, 2, 2, 1, 0, 0]


@pytest.mark.parametrize("key", ["delete", "d"])
@pytest.mark.parametrize(("used", "left"), [("second", "main"), ("main", "second")])
async def test_a_corpus_is_removed_once_it_is_agreed_to(
    workbench, bench_home, shown, until, used, left, key
):
    corpora = bench_home / "corpora"
    shutil.copytree(corpora / "main", corpora / "second")
    app = workbench("ja", corpus=used)
    async with app.run_test(size=(80, 24)) as pilot:
        actions.choose(app)
        await until(pilot, lambda: isinstance(app.screen, CorporaDialogue) and used in shown(app))
        await pilot.press(key)
        await until(pilot, lambda: f"コーパス {used} を削除しますか。" in shown(app))
        await pilot.press("escape")
        assert (corpora / used / "corpus.sqlite").exists()
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Form))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        await until(pilot, lambda: not (corpora / used).exists())
        await until(pilot, lambda: app.corpus == left)


async def test_settings_that_are_not_valid_are_told(workbench, bench_home, shown, until):
    app = workbench()
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, app.screen.ready.is_set)
        (bench_home / "localrag.toml").write_text("[chat]\nmodell = 'x'\n")
        actions.tell_errors(app, actions.index)
        await until(pilot, lambda: "there is no setting" in shown(app))


def test_work_is_told_in_steps_and_reported(bench_home: Path, tmp_path: Path):
    from localrag.corpus.config import load

    workspace = Workspace.locate(bench_home)
    page = tmp_path / "page.md"
    page.write_text("# 灯台\n\n灯台は岬に立つ。\n")
    heard: list[object] = []
    added = add_documents(heard.append, workspace, "main", [page, page], load(workspace))
    assert heard
    assert added.told == "main: 1 document added, 0 replaced, 0 removed"
    again = index_corpus(heard.append, workspace, "main", load(workspace))
    assert again.details == ("The index of main is up to date.",)


async def test_look_of_the_welcome(alone, snapshots):
    async def prepare(pilot):
        await pilot.app.push_screen(Welcome())

    await snapshots(alone, prepare)


async def test_look_of_adding(alone, snapshots, until):
    async def prepare(pilot):
        actions.add(pilot.app)
        await until(pilot, lambda: pilot.app.screen.query("#path"))

    await snapshots(alone, prepare)


async def test_look_of_choosing(alone, snapshots, until, shown):
    async def prepare(pilot):
        actions.choose(pilot.app)
        await until(pilot, lambda: "163" in shown(pilot.app))

    await snapshots(alone, prepare)
