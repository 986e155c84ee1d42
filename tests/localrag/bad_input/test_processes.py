"""Several processes, interrupts and closed pipes: each ends cleanly, the corpus stays whole."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ...patience import PATIENCE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

Cli = Callable[..., Any]
Start = Callable[..., subprocess.Popen[str]]
Until = Callable[[Callable[[], object]], None]


def writing(home: Path) -> Callable[[], bool]:
    return (home / "corpora" / "main" / "writer.json").exists


def building(home: Path) -> Callable[[], bool]:
    return lambda: any((home / "indexes" / "main" / "bm25").glob("*.new"))


def test_two_processes_adding_at_once(
    cli: Cli, start: Start, until: Until, refused: Callable[..., None], kept: Path, many: Path
) -> None:
    first = start("add", str(many))
    until(writing(kept))
    # While SQLite opens the file nobody can read it: it is stopped once it has written.
    until(lambda: (kept / "corpora" / "main" / "corpus.sqlite-wal").stat().st_size > 0)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        for verb in (["add", "--sample"], ["index"], ["remove", "599AC0000000001"]):
            refused(cli(*verb), 6, "'main'", f"process {first.pid} on", "try again")
        assert cli("search", "渡し守").code == 0
    finally:
        os.kill(first.pid, signal.SIGCONT)
    out, err = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, err
    assert "2,500 documents added" in out


def test_ctrl_c_while_adding(cli: Cli, start: Start, until: Until, kept: Path, many: Path) -> None:
    process = start("add", str(many))
    until(writing(kept))
    interrupted(process)
    assert cli("search", "渡し守").code == 0
    assert cli("add", str(many)).code == 0
    entered = [d["id"] for d in cli("list", "main", "--json").json if d["id"][:4] == "doc-"]
    assert len(entered) == 2_500


def test_ctrl_c_and_a_kill_while_indexing(
    cli: Cli, start: Start, until: Until, crowded: Path
) -> None:
    process = start("index")
    until(building(crowded))
    interrupted(process)
    assert not building(crowded)(), "what was begun is swept away"
    assert cli("search", "渡し守").code == 0
    process = start("index")
    until(building(crowded))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    answered = cli("search", "渡し守の資格")
    assert answered.code == 0
    assert "599AC0000000001#7" in answered.out
    assert "localrag index --corpus main" in answered.err, "that the index is behind is said"
    assert cli("doctor").code == 0, "nothing is broken"


def interrupted(process: "subprocess.Popen[str]") -> None:
    """Press Ctrl-C, which ends it in order."""
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "interrupted; finished work is kept" in err
    assert "Traceback" not in err


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize(
    ("verb", "cause"), [("index", "'main' could not be built"), ("add", "Reading stopped")]
)
def test_a_worker_that_is_killed(
    start: Start,
    until: Until,
    refused: Callable[..., None],
    kept: Path,
    tmp_path: Path,
    verb: str,
    cause: str,
) -> None:
    (tmp_path / "in").mkdir()
    for number in range(40):
        (tmp_path / "in" / f"{number}.txt").write_text(f"{number}番の灯台。" * 5_000, "utf-8")
    arguments = ["index", "--rebuild"] if verb == "index" else ["add", str(tmp_path / "in")]
    process = start("--set", "ingest.workers=2", *arguments)
    workers: list[int] = []
    until(lambda: workers.extend(_workers(process.pid)) or workers)
    os.kill(workers[0], signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    outcome = SimpleNamespace(code=process.returncode, out=out, err=err)
    refused(outcome, 7, cause, "a worker process was killed", "memory")


def test_an_output_that_is_closed_early(start: Start, crowded: Path) -> None:
    for option in ([], ["--json"]):
        process = start("list", "main", *option)
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=PATIENCE) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_an_output_that_is_full(kept: Path, option: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        finished = subprocess.run(
            [sys.executable, "-m", "localrag", "list", "main", *option],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert finished.returncode == 7
    assert finished.stderr.startswith(b"error: The output cannot be written (No space left")
    assert b"send it to another place" in finished.stderr


def test_input_that_is_not_utf_8(kept: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "localrag", "ask", "-"],
        input="渡し守の資格は何か。".encode("euc-jp"),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert finished.returncode == 2
    assert b"not valid UTF-8" in finished.stderr
    assert b"Convert it to UTF-8 first" in finished.stderr


def _workers(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            of = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


REMOVER = """
import sys, time
from pathlib import Path
from localrag.corpus.ingest.remove import remove_corpus
from localrag.corpus.workspace import Workspace
import localrag.corpus.ingest.remove as module

removed = module._remove_folder
def slowly(folder):
    print("holds", flush=True)
    sys.stdin.readline()
    removed(folder)
    print("removed", flush=True)
    sys.stdin.readline()
module._remove_folder = slowly
remove_corpus(Workspace.locate(), "main")
"""


def test_remove_all_lets_no_two_write(sample: Path, tmp_path: Path) -> None:
    """Whoever has the lock file open when it is removed gets no right to write by it."""
    from filelock import FileLock, Timeout

    from localrag.corpus.workspace import Workspace
    from localrag.corpus.workspace import writing as hold
    from localrag.errors import BusyError

    place = Workspace.locate().corpus("main")
    lock = place.store.with_name("writer.lock")
    with subprocess.Popen(
        [sys.executable, "-c", REMOVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as remover:
        assert remover.stdin
        assert remover.stdout
        assert remover.stdout.readline() == "holds\n"
        with pytest.raises(BusyError), hold(place):
            pass
        waiting = os.open(lock, os.O_RDWR)  # As a writer that waits for it has it.
        remover.stdin.write("\n")
        remover.stdin.flush()
        assert remover.stdout.readline() == "removed\n"
        assert not lock.exists()
        with hold(place):
            # The new writer holds another file than the one that was removed.
            assert os.fstat(waiting).st_nlink == 0
            with pytest.raises(Timeout):
                FileLock(lock, timeout=0).acquire()
            remover.stdin.write("\n")
            remover.stdin.flush()
            assert remover.wait(PATIENCE) == 0
            assert lock.exists(), "the end of the remover removes nothing of the new writer"
            with pytest.raises(BusyError), hold(place):
                pass
        os.close(waiting)
    assert place.store.parent.exists()
