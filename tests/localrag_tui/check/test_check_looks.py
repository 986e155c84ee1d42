"""How the Check screen looks."""

import pytest
from textual.events import Paste

from localrag_tui.check.screen import CheckedPage, CheckField
from localrag_tui.source.pane import SourcePane

from .test_check_screen import MEMO


@pytest.mark.usefixtures("in_thread")
async def test_look(workbench, snapshots, until):
    # The day that a report names is another one tomorrow.
    overrides = {"retrieval.as_of": "2026-05-01"}

    async def paste(pilot):
        await until(pilot, lambda: pilot.app.screen.query("CheckField"))
        screen = pilot.app.screen
        await until(pilot, lambda: screen.ready.is_set())
        screen.query_one(CheckField).post_message(Paste(MEMO))
        page = screen.query_one(CheckedPage)
        await until(pilot, lambda: page.quote != (0, 0) and not page.is_on_the_way)

    async def open_(pilot):
        await paste(pilot)
        await pilot.press("enter")
        pane = pilot.app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.provision is not None)

    await snapshots(
        lambda language: workbench(language, mode="check", overrides=overrides),
        {"findings": paste, "provision": open_},
    )
