"""Kill -9 at several moments: nothing acknowledged is lost, the old index answers meanwhile."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace, writing
from localrag.errors import BusyError
from localrag.search.indexing.index import IndexState, index, index_state
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.manifest import current

from ....patience import wait_for

CHILD = """
import json, sys
from pathlib import Path
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import DocumentsStored
from localrag.search.indexing.index import index
from localrag.corpus.workspace import Workspace

def tell(event):
    done = event.added if isinstance(event, DocumentsStored) else type(event).__name__
    print(json.dumps(done), flush=True)

if __name__ == "__main__":
    workspace = Workspace.locate(Path(sys.argv[1]))
    add(workspace, "main", [Path(sys.argv[2])], on_event=tell)
    index(workspace, "main", workers=2, on_event=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="process groups and SIGKILL are of POSIX")
@pytest.mark.parametrize("lines", [3, 20, 36, 43])
def test_killed_after_some_events(
    workspace: Workspace,
    laws: Path,
    write_law: Callable[..., Path],
    tmp_path: Path,
    lines: int,
) -> None:
    write_law(1, articles=20)
    add(workspace, "main", [laws])
    index(workspace, "main")
    for number in range(2, 12):
        write_law(number, articles=60)
    script = tmp_path / "child.py"
    script.write_text(CHILD)

    told = kill_after(lines, [sys.executable, str(script), str(workspace.home), str(laws)])

    place = workspace.corpus("main")
    with CorpusStore.open(place.store) as store:
        assert store.check() == []
        assert {document.state_id for document in store.documents()} >= {
            "599AC0000000001@2026-04-01",
            *told,
        }
        folder = current(place.bm25)
        assert folder is not None
        with BM25Index.open(folder) as old:
            hits = old.search(Analyzer().terms("届出をしなければならない"), 5)
            assert store.by_keys(hit.key for hit in hits)
    # A worker of the killed process may hold its lock for a moment longer.
    wait_for(lambda: can_write(place))
    assert add(workspace, "main", [laws]).failed == []
    index(workspace, "main")
    assert index_state(workspace, "main", deep=True) is IndexState.FRESH
    with CorpusStore.open(place.store) as store:
        assert len(list(store.documents())) == 11
    assert len(list(place.bm25.iterdir())) == 2, "what the killed build left is swept"


def can_write(corpus: CorpusPaths) -> bool:
    """Whether no process writes to a corpus."""
    try:
        with writing(corpus):
            return True
    except BusyError:
        return False


def kill_after(lines: int, command: list[str]) -> list[str]:
    """Kill a process and all it started when it has told so much; returns what it acknowledged."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        told = [json.loads(line) for line, _ in zip(process.stdout, range(lines), strict=False)]
        os.killpg(process.pid, signal.SIGKILL)
    return [id_ for added in told if isinstance(added, list) for id_ in added]
