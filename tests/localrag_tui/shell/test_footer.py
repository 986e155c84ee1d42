"""The keys below: whole ones only, and the help always; a click presses one."""

from itertools import pairwise

import pytest

from localrag_tui.shell.bars import KeyBar


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_keys_that_do_not_fit_whole_are_left_out(workbench, language, until):
    app = workbench(language=language, mode="read")
    async with app.run_test(size=(140, 24)) as pilot:
        bar = app.screen.query_one(KeyBar)
        await until(pilot, lambda: bar.shown)
        assert bar.shown[-1].key == "ctrl+p"
        for width in (140, 80, 40, 20):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert bar.shown[0].start == 0
            assert bar.shown[-1].end <= width
            assert all(one.end <= next_.start for one, next_ in pairwise(bar.shown))
            assert "f1" in [key.key for key in bar.shown]
            line = bar.render().plain
            assert all(key.label.plain in line for key in bar.shown)


async def test_a_click_presses_the_key_under_the_mouse(workbench, shown, until):
    app = workbench(mode="search")
    async with app.run_test(size=(140, 24)) as pilot:
        bar = app.screen.query_one(KeyBar)
        await until(pilot, lambda: bar.shown)
        help_ = next(key for key in bar.shown if key.key == "f1")
        await pilot.hover(KeyBar, offset=(help_.end - 1, 0))
        await pilot.click(KeyBar, offset=(help_.end, 0))
        assert not app.screen.is_modal
        await pilot.click(KeyBar, offset=(help_.start, 0))
        await until(pilot, lambda: app.screen.is_modal)
        await until(pilot, lambda: "Search the corpus without asking" in shown(app))
