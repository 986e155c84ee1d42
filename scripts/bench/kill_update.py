"""Kill -9 at random moments of `update` and of undoing it: the corpus is the old or the new one.

A corpus of real laws is indexed. An archive lacks some of them, has some with another word, and
some that are new. In each round a process updates the corpus and indexes it, or undoes that and
indexes, and is killed at a random moment with all that it started. Then the
store is sound, every text in it is that of before or every text is that of after, the index that is
there answers, the same call run again completes, and undoing brings back every text of before.
"""

import argparse
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from bench.options import law_files, parser
from bench.own_process import killed_after
from bench.rates import rate

from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.update import undo_update, update
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.doors.session import open as open_workspace
from localrag.errors import NotFoundError
from localrag.search.indexing.index import IndexState, index, index_state

OLD, NEW = "。</Sentence>", "。特別標識灯具を掲げる。</Sentence>"
Content = dict[str, str]
"""Fingerprints of the texts of a corpus, by their ids."""


def main() -> None:
    """Kill updates, then undoings."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="of each (100)")
    options.add_argument("--files", type=int, default=30, metavar="N", help="law files (30)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run all rounds and print what was found."""
    chance = random.Random(chosen.seed)
    base, archive = prepared(chosen, folder, chance)
    old = content(base)
    updated = folder / "updated"
    shutil.copytree(base, updated)
    taken = timed(lambda: work(updated, archive))
    new = content(updated)
    print(f"{len(old)} laws, {len(new)} after; an update takes {taken:.1f} s with its index")
    for name, start, first, last, act in (
        ("update", base, old, new, lambda home: work(home, archive)),
        ("undo", updated, new, old, undo),
    ):
        left: Counter[str] = Counter()
        for number in range(chosen.rounds):
            home = folder / f"{name}-{number}"
            shutil.copytree(start, home)
            killed_after(chance.uniform(0.0, taken), partial(act, home))
            found = content(home)
            assert found in (first, last), "between the old and the new"
            left["as before" if found == first else "as after"] += 1
            hits = open_workspace(home).corpus("main").search("届出をしなければならない").hits
            assert hits, "the index that is there answers"
            act(home)
            assert content(home) == last
            assert index_state(Workspace.locate(home), "main", deep=True) is IndexState.FRESH
            if name == "update":
                undo(home)
                assert content(home) == first, "undone to the last text"
            shutil.rmtree(home)
        n = chosen.rounds
        print(f"{name}: n = {n}, neither old nor new: {rate(0, n)}; found {dict(left)}")


def prepared(chosen: argparse.Namespace, folder: Path, chance: random.Random) -> tuple[Path, Path]:
    """An indexed workspace, and the archive to update it with."""
    files = law_files(chosen.data)
    some = chance.sample(files[: max(len(files) * 3 // 4, chosen.files)], chosen.files)
    third = max(len(some) // 3, 1)
    laws, archive = folder / "laws", folder / "archive"
    laws.mkdir()
    archive.mkdir()
    for path in some[third:]:
        shutil.copy2(path, laws)
    # Of those in the corpus the archive has the first ones changed, and lacks the last one.
    for number, path in enumerate(some[:-1] if len(some) > 1 else some):
        text = path.read_text(encoding="utf-8")
        changed = text.replace(OLD, NEW, 1) if third <= number < 2 * third else text
        (archive / path.name).write_text(changed, encoding="utf-8")
    workspace = Workspace.locate(folder / "base")
    workspace.init()
    add(workspace, "main", [laws])
    index(workspace, "main")
    return workspace.home, archive


def work(home: Path, archive: Path) -> None:
    """Update, and index."""
    workspace = Workspace.locate(home)
    update(workspace, "main", [archive], whole=True)
    index(workspace, "main")


def undo(home: Path) -> None:
    """Undo the update, if that is still to be done, and index."""
    workspace = Workspace.locate(home)
    with suppress(NotFoundError):
        undo_update(workspace, "main")
    index(workspace, "main")


def timed(act: Callable[[], None]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def content(home: Path) -> Content:
    """What the store holds, which has to be sound."""
    with CorpusStore.open(Workspace.locate(home).corpus("main").store) as store:
        assert store.check() == []
        ids = [one.state_id for law in store.laws() for one in store.states(law.law_id)]
        origins = {id_: store.files.origin(id_) for id_ in ids}
    return {id_: origin.fingerprint for id_, origin in origins.items() if origin}


if __name__ == "__main__":
    main()
