"""Disks that are full or read-only: what is there is read, what cannot be written is told."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from localrag.corpus.database import Schema
from localrag.corpus.workspace import Workspace
from localrag.errors import StorageError
from localrag.ops.conversations.store import Conversations

Cli = Callable[..., Any]

READING = (
    ["search", "渡し守"],
    ["ask", "渡し守の資格は何か。"],
    ["show", "渡し舟法8条"],
    ["list"],
    ["list", "main"],
    ["doctor"],
)
WRITING = (["add", "--sample"], ["index", "--rebuild"], ["remove", "599AC0000000001"])


@pytest.mark.parametrize("how", ["fill", "close"])
def test_reading_needs_no_room(
    cli: Cli,
    sample: Path,
    small_disk: Any,
    refused: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    home = small_disk.folder / "home"
    shutil.copytree(sample, home)
    monkeypatch.setenv("LOCALRAG_HOME", str(home))
    # Read once before: it leaves an empty log beside the store.
    assert cli("search", "渡し守").code == 0
    getattr(small_disk, how)()
    for verb in READING:
        for _ in "12":
            outcome = cli(*verb)
            assert outcome.code == 0, (verb, outcome)
    findings = {found["check"]: found["health"] for found in cli("doctor", "--json").json}
    assert findings["store main"] == findings["index main"] == "good"
    for verb in WRITING:
        refused(cli(*verb), 7, "space" if how == "fill" else "permissions")
    if how == "fill":
        small_disk.make_room()
        for verb in (["add", "--sample"], ["index", "--rebuild"]):
            assert cli(*verb).code == 0, verb


KILLED = """
import os, sys
from pathlib import Path
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document, Locator, Passage
store = CorpusStore.open(Path(sys.argv[1]), create=True)
text = "灯台の記録である。" * 400
for n in range(40):
    store.add(Document(id=f"doc-{n}", title="t", kind="text", text=text, source="s",
        passages=(Passage(id=f"doc-{n}#1", document_id=f"doc-{n}", layer="passages", text=text,
            header="h", locator=Locator(), start=0, end=len(text)),)))
print(len(list(store.documents())), flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_writer_left_in_the_log_is_read(small_disk: Any) -> None:
    from localrag.corpus.store import CorpusStore

    path = small_disk.folder / "corpus.sqlite"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True)
    assert killed.stdout == b"40\n", killed.stderr
    log = path.with_name("corpus.sqlite-wal")
    assert log.stat().st_size > 0
    for shared in (True, False):
        if not shared:
            path.with_name("corpus.sqlite-shm").unlink(missing_ok=True)
        small_disk.fill()
        with CorpusStore.open(path, read_only=True) as store:
            assert len(list(store.documents())) == 40, "also what is only in the log"
        small_disk.make_room()
    with CorpusStore.open(path) as store:
        assert len(list(store.documents())) == 40


def test_conversations_are_read(small_disk: Any) -> None:
    workspace = Workspace.locate(small_disk.folder / "home")
    workspace.init()
    with Conversations.open(workspace) as conversations:
        conversations.new("舟")
        assert not conversations.read_only
    small_disk.fill()
    with Conversations.open(workspace) as conversations:
        assert conversations.read_only
        assert [one.title for one in conversations.list()] == ["舟"]
        with pytest.raises(StorageError, match="is full"):
            conversations.new("灯台")
    workspace.conversations.unlink()
    small_disk.fill()
    with pytest.raises(StorageError, match="conversations"):
        Conversations.open(workspace)


def test_a_file_that_cannot_be_made_as_a_whole(small_disk: Any) -> None:
    workspace = Workspace.locate(small_disk.folder / "home")
    workspace.init()
    small_disk.fill()
    filling = small_disk.folder / "filling"
    causes = []
    for _ in range(20):
        try:
            Conversations.open(workspace).close()
            break
        except StorageError as error:
            causes.append(str(error))
            os.truncate(filling, filling.stat().st_size - 4096)
    assert 3 < len(causes) < 20
    assert all("is full" in cause for cause in causes)


def test_a_store_is_there_as_a_whole_or_not_at_all(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade = Schema.upgrade

    def interrupted(self: Schema, connection: apsw.Connection, **kwargs: int) -> None:
        upgrade(self, connection, until=2)
        raise KeyboardInterrupt

    assert cli("init").code == 0
    with monkeypatch.context() as patch:
        patch.setattr(Schema, "upgrade", interrupted)
        assert cli("add", "--sample").code == 130
    assert not list((home / "corpora").rglob("*.sqlite*"))
    assert cli("list", "--json").json == []
    assert cli("add", "--sample").code == 0


def test_an_empty_store_is_begun_anew(cli: Cli, sample: Path) -> None:
    """Earlier versions left one where a signal came while it was made."""
    store = sample / "corpora" / "main" / "corpus.sqlite"
    store.write_bytes(b"")
    assert "localrag add" in cli("search", "渡し守").err
    assert cli("add", "--sample").code == 0
    assert cli("index").code == 0
    assert cli("search", "渡し守").code == 0
    # The same, killed a little later: its journal mode is set, nothing else.
    store.unlink()
    with closing(apsw.Connection(str(store))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert cli("add", "--sample").code == 0


def test_two_that_make_the_same_file(home: Path) -> None:
    """Whoever is second takes the file of the first."""
    workspace = Workspace.locate(home)
    upgrade = Schema.upgrade
    seconds: list[Conversations] = []

    def overtaken(self: Schema, connection: apsw.Connection, **kwargs: int) -> None:
        upgrade(self, connection, **kwargs)
        if not seconds:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Schema, "upgrade", upgrade)
                seconds.append(Conversations.open(workspace))
                seconds[0].new("of the second")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Schema, "upgrade", overtaken)
        first = Conversations.open(workspace)
    assert [one.title for one in first.list()] == ["of the second"]
    first.close()
    seconds[0].close()
