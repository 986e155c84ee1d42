"""The keys below: whole ones only, and the help always."""

from itertools import pairwise

import pytest
from textual.widgets._footer import FooterKey

from localrag_tui.shell.footer import KeyBar


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_keys_that_do_not_fit_whole_are_left_out(workbench, language, until):
    app = workbench(language=language, mode="read")
    async with app.run_test(size=(140, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(FooterKey))
        bar = app.screen.query_one(KeyBar)
        for width in (140, 80, 40, 20):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            shown = sorted(key.region for key in bar.query(FooterKey) if key.display)
            assert shown[0].x == 0
            assert shown[-1].right <= width
            assert all(one.right <= next_.x for one, next_ in pairwise(shown))
            assert bar.query(FooterKey).first().display
