"""Kill -9 at random moments of `add` and `index`: nothing that was acknowledged may be lost.

Each round starts from a workspace in which half of the files are added and indexed. A process
group adds the other half and indexes, telling every document that is stored; it is killed as a
whole at a random moment. Then: the store opens and is sound, every document told is there as it
is in its file, the last good index answers, and the same command, run again, completes.
"""

import argparse
import math
import random
import shutil
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from bench.options import law_files, parser
from bench.own_process import carry_out, killed_after, noting, told

from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import DocumentsStored, Event
from localrag.corpus.readers import read
from localrag.corpus.readers.types import ReadFailure
from localrag.corpus.rows import prepare
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import IndexState, index, index_state
from localrag.text.progress import Progress
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.manifest import current

WORKERS = 2


def main() -> None:
    """Run all rounds."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--files", type=int, default=20, metavar="N", help="law files (20)")
    options.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the files and the moments (1)"
    )
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def child(home: Path, files: Path, log: Path) -> None:
    """Add and index, noting what is done once it is."""
    note = noting(log)

    def tell(event: Event) -> None:
        if isinstance(event, DocumentsStored):
            note({"stored": [*event.added, *event.replaced]})
        elif isinstance(event, Progress):
            note({"at": event.phase.name})

    workspace = Workspace.locate(home)
    add(workspace, "main", [files], workers=WORKERS, on_event=tell)
    index(workspace, "main", workers=WORKERS, on_event=tell)
    note({"at": "end"})


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run all rounds and print the outcome of each."""
    chance = random.Random(chosen.seed)
    files = law_files(chosen.data)
    half, whole, base = folder / "half", folder / "files", folder / "base"
    half.mkdir()
    whole.mkdir()
    for number, file in enumerate(chance.sample(files, chosen.files)):
        shutil.copy2(file, whole)
        if number % 2:
            shutil.copy2(file, half)
    truth = fingerprints(whole)
    # Here, so that what it imports is imported once.
    child(base, half, folder / "base.log")

    home = folder / "timed"
    shutil.copytree(base, home)
    started = time.perf_counter()
    run_child(home, whole)
    seconds = time.perf_counter() - started
    print(f"{chosen.files} files, {len(truth)} documents; undisturbed {seconds:.1f} s")

    where: Counter[str] = Counter()
    for number in range(chosen.rounds):
        home = folder / f"round{number}"
        shutil.copytree(base, home)
        moment = chance.uniform(0.0, seconds)
        stage, stored = kill_child(home, whole, moment)
        examine(home, stored, truth)
        run_child(home, whole)
        assert index_state(Workspace.locate(home), "main", deep=True) is IndexState.FRESH
        assert set(documents(home)) == set(truth)
        where[stage] += 1
        print(
            f"  round {number + 1:2}: killed after {moment:5.2f} s in {stage!r}, "
            f"{len(stored)} acknowledged, none lost"
        )
        shutil.rmtree(home)
    # With no failure in n rounds the rate is below this with 95 % confidence.
    bound = 1 - math.pow(0.05, 1 / chosen.rounds)
    print(
        f"n = {chosen.rounds}, failures 0 (95 % upper bound {bound:.1%}); killed in {dict(where)}"
    )


def fingerprints(folder: Path) -> dict[str, str]:
    """Fingerprint of every document in the files of a folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        for outcome in read(path):
            assert not isinstance(outcome, ReadFailure), outcome
            found[outcome.id] = prepare(outcome).fingerprint
    return found


def run_child(home: Path, files: Path) -> None:
    """Run the child to its end."""
    carry_out(partial(child, home, files, home.with_suffix(".whole")))


def kill_child(home: Path, files: Path, moment: float) -> tuple[str, list[str]]:
    """Kill the child and its workers; returns where it was and what it had acknowledged."""
    log = home.with_suffix(".killed")
    killed_after(moment, partial(child, home, files, log))
    lines = told(log)
    stage = next((line["at"] for line in reversed(lines) if "at" in line), "start")
    return stage, [id_ for line in lines for id_ in line.get("stored", [])]


def examine(home: Path, stored: list[str], truth: dict[str, str]) -> None:
    """Check everything that a kill could have broken."""
    place = Workspace.locate(home).corpus("main")
    with CorpusStore.open(place.store) as store:
        assert store.check() == []
        for document_id in stored:
            law_id, _, _ = document_id.partition("@")
            assert prepare(store.read(document_id)).fingerprint == truth[law_id]
        folder = current(place.bm25)
        assert folder is not None
        with BM25Index.open(folder, analyzer=Analyzer().id) as answering:
            hits = answering.search(Analyzer().terms("届出をしなければならない"), 10)
            assert store.by_keys(hit.key for hit in hits)


def documents(home: Path) -> list[str]:
    """Ids of all documents."""
    with CorpusStore.open(Workspace.locate(home).corpus("main").store) as store:
        return [document.id for document in store.documents()]


if __name__ == "__main__":
    main()
