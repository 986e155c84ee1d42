"""`doctor` finds what is damaged, and names the cure."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from localrag.corpus.database import connect
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.store import Conversations

ACT, ORDER = "599AC0000000001", "599CO0000000002"
Cli = Callable[..., Any]


def test_doctor_finds_nothing_wrong(cli: Cli, sample: Path) -> None:
    outcome = cli("doctor", "--json")
    assert outcome.code == 0, outcome.out
    checks = {finding["check"]: finding for finding in outcome.json}
    for name in ("python", "sqlite", "dictionary", "tantivy", "workspace", "config", "disk"):
        assert checks[name]["health"] == "good"
    assert checks["store main"]["health"] == checks["index main"]["health"] == "good"
    assert "store main" in cli("doctor").out


def test_doctor_tells_a_corpus_that_was_never_indexed(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    (tmp_path / "a.txt").write_text("舟が出る。", encoding="utf-8")
    cli("add", str(tmp_path / "a.txt"))
    outcome = cli("doctor", "--json")
    assert outcome.code == 0
    (finding,) = [one for one in outcome.json if one["check"] == "index main"]
    assert (finding["health"], finding["detail"]) == ("warning", "not indexed yet")
    assert finding["cure"] == "localrag index --corpus main"


def test_doctor_looks_at_conversations(cli: Cli, sample: Path) -> None:
    def found() -> tuple[str, str, str]:
        checks = {finding["check"]: finding for finding in cli("doctor", "--json").json}
        return tuple(checks["conversations"][key] for key in ("health", "detail", "cure"))

    workspace = Workspace(sample)
    with Conversations.open(workspace) as kept:
        kept.new("渡し舟")
    assert found()[:2] == ("good", "sound, 1 conversations")
    content = workspace.conversations.read_bytes()
    workspace.conversations.write_bytes(content.replace("渡し舟".encode(), "渡し船".encode()))
    health, detail, cure = found()
    assert health == "broken"
    assert "its content has changed since it was written" in detail
    assert cure.startswith("Try localrag doctor --mend. Else put back a copy of it")


def test_doctor_names_the_cure(cli: Cli, sample: Path) -> None:
    victim = max(sample.glob("indexes/main/**/*"), key=lambda path: path.stat().st_size)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 0xFF
    victim.write_bytes(content)
    outcome = cli("doctor")
    assert outcome.code == 5
    assert "localrag index --corpus main" in outcome.out


def test_doctor_finds_the_column_that_a_store_lacks(cli: Cli, sample: Path) -> None:
    with closing(connect(sample / "corpora" / "main" / "corpus.sqlite")) as connection:
        connection.execute("ALTER TABLE passages DROP COLUMN header")
    refused = cli("show", "渡し舟法8条")
    assert refused.code == 5
    assert "localrag doctor" in refused.err
    outcome = cli("doctor", "--json")
    assert outcome.code == 5
    (finding,) = [one for one in outcome.json if one["check"] == "store main"]
    assert (finding["health"], finding["detail"]) == (
        "broken",
        "The store has no passages.header.",
    )
    assert "add the documents to a new corpus" in finding["cure"]


def test_doctor_without_a_workspace(cli: Cli) -> None:
    outcome = cli("doctor", "--json")
    assert outcome.code == 5
    broken = [finding for finding in outcome.json if finding["health"] == "broken"]
    assert [(finding["check"], finding["cure"]) for finding in broken] == [
        ("workspace", "Make it: localrag init")
    ]


def test_a_damaged_store_is_named(cli: Cli, sample: Path) -> None:
    (sample / "corpora" / "main" / "corpus.sqlite").write_bytes(
        b"SQLite format 3\x00" + b"x" * 5000
    )
    for arguments in (["search", "舟"], ["show", "渡し舟法8条"], ["list", "main"]):
        outcome = cli(*arguments)
        assert outcome.code == 5
        assert "corpus.sqlite" in outcome.err
    assert cli("doctor").code == 5
