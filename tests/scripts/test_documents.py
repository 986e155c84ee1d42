"""Documents: their links lead somewhere, and a page about a task opens with a command."""

import re
from pathlib import Path

import tour

from ..rows import each

ROOT = Path(tour.__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TASKS = [
    name for pages in (tour.TOURS, tour.REAL_LAWS) for names in pages.values() for name in names
]


@each("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@each("name", [name for name in TASKS if "README" not in name])
def test_a_task_opens_with_a_command_and_its_output(name: str) -> None:
    first = (ROOT / name).read_text("utf-8").split("\n## ")[0].split("```console\n")[1]
    command, *output = first.split("```")[0].strip().splitlines()
    assert command.startswith("$ ")
    assert any(line and not line.startswith("$ ") for line in output)


@each("name", TASKS)
def test_japanese_is_written_as_japanese(name: str) -> None:
    if "ja" not in Path(name).name and "/ja/" not in name:
        return
    text = re.sub(r"```.*?```|`[^`]*`", "", (ROOT / name).read_text("utf-8"), flags=re.DOTALL)
    assert re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]:", text) == []
