"""Stores, indexes and settings that are damaged, of another version, full or read-only."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from localrag.corpus.database import connect

from ...patience import PATIENCE

Cli = Callable[..., Any]


def store(home: Path) -> Path:
    return home / "corpora" / "main" / "corpus.sqlite"


def generation(home: Path) -> Path:
    root = home / "indexes" / "main" / "bm25"
    return root / (root / "current").read_text().strip()


def into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def garbage_inside(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + os.urandom(len(content) - 8192) + content[-4096:])


def no_longer_text(path: Path) -> None:
    """What SQLite says of it cannot be decoded."""
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE works", b"CREATE T\xf1BLE works"))


def of_version_999(path: Path) -> None:
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")


STORES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "empty": (lambda path: os.truncate(path, 0), "is empty", "localrag add"),
    "truncated": (lambda path: os.truncate(path, 40_000), "is damaged", "add the documents"),
    "garbage": (lambda path: path.write_bytes(b"x" * 9000), "is damaged", "back a copy"),
    "garbage inside": (garbage_inside, "is damaged", "back a copy"),
    "in its own words": (no_longer_text, "is damaged", "back a copy"),
    "a folder": (into_a_folder, "is a folder", "Move it away"),
    "newer": (of_version_999, "has version 999", "written by a newer localrag"),
}


@pytest.mark.parametrize(("damage", "cause", "cure"), STORES.values(), ids=STORES)
def test_a_store_that_cannot_be_used(
    cli: Cli,
    sample: Path,
    refused: Callable[..., None],
    damage: Callable[[Path], object],
    cause: str,
    cure: str,
) -> None:
    shutil.copytree(sample / "indexes", sample.parent / "before")
    damage(store(sample))
    for arguments in (
        ["search", "渡し守"],
        ["ask", "渡し守の資格は何か。"],
        ["show", "渡し舟法8条"],
        ["list", "main"],
        ["index"],
        ["remove", "599AC0000000001"],
    ):
        refused(cli(*arguments), 5, "corpus.sqlite", cause, cure)
    doctor = cli("doctor", "--json")
    assert doctor.code == 5
    finding = next(f for f in doctor.json if f["check"] == "store main")
    assert cause in finding["detail"]
    for path in (sample.parent / "before").rglob("*"):
        assert (sample / "indexes" / path.relative_to(sample.parent / "before")).exists()


def test_a_text_that_was_changed_in_the_store_is_told(cli: Cli, sample: Path) -> None:
    path = store(sample)
    content = path.read_bytes()
    old, new = "渡し守の資格".encode(), "渡し守の死角".encode()
    assert content.count(old)
    assert len(old) == len(new)
    path.write_bytes(content.replace(old, new, 1))
    doctor = cli("doctor", "--json")
    assert doctor.code == 5
    finding = next(f for f in doctor.json if f["check"] == "store main")
    assert "its content has changed since it was written" in finding["detail"]
    assert "put back a copy of it" in finding["cure"]


@pytest.mark.parametrize(
    ("table", "column", "value", "shown"),
    [
        ("passages", "header", "'渡し舟法 第九条'", ["show", "599AC0000000001#8"]),
        ("passages", "header", "'渡し舟法 第九条'", ["search", "渡し守の資格"]),
        ("passages", "start", "start + 1", ["search", "渡し守の資格"]),
        ("documents", "title", "'渡し船法'", ["list", "main"]),
        ("edges", "name", "'他の法律'", ["show", "599AC0000000001#8"]),
    ],
)
def test_a_row_that_was_changed_in_the_store_is_told(
    cli: Cli, sample: Path, table: str, column: str, value: str, shown: list[str]
) -> None:
    with closing(connect(store(sample))) as connection:
        connection.execute(f"UPDATE {table} SET {column} = {value}")
    told = cli(*shown)
    assert told.code == 5
    assert "is not as it was stored)" in told.err
    assert told.out == ""
    finding = next(f for f in cli("doctor", "--json").json if f["check"] == "store main")
    assert "are not as they were stored" in finding["detail"]


@pytest.mark.parametrize("shown", [["show", "599AC0000000001#8"], ["search", "渡し守の資格"]])
def test_a_text_that_was_changed_in_the_store_is_not_shown(
    cli: Cli, sample: Path, shown: list[str]
) -> None:
    path = store(sample)
    path.write_bytes(path.read_bytes().replace("渡し守".encode(), "渡し船".encode()))
    told = cli(*shown)
    assert told.code == 5
    assert "is damaged (its content has changed since it was written)" in told.err
    assert told.out == ""


def test_a_text_that_is_no_text_any_more_is_told_as_damage(cli: Cli, sample: Path) -> None:
    """The words of the database would quote all of it, garbled."""
    path = store(sample)
    content, old = path.read_bytes(), "渡し守の資格".encode()
    path.write_bytes(content.replace(old, b"\xff" + old[1:]))
    told = cli("search", "渡し守の資格")
    assert told.code == 5
    assert "is damaged (its content has changed since it was written)" in told.err
    assert "\ufffd" not in told.err


def garbage_of_the_same_size(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name != "manifest.json":
            path.write_bytes(os.urandom(path.stat().st_size))


def largest(folder: Path) -> Path:
    return max(folder.iterdir(), key=lambda path: path.stat().st_size)


def of_format_99(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))


INDEXES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another version": (of_format_99, "format 99"),
    "truncated manifest": (lambda f: os.truncate(f / "manifest.json", 20), "manifest.json"),
    "manifest that is a folder": (lambda f: into_a_folder(f / "manifest.json"), "manifest.json"),
    "missing file": (lambda f: largest(f).unlink(), "missing"),
    "truncated file": (lambda f: os.truncate(largest(f), 7), "7 bytes instead of"),
    "file that is a folder": (lambda f: into_a_folder(largest(f)), "damaged"),
    "garbage": (garbage_of_the_same_size, "has changed"),
    "generation gone": (shutil.rmtree, "no usable index"),
}


@pytest.mark.parametrize(("damage", "cause"), INDEXES.values(), ids=INDEXES)
def test_an_index_that_cannot_be_used_is_made_anew(
    cli: Cli,
    kept: Path,
    refused: Callable[..., None],
    damage: Callable[[Path], object],
    cause: str,
) -> None:
    damage(generation(kept))
    for verb in ("search", "ask"):
        refused(cli(verb, "渡し守の資格は何か。"), 5, "'main'", cause, "localrag index")
    assert cli("show", "渡し舟法8条").code == 0, "no index is needed"
    doctor = cli("doctor", "--json")
    assert doctor.code == 5
    cure = next(f for f in doctor.json if f["check"] == "index main")["cure"].split()
    assert cure[0] == "localrag"
    assert cli(*cure[1:]).code == 0, "what the doctor prescribes mends it"
    assert cli("search", "渡し守").code == 0


@pytest.mark.parametrize("place", ["indexes", "indexes/main/bm25", "indexes/main/bm25/current"])
def test_something_else_in_the_place_of_the_index(
    cli: Cli, kept: Path, refused: Callable[..., None], place: str
) -> None:
    path = kept / place
    aside = kept.parent / "aside"
    path.rename(aside)
    if aside.is_dir():
        path.write_text("")
    else:
        (path / "x").mkdir(parents=True)
    if path.name == "current":  # The index itself is there, and is found without its pointer.
        assert cli("search", "渡し守").code == 0
        refused(cli("index", "--rebuild"), 7, "current", "permissions", "localrag index")
    else:
        refused(cli("search", "渡し守"), 5, "no usable index", "localrag index")
        refused(cli("index"), 7, place.split("/")[-1], "permissions", "localrag index")
        assert cli("list", "--json").json[0]["index"] == "missing"
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    aside.rename(path)


SETTINGS = {
    "no TOML": (b"retrieval = [", "localrag.toml cannot be read", "Mend the line"),
    "unknown key": (b"[retrieval]\nkk = 3", "'retrieval.kk'", "Did you mean 'retrieval.k'?"),
    "wrong type": (b'[retrieval]\nk = "many"', "retrieval.k = 'many'", "localrag config"),
    "value for a section": (b"retrieval = 5", "'retrieval'", "Did you mean 'retrieval.k'?"),
    "out of range": (b"[ingest]\nworkers = -1", "ingest.workers = -1", "localrag config"),
    "key twice": (b'corpus = "a"\ncorpus = "b"', "localrag.toml cannot be read", "Mend the line"),
    "other encoding": ('corpus = "法"'.encode("cp932"), "localrag.toml", "Mend the line"),
}


@pytest.mark.parametrize(("content", "cause", "cure"), SETTINGS.values(), ids=SETTINGS)
def test_settings_that_are_not_valid(
    cli: Cli,
    kept: Path,
    refused: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    cause: str,
    cure: str,
) -> None:
    monkeypatch.delenv("LOCALRAG_INGEST__WORKERS")  # It would hide what the file says.
    settings = kept / "localrag.toml"
    before = settings.read_bytes()
    settings.write_bytes(content)
    for verb in (["search", "渡し守"], ["add", "--sample"], ["index"], ["config"]):
        refused(cli(*verb), 5, "localrag.toml", cause, cure)
    assert cli("doctor").code == 5
    settings.write_bytes(before)


@pytest.mark.parametrize(
    ("variable", "value", "cause"),
    [
        ("LOCALRAG_RETRIEVAL__K", "many", "LOCALRAG_RETRIEVAL__K: retrieval.k = 'many'"),
        ("LOCALRAG_INGEST__WORKERS", "-3", "LOCALRAG_INGEST__WORKERS: ingest.workers = '-3'"),
        ("LOCALRAG_RETREIVAL__K", "3", "LOCALRAG_RETREIVAL__K: there is no setting"),
        ("LOCALRAG_CORPUS", "../x", "'../x' cannot be the name of a corpus"),
    ],
)
def test_an_environment_that_is_not_valid(
    cli: Cli,
    kept: Path,
    refused: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    cause: str,
) -> None:
    with monkeypatch.context() as environment:
        environment.setenv(variable, value)
        outcome = cli("search", "渡し守")
    refused(outcome, 2 if "../x" in cause else 5, cause)


def test_a_file_in_the_place_of_the_workspace(
    cli: Cli, home: Path, refused: Callable[..., None]
) -> None:
    home.write_text("mine")
    for verb in (["list"], ["add", "--sample"], ["search", "舟"], ["index"]):
        refused(cli(*verb), 5, str(home), "is a file", "--home")
    refused(cli("init"), 7, str(home), "--home")
    assert cli("doctor").code == 5
    assert home.read_text() == "mine"


def test_a_copy_of_a_corpus_made_by_hand(cli: Cli, kept: Path) -> None:
    shutil.copytree(kept / "corpora" / "main", kept / "corpora" / "main - copy")
    assert [row["corpus"] for row in cli("list", "--json").json] == ["main"]
    assert cli("doctor").code == 0


def test_a_read_only_workspace(
    restricted: Callable[..., Any], refused: Callable[..., None], kept: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.txt").write_text("灯台である。", encoding="utf-8")
    folders = [path for path in (kept, *kept.rglob("*")) if path.is_dir()]
    for path in kept.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    kept.chmod(0o555)
    try:
        found, answered, shown, *changed = restricted(
            ["search", "渡し守の資格"],
            ["ask", "渡し守の資格は何か。"],
            ["show", "渡し舟法8条"],
            ["add", str(tmp_path / "new.txt")],
            ["index"],
            ["remove", "--all", "--yes"],
        )
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert "第七条" in found.out
    assert (answered.code, shown.code) == (0, 0)
    for outcome in changed:
        refused(outcome, 7, "cannot be written (Permission denied)", "permissions")


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from localrag.doors.cli.main import run
if __name__ == "__main__":
    sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize(
    ("arguments", "limit"),
    [(["add"], 600_000), (["index", "--rebuild"], 60_000)],
)
def test_a_full_disk(
    kept: Path, many: Path, refused: Callable[..., None], arguments: list[str], limit: int
) -> None:
    if arguments == ["add"]:
        arguments = ["add", str(many)]
    script = kept.parent / "full.py"
    script.write_text(FULL)
    finished = subprocess.run(
        [sys.executable, str(script), str(limit), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    outcome = SimpleNamespace(code=finished.returncode, out=finished.stdout, err=finished.stderr)
    refused(outcome, 7, "cannot be", "disk")
