"""The settings that people change most, in a form; they are kept in localrag.toml."""

from textual.widgets import Input, Select

from localrag.corpus.config import load
from localrag_tui.shell.form import Form
from localrag_tui.shell.preferences import use_theme


def choose(app, key, value):
    app.screen.query_one(f"#{key}", Select).value = value


async def test_what_is_changed_holds_at_once_and_in_the_file(plain, shown, until):
    app = plain(overrides={"tui.theme": None, "tui.language": None, "language": None})
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(app.screen, Form) and "rereading" in shown(app))
        before = app.workspace.settings.read_text()
        choose(app, "tui-theme", "light")
        choose(app, "language", "ja")
        choose(app, "retrieval-dense", "off")
        app.screen.query_one("#retrieval-k", Input).value = "7x"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "no number of passages" in shown(app))
        app.screen.query_one("#retrieval-k", Input).value = "7"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        await until(pilot, lambda: "条文" in shown(app))
        assert app.theme == "localrag-light"
        config = load(app.workspace)
        assert (config.language, config.tui.theme) == ("ja", "light")
        assert (config.retrieval.k, config.retrieval.dense) == (7, "off")
        assert app.config().retrieval.k == 7
        kept = app.workspace.settings.read_text()
        assert len(kept.splitlines()) == len(before.splitlines())


async def test_what_the_palette_chose_is_shown_and_can_be_left_to_the_settings(plain, until):
    app = plain(overrides={"tui.theme": None, "language": None})
    async with app.run_test(size=(100, 40)) as pilot:
        use_theme(app, "light")
        await pilot.press("f8")
        await until(pilot, lambda: app.screen.query("#tui-theme"))
        assert app.screen.query_one("#tui-theme", Select).value == "light"
        assert app.screen.query_one("#language", Select).value == "auto"
        choose(app, "tui-theme", "auto")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        await until(pilot, lambda: app.theme == "localrag-dark")
        assert app.memory.choices.theme == ""


async def test_what_is_said_elsewhere_is_not_changed_here(plain, shown, until):
    app = plain(overrides={"retrieval.k": 5})
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: "The command line sets it" in shown(app))
        assert app.screen.query_one("#retrieval-k", Input).value == "5"
        assert not app.screen.query_one("#retrieval-k", Input).focusable


async def test_a_number_that_is_none_is_told_below_it_on_a_small_screen(plain, shown, until):
    app = plain()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(app.screen, Form) and "passages" in shown(app))
        before = app.workspace.settings.read_text()
        app.screen.query_one("#retrieval-k", Input).value = "abc"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "abc is no number of passages." in shown(app))
        assert app.focused is app.screen.query_one("#retrieval-k", Input)
        assert app.workspace.settings.read_text() == before


async def test_a_day_is_typed_as_people_write_it_and_told_on_the_screens(plain, shown, until):
    app = plain("ja")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "検索" in shown(app))
        for typed, day in (
            ("令和2年4月1日", "2020-04-01"),
            ("２０１９年１２月３１日", "2019-12-31"),
            ("令和元年五月一日", "2019-05-01"),
            ("2018-02-03", "2018-02-03"),
        ):
            await pilot.press("f8")
            await until(pilot, lambda: app.screen.query("#retrieval-as_of"))
            app.screen.query_one("#retrieval-as_of", Input).value = typed
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not isinstance(app.screen, Form))
            assert load(app.workspace).retrieval.as_of == day
            await until(pilot, lambda day=day: f"{day} 時点の法令" in shown(app).split("\n")[0])
        await pilot.press("f4")
        await until(pilot, lambda: "2018-02-03 時点の法令" in shown(app).split("\n")[0])
        await pilot.press("f8")
        await until(pilot, lambda: app.screen.query("#retrieval-as_of"))
        assert app.screen.query_one("#retrieval-as_of", Input).value == "2018-02-03"
        app.screen.query_one("#retrieval-as_of", Input).value = ""
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        await until(pilot, lambda: "時点の法令" not in shown(app))
        assert load(app.workspace).retrieval.day is None


async def test_what_is_no_day_is_told_at_its_own_field(plain, shown, until):
    app = plain()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: app.screen.query("#retrieval-as_of"))
        before = app.workspace.settings.read_text()
        day, number = (app.screen.query_one(f"#retrieval-{name}", Input) for name in ("as_of", "k"))
        for typed in ("令和2年4月31日", "2020年4月", "4月1日", "soon", "2020-04-01以降"):
            day.value = typed
            await pilot.press("ctrl+s")
            await until(pilot, lambda typed=typed: f"{typed} is not a date." in shown(app))
            assert app.focused is day
        day.value, number.value = "2020-04-01", "many"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "many is no number of passages." in shown(app))
        assert app.focused is number
        assert "is not a date" not in shown(app)
        assert app.workspace.settings.read_text() == before


async def test_look(plain, snapshots, until):
    async def open_form(pilot):
        await pilot.press("f8")
        await until(pilot, lambda: pilot.app.screen.query(Select))

    await snapshots(plain, open_form)


async def test_wide_digits_are_a_number_and_saving_is_told(plain, shown, until):
    app = plain("ja")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(app.screen, Form) and "箇所" in shown(app))
        app.screen.query_one("#retrieval-k", Input).value = "１２"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "設定を保存しました。" in shown(app))
        assert load(app.workspace).retrieval.k == 12


async def test_no_choice_loses_its_first_character_to_what_lies_below(plain, shown, until):
    app = plain("ja", overrides={"tui.theme": None})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: "ベクトルがあれば" in shown(app))
        app.screen.query_one("#tui-theme", Select).focus()
        await pilot.pause()
        before = shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: "ライトテーマ" in shown(app))
        choices = [row for row in shown(app).split("\n") if "モデル" in row or "ダーク" in row]
        assert ["自動" in choices[0], "ダークテーマ" in choices[1]] == [True, True]
        await pilot.press("escape")
        await until(pilot, lambda: shown(app) == before)
