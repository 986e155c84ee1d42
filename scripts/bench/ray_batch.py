"""A batch on Ray: equal results although workers and drivers are killed, cost, scaling.

Made-up questions over the sample corpus are answered alone, then by workers on Ray. Workers and
driver are killed with -9 in turn, at random moments. Every call is noted in a log before it is
made. One worker is timed against none. Last, many workers with a sleeping model are simulated.
Needs the extra ray.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from bench.killed_models import essence_of_row, made_up, prepare_batch
from bench.options import parser
from bench.own_process import noting, told
from bench.rates import rate

from localrag.answer.types import Answer, Status
from localrag.corpus.config import Config, load
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import Answerer, open_answers
from localrag.ops.batch import run
from localrag.ops.cluster.running import RemoteAnswers, on_workers
from localrag.ops.cluster.workers import LOCAL, Cluster, Errand
from localrag.search.types import Query, Trace

# A worker is killed, then the driver, and so on.
_VICTIMS = ("worker", "driver")


def main() -> None:
    """Be the parent, or after ``--child`` the driver to be killed."""
    if sys.argv[1:2] == ["--child"]:
        home, questions, out, log, workers, sleep = sys.argv[2:]
        paths = Path(home), Path(questions), Path(out), Path(log)
        print(json.dumps(on_ray(*paths, int(workers), float(sleep))))
        return
    options = parser(__doc__, data=False)
    options.add_argument("--questions", type=int, default=1000, metavar="N", help="rows (1000)")
    options.add_argument("--kills", type=int, default=5, metavar="N", help="kills (5)")
    options.add_argument("--workers", type=int, default=2, metavar="N", help="on Ray (2)")
    options.add_argument(
        "--model", default="tiny", metavar="FILE", help="a GGUF chat model; without it a tiny one"
    )
    options.add_argument("--tokens", type=int, default=64, metavar="N", help="of a reply (64)")
    options.add_argument("-k", type=int, default=1, metavar="N", help="passages shown (1)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    options.add_argument(
        "--simulated", type=int, default=100, metavar="N", help="workers that sleep (100)"
    )
    options.add_argument(
        "--sleep", type=float, default=2.0, metavar="SECONDS", help="of a sleeping model (2)"
    )
    options.add_argument(
        "--rounds", type=int, default=10, metavar="N", help="questions for each of them (10)"
    )
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run alone, with kills, with one worker, and simulated."""
    chance = random.Random(chosen.seed)
    home, questions = folder / "home", folder / "questions.jsonl"
    made_up(questions, chosen.questions, chance)
    prepare_batch(home, chosen)
    workspace = Workspace.locate(home)

    before = alone(workspace, questions, folder / "alone.jsonl")
    truth = told(folder / "alone.jsonl")
    print(f"n = {len(truth):,} questions alone: {before}")
    if chosen.kills:
        with_kills(chosen, chance, folder, truth)
    single = taken(command(folder, "single", 1))
    same = sum(map(same_as, told(folder / "single.jsonl"), truth))
    # Alone before and after it, for a machine has its moods.
    after = alone(workspace, questions, folder / "again.jsonl")
    wall = 2 * single.asking / (before.asking + after.asking)
    computed = 2 * single.cpu / (before.cpu + after.cpu)
    print(
        f"1 worker: {single}; alone before: {before}, after: {after}; so {wall:.2f} x, CPU "
        f"{computed:.2f} x; as alone: {rate(same, len(truth))}"
    )
    simulated(chosen, folder)


@dataclass(frozen=True)
class Taken:
    """Seconds from the first question to the last answer: of the clock, of all processors."""

    asking: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.asking:.1f} s (CPU {self.cpu:.1f} s)"


def alone(workspace: Workspace, questions: Path, out: Path) -> Taken:
    """Answer the questions in this process."""
    spent = []

    @contextmanager
    def opener(*given: Any) -> Iterator[Answerer]:
        with open_answers(*given) as answers:
            started = time.process_time()
            yield answers
            spent.append(time.process_time() - started)

    report = run(workspace, "main", load(workspace), questions, out, opener=opener)
    return Taken(report.asking, spent[0])


