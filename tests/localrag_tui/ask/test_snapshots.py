"""How the Ask screen looks."""

import asyncio
from dataclasses import replace

import pytest

from localrag.answer.types import Nearest
from localrag_tui.ask.asking import AnswerProgress
from localrag_tui.ask.chooser import Chooser
from localrag_tui.source.pane import SourcePane
from localrag_tui.work.engine import Drafted, NearestFound, StageEnded


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr("localrag_tui.ask.asking.monotonic", lambda: 100.0)
    monkeypatch.setattr(AnswerProgress, "seconds", 4.2)


@pytest.fixture
def look(workbench, snapshots):
    """Compares the screen once the source beside the answer is there with all its links."""
    apps = []

    def make(language):
        apps.append(workbench(language))
        return apps[-1]

    def ready():
        pane = apps[-1].screen.query_one(SourcePane)
        return not pane.region or pane.provision is not None

    async def compare(prepare):
        await snapshots(make, prepare, ready=ready)

    return compare


async def test_empty(workbench, snapshots, until, shown):
    async def prepare(pilot):
        await until(pilot, lambda: "12 " in shown(pilot.app))

    await snapshots(lambda language: workbench(language), prepare)


async def test_answered(look, engine, answers, ask):
    async def prepare(pilot):
        engine.will(answers.supported)
        await ask(pilot, "水位の基準は？")

    await look(prepare)


async def test_streaming(workbench, snapshots, engine, answers, ask, until, shown):
    async def prepare(pilot):
        stages = [StageEnded(record) for record in answers.stages]
        draft = Drafted(("水位は一・五メートルを加えた", "風速は"), 12)
        near = Nearest("599AC0000000001#7", "渡し舟法 第七条（渡し守）", "渡し舟事業者は、…")
        engine.will(*stages, NearestFound((near,)), draft, asyncio.Event(), answers.supported)
        await ask(pilot, "水位の基準は？", ends=False)
        await until(pilot, lambda: "風速は" in shown(pilot.app))

    await snapshots(lambda language: workbench(language), prepare)


async def test_rejected_and_not_found(look, engine, answers, ask):
    async def prepare(pilot):
        near = Nearest("599AC0000000001#7", "渡し舟法 第七条（渡し守）", "渡し舟事業者は、…")
        engine.will(replace(answers.not_found, nearest=(near,))).will(
            replace(answers.rejected, quotations=answers.supported.citations[1:])
        )
        await ask(pilot, "水深は？")
        await ask(pilot, "水位の基準は？")

    await look(prepare)


async def test_chooser(workbench, snapshots, until, shown):
    async def prepare(pilot):
        await until(pilot, lambda: pilot.app.screen.query("#question"))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(pilot.app.screen, Chooser))
        await until(pilot, lambda: "statute-localrag" in shown(pilot.app))

    await snapshots(lambda language: workbench(language), prepare)
