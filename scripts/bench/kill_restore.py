"""Kill -9 at random moments of a backup, of putting it back, and of what a bundle brings in.

A workspace holds the sample corpus, a conversation and a model. A backup that is killed leaves the
one before as it was; one that is put back leaves the workspace of before or of the backup, or one
that the same command completes, always with its model; what a bundle brings into a workspace comes
once, whatever killed it. The next run completes, and nothing hidden is left beside any of them.
"""

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.own_process import carry_out, killed_after
from bench.rates import rate

from localrag import sample
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.doors.entering import enter
from localrag.doors.session import open as open_workspace
from localrag.ops.backup import back_up, restore
from localrag.ops.bundle.installer import FORMAT, MANIFEST
from localrag.ops.conversations.store import Conversations
from localrag.search.indexing.index import IndexState, index, index_state
from localrag.text.progress import ignore

LAW = "599AC0000000001"
Examine = Callable[[Path], str]


def main() -> None:
    """Kill backups, then restores, then what enters a workspace."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="of each (100)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        prepare(base)
        rounds("backup", base, make_backup, backup_left, chosen)
        rounds("restore", base, put_back, restore_left, chosen)
        rounds("bundle", base, bring_in, entered_left, chosen)


def rounds(
    name: str,
    base: Path,
    act: Callable[[Path], object],
    examine: Examine,
    chosen: argparse.Namespace,
) -> None:
    """Kill something at random moments, look, and have it completed."""
    chance, left = random.Random(chosen.seed), Counter[str]()
    whole = base.with_name(f"{name}-whole")
    shutil.copytree(base, whole)
    started = time.perf_counter()
    carry_out(partial(act, whole))
    taken = time.perf_counter() - started
    for number in range(chosen.rounds):
        place = base.with_name(f"{name}-{number}")
        shutil.copytree(base, place)
        killed_after(chance.uniform(0.0, taken), partial(act, place))
        left[examine(place)] += 1
        carry_out(partial(act, place))
        assert examine(place) == "as after", "the next run completes"
        hidden = [path for folder in (place, place / "home") for path in folder.glob(".*")]
        assert not hidden, hidden
        shutil.rmtree(place)
    n = chosen.rounds
    print(f"{name}: {taken:.1f} s; n = {n}, lost or half-way: {rate(0, n)}; found {dict(left)}")


def prepare(place: Path) -> None:
    """A workspace, a backup of it as it was before, and what a bundle holds."""
    workspace = Workspace.locate(place / "home")
    workspace.init()
    add(workspace, "main", [sample.FOLDER])
    index(workspace, "main")
    with Conversations.open(workspace) as kept:
        kept.new("as in the backup")
    back_up(workspace, place / "old.tar")
    shutil.copy2(place / "old.tar", place / "new.tar")
    bundle = place / "bundle"
    (bundle / "sources" / "more").mkdir(parents=True)
    (bundle / "sources" / "more" / "kite.md").write_text("甲は乙に届け出る。", encoding="utf-8")
    (bundle / "corpora").mkdir()
    back_up(workspace, bundle / "corpora" / "main.tar", "main")
    files = {
        path: {"sha256": f"{number}" * 64, "size": (bundle / path).stat().st_size}
        for number, path in enumerate(("corpora/main.tar", "sources/more/kite.md"))
    }
    manifest = {
        "format": FORMAT,
        "localrag": "1.0",
        "signed_by": "",
        "extras": [],
        "needs": {"glibc": "", "pythons": [], "processors": []},
        "files": files,
    }
    (bundle / MANIFEST).write_text(json.dumps(manifest))
    (workspace.models / "weights").write_text("large")
    with Conversations.open(workspace) as kept:
        kept.new("since then")


def titles(home: Path) -> list[str]:
    """What its conversations are called."""
    with Conversations.open(Workspace.locate(home)) as kept:
        return [one.title for one in kept.list()]


def sound(home: Path, corpus: str) -> None:
    """Make sure that a corpus is whole, and answers."""
    with CorpusStore.open(Workspace.locate(home).corpus(corpus).store) as store:
        assert store.check() == []
        assert not list(store.altered())


def make_backup(place: Path) -> None:
    """Make a backup in the place of the one before."""
    back_up(Workspace.locate(place / "home"), place / "new.tar")


def backup_left(place: Path) -> str:
    """Whether it is the one of before or of after, each of them whole."""
    if (place / "new.tar").read_bytes() == (place / "old.tar").read_bytes():
        return "as before"
    restored = place / "restored"
    restore(Workspace.locate(restored), place / "new.tar")
    assert len(titles(restored)) == 2
    shutil.rmtree(restored)
    return "as after"


def put_back(place: Path) -> None:
    """Put the backup in the place of the workspace."""
    restore(Workspace.locate(place / "home"), place / "old.tar")


def restore_left(place: Path) -> str:
    """Whether the workspace is the one of before or of the backup."""
    home = place / "home"
    if not home.exists():
        return "half-way"
    if not (home / "models" / "weights").exists():
        return "without its model"
    sound(home, "main")
    return "as before" if len(titles(home)) == 2 else "as after"


def bring_in(place: Path) -> None:
    """Bring what a bundle holds into a new workspace."""
    enter(place / "bundle", place / "installed", None, ignore)


def entered_left(place: Path) -> str:
    """Which corpora there are; none comes twice."""
    home = place / "installed"
    corpora = Workspace(home).corpora()
    for corpus in corpora:
        sound(home, corpus)
    if corpora != ["main", "more"] or not (home / "bundles").exists():
        return "half-way"
    for corpus, text in (("main", "渡し守の資格"), ("more", "届け出る")):
        if index_state(Workspace(home), corpus, deep=True) is not IndexState.FRESH:
            return "half-way"
        with open_workspace(home).corpus(corpus) as found:
            assert found.search(text).hits
    return "as after" if len((home / "bundles").read_text().split()) == 2 else "half-way"


if __name__ == "__main__":
    main()
