"""Updating the laws of a corpus: what changes is told, done as a whole, and undone as a whole."""

import gzip
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.update import LawChangeKind, UpdateReport, undo_update, update
from localrag.corpus.rows import prepare
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, NotFoundError, StorageError, StoreError, UsageError
from localrag.search.indexing.index import IndexState, index, index_state

from .conftest import law_xml

WriteLaw = Callable[..., Path]


@pytest.fixture
def corpus(workspace: Workspace, laws: Path, write_law: WriteLaw) -> Workspace:
    """Three laws and a page, indexed."""
    for number in (1, 2, 3):
        write_law(number)
    (laws / "page.md").write_text("# 灯台\n\n白浜灯台は1871年に点灯した。\n", encoding="utf-8")
    add(workspace, "main", [laws])
    index(workspace, "main")
    return workspace


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A newer archive: 1 as it was, 2 amended and corrected, 4 new; 3 is not there any more."""
    path = tmp_path / "all_xml.zip"
    members = {
        "599AC0000000001_20260401": law_xml(1, "舟を出す者", 2),
        "599AC0000000002_20260401": law_xml(2, "舟を出した者", 2),
        "599AC0000000002_20270401": law_xml(2, "渡し守", 3),
        "599AC0000000004_20260401": law_xml(4, "灯台を守る者", 1),
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(f"{name}/{name}.xml", text)
        file.writestr("all_law_list.csv", "法令番号")
        file.writestr("notes.txt", "法令ではない。")
    return path


def content(workspace: Workspace) -> dict[str, str]:
    """Fingerprints of all documents of all states, by their ids."""
    with CorpusStore.open(workspace.corpus("main").store) as store:
        assert store.check() == []
        keys = [state.key for document in store.documents() for state in store.states(document.id)]
        return {rows.id: rows.fingerprint for rows in map(prepare, map(store.read, keys))}


def told(report: UpdateReport) -> list[tuple[str, str, str, str]]:
    return [(one.kind.value, one.law_id[-1], one.earlier, one.state) for one in report.changes]


CHANGES = [
    ("corrected", "2", "", "2026-04-01"),
    ("amended", "2", "2026-04-01", "2027-04-01"),
    ("added", "4", "", "2026-04-01"),
]
REPEALED = ("repealed", "3", "", "2026-04-01")


def test_a_link_in_an_archive_is_told_and_not_followed(
    corpus: Workspace, archive: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.xml"
    outside.write_text("<Law/>", encoding="utf-8")
    folder = tmp_path / "archives"
    folder.mkdir()
    archive.rename(folder / archive.name)
    (folder / "link.xml").symlink_to(outside)
    report = update(corpus, "main", [folder])
    assert [(Path(one.source).name, "is a link" in one.cause) for one in report.passed_over] == [
        ("link.xml", True)
    ]
    with pytest.raises(InputError):
        update(corpus, "main", [folder], whole=True)


@pytest.mark.parametrize("whole", [False, True])
def test_an_update_and_its_undoing(corpus: Workspace, archive: Path, whole: bool) -> None:
    before = content(corpus)
    tried = update(corpus, "main", [archive], whole=whole, dry_run=True)
    assert content(corpus) == before
    assert not tried.applied

    report = update(corpus, "main", [archive], whole=whole)
    assert told(report) == told(tried) == CHANGES + [REPEALED] * whole
    assert (report.applied, report.unchanged, report.no_laws) == (True, 1, 1)
    assert [law.title for law in report.laws(LawChangeKind.ADDED)] == ["試験第4号法"]
    assert 0 < report.undo_bytes < 5_000
    after = content(corpus)
    assert ("599AC0000000003@2026-04-01" in after) != whole
    assert after["599AC0000000002@2026-04-01"] != before["599AC0000000002@2026-04-01"]
    assert after.keys() - before.keys() == {
        "599AC0000000002@2027-04-01",
        "599AC0000000004@2026-04-01",
    }
    index(corpus, "main")
    assert not update(corpus, "main", [archive], whole=whole).changes, "nothing is left to do"
    assert index_state(corpus, "main") is IndexState.FRESH

    undone = undo_update(corpus, "main")
    assert undone.changes == report.changes
    assert undone.made
    assert content(corpus) == before
    with pytest.raises(NotFoundError, match="no update"):
        undo_update(corpus, "main")
    assert not list(corpus.corpus("main").store.parent.glob("*.undo"))


def test_the_files_added_before_are_known_after_undoing(
    corpus: Workspace, archive: Path, laws: Path
) -> None:
    before = content(corpus)
    update(corpus, "main", [archive], whole=True)
    undo_update(corpus, "main")
    report = add(corpus, "main", [laws], prune=True)
    assert (report.failures, report.added, report.replaced, report.removed) == (0, 0, 0, 0)
    assert content(corpus) == before


def test_a_state_to_come_that_a_whole_archive_lacks_is_withdrawn(
    corpus: Workspace, write_law: WriteLaw, laws: Path
) -> None:
    to_come = write_law(1, "舟を造る者", date="29990401")
    add(corpus, "main", [laws])
    to_come.unlink()
    assert update(corpus, "main", [laws]).changes == []
    report = update(corpus, "main", [laws], whole=True)
    assert told(report) == [("withdrawn", "1", "", "2999-04-01")]


def test_a_text_without_a_date_is_told_from_the_state_in_force(
    corpus: Workspace, laws: Path, tmp_path: Path
) -> None:
    undated = laws / "599AC0000000001.xml"
    undated.write_text(law_xml(1, "昔の者", 1), encoding="utf-8")
    add(corpus, "main", [laws])
    before = content(corpus)
    newer = tmp_path / "599AC0000000001.xml"
    newer.write_text(law_xml(1, "昔々の者", 1), encoding="utf-8")
    assert told(update(corpus, "main", [newer])) == [("corrected", "1", "", "")]
    after = content(corpus)
    assert {id_ for id_ in before if before[id_] != after[id_]} == {"599AC0000000001"}
    undo_update(corpus, "main")
    assert content(corpus) == before


@pytest.mark.parametrize("id_", ["599AC0000000001", "599M60000000001"])
def test_a_law_stored_under_the_id_of_another_replaces_nothing(
    corpus: Workspace, tmp_path: Path, id_: str
) -> None:
    own = law_xml(1, "省令の者", 1).replace("法律第1号", "厚生省令第1号")
    ordinance = tmp_path / "599M60000000001_20260401.xml"
    ordinance.write_text(own, encoding="utf-8")
    assert add(corpus, "main", [ordinance]).added == 1
    before = content(corpus)
    wrong = tmp_path / "newer" / f"{id_}_20270401.xml"
    wrong.parent.mkdir()
    # Of an ordinance the id has codes for the ministry, which only the corpus tells apart.
    wrong.write_text(own.replace("厚生省令", "大蔵省令"), encoding="utf-8")
    (tmp_path / "newer" / "599AC0000000002_20260401.xml").write_text(law_xml(2, "舟を出す者", 2))

    report = update(corpus, "main", [wrong.parent])
    assert (report.changes, report.unchanged, report.failures) == ([], 1, 1)
    assert id_ in report.failed[0].problem.cause
    assert "大蔵省令第1号" in report.failed[0].problem.cause
    with pytest.raises(InputError, match="1 parts of the archive cannot be read"):
        update(corpus, "main", [wrong.parent], whole=True)
    added = add(corpus, "main", [wrong])
    assert (added.added, added.replaced, added.failures) == (0, 0, 1)
    assert content(corpus) == before


def test_what_cannot_be_read_removes_no_law(
    corpus: Workspace, archive: Path, tmp_path: Path
) -> None:
    (tmp_path / "599AC0000000003_20260401.xml").write_text("<Law>", encoding="utf-8")
    paths = [archive, tmp_path / "599AC0000000003_20260401.xml"]
    before = content(corpus)
    with pytest.raises(InputError, match="1 parts of the archive cannot be read"):
        update(corpus, "main", paths, whole=True)
    assert content(corpus) == before
    report = update(corpus, "main", paths)
    assert (report.failures, report.applied) == (1, True)


def test_of_two_texts_of_one_day_the_first_is_taken(
    corpus: Workspace, laws: Path, write_law: WriteLaw
) -> None:
    """It can be read, so that which laws the archive lacks is known."""
    write_law(3).unlink()
    other = laws / "599AC0000000001_20260401_598AC0000000001.xml"
    other.write_text(law_xml(1, "舟を焼く者", 2), encoding="utf-8")
    report = update(corpus, "main", [laws], whole=True)
    assert told(report) == [REPEALED]
    assert [failed.source for failed in report.failed] == [other.name]
    assert "holds two texts of '599AC0000000001@2026-04-01'" in report.failed[0].cause


def test_only_laws(workspace: Workspace, laws: Path, archive: Path) -> None:
    page = laws / "page.md"
    page.write_text("# 灯台\n\n点灯した。\n", encoding="utf-8")
    with pytest.raises(NotFoundError, match="no corpus"):
        update(workspace, "main", [archive])
    add(workspace, "main", [page])
    with pytest.raises(UsageError, match="has no laws"):
        update(workspace, "main", [archive])
    add(workspace, "main", [archive])
    with pytest.raises(InputError, match="archive has no law"):
        update(workspace, "main", [page])
    with pytest.raises(InputError, match="archive has no law"):
        update(workspace, "main", [page], whole=True)


def test_what_was_changed_since_is_not_undone(corpus: Workspace, archive: Path) -> None:
    update(corpus, "main", [archive])
    with CorpusStore.open(corpus.corpus("main").store) as store:
        store.remove("599AC0000000004")
    after = content(corpus)
    with pytest.raises(UsageError, match="599AC0000000004@2026-04-01 was changed"):
        undo_update(corpus, "main")
    assert content(corpus) == after


def test_damage_of_what_undoing_takes_is_told(corpus: Workspace, archive: Path) -> None:
    update(corpus, "main", [archive])
    after = content(corpus)
    (path,) = corpus.corpus("main").store.parent.glob("*.undo")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="for undoing the update is damaged"):
        undo_update(corpus, "main")
    path.write_bytes(gzip.compress(b'{"change": 1}\n'))
    with pytest.raises(StoreError, match="for undoing the update is damaged"):
        undo_update(corpus, "main")
    path.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        undo_update(corpus, "main")
    assert content(corpus) == after


def test_stopped_before_its_end_it_leaves_nothing(
    corpus: Workspace, archive: Path, laws: Path, write_law: WriteLaw
) -> None:
    """What undoing the update before takes stays."""
    write_law(1, "舟を売る者")
    first = update(corpus, "main", [laws])
    assert told(first) == [("corrected", "1", "", "2026-04-01")]
    before = content(corpus)

    def stop(report: UpdateReport) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(corpus, "main", [archive], before=stop)
    assert content(corpus) == before
    assert undo_update(corpus, "main").changes == first.changes


def test_on_a_full_disk(corpus: Workspace, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(corpus)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space left"):
            update(corpus, "main", [archive])
    assert content(corpus) == before
    assert update(corpus, "main", [archive]).applied
