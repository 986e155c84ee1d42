"""The pages of figures are those of docs/figures.tsv."""

import re
from pathlib import Path

import figures
import pytest

SCRIPTS = Path(figures.__file__).parent
ROWS = [
    line.split("\t")
    for line in (figures.DOCUMENTS / "figures.tsv").read_text("utf-8").splitlines()[1:]
    if not line.startswith("# ")
]


@pytest.mark.parametrize("language", [0, 1], ids=["en", "ja"])
def test_a_page_has_the_tables_of_the_file(language: int) -> None:
    page = (figures.DOCUMENTS / figures.PAGES[language]).read_text("utf-8")
    assert figures.with_tables(page, language) == page, "run scripts/figures.py"


def test_a_figure_has_all_its_columns_and_is_short() -> None:
    assert [row for row in ROWS if len(row) != 5 or not all(row)] == []
    assert [row[0] for row in ROWS if len(row[0].split("|")[0].split()) > 25] == []


def test_scripts_that_print_figures_exist() -> None:
    printed = [cell for row in ROWS if "last in commit" not in (cell := row[3])]
    named = {name for cell in printed for name in re.findall(r"\w+\.py", cell)}
    files = {path.name for path in SCRIPTS.rglob("*.py")}
    assert named
    assert named - files == set()
