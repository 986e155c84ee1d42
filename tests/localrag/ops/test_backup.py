"""Backups: made in use, put back as a whole, refused by name where anything is wrong."""

import errno
import io
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.durable import locked
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace, writing
from localrag.errors import BusyError, InputError, StorageError, UsageError
from localrag.ops.backup import back_up, restore, restore_corpus
from localrag.ops.conversations.store import Conversations

Cli = Callable[..., Any]
Members = list[tuple[str, bytes]]


@pytest.fixture
def backed_up(sample: Path, tmp_path: Path) -> Path:
    """A backup of the sample corpus and a conversation."""
    workspace = Workspace.locate()
    (sample / "models" / "weights").write_text("large")
    with Conversations.open(workspace) as conversations:
        conversations.new("舟")
        # Made while the workbench is open, whose last words are in the log alone.
        report = back_up(workspace, tmp_path / "law.tar")
    assert report.files > 5
    return report.file


def test_a_backup_is_put_back(cli: Cli, sample: Path, backed_up: Path) -> None:
    before = cli("search", "渡し守", "--json").json["hits"]
    assert cli("remove", "599AC0000000001").code == 0
    (sample / "localrag.toml").write_text("[[", "utf-8")
    restored = cli("restore", str(backed_up), "--yes", "--json")
    assert restored.code == 0, restored.err
    assert cli("search", "渡し守", "--json").json["hits"] == before
    assert (sample / "models" / "weights").read_text() == "large", "models stay"
    with Conversations.open(Workspace.locate()) as conversations:
        assert [one.title for one in conversations.list()] == ["舟"]
    findings = {found["check"]: found["health"] for found in cli("doctor", "--json").json}
    assert findings["store main"] == findings["index main"] == findings["access"] == "good"
    assert (Path(restored.json["before"]) / "localrag.toml").read_text() == "[["


