import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.ingest.events import (
    DocumentsStored,
    Event,
    FileRead,
    FileResumed,
    FilesFound,
)
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.corpus.workspace import Workspace, writing
from localrag.errors import BusyError, NotFoundError, StorageError, UsageError
from localrag.text.progress import Progress

LawWriter = Callable[..., Path]
FIRST, SECOND = "599AC0000000001", "599AC0000000002"


def run(workspace: Workspace, *paths: Path, **options: object) -> AddReport:
    return add(workspace, "main", paths, **options)  # type: ignore[arg-type]


def opened(workspace: Workspace) -> CorpusStore:
    return CorpusStore.open(workspace.corpus("main").store, read_only=True)


def ids(workspace: Workspace) -> list[str]:
    with opened(workspace) as store:
        assert store.check() == []
        return [document.id for document in store.documents()]


def counts(report: AddReport) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.removed, report.files_unchanged


def later(path: Path) -> None:
    """Give a file a modification time it cannot have had before."""
    stamp = time.time() + 10
    os.utime(path, (stamp, stamp))


def test_adding_again_reads_only_what_changed(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1)
    path = write_law(2)
    assert counts(run(workspace, laws)) == (2, 0, 0, 0)
    assert counts(run(workspace, laws)) == (0, 0, 0, 2)
    write_law(2, "橋を架ける者")
    later(path)
    assert counts(run(workspace, laws)) == (0, 1, 0, 1)
    with opened(workspace) as store:
        passage = store.at(SECOND, Locator(article="2"))
        assert passage is not None
        assert "橋を架ける者は、前条の規定により2番" in passage.text


