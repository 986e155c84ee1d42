"""Help on every screen and dialogue: what it is for, and its keys as they are now."""

from pathlib import Path

from textual.widgets import Input

from localrag.corpus.workspace import Workspace
from localrag_tui.screen import Dialogue
from localrag_tui.shell.bars import SCREENS
from localrag_tui.shell.help import Help, hints


def test_every_screen_says_what_it_is_for():
    assert list(hints()) == list(SCREENS)
    assert all(hints().values())


async def test_it_names_the_keys_of_the_focus_the_screen_and_everywhere(plain, shown, until):
    app = plain(mode="models", overrides={"tui.keys": {"app.jump": "f12,ctrl+t"}})
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: "Everywhere" in shown(app))
        here, on_screen, everywhere = (
            shown(app).index(heading)
            for heading in ("Where you are", "On this screen", "Everywhere")
        )
        assert here < shown(app).index("Ctrl+J") < on_screen
        assert on_screen < shown(app).index("Ctrl+N") < everywhere < shown(app).index("F12 Ctrl+T")
        await until(pilot, lambda: "their memory" in shown(app))
        assert "Ctrl+G" not in shown(app)
        await until(pilot, lambda: "plain.begin" in shown(app))
        assert "Ctrl+S" not in shown(app)
        await pilot.press(*"provision")
        await until(pilot, lambda: "Quit" not in shown(app))
        await until(pilot, lambda: "Go to a provision" in shown(app))
        await until(pilot, lambda: "app.jump" in shown(app))
        app.screen.query_one(Input).value = "change a key"
        await until(pilot, lambda: "[tui.keys]" in shown(app))
        app.screen.query_one(Input).value = "xx"
        await until(pilot, lambda: "No key fits." in shown(app))
        await pilot.press("f1")
        assert not isinstance(app.screen, Help)


async def test_it_scrolls_while_one_types(plain, shown, until):
    app = plain()
    async with app.run_test(size=(80, 14)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: "Where you are" in shown(app))
        await pilot.press(*["pagedown"] * 12)
        await until(pilot, lambda: "[tui.keys]" in shown(app))
        await pilot.press(*["pageup"] * 12)
        await until(pilot, lambda: "Where you are" in shown(app))
        await pilot.press("down")
        await until(pilot, lambda: "Where you are" not in shown(app))
        await pilot.press("up")
        await until(pilot, lambda: "Where you are" in shown(app))
        await pilot.press("escape")
        assert not isinstance(app.screen, Help)


async def test_a_dialogue_has_help_too(plain, shown, until):
    class Question(Dialogue):
        def compose(self):
            yield Input()

    app = plain()
    async with app.run_test() as pilot:
        await app.push_screen(Question())
        await pilot.press("f1")
        await until(pilot, lambda: "Keys of this dialogue" in shown(app))
        await until(pilot, lambda: "Close" in shown(app))
        await until(pilot, lambda: "Ctrl+Q" in shown(app))
        assert "F3" not in shown(app)
        await pilot.press("escape")
        assert isinstance(app.screen, Question)


async def test_look(plain, snapshots, until, monkeypatch):
    # The folder of a test is called otherwise each time.
    monkeypatch.setattr(Workspace, "settings", Path("/law/localrag.toml"))

    async def open_help(pilot):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, Help))

    await snapshots(lambda language: plain(language), open_help)


async def test_who_asks_how_keys_are_changed_reads_that_first(plain, shown, until):
    app = plain()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"keys")
        await until(pilot, lambda: "how to change them" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Help))
        await until(pilot, lambda: '"app.help" = "f12"' in shown(app))
