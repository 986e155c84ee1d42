"""The doctor on the screen: findings by health, cures that are run, the rest copied."""

from pathlib import Path

import pytest

from localrag.ops.doctor import Health, HealthFinding
from localrag.text.facts import Fact, FactKind
from localrag_tui.models import doctor
from localrag_tui.models.doctor import DoctorDialogue, Findings, examined
from localrag_tui.work.jobs import State

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sixteen_gigabytes", "in_thread")]


def break_index(home: Path) -> None:
    """Change a byte in the index of words."""
    file = max((home / "indexes" / "main" / "bm25").rglob("*.idx"), key=lambda p: p.stat().st_size)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(bytes(content))


async def test_a_broken_index_is_found_and_mended(workbench, bench_home, shown, until):
    break_index(bench_home)
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("d")
        await until(pilot, lambda: app.jobs.all and app.jobs.all[0].state is State.DONE)
        await until(pilot, lambda: "Ctrl+P, then: Index the corpus" in shown(app))
        assert "localrag index" not in shown(app)
        rows = shown(app).splitlines()
        broken = next(y for y, row in enumerate(rows) if "broken" in row)
        good = next(y for y, row in enumerate(rows) if "in order" in row)
        assert broken < good, "what is wrong comes first"
        findings = app.screen.query_one(Findings)
        places = [str(option.prompt) for option in findings.options]
        findings.highlighted = next(y for y, row in enumerate(places) if "index main" in row)
        await pilot.press("c")
        assert app.clipboard == "localrag index --corpus main --rebuild"
        await pilot.press("enter")
        await until(pilot, lambda: len(app.jobs.all) == 2)
        await until(pilot, lambda: app.jobs.all[1].state is State.DONE)
        await until(pilot, lambda: "main is indexed" in shown(app))


FINDINGS = (
    HealthFinding("python", Health.GOOD, Fact(FactKind.SAID, words="3.11")),
    HealthFinding(
        "extra docs",
        Health.ABSENT,
        Fact(FactKind.SAID, words="not installed (optional)"),
        "pip install x",
    ),
    HealthFinding(
        "store 渡し舟",
        Health.BROKEN,
        Fact(FactKind.SAID, words="[red]torn\x1b[2J 渡し舟"),
        "Put back a copy of it.",
    ),
    HealthFinding(
        "index main",
        Health.WARNING,
        Fact(FactKind.SAID, words="not indexed yet"),
        Fact(FactKind.TO_INDEX, corpus="main"),
    ),
)


def told(tell, _workspace, _overrides):
    for finding in FINDINGS:
        tell(finding)
    return examined(2)


async def test_other_cures_are_for_a_shell(workbench, monkeypatch, shown, until):
    monkeypatch.setattr(doctor, "examine", told)
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await pilot.press("d")
        await until(pilot, lambda: "2 things to be looked at" in shown(app))
        await until(pilot, lambda: "[red]torn␛[2J 渡し舟" in shown(app))
        app.screen.query_one(Findings).highlighted = 1
        await pilot.press("enter")
        await until(pilot, lambda: "mended outside the workbench" in shown(app))
        assert len(app.jobs.all) == 1
        await pilot.press("escape")
        assert not isinstance(app.screen, DoctorDialogue)


async def test_look(alone, monkeypatch, snapshots, shown, until):
    monkeypatch.setattr(doctor, "examine", told)

    async def prepare(pilot):
        await pilot.app.push_screen(DoctorDialogue())
        await until(pilot, lambda: "Put back" in shown(pilot.app))
        await until(pilot, lambda: pilot.app.jobs.all[0].state is State.DONE)

    await snapshots(alone, prepare)


async def test_where_nothing_is_to_be_mended_no_cure_is_offered(alone, monkeypatch, shown, until):
    def sound(tell, _workspace, _overrides):
        tell(FINDINGS[0])
        return examined(0)

    monkeypatch.setattr(doctor, "examine", sound)
    app = alone("ja")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(DoctorDialogue())
        await until(pilot, lambda: "python" in shown(app))
        await pilot.press("down")
        await until(pilot, lambda: "対処を実行" not in shown(app))
        assert not app.screen.active_bindings.keys() & {"enter", "c"}
