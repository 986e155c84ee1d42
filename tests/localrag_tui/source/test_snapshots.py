"""How the pane looks: an article with a quotation, what is tied to it, words that are found."""

from textual.widgets import Input

from localrag_tui.source.find import FindBar
from localrag_tui.spot import Spot

from .conftest import ACT

_QUOTE = slice(1525, 1547)


async def test_an_article_with_its_quotation(reader, pane_of, until, snapshots):
    async def prepare(pilot):
        pane = pane_of(pilot)
        await pane.open(Spot(ACT, _QUOTE.start, _QUOTE.stop, f"{ACT}#8.1"))
        await until(pilot, lambda: pane.provision and pane.page.links)
        await pilot.press("right")

    await snapshots(reader, prepare)


async def test_what_is_tied_to_it(reader, pane_of, until, snapshots):
    async def prepare(pilot):
        pane = pane_of(pilot)
        await pane.jump("渡し舟法4条2項")
        await until(pilot, lambda: pane.provision and pane.page.links)
        await pilot.press("r", "down")

    await snapshots(reader, prepare)


async def test_words_that_are_found(reader, pane_of, until, snapshots):
    async def prepare(pilot):
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: pane.provision and pane.page.links)
        await pilot.press("slash")
        pane.query_one(Input).value = "渡し舟"
        await until(pilot, lambda: pane.query_one(FindBar).current is not None)

    await snapshots(reader, prepare)


async def test_an_error(reader, pane_of, until, snapshots):
    async def prepare(pilot):
        pane = pane_of(pilot)
        await pane.jump("渡し舟法2条")
        await until(pilot, lambda: pane.provision and pane.page.links)
        await pane.open(Spot("[b]gone[/b]"))

    await snapshots(reader, prepare)
