"""Bringing in a dataset from a folder: all of it, parts of it, again, and after a kill."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from localrag import sample
from localrag.corpus.config import Config, load
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, InputError, NotFoundError, StorageError, UsageError
from localrag.evaluation.datasets import loading
from localrag.evaluation.datasets.acquiring import Brought, add
from localrag.evaluation.datasets.keeping import digest
from localrag.search.pipeline import Retriever
from localrag.search.types import Query

from ...patience import PATIENCE

QUESTION = '{"id": "q1", "question": "櫂は要るか", "options": ["はい", "いいえ"], "answer": "a"}\n'
EXCERPT = {"law_id": None, "law_title": "渡し守の手引", "article": "問1", "text": "櫂は樫で作る。"}
DECLARATION = """
title = "渡し舟の問い"
source = "手元"
licence = "CC0"
reader = "choices"
corpus = ["laws"]
excerpts = ["more/excerpts.jsonl"]
splits = [
  {{ name = "main", file = "questions/main.jsonl", sha256 = "{sha256}" }},
  {{ name = "extra", file = "questions/extra.jsonl" }},
]
hints = {{ laws = "Ask the ferryman." }}
"""


@pytest.fixture
def config(workspace: Workspace) -> Config:
    config = load(workspace)
    return config.model_copy(update={"ingest": config.ingest.model_copy(update={"workers": 1})})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder laid out as `ferries.toml` in it declares."""
    folder = tmp_path / "data"
    for part in ("laws", "questions", "more"):
        (folder / part).mkdir(parents=True)
    for law in (sample.FOLDER / "laws").glob("*.xml"):
        (folder / "laws" / law.name).write_bytes(law.read_bytes())
    for name in ("main", "extra"):
        (folder / "questions" / f"{name}.jsonl").write_text(QUESTION, encoding="utf-8")
    (folder / "more" / "excerpts.jsonl").write_text(json.dumps(EXCERPT), encoding="utf-8")
    text = DECLARATION.format(sha256=digest(QUESTION.encode()))
    (folder / "ferries.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def name(folder: Path) -> str:
    return str(folder / "ferries.toml")


def test_all_of_it(workspace: Workspace, config: Config, folder: Path, name: str) -> None:
    brought = add(workspace, name, folder, config)
    assert brought.new == ("main", "extra")
    assert not brought.missing
    assert not brought.failed
    assert brought.added is not None
    assert brought.added.added == 4
    assert loading.load(workspace, "ferries", "extra").questions[0].id == "q1"
    with Retriever.open(workspace, "ferries", config) as retriever:
        (hit, *_) = retriever.search(Query("櫂は樫で作る"), 3).hits
        assert hit.passage.id == "渡し守の手引|問1|0#1"
        assert len(retriever.names.rows) == 3


def test_again_it_costs_nothing(
    workspace: Workspace, config: Config, folder: Path, name: str
) -> None:
    add(workspace, name, folder, config)
    before = _state(workspace)
    again = add(workspace, "ferries", folder, config)
    assert (again.new, again.unchanged) == ((), ("main", "extra"))
    assert again.added is not None
    assert again.indexed is not None
    assert (again.added.added, again.added.files_unchanged) == (0, 4)
    assert again.indexed.skipped
    assert _state(workspace) == before


def test_what_has_changed_is_replaced(
    workspace: Workspace, config: Config, folder: Path, name: str
) -> None:
    add(workspace, name, folder, config)
    extra = folder / "questions" / "extra.jsonl"
    extra.write_text(QUESTION.replace("q1", "q2"), encoding="utf-8")
    assert add(workspace, "ferries", folder, config).new == ("extra",)
    assert loading.load(workspace, "ferries", "extra").questions[0].id == "q2"


def test_parts_may_be_missing_and_are_named(
    workspace: Workspace, config: Config, folder: Path, name: str
) -> None:
    for path in (*(folder / "laws").iterdir(), folder / "questions" / "extra.jsonl"):
        path.unlink()
    (folder / "laws").rmdir()
    (folder / "more" / "excerpts.jsonl").unlink()
    brought = add(workspace, name, folder, config)
    assert brought.new == ("main",)
    assert brought.added is None
    missing = {missing.path: missing.hint for missing in brought.missing}
    assert missing["laws"] == "Ask the ferryman."
    assert set(missing) == {"laws", "more/excerpts.jsonl", "questions/extra.jsonl"}


def test_a_folder_with_nothing_of_it(
    workspace: Workspace, config: Config, tmp_path: Path, name: str
) -> None:
    for nothing in (workspace.home, tmp_path / "none"):
        with pytest.raises(NotFoundError):
            add(workspace, name, nothing, config)


def test_another_hash_than_declared(
    workspace: Workspace, config: Config, folder: Path, name: str
) -> None:
    (folder / "questions" / "main.jsonl").write_text(QUESTION + " ", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        add(workspace, name, folder, config)
    assert digest(QUESTION.encode()) in caught.value.cause
    assert digest(f"{QUESTION} ".encode()) in caught.value.cause
    assert not (workspace.datasets / "ferries" / "questions" / "main.jsonl").exists()


def test_what_cannot_be_read_does_not_arrive(
    workspace: Workspace, config: Config, folder: Path, name: str
) -> None:
    (folder / "questions" / "extra.jsonl").write_text(QUESTION * 2, encoding="utf-8")
    with pytest.raises(InputError, match="line 2: The id 'q1'"):
        add(workspace, name, folder, config)
    assert not (workspace.datasets / "ferries" / "questions" / "extra.jsonl").exists()
    (folder / "questions" / "extra.jsonl").unlink()
    (folder / "more" / "excerpts.jsonl").write_text('{"law_title": "x"}', encoding="utf-8")
    with pytest.raises(InputError, match="line 1: The field 'text' is missing"):
        add(workspace, name, folder, config)


@pytest.mark.parametrize("part", ["questions/main.jsonl", "questions", "laws", "laws/x.xml"])
def test_links_are_refused(
    workspace: Workspace, config: Config, folder: Path, name: str, tmp_path: Path, part: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    if (folder / part).exists():
        (folder / part).rename(elsewhere)
    (folder / part).symlink_to(elsewhere)
    with pytest.raises(InputError, match="is a link"):
        add(workspace, name, folder, config)


def test_a_bad_file_of_the_corpus_is_told_and_the_rest_added(
    workspace: Workspace, config: Config, folder: Path, name: str
) -> None:
    (folder / "laws" / "broken.xml").write_text("<Law>", encoding="utf-8")
    brought = add(workspace, name, folder, config)
    assert brought.failed
    assert brought.added is not None
    assert brought.added.added == 4
    assert brought.indexed is not None
    assert brought.indexed.passages


def test_names_that_are_taken(workspace: Workspace, config: Config, folder: Path) -> None:
    taken = (folder / "ferries.toml").rename(folder / "lawqa.toml")
    with pytest.raises(InputError, match="localrag declares"):
        add(workspace, str(taken), folder, config)
    with pytest.raises(UsageError, match="declares no dataset"):
        add(workspace, str(folder / "questions" / "main.jsonl"), folder, config)


def test_one_at_a_time(workspace: Workspace, config: Config, folder: Path, name: str) -> None:
    place = workspace.datasets / "ferries"
    place.mkdir(parents=True)
    with FileLock(place / ".lock"), pytest.raises(BusyError, match="ferries"):
        add(workspace, name, folder, config)
    assert add(workspace, name, folder, config).new


def test_a_path_that_is_no_unicode(
    workspace: Workspace, config: Config, folder: Path, tmp_path: Path
) -> None:
    odd = folder.rename(tmp_path / os.fsdecode(b"\xff"))
    assert add(workspace, str(odd / "ferries.toml"), odd, config).new == ("main", "extra")


def test_a_full_disk(workspace: Workspace, config: Config, folder: Path, name: str) -> None:
    # A limit on the size of files stands in for the disk; Python ignores its signal.
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        with pytest.raises(StorageError):
            add(workspace, name, folder, config)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (workspace.datasets / "ferries" / "questions" / "main.jsonl").exists()
    assert add(workspace, name, folder, config).new == ("main", "extra")


SCRIPT = """
import os, signal, sys
from pathlib import Path
from localrag.corpus.config import load
from localrag.evaluation.datasets.acquiring import add
from localrag.corpus.ingest.events import FileRead
from localrag.corpus.workspace import Workspace

def die(event):
    if isinstance(event, FileRead):
        os.kill(os.getpid(), signal.SIGKILL)

workspace = Workspace(Path(sys.argv[1]))
add(workspace, sys.argv[2], Path(sys.argv[3]), load(workspace), on_event=die)
"""


def test_killed_it_goes_on(workspace: Workspace, config: Config, folder: Path, name: str) -> None:
    command = [sys.executable, "-c", SCRIPT, str(workspace.home), name, str(folder)]
    for _ in range(2):
        finished = subprocess.run(command, check=False, timeout=PATIENCE, env=dict(os.environ))
        assert finished.returncode == -signal.SIGKILL
    brought = add(workspace, "ferries", folder, config)
    assert brought.unchanged == ("main", "extra")
    assert brought.added is not None
    assert (brought.added.added, brought.added.files_unchanged) == (2, 2)
    assert replace(brought, added=None, indexed=None) == Brought(
        brought.dataset, unchanged=("main", "extra")
    )


def _state(workspace: Workspace) -> dict[str, int]:
    files = (path for path in workspace.datasets.rglob("*") if path.is_file())
    return {str(path): path.stat().st_mtime_ns for path in files if path.name != ".lock"}
