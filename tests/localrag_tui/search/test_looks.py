"""How the Search screen looks."""

from textual.widgets import Input, Static

from localrag_tui.search.filters import FilterDialogue
from localrag_tui.search.results import Ranking, Results
from localrag_tui.source.pane import SourcePane

NOTHING = ("Nothing was found", "該当なし")


async def test_results(workbench, snapshots, searched, even):
    apps = []

    def make(language):
        filters = {"law_types": ["Act", "CabinetOrder"]}
        apps.append(workbench(language, mode="search", filters=filters))
        return apps[-1]

    async def prepare(pilot):
        await searched(pilot, "渡し守の資格")
        await pilot.press("enter")

    def ready():
        screen = apps[-1].screen
        pane, chosen = screen.query_one(SourcePane), screen.query_one(Results).chosen
        return not pane.display or (pane.provision and pane.provision.passage == chosen.passage)

    await snapshots(make, prepare, ready=ready)


async def test_stages(workbench, snapshots, searched, even, until):
    async def prepare(pilot):
        await searched(pilot, "渡し守の資格")
        await pilot.press("enter", "s")
        await until(pilot, lambda: isinstance(pilot.app.focused, Ranking))

    await snapshots(lambda language: workbench(language, mode="search"), prepare)


async def test_filter_dialogue(workbench, snapshots, until):
    filters = {"documents": ["599AC0000000001"], "law_types": ["Act"], "date_from": "2024-04-01"}

    async def prepare(pilot):
        await until(pilot, lambda: pilot.app.screen.query("SearchField"))
        await until(pilot, lambda: pilot.app.screen._known)
        pilot.app.screen.action_filters()
        await until(pilot, lambda: isinstance(pilot.app.screen, FilterDialogue))
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press("舟")
        laws = pilot.app.screen.query_one("LawChoice CheckList")
        await until(pilot, lambda: laws.option_count > 1)

    await snapshots(lambda language: workbench(language, mode="search", filters=filters), prepare)


async def test_nothing_found(workbench, snapshots, until):
    async def prepare(pilot):
        await until(pilot, lambda: pilot.app.screen.query("SearchField"))
        screen = pilot.app.screen
        await until(pilot, lambda: screen._known)
        await pilot.press(*"zzqx")
        title = screen.query_one("#guidance-title", Static)
        await until(pilot, lambda: str(title.content) in NOTHING)

    await snapshots(
        lambda language: workbench(language, mode="search", filters={"law_types": ["Act"]}), prepare
    )


async def test_invitation(workbench, snapshots, until):
    async def prepare(pilot):
        await until(pilot, lambda: pilot.app.screen.query("SearchField"))
        await until(pilot, lambda: pilot.app.screen._known)

    await snapshots(lambda language: workbench(language, mode="search"), prepare)
