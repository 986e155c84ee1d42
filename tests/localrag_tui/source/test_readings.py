"""Readings (読替え) beside a provision: what reads it otherwise, and the text so read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag_tui.shell.listing import Valued
from localrag_tui.source.ties import AsReadDialogue, Tie, Ties

from ...localrag.test_as_read import LAW, XML


@pytest.fixture
def kites(cli: Callable[..., Any], tmp_path: Path, home: Path) -> Path:
    """A workspace with an act of which some articles read others otherwise."""
    file = tmp_path / f"{LAW}_20200401.xml"
    file.write_text(XML, encoding="utf-8")
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    return home


def ties_of(app):
    """Every tie that is listed, by its place in the list."""
    options = app.screen_stack[0].query_one(Ties).options
    values = {at: one.value for at, one in enumerate(options) if isinstance(one, Valued)}
    return {at: value for at, value in values.items() if isinstance(value, Tie)}


async def choose(pilot, until, label, *, reads=False):
    """Goes to a tie, and chooses it."""
    app = pilot.app

    def found():
        return [at for at, tie in ties_of(app).items() if (tie.label, tie.reads) == (label, reads)]

    await until(pilot, found)
    ties = app.screen_stack[0].query_one(Ties)
    if not ties.has_focus:
        await pilot.press("r")
    ties.highlighted = found()[0]
    await pilot.press("enter")


async def test_a_provision_opens_as_another_has_it_read(reader, kites, pane_of, until, shown):
    app = reader("ja", home=kites)
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("凧揚法1条")
        await until(pilot, lambda: "読み替える規定 3" in shown(app))
        await choose(pilot, until, "第二条", reads=True)
        await until(pilot, lambda: isinstance(app.screen, AsReadDialogue))
        told = "".join(shown(app).split())
        assert "凧揚法第1条を凧揚法第2条により読み替えたもの" in told
        assert "プログラムによる読替え（法令の条文そのものではありません）" in told
        assert "ただし、【市】〔県〕の凧は、【市長】〔知事〕の許可による。" in told
        assert "第一条知事は、凧の届出を受ける。" in told
        assert "「府」→「市」（この字句は条文にありません）" in told
        await pilot.press("c")
        assert app.clipboard.startswith("プログラムによる読替え")
        assert "【市長】〔知事〕" in app.clipboard
        assert "（凧揚法第1条を凧揚法第2条により読み替えたもの）" in app.clipboard
        assert app.clipboard.endswith("「府」→「市」  （この字句は条文にありません）")
        await pilot.press("enter")
        await until(pilot, lambda: pane.spot and pane.spot.passage_id == f"{LAW}#2.1")
        # The law's own words stay where they are, and the way back leads to them.
        await pilot.press("backspace")
        await until(pilot, lambda: pane.spot.passage_id == f"{LAW}#1")
        assert "第一条　知事は、凧の届出を受ける。" in shown(app)
        await choose(pilot, until, "第四条", reads=True)
        await until(pilot, lambda: "【村の許" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, AsReadDialogue))
        assert pane.spot.passage_id == f"{LAW}#1"


async def test_what_a_provision_reads_otherwise_is_listed_with_the_words(
    reader, kites, pane_of, until, shown
):
    app = reader("ja", home=kites)
    async with app.run_test(size=(120, 40)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("凧揚法2条")
        await until(pilot, lambda: "読み替えられる規定 2" in shown(app))
        listed = {(tie.label, tie.note) for tie in ties_of(app).values()}
        assert ("第一条 第一項 ただし書", "「知事」→「市長」、「県」→「市」") in listed
        assert ("第一条 第二項", "「府」→「市」  （この字句は条文にありません）") in listed
        await choose(pilot, until, "第一条 第一項 ただし書")
        await until(pilot, lambda: pane.spot and pane.spot.passage_id == f"{LAW}#1.1")
        await pane.jump("凧揚法4条")
        await until(pilot, lambda: any("コーパスになし" in t.note for t in ties_of(app).values()))
        await pane.jump("凧揚法5条")
        await until(pilot, lambda: any("判別" in tie.note for tie in ties_of(app).values()))
        untold = next(tie for tie in ties_of(app).values() if tie.goal is None)
        await choose(pilot, until, untold.label)
        await until(pilot, lambda: "どの規定を指すかはプログラムでは判別できません。" in shown(app))


async def test_look(reader, kites, snapshots, until):
    async def open_(pilot):
        await pilot.app.screen_stack[0].query_one("SourcePane").jump("凧揚法1条")
        await choose(pilot, until, "第二条", reads=True)
        await until(pilot, lambda: isinstance(pilot.app.screen, AsReadDialogue))

    await snapshots(lambda language: reader(language, home=kites), open_)
