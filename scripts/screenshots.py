"""Make the screenshots of README.md and docs/tui.md from the application itself."""

import asyncio
import io
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from textual.events import Paste
from textual.pilot import Pilot

from localrag.corpus.workspace import Workspace
from localrag.doors.cli.main import run as localrag
from localrag.sample import QUESTION
from localrag_tui.app import Workbench

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
_SIZE = (120, 34)
_PATIENCE = 60.0

Scene = Callable[[Pilot[None]], Awaitable[None]]


def main() -> None:
    """Write every screenshot into `FOLDER`, in both languages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, scene in SCENES.items():
        for language, theme in (("en", "dark"), ("ja", "light")):
            with tempfile.TemporaryDirectory() as folder:
                svg = asyncio.run(screenshot(Path(folder) / "law", scene, language, theme))
            path = FOLDER / f"{name}-{language}.svg"
            path.write_text(svg, encoding="utf-8")
            print(path)


async def screenshot(home: Path, scene: Scene, language: str, theme: str) -> str:
    """A scene on the sample corpus, as SVG."""
    for arguments in (["init"], ["add", "--sample"], ["index"]):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert localrag(["--home", str(home), *arguments]) == 0
    bench = Workbench(Workspace(home), {"language": language, "tui.theme": theme})
    async with bench.run_test(size=_SIZE) as pilot:
        await scene(pilot)
        return bench.export_screenshot(title="localrag tui")


async def asked(pilot: Pilot[None]) -> None:
    """A question, its answer, the source at the second quotation."""
    await _type(pilot, QUESTION, "enter")
    await _until(pilot, "一・五メートル")
    await pilot.press("tab", "2")
    await _until(pilot, "第四条　法第八条")


async def read(pilot: Pilot[None]) -> None:
    """An article, and its links."""
    await pilot.press("ctrl+g")
    await _type(pilot, "渡し舟法8条", "enter")
    await _until(pilot, "第八条　渡し守は")


async def searched(pilot: Pilot[None]) -> None:
    """Results of a search, with the ranking of every stage."""
    await pilot.press("f4")
    await _type(pilot, "渡し守の資格", "enter")
    await _until(pilot, "第三条")
    await pilot.press("down", "s")
    await _until(pilot, "› fused", "› 総合")


SCENES: dict[str, Scene] = {"ask": asked, "read": read, "search": searched}
"""Screens by the name of the file without its language."""


async def _type(pilot: Pilot[None], text: str, *keys: str) -> None:
    # A terminal brings Japanese as a paste does: at once.
    await pilot.pause()
    pilot.app.screen.post_message(Paste(text))
    await pilot.pause(0.5)
    await pilot.press(*keys)


async def _until(pilot: Pilot[None], *shown: str) -> None:
    """Wait until one of some texts is on the screen, and the rest is stable."""
    end = asyncio.get_running_loop().time() + _PATIENCE
    while not any(text in _text(pilot) for text in shown):
        assert asyncio.get_running_loop().time() < end, f"{shown!r} never came:\n{_text(pilot)}"
        await pilot.pause(0.05)
    await pilot.pause(1.0)


def _text(pilot: Pilot[None]) -> str:
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)


if __name__ == "__main__":
    main()
