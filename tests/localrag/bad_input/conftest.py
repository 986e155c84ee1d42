"""A corpus that must survive each row of the table of bad inputs, and how a row is judged."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from localrag import sample as sample_corpus

from ...conftest import Outcome, run_in_process
from ...patience import PATIENCE, wait_for


@pytest.fixture(scope="session")
def held(sample_home: Path) -> set[str]:
    """The documents of the sample corpus, which answers."""
    return _answering("--home", str(sample_home))


@pytest.fixture
def kept(sample: Path, held: set[str]) -> Iterator[Path]:
    """The workspace with the sample corpus; when the row is over it holds all and answers.

    Where no file of it has changed it does as it did.
    """
    before = _files(sample)
    yield sample
    if _files(sample) != before:
        assert held <= _answering()


def _files(home: Path) -> dict[Path, tuple[int, int]]:
    """The size of every file of a workspace, and when it was changed, in nanoseconds.

    What whoever reads a corpus or an index writes for the next who does is left out.
    """
    found = ((path, path.stat()) for path in home.rglob("*") if path.is_file())
    return {
        path: (status.st_size, status.st_mtime_ns)
        for path, status in found
        if status.st_size and not path.name.endswith(("-shm", ".compared"))
    }


def _answering(*options: str) -> set[str]:
    """The ids of all documents, where a question about them is answered."""
    listed = run_in_process(*options, "list", "main", "--json")
    assert listed.code == 0, listed.err
    asked = run_in_process(*options, "ask", sample_corpus.QUESTION, "--json")
    assert asked.code == 0, asked.err
    quotes = "".join(citation["quote"] for citation in asked.json["citations"])
    assert "一・五メートル" in quotes
    return {document["id"] for document in listed.json}


@pytest.fixture
def refused() -> Callable[..., None]:
    """Judges a refusal: ``refused(outcome, 5, "corpus.sqlite", "localrag add")``."""

    def judge(outcome: Any, code: int, *parts: str) -> None:
        assert outcome.code == code, outcome
        for part in parts:
            assert part in outcome.err
        # On a busy machine a line of progress can come before it.
        assert re.search("^error: ", outcome.err, re.MULTILINE)
        assert len(outcome.err) < 3000
        for text in (outcome.out, outcome.err):
            assert "Traceback" not in text
            assert "unexpected error" not in text.lower()

    return judge


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command line in a process group of its own, to be stopped or killed."""
    started: list[subprocess.Popen[str]] = []
    # Unbuffered, Python drops what a closing pipe no longer took, and tells nobody.
    # It works in as many processes as it does by default.
    left_out = ("PYTHONUNBUFFERED", "LOCALRAG_INGEST__WORKERS")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}

    def launch(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "localrag", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            # Started in the background, a shell and all its children are deaf to Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            env=environment,
        )
        started.append(process)
        return process

    yield launch
    for process in started:
        with process:
            process.kill()


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """Waits for something that another process does."""

    return wait_for


# Root without the right to pass over permissions.
_AS_ORDINARY_USER = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
_RUN_ALL = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from localrag.doors.cli.main import run
outcomes = []
for line in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(line)
    outcomes.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(outcomes))
"""


@pytest.fixture
def restricted() -> Callable[..., list[Outcome]]:
    """Runs command lines in one process that permissions hold for, also where root tests.

    The modes of files bind a thread with `bound_by_modes`; but access(2) still asks what root may.
    """
    wrapper: Sequence[str] = []
    if os.name == "nt":
        pytest.skip("permissions of POSIX")
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may read and write everything, and setpriv is not installed")
        wrapper = _AS_ORDINARY_USER

    def run(*lines: Sequence[str]) -> list[Outcome]:
        finished = subprocess.run(
            [*wrapper, sys.executable, "-c", _RUN_ALL, json.dumps(lines)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        )
        return [Outcome(*outcome) for outcome in json.loads(finished.stdout)]

    return run


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 2,500 documents, which takes a while to add; never write to it."""
    path = tmp_path_factory.mktemp("many") / "many.jsonl"
    lines = (
        json.dumps({"id": f"doc-{n}", "title": f"第{n}号の記録", "text": f"灯台の記録{n}。" * 40})
        for n in range(2_500)
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def crowded_home(sample_home: Path, many: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus with those documents, which its index lacks; never write to it."""
    home = tmp_path_factory.mktemp("crowded") / "home"
    shutil.copytree(sample_home, home)
    added = run_in_process("--home", str(home), "add", str(many))
    assert added.code == 0, added.err
    return home


@pytest.fixture
def crowded(kept: Path, crowded_home: Path) -> Path:
    """The workspace of this test, with those documents."""
    shutil.rmtree(kept / "corpora")
    shutil.copytree(crowded_home / "corpora", kept / "corpora")
    return kept
