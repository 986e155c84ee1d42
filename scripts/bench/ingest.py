"""From files to searches: time, memory, and the speed of searches.

The files are the 327 laws of ``egov/xml``, or with ``--all-laws`` the 4,155 of
``egov/all_laws.jsonl.xz``. ``--laws N`` repeats the shortest of these under other ids and titles up
to N: 10,000 laws have 350,000 articles, like e-Gov's whole archive. Printed are, for every step,
wall and CPU seconds (with children), peak memory of all processes, and times of searches for the
questions of lawqa_jp with all stages. ``--home`` keeps the corpus for ``startup.py``.
"""

import json
import lzma
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bench.options import parser
from bench.peak_memory import PeakMemory
from bench.rates import latency

import localrag
from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import IndexReport, index

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
    options.add_argument("--laws", type=int, metavar="N", help="so many, real ones repeated")
    options.add_argument("--home", type=Path, metavar="FOLDER", help="where the last one is kept")
    chosen = options.parse_args()
    files = chosen.data / "egov" / ("all_laws.jsonl.xz" if chosen.all_laws else "xml")
    questions = questions_of(chosen.data / "lawqa" / "train.jsonl")
    totals = []
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory() as folder:
            if chosen.laws:
                files = Path(folder) / "laws.jsonl"
                repeat(chosen.data / "egov" / "all_laws.jsonl.xz", chosen.laws, files)
            print(f"{files.name}, {chosen.workers} workers, {os.cpu_count()} cores")
            home = chosen.home or Path(folder) / "home"
            totals.append(measure(files, home, chosen.workers, questions))
    print(f"files to searchable: median {statistics.median(totals):.1f} s, n = {len(totals)}")


def repeat(source: Path, count: int, target: Path) -> None:
    """Write `count` laws: all of the source, and those with the fewest articles again and again."""
    with lzma.open(source, "rt", encoding="utf-8") as lines, target.open("w") as out:
        laws = [json.loads(line) for line in lines][:count]
        out.writelines(json.dumps(law, ensure_ascii=False) + "\n" for law in laws)
        few = sorted(laws, key=lambda law: len(law["articles"]))[: count // 4]
        for number in range(count - len(laws)):
            law = few[number % len(few)]
            again = f"（その{number // len(few) + 2}）"
            # The id contains the kind of law, between year and number.
            its = {
                "law_id": f"999{law['law_id'][3:5]}{number:010}",
                "title": law["title"] + again,
                "law_num": law["law_num"] + again,
            }
            out.write(json.dumps({**law, **its}, ensure_ascii=False) + "\n")


def questions_of(path: Path) -> list[str]:
    """The questions of lawqa_jp, without their choices."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["question"] for line in lines]


def measure(files: Path, home: Path, workers: int, questions: list[str]) -> float:
    """Run every step once in a fresh workspace; returns the seconds of adding and indexing."""
    workspace = Workspace.locate(home)

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
    corpus = localrag.open(home).corpus()
    corpus.search(questions[0])
    seconds, worked = [], []
    for question in questions:
        started, busy = time.perf_counter(), time.process_time()
        corpus.search(question)
        seconds.append(time.perf_counter() - started)
        worked.append(time.process_time() - busy)
    print(f"  search: {latency(seconds)}; CPU: {latency(worked)}")
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
