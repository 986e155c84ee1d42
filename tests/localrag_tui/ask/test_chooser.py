"""The dialogue "Answer with"."""

from localrag import language
from localrag.corpus.workspace import Workspace
from localrag.language import _
from localrag.methods.catalogue import NAMES, method
from localrag_tui.ask.chooser import Chooser, not_prepared, ways


async def test_what_is_chosen_is_remembered_and_asked_with(
    workbench, engine, answers, ask, until, shown
):
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: app.screen.query("#question"))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "staged-symbolic" in shown(app))
        assert "needs a model - a model writes claims on numbered sentences" in shown(app)
        await pilot.press("end")
        await until(pilot, lambda: "for evaluations only" in shown(app))
        # What cannot be chosen is passed over: up from the last are the methods without a model.
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: not isinstance(app.screen, Chooser))
        await until(pilot, lambda: "main · staged-symbolic · no model" in shown(app))
        await ask(pilot, "when?")
    assert engine.asked[0][1].method.name == "staged-symbolic"
    assert workbench().memory.choices.method == "staged-symbolic"


async def test_choosing_on_and_hostile_names(workbench, until, shown, bench_home):
    bench_home.joinpath("corpora", "bad").mkdir()
    bench_home.joinpath("corpora", "bad", "corpus.sqlite").write_text("no database")
    app = workbench(model="[red]gone\x1b[2J")
    async with app.run_test(size=(140, 50)) as pilot:
        await until(pilot, lambda: app.screen.query("#question"))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "[red]gone␛[2J" in shown(app) and "generative" in shown(app))
        await until(pilot, lambda: "bad" in shown(app))
        # A model is named now, so the methods that need one can be chosen.
        assert "needs a model" not in shown(app)
        await pilot.press(*["down"] * 3, "space", "escape")
        assert app.memory.choices.method == "generative"


def test_what_searches_layers_says_how_they_are_prepared(bench_home):
    place = Workspace.locate(bench_home).corpus("main")
    said = {way.name: not_prepared(place, way) for way in ways()}
    command = "localrag prepare --corpus main --layers decontextualized"
    assert said["decon-plain"] == f"not prepared: {command}"
    assert said["decon"] == f"not prepared: {command},questions"
    assert not said[""]
    assert not said["naive"]


def test_every_about_is_translated():
    language.use("ja")
    abouts = [method(name).about for name in NAMES]
    assert [about for about in abouts if _(about) == about] == []
