"""Databases that another program has opened after their writer was killed: `doctor --mend`."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from localrag.corpus.database import version
from localrag.corpus.store import CORPUS, CorpusStore
from localrag.corpus.types import Document
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query

Cli = Callable[..., Any]


def killed(path: Path) -> None:
    """Keep a database as it is now, its log included, whatever its writer does with it later."""
    for file in path.parent.glob(f"{path.name}*"):
        shutil.copy(file, file.with_name(f"{file.name}.kept"))


def opened_by_another(path: Path, change: str = "") -> None:
    """What `killed` kept, opened and closed by a program that knows no checksums."""
    for file in path.parent.glob(f"{path.name}*.kept"):
        file.replace(file.with_name(file.name.removesuffix(".kept")))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    with closing(apsw.Connection(str(path), vfs="unix")) as connection:
        connection.execute(change or "SELECT count(*) FROM sqlite_schema").fetchall()


@pytest.fixture
def store(sample: Path) -> Path:
    """The store of the sample corpus, whose last writer was killed."""
    path = Workspace(sample).corpus("main").store
    with CorpusStore.open(path) as corpus:
        corpus.add(
            Document(id="後", title="後", kind="text", text="後から加えた。" * 900, source="")
        )
        killed(path)
    return path


def findings(cli: Cli, *options: str) -> dict[str, tuple[str, str]]:
    found = cli("doctor", *options, "--json").json
    return {one["check"]: (one["health"], one["detail"]) for one in found}


def test_a_store_gets_its_checksums_again(cli: Cli, store: Path) -> None:
    before = cli("search", "渡し守", "--json").json["hits"]
    opened_by_another(store)
    refused = cli("list", "main")
    assert refused.code == 5
    assert "localrag doctor --mend" in refused.err
    assert findings(cli)["store main"][0] == "broken"
    mended = cli("doctor", "--mend")
    assert "its checksums were written again" in mended.out
    assert findings(cli)["store main"] == ("good", "sound, 13 documents")
    assert cli("index").code == 0
    assert cli("search", "渡し守", "--json").json["hits"] == before
    with CorpusStore.open(store, read_only=True) as corpus:
        assert corpus.text("後").startswith("後から加えた。")


def test_what_another_program_has_changed_gets_none(cli: Cli, store: Path) -> None:
    opened_by_another(store, "UPDATE blocks SET text = replace(text, '渡し守', '渡し船')")
    for _ in range(2):
        health, detail = findings(cli, "--mend")["store main"]
        assert health == "broken"
    assert "changed" in detail
    assert cli("search", "渡し守").code == 5


def test_conversations_get_their_checksums_again(
    cli: Cli, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(sample)
    with Conversations.open(workspace) as kept:
        talk = kept.new("渡し舟")
        for number in range(30):
            kept.begin(talk.id, Query(f"{number}番目の質問" * 99), "main", "", "")
        killed(workspace.conversations)
    opened_by_another(workspace.conversations)
    assert findings(cli)["conversations"][0] == "broken"
    assert findings(cli, "--mend")["conversations"] == ("good", "sound, 1 conversations")
    with Conversations.open(workspace) as kept:
        assert len(kept.turns(talk.id)) == 30


def test_words_written_into_the_log_by_another_program_are_told(cli: Cli, sample: Path) -> None:
    workspace = Workspace(sample)
    with Conversations.open(workspace) as kept:
        talk = kept.new("渡し舟")
        kept.begin(talk.id, Query("水位は？"), "main", "", "")
        with closing(apsw.Connection(str(workspace.conversations), vfs="unix")) as connection:
            connection.execute("UPDATE turns SET query = replace(query, '水', '氷')")
    for options in ((), ("--mend",)):
        health, detail = findings(cli, *options)["conversations"]
        assert (health, detail) == ("broken", "This question is damaged.")


def test_what_has_no_mark_is_derived_anew(cli: Cli, store: Path) -> None:
    opened_by_another(store, "UPDATE documents SET shown_until = '2000-01-01'")
    assert findings(cli, "--mend")["store main"] == ("good", "sound, 13 documents")


def test_an_older_store_is_no_damage_to_mend(cli: Cli, home: Path) -> None:
    path = Workspace(home).corpus("main").store
    path.parent.mkdir(parents=True)
    with closing(apsw.Connection(str(path))) as old:
        CORPUS.upgrade(old, until=9)
    assert "older version 9" in findings(cli, "--mend")["store main"][1]
    with closing(apsw.Connection(str(path))) as old:
        assert version(old) == 9
