"""The palette: what can be done, by its name in either language; looks change at once."""

from functools import partial

from textual.command import CommandList

from localrag import language
from localrag.corpus.workspace import change_setting
from localrag_tui.models.doctor import DoctorDialogue
from localrag_tui.shell.help import Palette
from localrag_tui.shell.preferences import use_language
from localrag_tui.spot import OpenSpot, Spot

from ..screen_dump import dump


async def run(pilot, until, typed, title):
    def highlighted():
        option = pilot.app.screen.query_one(CommandList).highlighted_option
        return option.prompt.plain if option else ""

    await pilot.press("ctrl+p", *typed)
    await until(pilot, lambda: highlighted().startswith(title))
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, Palette))


async def test_every_action_of_the_screen_is_there(plain, shown, until):
    app = plain()
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "Light theme" in shown(app))
        for title in ("Go to a provision  Ctrl+G", "Models  F6", "Try the sample corpus"):
            assert title in shown(app)
        assert "Maximize" not in shown(app)
        await pilot.press("ctrl+p")
        assert len(app.screen_stack) == 2
        await pilot.press("f1")
        assert isinstance(app.screen, Palette)
        await pilot.press(*"xyz")
        await until(pilot, lambda: "No command fits." in shown(app))
        await pilot.press("escape")
        screen = app.screen
        await run(pilot, until, "search", "Search  Ctrl+N")
        await until(pilot, lambda: screen.begun == 1)
        await run(pilot, until, "models", "Models")
        await until(pilot, lambda: app.current_mode == "models")


async def test_a_command_is_found_by_its_english_name_too(plain, shown, until):
    app = plain("ja", overrides={"tui.theme": "auto"})
    async with app.run_test() as pilot:
        await pilot.press("ctrl+p")
        for typed in ("テーマ", "ダーク", "言語", "キー"):
            app.screen.query_one("CommandInput").value = typed
            await until(pilot, lambda: app.screen.query_one(CommandList).option_count)
            await until(pilot, lambda typed=typed: typed in shown(app))
        await pilot.press("escape")
        await run(pilot, until, "light theme", "ライトテーマ")
        assert app.theme == "localrag-light"
        assert app.memory.choices.theme == "light"


async def test_the_doctor_is_found_everywhere(plain, until, monkeypatch):
    monkeypatch.setattr(DoctorDialogue, "on_mount", lambda _dialogue: None)
    monkeypatch.setattr(DoctorDialogue, "on_unmount", lambda _dialogue: None)
    app = plain("ja", mode="ask")
    async with app.run_test() as pilot:
        await run(pilot, until, "doctor", "診断")
        await until(pilot, lambda: isinstance(app.screen, DoctorDialogue))


async def test_the_settings_win_at_the_next_start_and_say_so(plain, shown, until):
    app = plain(theme="dark")
    async with app.run_test(notifications=True) as pilot:
        await run(pilot, until, "light", "Light theme")
        await until(pilot, lambda: "bring the other one back" in shown(app))


async def test_another_language_keeps_what_was_typed_and_read(plain, shown, until):
    app = plain(overrides={"language": "auto"}, mode="ask")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen.query("#field"))
        app.screen.query_one("#field").text = "abc\ndef"
        app.screen.query_one("#line").value = "ghi"
        app.screen.post_message(OpenSpot(Spot("one", 2, 3)))
        await pilot.press("f6")
        await until(pilot, lambda: app.current_mode == "models")
        await run(pilot, until, "japanese", "Language: 日本語")
        await until(pilot, lambda: "条文" in shown(app))
        assert app.memory.choices.language == "ja"
        assert app.current_mode == "models"
        await pilot.press("f2")
        await until(pilot, lambda: "abc" in shown(app))
        assert app.screen.query_one("#field").text == "abc\ndef"
        assert app.screen.query_one("#line").value == "ghi"
        await until(pilot, lambda: app.screen.query_one("SourcePane").spot == Spot("one", 2, 3))
        use_language(app, "en")
        use_language(app, "ja")
        use_language(app, "en")
        await until(pilot, lambda: app.current_mode == "ask" and "Search" in shown(app))
        await until(pilot, lambda: app.screen.query("#field") and app.screen.query("#line"))
        await until(pilot, lambda: app.screen.query_one("#field").text == "abc\ndef")
        assert app.screen.query_one("#field").cursor_location == (1, 3)
        assert app.screen.query_one("#line").cursor_position == 3


async def test_an_answer_under_way_is_not_lost_to_a_language(plain, engine, shown, until):
    engine.answering = True
    app = plain(overrides={"language": "auto"})
    async with app.run_test(notifications=True) as pilot:
        await run(pilot, until, "japanese", "Language: 日本語")
        await until(pilot, lambda: "An answer is being made" in shown(app))
        assert app.memory.choices.language == ""


async def open_palette(pilot, until):
    await pilot.press("ctrl+p")
    await until(pilot, lambda: pilot.app.screen.query_one(CommandList).option_count > 10)
    await pilot.press("down")


async def test_look(plain, snapshots, until):
    prepare = partial(open_palette, until=until)
    await snapshots(plain, prepare, of="#--input, CommandList")


async def test_it_is_read_in_the_light_theme_too(plain, until):
    # Textual's palette keeps the theme in which it was opened.
    app = plain(theme="light")
    async with app.run_test() as pilot:
        await open_palette(pilot, until)
        assert not dump(app).faults


async def test_what_is_told_of_another_language_is_told_in_it(plain, shown, until):
    app = plain("ja")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        use_language(app, "en")
        await until(pilot, lambda: "This start was given a language (--lang)" in shown(app))
    language.use("ja")
    app = plain(overrides={"language": None})
    change_setting(app.workspace, "language", "ja")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        use_language(app, "en")
        await until(pilot, lambda: "The settings say another language" in shown(app))
        assert "F8 changes it." in shown(app)
