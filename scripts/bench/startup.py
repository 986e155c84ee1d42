"""Start-up: wall and CPU time and memory of `--help` and of a cold `search`, `ask` and `show`.

Where the workspace has an embedder and vectors, `ask` is timed with them and by words alone. The
provision is shown once more and again by an open corpus in this process. Needs no data: without
``--home`` it searches the sample corpus.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.options import parser

import localrag


@dataclass
class TimedRuns:
    """Wall and CPU seconds of the runs of one command line, with its budget in seconds."""

    name: str
    arguments: list[str]
    budget: float
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: int = 0

    def timed(self, call: Callable[[], object]) -> None:
        """Do it in this process."""
        busy, started = time.process_time(), time.perf_counter()
        call()
        self.wall.append(time.perf_counter() - started)
        self.cpu.append(time.process_time() - busy)

    def once(self, home: Path) -> None:
        """Run it in a process of its own."""
        started = time.perf_counter()
        with tempfile.TemporaryFile() as told:
            process = subprocess.Popen(
                [sys.executable, "-m", "localrag", *self.arguments],
                env={**os.environ, "LOCALRAG_HOME": str(home)},
                stdout=subprocess.DEVNULL,
                stderr=told,
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.wall.append(time.perf_counter() - started)
            self.cpu.append(used.ru_utime + used.ru_stime)
            self.peak = max(self.peak, used.ru_maxrss // 1024)
            if process.returncode not in (0, 3):
                told.seek(0)
                sys.exit(f"{self.name} failed:\n{told.read().decode()}")

    def report(self) -> str:
        """One line of the table."""
        ordered = sorted(self.wall)
        p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
        return (
            f"{self.name:<24}{len(ordered):>4}{statistics.median(ordered):>10.3f}{p95:>9.3f}"
            f"{statistics.median(self.cpu):>9.3f}{self.budget:>9.2f}{self.peak or '':>9}"
        )


def main() -> None:
    """Measure, interleaved so that noise falls on all commands alike."""
    options = parser(__doc__, data=False)
    options.add_argument(
        "--rounds", type=int, default=20, metavar="N", help="runs of each command (20)"
    )
    options.add_argument(
        "--home",
        type=Path,
        metavar="FOLDER",
        help="an indexed workspace; without it, the sample corpus in a new one",
    )
    options.add_argument(
        "--query", default="渡し守の資格", metavar="TEXT", help="what to search for (渡し守の資格)"
    )
    options.add_argument(
        "--show", default="渡し舟法8条", metavar="CITATION", help="what to show (渡し舟法8条)"
    )
    options.add_argument("--corpus", default="", metavar="NAME", help="which; without it main")
    arguments = options.parse_args()
    of = ["--corpus", arguments.corpus] if arguments.corpus else []
    commands = [
        TimedRuns("localrag --help", ["--help"], 0.25),
        TimedRuns("localrag search", ["search", arguments.query, "--json", *of], 0.8),
        TimedRuns("localrag search (text)", ["search", arguments.query, *of], 0.8),
        TimedRuns("localrag ask", ["ask", arguments.query, "--no-model", *of], 1.4),
        TimedRuns(
            "localrag ask (words)",
            ["--set", "retrieval.dense=off", "ask", arguments.query, "--no-model", *of],
            1.0,
        ),
        TimedRuns("localrag show", ["show", arguments.show, *of], 0.5),
    ]
    in_process = TimedRuns("show in an open corpus", [], 0.05)
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.home or _sample(Path(folder) / "home")
        for _ in range(arguments.rounds):
            for command in commands:
                command.once(home)
        with localrag.open(home).corpus(arguments.corpus) as corpus:
            corpus.show(arguments.show)
            for _ in range(arguments.rounds):
                in_process.timed(lambda: corpus.show(arguments.show))
    print(f"{'seconds':<24}{'n':>4}{'median':>10}{'p95':>9}{'CPU':>9}{'budget':>9}{'peak MB':>9}")
    for command in (*commands, in_process):
        print(command.report())


def _sample(home: Path) -> Path:
    for step in (["init"], ["add", "--sample"], ["index"]):
        TimedRuns(" ".join(step), step, budget=60).once(home)
    return home


if __name__ == "__main__":
    main()
