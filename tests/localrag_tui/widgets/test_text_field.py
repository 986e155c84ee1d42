"""A field for text from anywhere: it does nothing to a terminal, and it has an end."""

from textual.app import App
from textual.events import Paste

from localrag_tui.shell.form import TextField

EVIL = "a\x1b]52;c;ZXZpbA==\x07\u202eb"


async def test_text_is_harmless_and_has_an_end_however_it_comes():
    class Fielded(App[None]):
        def compose(self):
            yield TextField(EVIL)

    app = Fielded()
    async with app.run_test() as pilot:
        field = app.query_one(TextField)
        assert field.value == "a␛]52;c;ZXZpbA==␇<U+202E>b"
        field.value = "\x1b\n"
        assert field.value == "␛␊"
        field.clear()
        field.focus()
        app.post_message(Paste("\x1b[31m\nsecond line"))
        await pilot.pause()
        assert field.value == "␛[31m"
        app.post_message(Paste("x" * 500_000))
        await pilot.pause()
        assert len(field.value) == field.max_length
        app.post_message(Paste(""))
        await pilot.press("backspace")
        assert len(field.value) == field.max_length - 1


async def test_a_key_lays_nothing_out_and_the_end_of_a_long_line_stays_in_view():
    class Fielded(App[None]):
        def compose(self):
            yield TextField()

    app = Fielded()
    async with app.run_test(size=(20, 5)) as pilot:
        field = app.query_one(TextField)
        field.focus()
        await pilot.pause()
        laid_out = []
        app.screen.screen_layout_refresh_signal.subscribe(app, laid_out.append, immediate=True)
        await pilot.press(*"abc")
        assert field.value == "abc"
        assert laid_out == []
        await pilot.press(*"defghijklmnopqrstuvwxyz")
        assert "tuvwxyz" in field.render_line(0).text
        await pilot.press("home")
        assert field.render_line(0).text.startswith("abc")
