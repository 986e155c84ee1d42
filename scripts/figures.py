"""Write the tables of docs/figures.md and docs/ja/figures.md from docs/figures.tsv.

A line of the file is a figure: what it is, the figure with its interval, n, the script that prints
it, and the commit that entered it. A cell with a bar has English before it and Japanese after it.
A line that begins with ``#`` begins a table.
"""

from pathlib import Path

from localrag.corpus.durable import replace_text

DOCUMENTS = Path(__file__).parents[1] / "docs"
PAGES = ("figures.md", "ja/figures.md")
_HEADS = (
    "| measured | figure | n | printed by | commit |",
    "| 内容 | 数値 | n | 出すコマンド | コミット |",
)
_MARK = "<!-- tables -->"


def main() -> None:
    """Replace the tables of both pages."""
    for language, name in enumerate(PAGES):
        path = DOCUMENTS / name
        replace_text(path, with_tables(path.read_text("utf-8"), language))


def with_tables(page: str, language: int) -> str:
    """A page with the tables of today.

    Args:
        page: its text, with a line ``<!-- tables -->`` before the tables and one after them.
        language: 0 for English, 1 for Japanese.
    """
    before, _, after = page.split(_MARK)
    return f"{before}{_MARK}\n{_tables(language)}\n{_MARK}{after}"


def _tables(language: int) -> str:
    lines = []
    for line in (DOCUMENTS / "figures.tsv").read_text("utf-8").splitlines()[1:]:
        cells = [cell.split("|")[language if "|" in cell else 0] for cell in line.split("\t")]
        if line.startswith("# "):
            title = cells[0].removeprefix("# ")
            lines += ["", f"## {title}", "", _HEADS[language], "|---|---|---|---|---|"]
        else:
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
