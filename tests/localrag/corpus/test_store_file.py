"""The file of a store: versions, damage, full disks, several processes."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from localrag.corpus import database
from localrag.corpus.store import CORPUS, CorpusStore
from localrag.corpus.types import Document, Locator
from localrag.errors import BusyError, NotFoundError, StorageError, StoreError

MakeLaw = Callable[..., Document]


def test_a_missing_store_is_not_made_by_accident(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="localrag add"):
        CorpusStore.open(tmp_path / "corpus.sqlite")
    assert not (tmp_path / "corpus.sqlite").exists()


def test_an_older_store_is_lifted_with_everything_in_it(tmp_path: Path, make_law: MakeLaw) -> None:
    path = tmp_path / "old.sqlite"
    old = apsw.Connection(str(path))
    CORPUS.upgrade(old, until=1)
    old.execute(
        "INSERT INTO documents VALUES (7, 'L1', '渡し舟法', 'law', 'L1.xml', NULL, 4, 0, '', '{}')"
    )
    old.execute("INSERT INTO blocks VALUES (7 << 20, '渡し舟法')")
    assert database.version(old) == 1
    old.close()
    with pytest.raises(StoreError, match=r"older version 1.*localrag index"):
        CorpusStore.open(path, read_only=True)
    with CorpusStore.open(path) as store:
        assert store.text("L1") == "渡し舟法"
        assert store.references_from("L1", Locator()) == []
        assert store.links_generation == -1
        store.add(make_law("L2", "乙法", ["1"]))
        assert store.check() == []
    with CorpusStore.open(path, read_only=True) as store:
        assert [d.id for d in store.documents()] == ["L1", "L2"]


def test_upgrades_end_with_the_tables_of_a_new_store(tmp_path: Path) -> None:
    def tables(*stops: int) -> list[str]:
        connection = apsw.Connection(":memory:")
        for stop in stops:
            CORPUS.upgrade(connection, until=stop)
        found = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
        connection.close()
        return [sql for (sql,) in found]

    assert tables(*range(1, CORPUS.version + 1)) == tables(CORPUS.version)


def test_a_failing_upgrade_leaves_the_old_version(tmp_path: Path) -> None:
    bad = tmp_path / "9999_bad.sql"
    bad.write_text("CREATE TABLE fine (x); CREATE TABLE documents (x);")
    newer = replace(CORPUS, upgrades=(*CORPUS.upgrades, bad))
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError, match="already exists"):
        newer.upgrade(connection)
    assert database.version(connection) == CORPUS.version
    names = connection.execute("SELECT name FROM sqlite_master WHERE name = 'fine'").fetchall()
    connection.close()
    assert names == []


def test_a_newer_store_is_refused(store: CorpusStore) -> None:
    store.close()
    with closing(database.connect(store.path)) as connection:
        connection.execute(f"PRAGMA user_version = {CORPUS.version + 1}")
    with pytest.raises(StoreError, match=f"version {CORPUS.version + 1}.*newer localrag"):
        CorpusStore.open(store.path)


def test_another_sqlite_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE photos (x)")
    with pytest.raises(StoreError, match="not a corpus store"):
        CorpusStore.open(path)


@pytest.mark.parametrize("content", [b"no database at all " * 100, b"\x00" * 5000])
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "corpus.sqlite"
    path.write_bytes(content)
    for read_only in (True, False):
        with pytest.raises(StoreError, match="damaged"):
            CorpusStore.open(path, read_only=read_only)


def test_damage_inside_is_an_error_and_found_by_check(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    for number in range(120):
        store.add(make_law(f"L{number}", "渡し舟法", [str(n) for n in range(1, 40)]))
    store.checkpoint()
    store.close()
    content = bytearray(store.path.read_bytes())
    half = len(content) // 2
    content[half:] = b"\xff" * (len(content) - half)
    store.path.write_bytes(content)
    with CorpusStore.open(store.path, read_only=True) as damaged:
        assert damaged.check()
        with pytest.raises(StoreError, match="damaged"):
            list(damaged.passages())


def test_check_finds_rows_that_belong_nowhere(store: CorpusStore, make_law: MakeLaw) -> None:
    store.add(make_law("L1", "渡し舟法", ["1"]))
    assert store.check() == []
    store.close()
    with closing(database.connect(store.path)) as connection:
        connection.execute("UPDATE blocks SET text = '短い'")
        connection.execute("INSERT INTO blocks VALUES (99 << 20, '', 0)")
        connection.execute("UPDATE passages SET document = 99")
    with CorpusStore.open(store.path) as reopened:
        problems = " ".join(reopened.check())
    assert "1 blocks of no document" in problems
    assert "1 documents whose text is not complete" in problems
    assert "Table passages has rows of no document" in problems


def test_a_text_that_was_changed_is_told_and_not_read(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    for id_ in ("L1", "L2"):
        store.add(make_law(id_, "渡し舟法", ["1"]))
    place = store.read(1).id
    store.close()
    with closing(database.connect(store.path)) as connection:
        connection.execute("UPDATE blocks SET text = replace(text, '渡', '波') WHERE key >> 20 = 1")
    with CorpusStore.open(store.path, read_only=True) as reader:
        for read in (
            lambda: reader.text(place),
            lambda: reader.texts(place, [(0, 2)]),
            lambda: list(reader.passages(document_id=place)),
            lambda: reader.by_keys([1]),
        ):
            with pytest.raises(StoreError, match=f"the text of {place} has changed"):
                read()
        assert reader.text("L2").startswith("渡")
        assert list(reader.altered()) == [place]


def test_a_text_that_is_missing_is_told(store: CorpusStore, make_law: MakeLaw) -> None:
    """Swap two pages of the file, each with its checksum."""
    store.add(make_law("L1", "渡し舟法", ["1"]))
    store.close()
    with closing(database.connect(store.path)) as connection:
        connection.execute("DELETE FROM blocks")
    with CorpusStore.open(store.path, read_only=True) as reader:
        for read in (lambda: reader.texts("L1", [(0, 2)]), lambda: reader.by_keys([1])):
            with pytest.raises(StoreError, match="a part of a text is missing"):
                read()


def test_what_another_program_writes_is_told_and_not_read(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    for number in range(40):
        store.add(make_law(f"L{number}", "渡し舟法", [str(n) for n in range(1, 40)]))
    store.close()
    with closing(apsw.Connection(str(store.path), vfs="unix")) as connection:
        connection.execute("UPDATE blocks SET text = replace(text, '渡', '波') WHERE key >> 20 = 1")
    with CorpusStore.open(store.path, read_only=True) as reader:
        for read in (
            lambda: reader.text("L0"),
            lambda: list(reader.passages(document_id="L0")),
            lambda: reader.by_keys([1]),
        ):
            with pytest.raises(StoreError, match="its content has changed since it was written"):
                read()
        assert reader.text("L39").startswith("渡")
        assert "changed since it was written" in " ".join(reader.check())


def test_a_byte_that_has_changed_anywhere_is_told_by_check(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    store.add(make_law("L1", "渡し舟法", [str(n) for n in range(1, 40)]))
    store.checkpoint()
    store.close()
    whole = store.path.read_bytes()
    pages = len(whole) // 4096
    for page in range(pages):
        place = page * 4096 + page * 4096 // pages
        content = bytearray(whole)
        content[place] ^= 1
        store.path.write_bytes(content)
        try:
            with CorpusStore.open(store.path, read_only=True) as reader:
                problems = reader.check()
        except StoreError as error:
            problems = [str(error)]
        assert problems, place


def test_a_store_that_has_lost_its_checksums_is_refused(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    store.add(make_law("L1", "渡し舟法", ["1"]))
    store.close()
    content = bytearray(store.path.read_bytes())
    content[20] = 0  # Of the bytes at the end of a page, as many as are SQLite's own.
    store.path.write_bytes(content)
    for read_only in (True, False):
        with pytest.raises(StoreError, match=r"its pages have lost their checksums.*doctor --mend"):
            CorpusStore.open(store.path, read_only=read_only)


def test_a_reader_is_not_disturbed_by_a_writer(store: CorpusStore, make_law: MakeLaw) -> None:
    store.add(make_law("L1", "甲法", ["1"]))
    with CorpusStore.open(store.path, read_only=True) as reader, store.transaction():
        store.add(make_law("L2", "乙法", ["1"]))
        assert [d.id for d in reader.documents()] == ["L1"]


def test_a_reader_cannot_write(store: CorpusStore, make_law: MakeLaw) -> None:
    with (
        CorpusStore.open(store.path, read_only=True) as reader,
        pytest.raises(StorageError, match="readonly"),
    ):
        reader.add(make_law("L1", "甲法", ["1"]))


def test_two_writers_without_the_lock_do_not_mix(
    store: CorpusStore, make_law: MakeLaw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_PATIENCE", 50)
    with (
        CorpusStore.open(store.path) as other,
        store.transaction(),
        pytest.raises(BusyError, match="Another process"),
    ):
        other.add(make_law("L1", "甲法", ["1"]))


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path, make_law: MakeLaw) -> None:
    file = database.Database(tmp_path / "full.sqlite", CORPUS, create=True)
    with CorpusStore(file) as store:
        store.add(make_law("L1", "甲法", ["1"]))
        pages = file.rows("PRAGMA page_count")[0][0]
        file.rows(f"PRAGMA max_page_count = {pages + 2}")
        large = make_law("L3", "丙法", [str(n) for n in range(1, 5000)])
        with pytest.raises(StorageError, match="is full"):
            add_together(store, make_law("L2", "乙法", ["1"]), large)
        file.rows("PRAGMA max_page_count = 1000000")
        assert [d.id for d in store.documents()] == ["L1"]
        store.add(make_law("L2", "乙法", ["1"]))
        assert store.check() == []


def add_together(store: CorpusStore, *documents: Document) -> None:
    with store.transaction():
        for document in documents:
            store.add(document)


def test_a_closed_store_says_so(store: CorpusStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        list(store.documents())


def test_a_folder_in_the_place_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        CorpusStore.open(tmp_path)


def test_a_place_that_cannot_hold_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="--home"):
        CorpusStore.open(tmp_path / "file" / "corpus.sqlite", create=True)


def test_read_only_media(store: CorpusStore, make_law: MakeLaw, tmp_path: Path) -> None:
    store.add(make_law("L1", "甲法", ["1"]))
    store.close()
    # Like a folder without room for a -shm file: its name is taken.
    store.path.with_name("corpus.sqlite-shm").mkdir()
    with CorpusStore.open(store.path, read_only=True) as opened:
        assert [d.id for d in opened.documents()] == ["L1"]
