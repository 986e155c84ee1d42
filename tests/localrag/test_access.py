"""Who can read what is kept: its owner alone, whatever the umask, and whoever is told to."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.corpus.durable import readers
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query

from ..rows import each

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")

Cli = Callable[..., Any]


@pytest.fixture
def lax() -> Iterator[None]:
    """A umask that closes nothing to nobody."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(*roots: Path) -> dict[str, str]:
    """The modes that others have something of, by path."""
    paths = [path for root in roots for path in (root, *root.rglob("*"))]
    found = {str(p): stat.S_IMODE(p.stat().st_mode) for p in paths if not p.is_symlink()}
    return {path: oct(mode) for path, mode in found.items() if mode & 0o077}


def work(home: Path, beside: Path) -> None:
    """Everything that makes files without a model, looked at while it is done and afterwards."""
    session = localrag.open(home)
    corpus = session.corpus("main")

    def look(_: object) -> None:
        assert modes(home / "corpora") == {}
        assert stat.S_IMODE(home.stat().st_mode) == 0o700

    corpus.add(localrag.SAMPLE, on_event=look)
    corpus.index(on_event=look)
    beside.mkdir(mode=0o755)
    (beside / "questions.jsonl").write_text('{"question": "渡し守の資格は何か。"}\n')
    corpus.batch(beside / "questions.jsonl", beside / "answers.jsonl", on_event=look)
    with Conversations.open(session.workspace) as conversations:
        conversations.begin(conversations.new().id, Query("渡し守とは何か。"), "main", "", "")
        assert modes(home) == {}, "also locks, logs and shared memory"


def test_everything_is_made_for_its_owner_alone(home: Path, lax: None, tmp_path: Path) -> None:
    work(home, tmp_path / "beside")
    assert modes(home) == {}
    made = [tmp_path / "beside" / name for name in ("answers.jsonl", "answers.jsonl.run")]
    assert modes(*made) == {}


def test_an_open_workspace_is_told_of_and_closed(cli: Cli, sample: Path, tmp_path: Path) -> None:
    model = tmp_path / "weights.gguf"
    model.write_bytes(b"of somebody else")
    model.chmod(0o644)
    (sample / "models" / "linked").mkdir()
    (sample / "models" / "linked" / "weights.gguf").hardlink_to(model)
    (sample / "models" / "pointed").symlink_to(model)
    for path in (sample, *sample.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    finding = next(f for f in cli("doctor", "--json").json if f["check"] == "access")
    assert finding["health"] == "warning"
    assert str(sample) in finding["detail"]
    assert finding["cure"] == "localrag init"
    assert cli("search", "渡し守").code == 0
    assert stat.S_IMODE(sample.stat().st_mode) == 0o755, "reading changes nothing"
    assert cli("add", "--sample").code == 0
    still = modes(sample)
    assert set(still) == {str(sample / "models" / "linked" / "weights.gguf")}
    assert stat.S_IMODE(model.stat().st_mode) == 0o644, "a linked model stays as it is"
    finding = next(f for f in cli("doctor", "--json").json if f["check"] == "access")
    assert finding["health"] == "good"


def test_a_corpus_can_be_shared(cli: Cli, sample: Path) -> None:
    settings = sample / "localrag.toml"
    settings.write_text('[workspace]\nreaders = "group"\n')
    workspace = Workspace.locate()
    with Conversations.open(workspace) as conversations:
        conversations.new("secret")
    (sample / "runs" / "note.json").write_text("{}")
    assert cli("index", "--rebuild").code == 0
    by_path = {path.relative_to(sample).as_posix(): path for path in sample.rglob("*")}
    for name, path in by_path.items():
        mode = stat.S_IMODE(path.stat().st_mode)
        if name.split("/")[0] in ("corpora", "indexes", "models", "localrag.toml"):
            assert mode == (0o750 if path.is_dir() else 0o640), name
        else:
            assert not mode & 0o077, name
    assert stat.S_IMODE(sample.stat().st_mode) == 0o750
    finding = next(f for f in cli("doctor", "--json").json if f["check"] == "access")
    assert finding["health"] == "good"
    assert "group" in finding["detail"]
    settings.write_text("")
    assert cli("init").code == 0
    assert modes(sample) == {}


@each("content", [b"", b"[workspace", b'[workspace]\nreaders = "all"', b"\xff"])
def test_settings_that_name_no_readers_share_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "localrag.toml").write_bytes(content)
    assert readers(tmp_path / "localrag.toml") == "owner"
    assert readers(tmp_path / "none") == "owner"


def test_readers_that_there_are_not(cli: Cli, sample: Path) -> None:
    (sample / "localrag.toml").write_text('[workspace]\nreaders = "all"\n')
    refused = cli("list")
    assert refused.code == 0, "a list needs no setting"
    assert "workspace.readers" in cli("search", "渡し守").err


def test_nothing_lies_in_the_systems_folder_or_in_a_log(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    cli: Cli,
) -> None:
    """What cannot be kept in memory is kept in the workspace, also of a stream and of a dump."""
    import tempfile

    caplog.set_level("DEBUG")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "there is no such folder"))
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path / "nor this one"))
    dump = tmp_path / "wikidata.json"
    label = {"ja": {"value": "舟", "language": "ja"}}
    value = {"property": "P1", "snaktype": "value", "datavalue": {"type": "string", "value": "木"}}
    claims = {"P1": [{"rank": "normal", "mainsnak": {**value, "datatype": "string"}}]}
    entities = (
        {"id": "P1", "type": "property", "labels": label},
        {"id": "Q1", "type": "item", "labels": label, "claims": claims},
    )
    dump.write_text("[\n" + ",\n".join(map(json.dumps, entities)) + "\n]\n")
    assert cli("init").code == 0
    assert cli("add", "--sample", str(dump)).code == 0
    assert cli("index").code == 0
    assert cli("ask", "渡し守の資格は何か。").code == 0
    read, write = os.pipe()
    os.write(write, '{"question": "渡し守の資格は何か。"}\n'.encode() * 3)
    os.close(write)
    with os.fdopen(read, "rb") as questions:
        report = localrag.open(home).corpus().batch(questions, tmp_path / "answers.jsonl")
    assert report.answered == 3
    assert "渡し" not in caplog.text
