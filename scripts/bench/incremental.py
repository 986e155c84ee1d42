"""One law changed in an indexed corpus: time until it is searchable, and equality of the rest.

The laws of ``egov/all_laws.jsonl.xz``, a file each, are added and indexed from nothing. Then one
article changes, and `add` and `index` are timed. A new corpus is made too. References and
definitions must be equal row by row, and the first ten hits of questions are compared.
"""

import argparse
import hashlib
import json
import lzma
import random
import tempfile
import time
from itertools import islice
from pathlib import Path

from bench.options import parser

import localrag
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.corpus.workspace import Workspace

OLD, NEW = "。", "。特別標識灯具を掲げる。"
"""The old and the new words; no law has the new ones."""


def main() -> None:
    """Time indexing from nothing and after a change, and compare both."""
    options = parser(__doc__)
    options.add_argument("--laws", type=int, default=4155, metavar="N", help="laws (4,155)")
    options.add_argument("--workers", type=int, default=2, metavar="N", help="processes (2)")
    options.add_argument("--questions", type=int, default=100, metavar="N", help="compared (100)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of what is chosen (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        timed(chosen, Path(folder))


def timed(chosen: argparse.Namespace, folder: Path) -> None:
    """Time indexing from nothing and after a change, and compare both."""
    home, files = folder / "home", folder / "laws"
    write(chosen.data, files, chosen.laws)
    whole = update(home, files, chosen.workers)
    change(files, random.Random(chosen.seed))
    one = update(home, files, chosen.workers)
    print(f"{chosen.laws:,} laws: from nothing {whole:.1f} s, one law changed {one:.2f} s")
    updated = links(home), found(home, chosen)
    localrag.open(home).corpus().index(rebuild=True, workers=chosen.workers)
    anew = links(home), found(home, chosen)
    print(f"references and definitions the same, row by row: {updated[0] == anew[0]}")
    same = sum(a == b for a, b in zip(updated[1], anew[1], strict=True))
    print(f"first ten hits the same, in order: {same} of {len(anew[1])} questions")


def write(data: Path, folder: Path, count: int) -> None:
    """Write laws, a file each."""
    folder.mkdir()
    with lzma.open(data / "egov" / "all_laws.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, count):
            law = json.loads(line)
            (folder / f"{law['law_id']}.jsonl").write_text(line, encoding="utf-8")


def change(folder: Path, chance: random.Random) -> None:
    """Change a word in one law."""
    files = [file for file in sorted(folder.iterdir()) if OLD in file.read_text(encoding="utf-8")]
    file = chance.choice(files)
    file.write_text(file.read_text(encoding="utf-8").replace(OLD, NEW, 1), encoding="utf-8")


def update(home: Path, files: Path, workers: int) -> float:
    """Add and index; returns the seconds."""
    began = time.perf_counter()
    corpus = localrag.open(home).corpus()
    corpus.add(files, workers=workers)
    corpus.index(workers=workers)
    return time.perf_counter() - began


def links(home: Path) -> str:
    """A digest of all references, as seen from both ends, and of all definitions."""
    digest = hashlib.sha256()
    with CorpusStore.open(Workspace.locate(home).corpus("main").store, read_only=True) as store:
        for law in store.laws():
            rows = (
                store.references_from(law.law_id, Locator()),
                store.references_to(law.law_id, Locator()),
                store.definitions_in(law.law_id),
            )
            digest.update(repr(rows).encode())
    return digest.hexdigest()


def found(home: Path, chosen: argparse.Namespace) -> list[list[str]]:
    """The first ten hits of every question."""
    path = chosen.data / "lawqa" / "train.jsonl"
    with path.open(encoding="utf-8") as lines, localrag.open(home).corpus() as corpus:
        return [
            [hit.passage.id for hit in corpus.search(json.loads(line)["question"], 10).hits]
            for line in islice(lines, chosen.questions)
        ]


if __name__ == "__main__":
    main()
