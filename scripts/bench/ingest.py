"""From files to searchable: how long, how much memory.

The files are the 327 laws of ``egov/xml``, with ``--all-laws`` the 4,155 of
``egov/all_laws.jsonl.xz``. Prints, for every step, wall and CPU seconds (this process and its
children) and the peak of the memory of all processes.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bench.options import parser
from bench.peak_memory import PeakMemory

from localrag.ingest.add import AddReport, add
from localrag.ingest.index import IndexReport, index
from localrag.workspace import Workspace

Result = TypeVar("Result")


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--all-laws", action="store_true", help="4,155 laws instead of 327")
    options.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes; without it one for each processor",
    )
    options.add_argument("--rounds", type=int, default=1, metavar="N", help="fresh starts (1)")
    chosen = options.parse_args()
    files = chosen.data / "egov" / ("all_laws.jsonl.xz" if chosen.all_laws else "xml")
    print(f"{files.name}, {chosen.workers} workers, {chosen.rounds} rounds, {os.cpu_count()} cores")
    totals = [measure(files, chosen.workers) for _ in range(chosen.rounds)]
    print(f"files to searchable: median {statistics.median(totals):.1f} s, n = {len(totals)}")


def measure(files: Path, workers: int) -> float:
    """Run every step once in a fresh workspace; returns the seconds of adding and indexing."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.locate(Path(folder) / "home")

        def adding() -> AddReport:
            return add(workspace, "main", [files], workers=workers)

        def indexing() -> IndexReport:
            return index(workspace, "main", workers=workers)

        added = step("add", adding)
        assert not added.failed, added.failed
        print(f"    {added.added} documents")
        indexed = step("index", indexing)
        assert not indexed.failed, indexed.failed[:3]
        print(
            f"    {indexed.passages} passages, {indexed.references} references, "
            f"{indexed.definitions} definitions"
        )
        again = step("add again", adding)
        assert again.files_unchanged, "nothing was skipped"
        assert step("index again", indexing).skipped
        place = workspace.corpus("main")
        print(f"  store {megabytes(size(place.store)):.0f} MB, ", end="")
        print(f"index {megabytes(size(place.indexes)):.0f} MB")
        return added.seconds + indexed.seconds


def step(name: str, work: Callable[[], Result]) -> Result:
    """Run one step and print what it cost."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    with PeakMemory() as peak:
        result = work()
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    print(f"  {name:12} {wall:7.2f} s wall, {cpu:7.2f} s CPU, {megabytes(peak.bytes):6.0f} MB peak")
    return result


def size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def megabytes(count: int) -> float:
    """Convert bytes."""
    return count / 1e6


if __name__ == "__main__":
    main()
