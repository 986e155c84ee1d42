"""What all tests share: an isolated workspace, the sample corpus, the command line, real data."""

import ctypes
import gc
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from pytest_socket import enable_socket, socket_allow_hosts

from localrag import language

from .ending import (  # noqa: F401 - pytest looks for its hooks here
    pytest_configure,
    pytest_itemcollected,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from .patience import PATIENCE

if TYPE_CHECKING:
    from tiny_models.encoder import TinyEncoder

    from localrag.search.pipeline import Retriever

REPOSITORY = Path(__file__).parent.parent
Statutes = Mapping[tuple[str, str, str], Mapping[str, tuple[str, Sequence[str]]]]

# Where `tiny_encoder` is used; what is left out only takes longer.
PYTORCH = (
    "tests/localrag/doors/cli/test_cli_models.py",
    "tests/localrag/corpus/ingest/test_embedding.py",
    "tests/localrag/methods/staged/test_staged_real_model.py",
    "tests/localrag/methods/test_methods_real_models.py",
    "tests/localrag/search/test_hybrid.py",
    "tests/localrag_tui/models/test_models_screen.py",
    "tests/models/embedding/",
    "tests/models/reranking/",
    "tests/models/servers/test_ollama_embedder.py",
    "tests/models/servers/test_openai_embedder.py",
    "tests/models/store/",
    *(
        f"tests/scripts/test_benches.py::test_it_runs[{name}]"
        for name in ("layers", "question_index", "statute_lexical")
    ),
)

# What Python has compiled is kept, for the hundreds of processes that tests start: each would
# compile it again, which takes half a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadfile``, the files that import PyTorch go to one process.

    The import and the models made with it take ten seconds in every process that needs them.
    """
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "PyTorch" if nodeid.startswith(PYTORCH) else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """Let Python look for garbage as seldom as `localrag` does, and never among the tests.

    The tests that were collected are a million objects: to look through them again and again took
    a quarter of the processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def pytest_unconfigure() -> None:
    """Close what llama-cpp-python opens when it is imported and leaves to the interpreter."""
    opened = sys.modules.get("llama_cpp._utils")
    if opened is not None:
        opened.outnull_file.close()
        opened.errnull_file.close()


@dataclass(frozen=True)
class Outcome:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output read as JSON."""
        return json.loads(self.out)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the workspaces of all tests are.

    A `tmp_path` for each would take the longer the more there are: all of them are looked through.
    """
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace folder of this test, which does not exist yet; nobody's real one is touched."""
    for name in [name for name in os.environ if name.startswith("LOCALRAG_")]:
        if name not in ("LOCALRAG_SHARED_DATA", "LOCALRAG_TEST_VOCABULARY"):
            monkeypatch.delenv(name)
    folder = Path(tempfile.mkdtemp(dir=homes)) / "home"
    monkeypatch.setenv("LOCALRAG_HOME", str(folder))
    # Several processes cost a second each time a corpus is read or indexed. Made in as many as
    # there are by default: `sample_home`, and what the tests of bad input `start`.
    monkeypatch.setenv("LOCALRAG_INGEST__WORKERS", "1")
    # Whatever the language of whoever runs the tests.
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    language.use("en")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data; the test is skipped where it is missing."""
    named = os.environ.get("LOCALRAG_SHARED_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the real data: no folder {folder} (set LOCALRAG_SHARED_DATA)")
    return folder


def run_in_process(*arguments: str, stdin: str = "") -> Outcome:
    """Run a command line in this process."""
    from localrag.doors.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run(list(arguments))
    finally:
        sys.stdin = before
    return Outcome(code, out.getvalue(), err.getvalue())


@pytest.fixture
def cli() -> Callable[..., Outcome]:
    """Runs a command line in this process: ``cli("search", "渡し舟", stdin="")``."""
    return run_in_process


@pytest.fixture
def shell() -> Callable[..., Outcome]:
    """Runs a command line in a process of its own, with bytes as a shell would see them."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Outcome:
        finished = subprocess.run(
            [sys.executable, "-m", "localrag", *arguments],
            input=stdin.encode(),
            capture_output=True,
            env={**os.environ, "PYTHONUTF8": "1", **environment},
            timeout=PATIENCE,
            check=False,
        )
        return Outcome(finished.returncode, finished.stdout.decode(), finished.stderr.decode())

    return run


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the sample corpus, added and indexed; never write to it."""
    folder = tmp_path_factory.mktemp("sample") / "home"
    for arguments in (["init"], ["add", "--sample"], ["index"]):
        outcome = run_in_process("--home", str(folder), *arguments)
        assert outcome.code == 0, outcome.err
    return folder


@pytest.fixture
def sample(sample_home: Path, home: Path) -> Path:
    """The workspace of this test, holding a copy of the sample corpus."""
    # Tests that ask a model in the shared workspace leave its speed there, and what a server binds.
    left = shutil.ignore_patterns("speeds.json", "servers.json")
    shutil.copytree(sample_home, home, ignore=left)
    return home


@pytest.fixture
def retriever(sample_home: Path) -> "Iterator[Retriever]":
    """The sample corpus, open for searching; never write to it."""
    from localrag.corpus.config import load
    from localrag.corpus.workspace import Workspace
    from localrag.search.pipeline import Retriever

    workspace = Workspace.locate(sample_home)
    with Retriever.open(workspace, "main", load(workspace)) as retriever:
        yield retriever


@pytest.fixture
def drawn() -> None:
    """The reports of this test have their plots."""


@pytest.fixture
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No plot is drawn, which takes longest of a report, but in a test that asks for `drawn`."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("localrag.evaluation.report.plotted", lambda _: "<svg/>")


@pytest.fixture(scope="session")
def tiny_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF chat model of architecture qwen3 with a few thousand random weights."""
    from tiny_models.chat import write_chat_gguf

    path = tmp_path_factory.mktemp("tiny_chat") / "tiny-qwen3.gguf"
    write_chat_gguf(path)
    return path


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> "TinyEncoder":
    """An embedder and a reranker with random weights, each in both formats."""
    from tiny_models.encoder import write_encoder

    return write_encoder(tmp_path_factory.mktemp("tiny_encoder"))


@pytest.fixture(scope="session")
def allow_loopback() -> Callable[[], None]:
    """Lets the running test reach servers on this machine, and nothing else."""

    def allow() -> None:
        enable_socket()
        socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)

    return allow


