"""Kill -9 at random moments of embedding and graph building: nothing embedded may be lost.

Half of the files are added, indexed and embedded; then the other half is added and its words are
indexed. In each round a process brings the vectors up to date, telling every batch that is kept,
and is killed at a random moment, while the old vectors are asked all the time. Then the same
command is run to its end: it must embed nothing that was told before, and end with the same
vectors and the same answers as a run that nobody killed.

The embedder hashes pairs of characters, and graphs are built from --graph-from vectors on, so that
a round takes seconds; neither has a part in what is kept.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.options import law_files, parser

from localrag.corpus.store import CorpusStore
from localrag.ingest.add import add
from localrag.ingest.events import EMBEDDING, Event
from localrag.ingest.index import IndexState, index
from localrag.ingest.state import vector_state
from localrag.progress import Progress
from localrag.workspace import Workspace
from localrag_indexes.errors import IndexingError
from localrag_indexes.generations import current
from localrag_indexes.vectors import Scored, VectorIndex, layout

if TYPE_CHECKING:
    from tiny_models.hashing import HashingEmbedder

sys.path.append(str(Path(__file__).parents[1]))
DIMENSION = 64
QUESTIONS = (
    "届出をしなければならない",
    "許可の取消し",
    "罰金に処する",
    "主務大臣は、政令で定める",
    "会社の取締役",
)


def main() -> None:
    """Be the parent, or after ``--child`` the process to be killed."""
    if sys.argv[1:2] == ["--child"]:
        layout.EXACT_NUMBERS = int(sys.argv[3])
        child(Path(sys.argv[2]))
        return
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=20, metavar="N", help="kills (20)")
    options.add_argument("--files", type=int, default=60, metavar="N", help="law files (60)")
    options.add_argument("--graph-from", type=int, default=2000, metavar="N", help="vectors (2000)")
    options.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the files and the moments (1)"
    )
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def embedder() -> "HashingEmbedder":
    """The embedder of all runs."""
    from tiny_models.hashing import HashingEmbedder

    return HashingEmbedder(dimension=DIMENSION, window=120)


def child(home: Path) -> None:
    """Make the vectors, telling on standard output what is kept once it is."""
    model = embedder()
    told = 0

    def tell(event: Event) -> None:
        nonlocal told
        if isinstance(event, Progress):
            kept = model.embedded[told:] if event.phase == EMBEDDING else []
            told += len(kept)
            print(json.dumps({"at": event.phase.name, "kept": kept}), flush=True)

    index(Workspace.locate(home), "main", embedder=model, on_event=tell)
    print(json.dumps({"at": "end", "kept": []}), flush=True)


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run all rounds and print the outcome of each."""
    chance = random.Random(chosen.seed)
    layout.EXACT_NUMBERS = limit = chosen.graph_from * DIMENSION
    base = prepared(chosen, folder, chance)

    home = folder / "undisturbed"
    shutil.copytree(base, home)
    lines, first, seconds = timed_child(home, limit)
    needed, truth = kept(lines), content(home)
    print(
        f"{chosen.files} files, {len(truth[0]):,} vectors, {len(needed):,} of them to embed; "
        f"undisturbed it begins after {first:.1f} s and ends after {seconds:.1f} s"
    )

    where: Counter[str] = Counter()
    answers = 0
    while where.total() < chosen.rounds:
        home = folder / "round"
        shutil.copytree(base, home)
        moment = chance.uniform(first, seconds)
        lines, asked = kill_child(home, limit, moment)
        stage = lines[-1]["at"] if lines else "start"
        before, after = kept(lines), kept(run_child(home, limit))
        # What was embedded but not yet told when it was killed may be in neither list.
        assert not set(before) & set(after), "something acknowledged was embedded again"
        assert set(before) | set(after) <= set(needed)
        assert content(home) == truth
        examine(home)
        shutil.rmtree(home)
        answers += asked
        if stage == "end":
            # It was faster than the first time, and there was nothing left to kill.
            first, seconds = first / 2, seconds / 2
            continue
        where[stage] += 1
        print(
            f"  round {where.total():2}: killed after {moment:5.2f} s in {stage!r}, "
            f"{len(before):,} windows acknowledged, {len(after):,} embedded afterwards, "
            f"{asked} answers meanwhile"
        )
    print(
        f"n = {chosen.rounds}, failures 0 (95 % upper bound {1 - 0.05 ** (1 / chosen.rounds):.1%});"
        f" killed in {dict(where)}; {answers:,} answers of the old vectors, all right"
    )


