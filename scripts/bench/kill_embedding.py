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
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.options import law_files, parser
from bench.own_process import carry_out, killed_once, noting, told

from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import EMBEDDING, Event
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import IndexState, index
from localrag.search.indexing.state import vector_state
from localrag.text.progress import Progress
from localrag_indexes.errors import IndexingError
from localrag_indexes.manifest import current
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
    """Run all rounds."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--files", type=int, default=20, metavar="N", help="law files (20)")
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


def child(home: Path, log: Path) -> None:
    """Make the vectors, noting what is kept once it is."""
    model, note = embedder(), noting(log)
    known = 0

    def tell(event: Event) -> None:
        nonlocal known
        if isinstance(event, Progress):
            kept = model.embedded[known:] if event.phase == EMBEDDING else []
            known += len(kept)
            note({"at": event.phase.name, "kept": kept})

    index(Workspace.locate(home), "main", embedder=model, on_event=tell)
    note({"at": "end", "kept": []})


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run all rounds and print the outcome of each."""
    chance = random.Random(chosen.seed)
    layout.EXACT_NUMBERS = chosen.graph_from * DIMENSION
    base = prepared(chosen, folder, chance)

    home = folder / "undisturbed"
    shutil.copytree(base, home)
    started = time.perf_counter()
    lines = run_child(home)
    seconds = time.perf_counter() - started
    needed, truth = kept(lines), content(home)
    print(
        f"{chosen.files} files, {len(truth[0]):,} vectors, {len(needed):,} of them to embed; "
        f"undisturbed {seconds:.1f} s"
    )

    where: Counter[str] = Counter()
    answers = 0
    while where.total() < chosen.rounds:
        home = folder / "round"
        shutil.copytree(base, home)
        moment = chance.uniform(0.0, seconds)
        lines, asked = kill_child(home, moment)
        stage = lines[-1]["at"] if lines else "start"
        before, after = kept(lines), kept(run_child(home))
        # What was embedded but not yet told when it was killed may be in neither list.
        assert not set(before) & set(after), "something acknowledged was embedded again"
        assert set(before) | set(after) <= set(needed)
        assert content(home) == truth
        examine(home)
        shutil.rmtree(home)
        answers += asked
        if stage == "end":
            # It was faster than the first time, and there was nothing left to kill.
            seconds *= 0.9
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


def run_child(home: Path) -> list[Any]:
    """Run the child to its end; returns what it told."""
    log = home.with_suffix(".whole")
    carry_out(partial(child, home, log))
    lines = told(log)
    log.unlink()
    return lines


def kill_child(home: Path, moment: float) -> tuple[list[Any], int]:
    """Kill the child, asking the old vectors meanwhile.

    Returns:
        What it told, and how often the vectors answered.
    """
    asked, log = 0, home.with_suffix(".killed")
    until = time.monotonic() + moment

    def due() -> bool:
        nonlocal asked
        if time.monotonic() < until:
            examine(home)
            asked += 1
        return time.monotonic() >= until

    killed_once(due, 0.0, partial(child, home, log))
    examine(home)
    lines = told(log)
    log.unlink(missing_ok=True)
    return lines, asked + 1


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