@pytest.fixture
def loopback(allow_loopback: Callable[[], None]) -> None:
    """This test may reach servers on this machine."""
    allow_loopback()


@pytest.fixture
def bound_by_modes() -> Iterator[None]:
    """What a file or a folder forbids by its mode is forbidden in this test, to root, too."""
    if os.geteuid() != 0:
        yield
        return
    # capget(2): the version and the process; of 64 bits the lower and the higher half.
    libc, head = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0)
    kept = (ctypes.c_uint32 * 6)()
    assert libc.capget(head, kept) == 0
    bound = (ctypes.c_uint32 * 6)(*kept)
    bound[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(head, bound) == 0
    yield
    assert libc.capset(head, kept) == 0


@dataclass(frozen=True)
class SmallDisk:
    """A disk of a few megabytes."""

    folder: Path

    def fill(self) -> None:
        """Leave not a byte."""
        with (self.folder / "filling").open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                with suppress(OSError):
                    while file.write(b"x" * size):
                        pass

    def make_room(self) -> None:
        """Remove what `fill` wrote."""
        (self.folder / "filling").unlink()

    def close(self) -> None:
        """Let nothing be written any more."""
        subprocess.run(["mount", "-o", "remount,ro", str(self.folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of six megabytes; the test is skipped where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a disk in memory (root, Linux)")
    yield SmallDisk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


_ARTICLES = ["", *"一二三四五六七八九", "十", *(f"十{n}" for n in "一二三四五六七")]


@pytest.fixture(scope="session")
def open_statutes() -> "Callable[[Path, Statutes], Retriever]":
    """Adds and indexes made statutes in a workspace, and opens them for searching.

    By id, title and number of a law its articles, at most sixteen; of each by its number the
    caption, or "", and its paragraphs.
    """

    def open_(home: Path, laws: Statutes) -> "Retriever":
        from localrag.corpus.config import load
        from localrag.corpus.ingest.add import add
        from localrag.corpus.workspace import Workspace
        from localrag.search.indexing.index import index
        from localrag.search.pipeline import Retriever

        workspace = Workspace.locate(home)
        workspace.init()
        lines = []
        for (law_id, title, number), articles in laws.items():
            written = [
                {
                    "num": article,
                    "caption": f"（{caption}）" if caption else "",
                    "title": f"第{_ARTICLES[int(article)]}条",
                    "paragraphs": [
                        {"num": str(place), "text": text} for place, text in enumerate(texts, 1)
                    ],
                }
                for article, (caption, texts) in articles.items()
            ]
            law = {"law_id": law_id, "date": "", "title": title, "law_num": number}
            lines.append(json.dumps({**law, "articles": written}, ensure_ascii=False))
        (home / "laws.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        add(workspace, "main", [home / "laws.jsonl"])
        index(workspace, "main")
        return Retriever.open(workspace, "main", load(workspace))

    return open_


@pytest.fixture(scope="module")
def laws(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    open_statutes: "Callable[[Path, Statutes], Retriever]",
) -> "Iterator[Retriever]":
    """The statutes that the module of a test has as ``LAWS``, open for searching."""
    with open_statutes(tmp_path_factory.mktemp("laws"), request.module.LAWS) as retriever:
        yield retriever