def with_kills(
    chosen: argparse.Namespace, chance: random.Random, folder: Path, truth: list[dict[str, object]]
) -> None:
    """Run on Ray with kills, then check every answer and every call."""
    out, log = folder / "killed.jsonl", folder / "killed.log"
    arguments = command(folder, "killed", chosen.workers)
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    kept_at: list[tuple[int, set[object]]] = []
    for number in range(chosen.kills):
        left = len(truth) - len(told(out))
        wanted = len(told(out)) + 1 + chance.randrange(max(1, left // (chosen.kills + 1)))
        while len(told(out)) < wanted and process.poll() is None:
            time.sleep(0.01)
        assert process.poll() is None, "killed before its end"
        victim = _VICTIMS[number % 2]
        called = told(log)
        os.kill(called[-1][0] if victim == "worker" else process.pid, signal.SIGKILL)
        if victim == "driver":
            process.wait()
            process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        kept = {row["question"] for row in told(out)}
        kept_at.append((len(told(log)), kept))
        print(f"  kill {number + 1} ({victim}): {len(called):,} calls, {len(kept):,} answers kept")
    assert process.wait() == 0
    log_of_calls, found = [text for _, text in told(log)], told(out)
    twice = sum(question in kept for called, kept in kept_at for question in log_of_calls[called:])
    lost = sum(not kept <= {row["question"] for row in found} for _, kept in kept_at)
    same = sum(map(same_as, found, truth))
    print(
        f"n = {len(found):,} answers of {len(truth):,} questions by {chosen.workers} workers after "
        f"{chosen.kills} kills; answered twice: {twice}; answers lost: {lost}; begun again: "
        f"{len(log_of_calls) - len(truth)}; as alone: {rate(same, len(truth))}"
    )
    assert [row["question"] for row in found] == [row["question"] for row in truth]
    assert not twice
    assert not lost


def simulated(chosen: argparse.Namespace, folder: Path) -> None:
    """Time a batch whose workers sleep instead of writing."""
    count = chosen.simulated * chosen.rounds
    made_up(folder / "questions.jsonl", count, random.Random(chosen.seed))
    many = taken(command(folder, "many", chosen.simulated, chosen.sleep))
    efficiency = chosen.rounds * chosen.sleep / many.asking
    print(
        f"n = {count:,} questions, {chosen.simulated} workers that sleep {chosen.sleep} s: "
        f"{many}, efficiency {efficiency:.2f}"
    )


def on_ray(
    home: Path, questions: Path, out: Path, log: Path, workers: int, sleep: float
) -> tuple[float, float]:
    """Run the batch on Ray; returns the seconds of `Taken`.

    Each call is noted with its process. A process has ten sleeping workers, so that the driver is
    measured, and not the number of processes.
    """
    workspace = Workspace.locate(home)
    at_once = min(10, workers) if sleep else 1
    spent = []
    with Cluster.open(LOCAL, workers=workers // at_once, at_once=at_once) as cluster:

        @contextmanager
        def opener(workspace: Workspace, corpus: str, config: Config) -> Iterator[RemoteAnswers]:
            errand = Errand(Noted(on_workers(config), str(log)), workspace, corpus, config)
            if sleep:
                errand = Errand(Sleeping(sleep))
            with closing(cluster.pool(errand)) as pool:
                pool.gather()
                started = of_all_processes()
                yield RemoteAnswers(pool)
                spent.append(of_all_processes() - started)

        report = run(workspace, "main", load(workspace), questions, out, opener=opener)
        return report.asking, spent[0]


def of_all_processes() -> float:
    """Processor seconds of this process and all its children."""
    own = psutil.Process()
    every = (each.cpu_times() for each in (own, *own.children(recursive=True)))
    return sum(times.user + times.system for times in every)


def taken(arguments: list[str]) -> Taken:
    """Run a child to its end."""
    finished = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True)
    return Taken(*json.loads(finished.stdout.splitlines()[-1]))


@dataclass(frozen=True)
class Noted:
    """Answers as `localrag ask` would, and notes every call in a log that survives a kill."""

    config: Config
    log: str

    @contextmanager
    def __call__(self, home: Path) -> Iterator[Callable[[Query], Answer]]:
        """Open what answers."""
        note = noting(Path(self.log))
        with open_answers(Workspace(home), "main", self.config) as answers:

            def answer(query: Query) -> Answer:
                note([os.getpid(), query.text])
                return answers.answer(query)

            yield answer


@dataclass(frozen=True)
class Sleeping:
    """Sleeps, and says nothing."""

    seconds: float

    @contextmanager
    def __call__(self, _home: Path) -> Iterator[Callable[[Any], Answer]]:
        """Open nothing."""

        def answer(_query: Any) -> Answer:
            time.sleep(self.seconds)
            return Answer("", (), Status.NOT_FOUND, Trace())

        yield answer


def command(folder: Path, name: str, workers: int, sleep: float = 0) -> list[str]:
    """Command line of the child."""
    paths = (folder / "home", folder / "questions.jsonl", folder / f"{name}.jsonl")
    log = str(folder / f"{name}.log")
    return [sys.executable, __file__, "--child", *map(str, paths), log, str(workers), str(sleep)]


def same_as(one: dict[str, object], other: dict[str, object]) -> bool:
    """Whether two rows say the same."""
    return essence_of_row(one) == essence_of_row(other)


if __name__ == "__main__":
    main()
