"""Keys that come before a screen is there."""

from textual.events import Key
from textual.widgets import Input

from localrag_tui.jump import JumpDialogue
from localrag_tui.search.screen import SearchField


async def test_what_is_typed_at_once_reaches_the_field(workbench, until):
    app = workbench(mode="ask", search="")
    async with app.run_test(size=(100, 30)) as pilot:
        # As a terminal hands keys over: nothing waits for the screen that the first one opens.
        for key in ("f4", *"abc"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.screen.query("SearchField"))
        field = app.screen.query_one(SearchField)
        await until(pilot, lambda: field.value == "abc")

        app.action_jump()
        for key in "17":
            app.post_message(Key(key, key))
        await until(pilot, lambda: app.screen.query(Input))
        asked = app.screen.query_one(Input)
        await until(pilot, lambda: asked.value == "17")
        assert isinstance(app.screen, JumpDialogue)
        assert field.value == "abc"