def test_into_a_workspace_that_is_not_there(cli: Cli, backed_up: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "home"
    restored = cli("--home", str(other), "restore", str(backed_up))
    assert restored.code == 0, restored.err
    assert "渡し守" in cli("--home", str(other), "search", "渡し守").out
    assert [path.name for path in other.parent.iterdir()] == ["home"]


def test_a_store_that_is_being_written(sample: Path, tmp_path: Path) -> None:
    """What stands in it is what was committed, and the writer is not held up."""
    workspace = Workspace.locate()
    place = workspace.corpus("main")
    with writing(place), CorpusStore.open(place.store) as store:
        with store.transaction():
            store.remove("599AC0000000001")
            back_up(workspace, tmp_path / "law.tar")
        with pytest.raises(BusyError, match="'main'"):
            restore(workspace, tmp_path / "law.tar")
    restore(Workspace(tmp_path / "home"), tmp_path / "law.tar")
    with CorpusStore.open(Workspace(tmp_path / "home").corpus("main").store) as store:
        assert store.check() == []
        assert "599AC0000000001" in [document.id for document in store.documents()]
    with CorpusStore.open(place.store) as store:
        assert "599AC0000000001" not in [document.id for document in store.documents()]


def test_what_is_in_the_log_alone_is_sound_in_the_copy(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    """Pages of a log have no checksums."""
    workspace, text = Workspace.locate(), "渡し舟の話。" * 500
    with Conversations.open(workspace) as conversations:
        for number in range(300):
            conversations.new(f"{number} {text}")
        assert workspace.conversations.with_name("conversations.sqlite-wal").stat().st_size > 1e6
        made = back_up(workspace, tmp_path / "law.tar").file
    assert cli("--home", str(tmp_path / "other"), "restore", str(made)).code == 0
    with Conversations.open(Workspace(tmp_path / "other"), read_only=True) as restored:
        assert len(restored.list()) == 300
        assert restored.check() == []


def test_a_database_that_is_damaged_is_not_copied(cli: Cli, sample: Path, tmp_path: Path) -> None:
    workspace = Workspace.locate()
    with Conversations.open(workspace) as conversations:
        conversations.new("渡し舟")
    content = workspace.conversations.read_bytes()
    workspace.conversations.write_bytes(content.replace("渡し舟".encode(), "渡し船".encode()))
    told = cli("backup", str(tmp_path / "law.tar"))
    assert told.code == 5
    assert "cannot be copied (its content has changed since it was written)" in told.err
    assert "localrag doctor" in told.err
    assert not (tmp_path / "law.tar").exists()


def test_what_a_killed_restore_left_is_removed_by_the_next(sample: Path, backed_up: Path) -> None:
    workspace = Workspace.locate()
    left = workspace.restoring / "work" / "unpacked"
    left.mkdir(parents=True)
    (left / "corpus.sqlite").write_text("half")
    lock = workspace.restoring / "lock"
    with locked(lock, BusyError("")), pytest.raises(BusyError, match="Another"):
        restore(workspace, backed_up)
    restore(workspace, backed_up)
    assert not (sample / "corpus.sqlite").exists()
    assert not list(sample.parent.glob(".home*"))


@pytest.mark.parametrize("renamed", [1, 2, 3])
def test_a_restore_killed_between_its_renames(
    cli: Cli, sample: Path, backed_up: Path, renamed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is killed, the next one ends with the models, and with what was there before."""
    (sample / "mine").write_text("before")
    rename, done = Path.rename, []

    def killed(path: Path, target: Path) -> Path:
        if len(done) == renamed:
            os._exit(9)
        done.append(path)
        return rename(path, target)

    process = os.fork()
    if not process:
        monkeypatch.setattr(Path, "rename", killed)
        restore(Workspace.locate(), backed_up)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code == (9 if renamed < 3 else 0)
    if renamed == 1:
        searched = cli("search", "渡し守")
        assert searched.code == 5
        assert "run localrag restore again" in searched.err
    restore(Workspace.locate(), backed_up)
    assert (sample / "models" / "weights").read_text() == "large"
    assert "渡し守" in cli("search", "渡し守").out
    asides = list(sample.parent.glob("home.before-*"))
    assert [one for one in asides if (one / "mine").exists()]
    assert not list(sample.parent.glob(".home*"))


@pytest.mark.parametrize(
    ("moved", "problem", "cure", "unfit"),
    [
        ("home", errno.EBUSY, "a mounted disk", "space"),
        ("home", errno.EXDEV, "on another file system", "space"),
        ("home", errno.EACCES, "mend the permissions", "mounted"),
        ("home", errno.ENOSPC, "Free some space", "permissions"),
        ("models", errno.EBUSY, "a mounted disk", "space"),
    ],
)
def test_a_workspace_that_cannot_be_moved_stays(
    sample: Path,
    backed_up: Path,
    monkeypatch: pytest.MonkeyPatch,
    moved: str,
    problem: int,
    cure: str,
    unfit: str,
) -> None:
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == moved:
            raise OSError(problem, os.strerror(problem), str(path))
        return rename(path, target)

    (sample / "mine").write_text("before")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(StorageError, match=os.strerror(problem)) as caught:
            restore(Workspace.locate(), backed_up)
    assert cure in caught.value.cure
    assert unfit not in caught.value.cure
    assert (sample / "models" / "weights").read_text() == "large"
    assert (sample / "mine").read_text() == "before"
    assert [path.name for path in sample.parent.glob("*home*")] == [sample.name]


def test_what_a_killed_backup_of_an_older_version_left_goes_into_no_other(
    sample: Path, tmp_path: Path
) -> None:
    corpora = sample / "corpora"
    (corpora / "main" / ".0123456789abcdef.snapshot").write_text("half a database")
    # What a corpus is called says nothing of it.
    shutil.copytree(corpora / "main", corpora / "mine.snapshot")
    with tarfile.open(back_up(Workspace.locate(), tmp_path / "law.tar").file) as tar:
        names = tar.getnames()
    assert not [name for name in names if name.endswith(".snapshot")]
    assert "corpora/mine.snapshot/corpus.sqlite" in names


def test_what_a_killed_backup_left_is_removed_by_the_next(sample: Path, tmp_path: Path) -> None:
    work = tmp_path / ".law.tar.backing-up" / "work"
    work.mkdir(parents=True)
    (work / "snapshot").write_text("words of documents")
    with (
        locked(work.with_name("lock"), BusyError("")),
        pytest.raises(BusyError, match="makes this backup"),
    ):
        back_up(Workspace.locate(), tmp_path / "law.tar")
    back_up(Workspace.locate(), tmp_path / "law.tar")
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(StorageError, match="No such file"):
        back_up(Workspace.locate(), tmp_path / "missing" / "law.tar")
    assert not (tmp_path / "missing").exists()


def test_a_token_that_was_withdrawn_since_stays_withdrawn(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    tokens = sample / "tokens.toml"
    tokens.write_text("[office]\n[guest]\n")
    back_up(Workspace.locate(), tmp_path / "law.tar")
    tokens.write_text("[office]\n")
    restored = cli("restore", str(tmp_path / "law.tar"), "--yes")
    assert tokens.read_text() == "[office]\n"
    assert "2 of the backup are left out" in restored.err
    tokens.unlink()
    restored = cli("restore", str(tmp_path / "law.tar"), "--yes")
    assert "2 tokens of localrag serve are valid again" in restored.err
    assert str(tokens) in restored.err
    assert "guest" in tokens.read_text()
    assert cli("restore", str(tmp_path / "law.tar"), "--yes", "--json").json["tokens"] == 0


def members(path: Path) -> Members:
    with tarfile.open(path) as tar:
        return [(one.name, tar.extractfile(one).read()) for one in tar]  # type: ignore[union-attr]


def write(path: Path, content: Members) -> None:
    with tarfile.open(path, "w") as tar:
        for name, data in content:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def flipped(name: str) -> Callable[[Members], Members]:
    def flip(content: Members) -> Members:
        return [(n, bytes([d[0] ^ 1]) + d[1:] if n.endswith(name) else d) for n, d in content]

    return flip


SPOILED: dict[str, tuple[Callable[[Members], Members], str]] = {
    "store": (flipped("corpus.sqlite"), "corpora/main/corpus.sqlite is damaged"),
    "conversations": (flipped("conversations.sqlite"), "conversations.sqlite is damaged"),
    "index": (flipped("meta.json"), "meta.json is damaged"),
    "settings": (flipped("localrag.toml"), "localrag.toml is damaged"),
    "a file less": (lambda m: m[1:], "is missing"),
    "a file more": (lambda m: [("more.txt", b"x"), *m], "more.txt is missing, or not in"),
    "no manifest": (lambda m: m[:-1], "its end is missing"),
    "out of it": (lambda m: [("../evil", b"x"), *m], r"\.\./evil does not belong in a backup"),
    "absolute": (lambda m: [("/etc/evil", b"x"), *m], "/etc/evil does not belong"),
    "no name": (lambda m: [("", b"x"), *m], ":  does not belong in a backup"),
    "a dot": (lambda m: [(".", b"x"), *m], r": \. does not belong in a backup"),
    "a folder as a file": (lambda m: [("./corpora", b"x"), *m], "corpora does not belong"),
    "a model": (lambda m: [("models/evil", b"x"), *m], "models/evil does not belong"),
    "twice": (lambda m: [m[0], *m], "is in it twice"),
    "behind the end": (lambda m: [*m, ("late", b"x")], "late is after the end"),
    "empty manifest": (lambda m: [*m[:-1], ("manifest.json", b"{}")], "manifest is damaged"),
    "newer": (
        lambda m: [*m[:-1], (m[-1][0], m[-1][1].replace(b'"format": 1', b'"format": 9'))],
        "format 9",
    ),
}


@pytest.mark.parametrize(("spoil", "cause"), SPOILED.values(), ids=SPOILED)
def test_a_spoiled_backup_is_refused_by_name(
    sample: Path, backed_up: Path, spoil: Callable[[Members], Members], cause: str
) -> None:
    write(backed_up, spoil(members(backed_up)))
    before = sorted(path.name for path in sample.parent.iterdir())
    with pytest.raises(InputError, match=cause):
        restore(Workspace.locate(), backed_up)
    assert sorted(path.name for path in sample.parent.iterdir()) == before
    with CorpusStore.open(Workspace.locate().corpus("main").store) as store:
        assert store.extent().documents == 12


def test_what_is_no_backup_at_all(sample: Path, backed_up: Path, tmp_path: Path) -> None:
    workspace = Workspace.locate()
    linked = tmp_path / "linked.tar"
    with tarfile.open(linked, "w") as tar:
        info = tarfile.TarInfo("corpora")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(info)
    cut = tmp_path / "cut.tar"
    cut.write_bytes(backed_up.read_bytes()[:100_000])
    text = tmp_path / "text.tar"
    text.write_text("no tar" * 1_000)
    for path, cause in (
        (linked, "corpora does not belong in a backup"),
        (cut, "is not a backup, or is damaged"),
        (text, "is not a backup, or is damaged"),
        (tmp_path / "none.tar", "cannot be read"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(InputError, match=cause):
            restore(workspace, path)
    assert not list(sample.parent.glob(".home*"))


def test_a_sparse_file_that_would_fill_the_disk(sample: Path, tmp_path: Path) -> None:
    """GNU tar and PAX write a file of holes as a few bytes."""
    for name in ("more.txt", "manifest.json"):
        path = tmp_path / f"{name}.tar"
        info = tarfile.TarInfo(name)
        info.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(3 << 30)}
        info.size = 1
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
            tar.addfile(info, io.BytesIO(b"x"))
        with pytest.raises(InputError, match=r"more.txt does not belong|manifest is damaged"):
            restore(Workspace.locate(), path)


def test_places_where_no_backup_can_lie(sample: Path, tmp_path: Path) -> None:
    for path in (sample / "law.tar", tmp_path):
        with pytest.raises(UsageError, match="cannot be the file of the backup"):
            back_up(Workspace.locate(), path)


def test_a_disk_that_is_full(sample: Path, backed_up: Path, small_disk: Any) -> None:
    workspace = Workspace.locate()
    target = small_disk.folder / "law.tar"
    target.write_text("the one before")
    small_disk.fill()
    with pytest.raises(StorageError, match="No space left"):
        back_up(workspace, target, force=True)
    assert target.read_text() == "the one before"
    home = small_disk.folder / "home"
    with pytest.raises(StorageError, match="No space left"):
        restore(Workspace(home), backed_up)
    assert sorted(path.name for path in small_disk.folder.iterdir()) == ["filling", "law.tar"]
    small_disk.make_room()
    restore(Workspace(home), backed_up)
    shutil.rmtree(home)


def test_nobody_is_asked_in_a_script(cli: Cli, backed_up: Path) -> None:
    refused = cli("restore", str(backed_up))
    assert refused.code == 2
    assert "--yes" in refused.err


def test_one_corpus_alone(sample: Path, tmp_path: Path) -> None:
    workspace = Workspace.locate()
    whole = back_up(workspace, tmp_path / "law.tar").file
    alone = back_up(workspace, tmp_path / "main.tar", "main").file
    assert {name.split("/")[0] for name, _ in members(alone)} == {
        "corpora",
        "indexes",
        "manifest.json",
    }
    with pytest.raises(InputError, match="it has the corpus 'main' alone"):
        restore(workspace, alone)
    with pytest.raises(InputError, match="is not a backup of one corpus"):
        restore_corpus(workspace, whole)
    write(alone, flipped("corpus.sqlite")(members(alone)))
    with pytest.raises(InputError, match=r"corpus.sqlite is damaged"):
        restore_corpus(workspace, alone)
    assert workspace.corpora() == ["main"]
    assert not list(sample.parent.glob(".home*"))


def test_what_a_killed_writer_has_stored_is_set_aside(sample: Path, tmp_path: Path) -> None:
    workspace = Workspace.locate()
    alone = back_up(workspace, tmp_path / "main.tar", "main").file
    restore_corpus(workspace, alone)
    store = workspace.corpus("main").store
    with CorpusStore.open(store) as corpus:
        corpus.remove("599AC0000000001")
        log = store.with_name("corpus.sqlite-wal").read_bytes()
        content = store.read_bytes()
    store.write_bytes(content)
    store.with_name("corpus.sqlite-wal").write_bytes(log)
    before = restore_corpus(workspace, alone).before
    assert before is not None
    with CorpusStore.open(before / "corpus.sqlite") as corpus:
        assert "599AC0000000001" not in [document.id for document in corpus.documents()]


def test_no_file_is_replaced_that_is_no_backup(cli: Cli, sample: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.tar"
    letter.write_text("dear client")
    refused = cli("backup", str(letter))
    assert (refused.code, letter.read_text()) == (2, "dear client")
    assert "--force" in refused.err
    with tarfile.open(tmp_path / "photos.tar", "w") as other:
        other.add(letter, "letter")
    assert cli("backup", str(tmp_path / "photos.tar")).code == 2
    assert cli("backup", str(letter), "--force").code == 0
    assert cli("backup", str(letter)).code == 0, "an earlier backup makes room"


@pytest.mark.skipif(os.name == "nt", reason="permissions and links are of POSIX")
def test_a_backup_is_its_owners_alone_and_follows_no_link(
    cli: Cli, backed_up: Path, tmp_path: Path
) -> None:
    backed_up.chmod(0o644)
    link = tmp_path / "link.tar"
    link.symlink_to(backed_up)
    before = backed_up.read_bytes()
    assert cli("backup", str(link)).code == 0
    assert (link.is_symlink(), backed_up.read_bytes()) == (False, before)
    assert cli("backup", str(backed_up)).code == 0
    for path in (link, backed_up):
        assert path.stat().st_mode & 0o777 == 0o600
