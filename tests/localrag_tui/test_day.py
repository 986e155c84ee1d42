"""The day of the law: set in the settings, it holds on every screen at once, and is told there."""

from dataclasses import replace

from textual.widgets import Input

from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag_tui.search.results import Results
from localrag_tui.search.screen import SearchField
from localrag_tui.shell.form import Form
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import Spot
from localrag_tui.work.engine import Engine

ACT = "599AC0000000001"
NOW = "水位又は風速が政令で定める基準"
TODAY, THEN = "2026-04-01 施行", "2020-04-01 施行（2026-04-01 から別の条文）"


async def set_day(pilot, until, typed):
    """Types a day into the settings."""
    app = pilot.app
    await pilot.press("f8")
    await until(pilot, lambda: app.screen.query("#retrieval-as_of"))
    app.screen.query_one("#retrieval-as_of", Input).value = typed
    await pilot.press("ctrl+s")
    await until(pilot, lambda: not isinstance(app.screen, Form))


def article(app, locator):
    store = Workspace.locate(app.workspace.home).corpus("main").store
    with CorpusStore.open(store, read_only=True) as opened:
        return Spot.of(opened.by_id(f"{ACT}#{locator}"))


async def test_what_is_read_is_the_law_of_the_day(workbench, earlier_state, until, shown):
    app = workbench("ja", mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.ready.is_set())
        app.open_spot(article(app, "8"))
        await until(pilot, lambda: NOW in "".join(shown(app).split()))
        assert "時点の法令" not in shown(app)
        await set_day(pilot, until, "令和2年4月1日")
        await until(pilot, lambda: earlier_state in "".join(shown(app).split()))
        assert "第八条（運航の制限）" in shown(app)
        assert NOW not in "".join(shown(app).split())
        assert "2020-04-01 時点の法令" in shown(app).split("\n")[0]
        assert THEN in shown(app)
        # The copy says whose wording it is, which is not today's.
        await pilot.press("C")
        await until(pilot, lambda: earlier_state in app.clipboard)
        assert app.clipboard.endswith(f"第8条、{THEN}）")
        await pilot.press("h")
        await until(pilot, lambda: "（このコーパスで最後の時点）  改正" in shown(app))
        await pilot.press("escape")
        await set_day(pilot, until, "")
        await until(pilot, lambda: NOW in "".join(shown(app).split()))
        assert TODAY in shown(app)
        await pilot.press("C")
        await until(pilot, lambda: NOW in app.clipboard)
        assert app.clipboard.endswith("第8条）")


async def test_a_provision_that_the_day_does_not_know_is_told(workbench, bench_home, until, shown):
    place = Workspace.locate(bench_home).corpus("main").store
    with CorpusStore.open(place) as store:
        law = store.read(ACT)
        start = next(one.start for one in law.passages if one.locator.path == "8")
        before = tuple(one for one in law.passages if one.end <= start)
        metadata = {**law.metadata, "date": "2020-04-01"}
        text = law.text[:start]
        store.add(replace(law, text=text, passages=before, sections=(), metadata=metadata))
    app = workbench("ja", mode="read")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.ready.is_set())
        app.open_spot(article(app, "8"))
        await until(pilot, lambda: NOW in "".join(shown(app).split()))
        await set_day(pilot, until, "2020-04-01")
        await until(pilot, lambda: "第八条はありません" in "".join(shown(app).split()))
        assert THEN in shown(app)
        assert NOW not in "".join(shown(app).split())


async def test_what_is_found_is_the_law_of_the_day(workbench, earlier_state, until, shown):
    app = workbench("ja", mode="search", search=earlier_state)
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(Results).hits)

        def texts():
            return [hit.passage.text for hit in app.screen.query_one(Results).hits]

        await until(pilot, lambda: any(NOW in text for text in texts()))
        assert not any(earlier_state in text for text in texts())
        await set_day(pilot, until, "2020-04-01")
        await until(pilot, lambda: any(earlier_state in text for text in texts()))
        assert not any(NOW in text for text in texts())
        assert app.screen.query_one(SearchField).value == earlier_state
        assert "2020-04-01 時点の法令" in shown(app).split("\n")[0]
        results = app.screen.query_one(Results)
        results.highlighted = next(
            at for at, hit in enumerate(results.hits) if earlier_state in hit.passage.text
        )
        await until(pilot, lambda: THEN in shown(app))


async def test_what_is_answered_quotes_the_day_and_keeps_to_what_it_quotes(
    workbench, earlier_state, until, shown
):
    app = workbench("ja", engine=Engine())
    async with app.run_test(size=(160, 44)) as pilot:
        await until(pilot, lambda: app.screen.ready.is_set())
        await set_day(pilot, until, "2020-04-01")
        app.screen.query_one("#question").text = "渡し守が渡し舟を運航してはならないのはいつか。"
        app.screen.query_one("#question").focus()
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query("Transcript").first().turns)
        await until(pilot, lambda: app.screen.query("TurnView").last().progress is None)
        answer = app.screen.query("Transcript").first().turns[-1].answer
        number, citation = next(
            (number, one)
            for number, one in enumerate(answer.citations, 1)
            if one.passage_id.startswith(f"{ACT}#8")
        )
        assert (earlier_state in citation.quote, citation.state) == (True, "2020-04-01")
        await until(pilot, lambda: "2026-04-01 から別の条文" in shown(app))
        await set_day(pilot, until, "")
        app.screen.query_one("Transcript").focus()
        await pilot.press(str(number))
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.page.sheet and pane.page.sheet.state == "2020-04-01")
        start, end = pane.page.quote
        assert pane.page.sheet.text[start:end] == citation.quote
        await until(pilot, lambda: THEN in shown(app))
        await pilot.press("c")
        await until(pilot, lambda: citation.quote in app.clipboard)
