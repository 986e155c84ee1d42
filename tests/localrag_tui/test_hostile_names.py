"""Names of files and of members of zips are one line that hides nothing, on every screen."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
from textual.app import App

from localrag_tui.check.screen import CheckField
from localrag_tui.corpora import actions
from localrag_tui.source.pane import SourcePane

from .screen_dump import dump

pytestmark = pytest.mark.anyio

ACTS = "\n\r\x0b\x1b\x85\u2028\u2029\u202e\u2066\u200b"
"""What breaks a line, moves the cursor, reorders or hides."""
SIGNS = "␊␍␋␛<U+0085><U+2028><U+2029><U+202E><U+2066><U+200B>"
"""How a name shows them."""
FORGED = "supported 民法 第七百九条"
NAME = f"手{ACTS}\n{FORGED}"
WORDS = "灯台の鐘は霧の日に三度鳴らす。"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Files with hostile and very long names, alone and in a zip; one of each cannot be read."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / f"霧{NAME}.txt").write_text("霧笛は二度鳴らす。\n", "utf-8")
    (folder / f"{'長' * 60}{ACTS}.txt").write_text("浮標は青い。\n", "utf-8")
    (folder / f"悪{NAME}.xml").write_text("<Law", "utf-8")
    (folder / f"音{NAME}.mp3").write_bytes(b"x")
    (folder / f"長{NAME}.md").write_text("浮標は赤い。\n", "utf-8")
    with zipfile.ZipFile(folder / "書庫.zip", "w") as archive:
        archive.writestr(f"中{NAME}.md", f"# 鐘\n\n{WORDS}\n")
        archive.writestr(f"{'深' * 20}/{'長' * 60}.txt", "浮標は緑である。\n")
        archive.writestr(f"欠{NAME}.xml", "<Law")
    return folder


def pdf(*pages: str) -> bytes:
    """A file with these texts on its pages."""
    writer = PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = DictionaryObject({NameObject(key): NameObject(of) for key, of in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): named})
    for text in pages:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


SHOWN = f"手{SIGNS}␊{FORGED}"
"""How `NAME` is shown."""


def judged(app: App[Any]) -> str:
    """What a screen shows; nothing in it acts, and no row begins as a name forges it."""
    screen = dump(app)
    assert [fault for fault in screen.faults if "acts" in fault] == []
    assert not (set(ACTS) - {"\n"}) & set(screen.text)
    assert not any(row.strip(" │▏▌").startswith(FORGED) for row in screen.text.splitlines())
    return screen.text


def unwrapped(screen: str) -> str:
    return "".join(screen.replace("│", "").split())


async def test_what_adding_tells(workbench: Any, until: Any, papers: Path) -> None:
    app = workbench()
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        actions.add(app)
        await until(pilot, lambda: app.screen.query("#path"))
        app.screen.query_one("#path").value = str(papers)
        app.screen.query_one("#corpus").value = "own"
        await pilot.press("enter")
        await until(pilot, lambda: "2 could not be entered" in judged(app))
        await pilot.press("enter")
        for name in ("悪", "書庫.zip!欠", "音"):
            await until(
                pilot, lambda name=name: f"{name}{SHOWN}".replace(" ", "") in unwrapped(judged(app))
            )


async def test_hits_sources_and_titles(
    workbench: Any, until: Any, papers: Path, bench_home: Path, cli: Any
) -> None:
    assert cli("add", "-c", "papers", str(papers)).code == 4
    assert cli("index", "-c", "papers").code == 0
    app = workbench(mode="search", corpus="papers")
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        await until(pilot, lambda: app.screen.query("SearchField"))
        for query, title in (("浮標は赤い", f"長{SHOWN}"), ("霧笛は二度", f"霧{SHOWN}")):
            await pilot.press(*query)
            await until(pilot, lambda title=title: title in judged(app))
            await pilot.press("enter", "enter")
            await until(pilot, lambda: app.focused is app.screen.query_one(SourcePane).page)
            await until(pilot, lambda title=title: judged(app).count(title) > 1)
            await pilot.press("escape", "escape", "escape")
        await pilot.press("f3")
        await until(pilot, lambda: f"霧{SHOWN[:9]}" in judged(app))


async def test_a_path_in_a_field_is_what_can_be_seen_of_it(
    workbench: Any, until: Any, bench_home: Path
) -> None:
    hidden = ACTS.replace("\n", "").replace("\r", "")
    app = workbench(mode="check")
    async with app.run_test(size=(200, 30), notifications=True) as pilot:
        await until(pilot, lambda: app.screen.query(CheckField))
        app.screen.query_one(CheckField).value = f"見{hidden}.txt"
        await pilot.press("enter")
        await until(pilot, lambda: f"見{SIGNS[2:]}.txt: The file cannot be" in judged(app))


async def test_the_page_of_a_pdf(
    workbench: Any, until: Any, bench_home: Path, cli: Any, tmp_path: Path
) -> None:
    (tmp_path / "guide.pdf").write_bytes(pdf("The lamp is lit.", "The bell rings in fog."))
    assert cli("add", "-c", "papers", str(tmp_path / "guide.pdf")).code == 0
    assert cli("index", "-c", "papers").code == 0
    app = workbench(mode="search", corpus="papers")
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, lambda: app.screen.query("SearchField"))
        await pilot.press(*"bell")
        await until(pilot, lambda: "guide, p. 2" in judged(app))
        await pilot.press("enter", "enter")
        await until(pilot, lambda: app.focused is app.screen.query_one(SourcePane).page)
        await until(pilot, lambda: _rows(app)[3:5] == ["guide", "p. 2"])


def _rows(app: App[Any]) -> list[str]:
    return [row.strip() for row in judged(app).splitlines()]
