"""Messages do not pile up, and what comes too late does not count once the application is left."""

from textual.css.query import NoMatches
from textual.widgets._toast import Toast


async def test_the_same_message_stands_there_once(workbench, until):
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        app.clear_notifications()
        for _ in range(30):
            app.notify("The question holds no word.")
        app.notify("Another one.")
        await pilot.pause()
        shown = [notice.message for notice in app._notifications]
        assert shown == ["The question holds no word.", "Another one."]
        await until(pilot, lambda: len(app.screen.query(Toast)) == 2)
        await pilot.press("ctrl+p", "pagedown")
        app.exit()
        app._handle_exception(NoMatches("gone"))
    assert app.failure is None
    assert app.return_code == 0
