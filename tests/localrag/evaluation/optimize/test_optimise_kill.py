"""Kill -9 at any moment, with a real runtime: the run ends like one that was never stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_models
from tiny_models.chat import write_chat_gguf

from localrag.corpus.workspace import Workspace
from localrag.evaluation.optimize.folder import RunFolder
from localrag.evaluation.optimize.types import OptimisationOutcome
from localrag_models.store import ModelStore

CHILD = """
import sys
from pathlib import Path
from localrag.corpus.config import load
from localrag.evaluation.optimize.optimise import optimise
from localrag.evaluation.optimize.types import OptimisationPlan, OptimisationProgress
from localrag.corpus.workspace import Workspace

def tell(event):
    if isinstance(event, OptimisationProgress) and not event.replayed:
        print(event.calls, flush=True)

workspace = Workspace(Path(sys.argv[1]))
settings = {
    "chat.model": "tiny",
    "chat.temperature": 1.0,
    "chat.max_tokens": 64,
    "runtime.threads": 1,
}
plan = OptimisationPlan(sys.argv[2], sys.argv[3], calls=12, limit=6)
optimise(workspace, "main", load(workspace, settings), plan, on_event=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_killed_again_and_again(sample: Path, questions: Path, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    weights, script = tmp_path / "tiny.gguf", tmp_path / "child.py"
    write_chat_gguf(weights, context=32_768)
    ModelStore(Workspace(sample).models).add(weights, name="tiny", kind="chat")
    script.write_text(CHILD, encoding="utf-8")

    def start(name: str, calls: int) -> int:
        """Run until so many calls are told, and kill it; returns how many were."""
        told = 0
        scripts = str(Path(tiny_models.__file__).parents[1])
        path = os.pathsep.join(filter(None, (scripts, os.environ.get("PYTHONPATH"))))
        with subprocess.Popen(
            [sys.executable, str(script), str(sample), name, str(questions)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        ) as child:
            assert child.stdout is not None
            for _ in child.stdout:
                told += 1
                if told == calls:
                    os.killpg(child.pid, signal.SIGKILL)
            return told

    def outcome(name: str) -> OptimisationOutcome:
        found = RunFolder.of(Workspace(sample), name).outcome()
        assert found is not None
        return found

    whole = start("whole", 1_000)
    assert [start("killed", calls) for calls in (2, 3)] == [2, 3]
    # What it told was kept, and maybe what it did until the kill reached it.
    assert start("killed", 1_000) <= whole - 2 - 3
    one, other = outcome("whole"), outcome("killed")
    assert one.candidates == other.candidates
    assert (one.refused, one.calls, one.end) == (other.refused, other.calls, other.end)