def prepared(chosen: argparse.Namespace, folder: Path, chance: random.Random) -> Path:
    """A workspace whose vectors are of half of its documents."""
    files = law_files(chosen.data)
    sample = chance.sample(files[: len(files) * 3 // 4], chosen.files)
    workspace = Workspace.locate(folder / "base")
    workspace.init()
    add(workspace, "main", sample[::2])
    index(workspace, "main", embedder=embedder())
    add(workspace, "main", sample)
    index(workspace, "main")
    return workspace.home


def command(home: Path, limit: int) -> list[str]:
    """Command line of the child."""
    return [sys.executable, __file__, "--child", str(home), str(limit)]


def run_child(home: Path, limit: int) -> list[Any]:
    """Run the child to its end; returns what it told."""
    done = subprocess.run(command(home, limit), check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def timed_child(home: Path, limit: int) -> tuple[list[Any], float, float]:
    """Run the child to its end; also returns when it began to tell, and when it ended."""
    started = time.perf_counter()
    with subprocess.Popen(command(home, limit), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        first = time.perf_counter() - started
        lines += process.stdout.readlines()
    assert process.returncode == 0
    return [json.loads(line) for line in lines], first, time.perf_counter() - started


def kill_child(home: Path, limit: int, moment: float) -> tuple[list[Any], int]:
    """Kill the child, asking the old vectors meanwhile.

    Returns:
        What it told, and how often the vectors answered.
    """
    asked = 0
    with tempfile.TemporaryFile("w+") as told:
        until = time.perf_counter() + moment
        process = subprocess.Popen(command(home, limit), stdout=told, start_new_session=True)
        while time.perf_counter() < until:
            examine(home)
            asked += 1
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        examine(home)
        told.seek(0)
        # The last line may be cut off: it was not told.
        return [json.loads(line) for line in told if line.endswith("\n")], asked + 1


def kept(lines: list[Any]) -> list[str]:
    """The windows that a child told it had kept; none may be told twice."""
    windows = [window for line in lines for window in line["kept"]]
    assert len(windows) == len(set(windows))
    return windows


def examine(home: Path) -> None:
    """Ask the vectors in use, whichever they are: the graph must find what comparing all finds."""
    with answering(home) as vectors:
        for question in embedder().embed_queries(QUESTIONS):
            right = vectors.search(question, 10, exact=True)
            assert len(right) == 10
            assert len(set(right) & set(vectors.search(question, 10))) >= 9


def answering(home: Path) -> VectorIndex:
    """Open the vectors in use, or those that took their place this very moment."""
    place = Workspace.locate(home).corpus("main")
    while True:
        folder = current(place.vectors)
        assert folder is not None
        try:
            return VectorIndex.open(folder, model=embedder().id, deep=True)
        except IndexingError:
            if current(place.vectors) == folder:
                raise


def content(home: Path) -> tuple[dict[bytes, bytes], list[list[Scored]]]:
    """Every vector by its digest, and the answers; nothing but one fresh generation may be left."""
    place = Workspace.locate(home).corpus("main")
    with CorpusStore.open(place.store, read_only=True) as store:
        assert vector_state(place, store, deep=True) is IndexState.FRESH
    assert len(list(place.vectors.iterdir())) == 2
    with answering(home) as found:
        vectors = dict(zip(found.digests(), map(bytes, found.vectors), strict=True))
        questions = embedder().embed_queries(QUESTIONS)
        return vectors, [found.search(question, 50, exact=True) for question in questions]


if __name__ == "__main__":
    main()
