"""Questions read from large spreadsheets, and answers written to them: seconds and memory."""

import csv
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.options import parser
from bench.peak_memory import PeakMemory

from localrag.ops.batch.table import open_table
from localrag.page.sheets import Column, write_csv, write_xlsx

_COLUMNS = [Column("番号"), Column("質問"), Column("選択肢1"), Column("選択肢2")]


def main() -> None:
    """Make a table of each kind, read it twice as a batch does, and write it."""
    options = parser(__doc__, data=False)
    options.add_argument("--rows", type=int, default=50_000, metavar="N", help="rows (50,000)")
    count = options.parse_args().rows
    rows = [
        (number, f"渡し舟の定員は何人か。その{number}", "十人", f"十二人（第{number}号）")
        for number in range(1, count + 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("utf8.csv", "cp932.csv", "questions.xlsx"):
            path = Path(folder) / name
            written = timed(partial(write, path, rows))
            read = timed(partial(read_twice, path, count))
            size = path.stat().st_size / 1e6
            print(f"{name}: n = {count:,} rows, {size:.1f} MB; written: {written}; read: {read}")


def write(path: Path, rows: list[tuple[int, str, str, str]]) -> None:
    """Write the rows in the format that the name says."""
    if path.name == "cp932.csv":
        with path.open("w", encoding="cp932", newline="") as text:
            csv.writer(text).writerows([[column.name for column in _COLUMNS], *rows])
        return
    with path.open("wb") as file:
        if path.suffix == ".csv":
            write_csv(_COLUMNS, rows, file)
        else:
            write_xlsx("質問", _COLUMNS, rows, file)


def read_twice(path: Path, count: int) -> None:
    """Check a table, then read its rows once more."""
    with open_table(path) as table:
        checked = table.check()
        assert (len(checked), checked.unreadable) == (count, 0)
        assert sum(1 for _ in checked.rows()) == count


def timed(work: Callable[[], None]) -> str:
    """Do some work; gives the time and the memory it took."""
    with PeakMemory() as memory:
        started = time.perf_counter()
        work()
        seconds = time.perf_counter() - started
    return f"{seconds:.1f} s, {memory.bytes / 1e6:,.0f} MB"


if __name__ == "__main__":
    main()
