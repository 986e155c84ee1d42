"""Kill -9 while passages are embedded and joined: what was acknowledged is not embedded again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from tiny_models.hashing import HashingEmbedder

from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import IndexState, index
from localrag.search.units import vector_state
from localrag_indexes.manifest import current
from localrag_indexes.vectors import VectorIndex

CHILD = """
import json, sys
from pathlib import Path
from localrag.corpus.ingest.events import EMBEDDING, JOINING
from localrag.search.indexing.index import index
from localrag.text.progress import Progress
from localrag.corpus.workspace import Workspace
from localrag_indexes.vectors import layout
from tiny_models.hashing import HashingEmbedder

layout.EXACT_NUMBERS = 0
model = HashingEmbedder()
told = 0

def tell(event):
    global told
    if isinstance(event, Progress) and event.phase in (EMBEDDING, JOINING):
        kept = model.embedded[told:]
        told += len(kept)
        print(json.dumps({"at": event.phase.name, "kept": kept}), flush=True)

index(Workspace.locate(Path(sys.argv[1])), "main", embedder=model, on_event=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
@pytest.mark.parametrize("lines", [1, 8, 16])
def test_killed_after_some_batches(
    workspace: Workspace, laws: Path, write_law: Callable[..., Path], tmp_path: Path, lines: int
) -> None:
    write_law(1, articles=20)
    add(workspace, "main", [laws])
    index(workspace, "main", embedder=HashingEmbedder())
    write_law(2, "筏を組む者", articles=900)
    add(workspace, "main", [laws])
    index(workspace, "main")

    told = killed_after(lines, tmp_path / "child.py", workspace)

    assert [line["at"] for line in told] == (["embedding"] * 15 + ["joining"])[:lines]
    assert hits(workspace)
    kept = {window for line in told for window in line["kept"]}
    model = HashingEmbedder()
    report = index(workspace, "main", embedder=model)
    assert not kept & set(model.embedded)
    assert (report.embedded, report.vectors) == (len(model.embedded), 920)
    assert len(kept) >= 64 * min(lines, 14)
    place = workspace.corpus("main")
    with CorpusStore.open(place.store) as store:
        assert vector_state(place, store, "hashing", deep=True) is IndexState.FRESH
    assert len(list(place.vectors.iterdir())) == 2, "what the killed build left is swept"
    assert len(hits(workspace)) == 920


def killed_after(lines: int, script: Path, workspace: Workspace) -> list[Any]:
    """Kill the child when it has told so much; returns what it told."""
    script.write_text(CHILD, encoding="utf-8")
    found = (str(Path(tiny_models.__path__[0]).parent), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, found))}
    with subprocess.Popen(
        [sys.executable, str(script), str(workspace.home)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        told = [json.loads(line) for line, _ in zip(process.stdout, range(lines), strict=False)]
        process.send_signal(signal.SIGKILL)
    return told


def hits(workspace: Workspace) -> list[int]:
    """Keys that the vectors in use find."""
    folder = current(workspace.corpus("main").vectors)
    assert folder is not None
    with VectorIndex.open(folder, deep=True) as vectors:
        (question,) = HashingEmbedder().embed_queries(["舟を出す者"])
        return [hit.key for hit in vectors.search(question, 1000)]