def test_a_touched_file_is_compared_by_content(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    path = write_law(1)
    run(workspace, laws)
    with opened(workspace) as store:
        before = store.generation
    later(path)
    assert counts(run(workspace, laws)) == (0, 0, 0, 1)
    with opened(workspace) as store:
        assert store.generation == before


def test_check_content_finds_a_change_that_size_and_time_hide(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    path = write_law(1, "舟を出す者")
    run(workspace, laws)
    status = path.stat()
    write_law(1, "橋を渡す者")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts(run(workspace, laws)) == (0, 0, 0, 1)
    assert counts(run(workspace, laws, check_content=True)) == (0, 1, 0, 0)


def test_a_file_that_is_gone_stays_until_prune(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    path, kept = write_law(1), write_law(2)
    run(workspace, laws)
    path.unlink()
    report = run(workspace, laws)
    assert report.gone == [path.as_posix()]
    assert ids(workspace) == [FIRST, SECOND]
    report = run(workspace, kept, prune=True)
    assert ids(workspace) == [FIRST, SECOND], "only below the added paths"
    report = run(workspace, laws, prune=True)
    assert (counts(report), report.gone) == ((0, 0, 1, 1), [])
    assert ids(workspace) == [SECOND]


def test_a_new_state_of_a_law_stands_beside_the_old_one_until_its_file_is_pruned(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    old = write_law(1, "舟を出す者", date="20180401")
    run(workspace, laws)
    old.unlink()
    write_law(1, "橋を渡す者", date="20190401")
    report = run(workspace, laws)
    assert (counts(report), report.failed) == ((1, 0, 0, 0), [])
    assert report.gone == [old.as_posix()]
    with opened(workspace) as store:
        assert [state.state_id for state in store.states(FIRST)] == [
            f"{FIRST}@2018-04-01",
            f"{FIRST}@2019-04-01",
        ]
        assert store.document(FIRST).metadata["date"] == "2019-04-01"
    run(workspace, laws, prune=True)
    with opened(workspace) as store:
        assert [state.state_id for state in store.states(FIRST)] == [f"{FIRST}@2019-04-01"]


def test_a_renamed_folder_is_recognised(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1)
    run(workspace, laws)
    moved = laws.rename(laws.with_name("moved"))
    report = run(workspace, moved)
    assert (counts(report), report.unchanged, report.failed) == ((0, 0, 0, 0), 1, [])
    assert counts(run(workspace, moved)) == (0, 0, 0, 1)


def test_two_texts_of_one_state_are_a_conflict_that_keeps_the_stored_one(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    path = write_law(1, "舟を出す者", date="20180401")
    (laws / "other").mkdir()
    path.rename(laws / "other" / path.name)
    write_law(1, "橋を渡す者", date="20180401")
    report = run(workspace, laws)
    (failed,) = report.failed
    assert report.added == 1
    assert "20180401" in failed.source
    assert "already has '599AC0000000001@2018-04-01' with another text" in failed.cause
    assert "localrag remove 599AC0000000001@2018-04-01" in failed.cure
    assert len(run(workspace, laws).failed) == 1, "it is told every time"


def test_files_of_one_name_get_ids_of_their_own_from_the_folder_that_both_are_in(
    workspace: Workspace, tmp_path: Path
) -> None:
    files = [tmp_path / "facts" / place / "f.tsv" for place in ("one", "two")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(f"凪\t職業\t{file.parent.name}\n", encoding="utf-8")
    (failed,) = run(workspace, *files).failed
    assert "already has 'f.tsv:1' with another text" in failed.cause
    assert "add the folder that both files are in" in failed.cure
    assert run(workspace, tmp_path / "facts").failed == []
    with opened(workspace) as store:
        assert {one.id for one in store.documents()} == {"f.tsv:1", "two/f.tsv:1"}


def test_the_same_content_twice_is_reported_and_entered_once(
    workspace: Workspace, laws: Path
) -> None:
    (laws / "a.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    (laws / "b.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    for _ in range(2):
        report = run(workspace, laws)
        (duplicate,) = report.duplicates
        assert duplicate.source.endswith("b.txt")
        assert duplicate.original.endswith("a.txt")
    assert ids(workspace) == ["a.txt"]
    (laws / "a.txt").unlink()
    run(workspace, laws, prune=True)
    assert ids(workspace) == ["b.txt"], "the copy enters when its original is gone"


def test_a_file_that_becomes_a_copy_does_not_keep_its_old_text(
    workspace: Workspace, laws: Path
) -> None:
    (laws / "a.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    (laws / "b.txt").write_text("渡し舟は朝に出す。", encoding="utf-8")
    run(workspace, laws)
    (laws / "b.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    later(laws / "b.txt")
    assert counts(run(workspace, laws)) == (0, 1, 0, 1)
    with opened(workspace) as store:
        assert store.text("b.txt") == "渡し舟は夜に出さない。"


def test_two_equal_bad_files_are_both_told(workspace: Workspace, laws: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (laws / name).write_text("<Law>", encoding="utf-8")
    report = run(workspace, laws)
    assert [failed.source for failed in report.failed] == ["a.xml", "b.xml"]
    assert report.duplicates == []


def test_a_removed_document_comes_back_when_its_file_is_added_again(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1)
    run(workspace, laws)
    with CorpusStore.open(workspace.corpus("main").store) as store:
        store.remove(FIRST)
    assert counts(run(workspace, laws)) == (1, 0, 0, 0)


def test_a_bad_file_is_told_with_its_cause_and_stops_nothing(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1)
    broken = write_law(2)
    broken.write_bytes(broken.read_bytes()[:-200])
    (laws / "empty.txt").touch()
    write_law(3)
    report = run(workspace, laws)
    assert report.added == 2
    assert [failed.source for failed in report.failed] == [broken.name, "empty.txt"]
    assert all(failed.cause for failed in report.failed)
    assert ids(workspace) == [FIRST, "599AC0000000003"]


def test_what_was_stored_stays_when_its_file_breaks(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    path = write_law(1)
    run(workspace, laws)
    path.write_bytes(b"<Law>")
    later(path)
    assert len(run(workspace, laws).failed) == 1
    assert ids(workspace) == [FIRST]
    write_law(1, "橋を渡す者")
    assert counts(run(workspace, laws)) == (0, 1, 0, 0)


def records(path: Path, texts: dict[str, str]) -> None:
    lines = [json.dumps({"id": id_, "title": id_, "text": text}) for id_, text in texts.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_file_of_many_documents_is_followed_document_by_document(
    workspace: Workspace, laws: Path
) -> None:
    path = laws / "pages.jsonl"
    records(path, {"a": "一。", "b": "二。", "c": "三。"})
    assert run(workspace, laws).added == 3
    records(path, {"a": "一。", "b": "二二。", "d": "四。"})
    report = run(workspace, laws)
    assert counts(report) == (1, 1, 1, 0)
    assert report.unchanged == 1
    assert sorted(ids(workspace)) == ["a", "b", "d"]


def test_a_bad_line_costs_no_other_and_removes_nothing(workspace: Workspace, laws: Path) -> None:
    path = laws / "pages.jsonl"
    records(path, {"a": "一。", "b": "二。"})
    run(workspace, laws)
    path.write_text(path.read_text().splitlines()[0] + "\n{broken\n", encoding="utf-8")
    for _ in range(2):
        report = run(workspace, laws)
        assert [failed.source for failed in report.failed] == ["pages.jsonl:2"]
        assert report.removed == 0
    assert ids(workspace) == ["a", "b"]


def test_two_documents_with_one_id_in_a_file(workspace: Workspace, laws: Path) -> None:
    path = laws / "pages.jsonl"
    path.write_text('{"id": "a", "text": "一。"}\n{"id": "a", "text": "二。"}\n', encoding="utf-8")
    report = run(workspace, laws)
    assert report.added == 1
    assert "two documents with the id 'a'" in report.failed[0].cause


def test_a_zip_with_a_bad_member(workspace: Workspace, laws: Path, write_law: LawWriter) -> None:
    good, bad = write_law(1), write_law(2)
    with zipfile.ZipFile(laws / "all.zip", "w") as archive:
        archive.write(good, good.name)
        archive.writestr(bad.name, "<Law>")
    good.unlink()
    bad.unlink()
    report = run(workspace, laws)
    assert report.added == 1
    assert [failed.source for failed in report.failed] == [f"all.zip!{bad.name}"]


def test_a_file_without_any_document_is_told(workspace: Workspace, laws: Path) -> None:
    with zipfile.ZipFile(laws / "photos.zip", "w") as archive:
        archive.writestr("a.png", "no text")
    assert len(run(workspace, laws).failed) == 1


def test_ids_of_ordinary_files_tell_their_folder(workspace: Workspace, laws: Path) -> None:
    for folder in ("a", "b"):
        (laws / folder).mkdir()
        (laws / folder / "README.md").write_text(f"# 覚書\n\n{folder}の本文。", encoding="utf-8")
    report = run(workspace, laws)
    assert report.failed == []
    assert ids(workspace) == ["a/README.md", "b/README.md"]


def test_workers_change_nothing_but_the_time(
    workspace: Workspace, laws: Path, write_law: LawWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 9):
        write_law(number, articles=30 * (9 - number))
    (laws / "bad.xml").write_text("<Law>")
    monkeypatch.setattr("localrag.corpus.ingest.reading._WORTH_PROCESSES", 1)
    alone, together = [
        add(workspace, name, [laws], workers=workers) for name, workers in (("one", 1), ("two", 2))
    ]
    assert alone.failed == together.failed
    stores = [CorpusStore.open(workspace.corpus(name).store) for name in ("one", "two")]
    first, second = [list(store.passages()) for store in stores]
    for store in stores:
        store.close()
    assert first == second


def test_large_files_are_stored_bit_by_bit(
    workspace: Workspace, laws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.corpus.ingest.reading._LARGE", 1)
    monkeypatch.setattr("localrag.corpus.ingest.add._BATCH_CHARACTERS", 500)
    records(laws / "pages.jsonl", {f"d{n}": "舟が出る。" * 10 for n in range(20)})
    seen: list[Event] = []

    def stop_half_way(event: Event) -> None:
        seen.append(event)
        if sum(isinstance(event, DocumentsStored) for event in seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(workspace, laws, on_event=stop_half_way)
    told = [id_ for event in seen if isinstance(event, DocumentsStored) for id_ in event.added]
    assert ids(workspace) == told == [f"d{n}" for n in range(10)]
    assert sum(isinstance(event, Progress) for event in seen) >= 5
    report = run(workspace, laws, on_event=seen.append)
    assert FileResumed((laws / "pages.jsonl").as_posix(), 10) in seen
    assert (report.added, report.unchanged) == (10, 0)
    assert len(ids(workspace)) == 20
    assert counts(run(workspace, laws)) == (0, 0, 0, 1)


def test_events_tell_what_is_stored(workspace: Workspace, laws: Path, write_law: LawWriter) -> None:
    write_law(1)
    (laws / "x.dwg").write_text("")
    seen: list[Event] = []

    def check(event: Event) -> None:
        seen.append(event)
        if isinstance(event, DocumentsStored):
            with opened(workspace) as other:
                assert set(event.added) <= {document.state_id for document in other.documents()}

    run(workspace, laws, on_event=check)
    assert isinstance(seen[0], FilesFound)
    assert (seen[0].files, [one.suffix for one in seen[0].passed_over]) == (1, [".dwg"])
    assert [event.added for event in seen if isinstance(event, DocumentsStored)] == [
        (f"{FIRST}@2026-04-01",)
    ]
    assert [event.added for event in seen if isinstance(event, FileRead)] == [1]


def test_an_unreadable_folder_loses_nothing(
    workspace: Workspace, laws: Path, write_law: LawWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_law(1)
    run(workspace, laws)

    def denied(path: Path, *_: object) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("localrag.corpus.ingest.reading._describe", denied)
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda p: denied(p) if p == path else exists(p))
    report = run(workspace, laws, prune=True)
    assert [failed.source for failed in report.failed] == [str(path)]
    assert report.removed == 0


def test_a_missing_path_does_nothing_at_all(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1)
    with pytest.raises(NotFoundError, match="nowhere"):
        run(workspace, laws, laws / "nowhere")
    assert workspace.corpora() == []


def test_a_bad_corpus_name_does_nothing_at_all(workspace: Workspace, laws: Path) -> None:
    with pytest.raises(UsageError):
        add(workspace, "../evil", [laws])
    assert not (workspace.home / "evil").exists()


def test_a_second_writer_is_told_who_the_first_is(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1)
    with (
        writing(workspace.corpus("main")),
        pytest.raises(BusyError, match=f"process {os.getpid()} on "),
    ):
        run(workspace, laws)
    assert run(workspace, laws).added == 1


def test_a_full_disk_keeps_what_events_told(
    workspace: Workspace, laws: Path, write_law: LawWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 40):
        write_law(number, articles=50)
    monkeypatch.setattr(
        "localrag.corpus.database._READING", ("temp_store = MEMORY", "max_page_count = 150")
    )
    monkeypatch.setattr(
        "localrag.corpus.database._WRITING", ("journal_mode = WAL", "max_page_count = 150")
    )
    told: list[str] = []
    whole = 0

    def listen(event: Event) -> None:
        nonlocal whole
        if isinstance(event, DocumentsStored):
            told.extend(event.added)
        whole += isinstance(event, FileRead)

    with pytest.raises(StorageError, match="is full"):
        run(workspace, laws, on_event=listen)
    assert 1 < len(told) < 39
    assert ids(workspace) == [state_id.partition("@")[0] for state_id in told]
    monkeypatch.undo()
    monkeypatch.setenv("LOCALRAG_HOME", str(workspace.home))
    assert counts(run(workspace, laws)) == (39 - len(told), 0, 0, whole)


def test_a_home_that_cannot_be_written(tmp_path: Path, laws: Path, write_law: LawWriter) -> None:
    write_law(1)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="--home"):
        run(Workspace.locate(tmp_path / "file"), laws)
