"""Documents that move between files, within one `add`: none is lost, none is entered twice."""

import json
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.ingest.events import DocumentsStored, Event, FileRead
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace

_times = count(2_000_000_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "pages"
    place.mkdir()
    return place


def records(path: Path, *pairs: str) -> None:
    """Write documents given as ids, or as "id text"."""
    rows = [
        dict(zip(("id", "text"), f"{pair} 舟が出る。".split(maxsplit=2), strict=False))
        for pair in pairs
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    touch(path)


def touch(path: Path) -> None:
    stamp = next(_times)
    os.utime(path, (stamp, stamp))


def run(workspace: Workspace, *paths: Path, **options: object) -> AddReport:
    return add(workspace, "main", paths, **options)  # type: ignore[arg-type]


def texts(workspace: Workspace) -> dict[str, str]:
    with CorpusStore.open(workspace.corpus("main").store) as store:
        assert store.check() == []
        return {document.id: store.text(document.id) for document in store.documents()}


def finished(workspace: Workspace, folder: Path) -> bool:
    """Whether another `add` has nothing to read."""
    return run(workspace, folder).files_unchanged == len(list(folder.iterdir()))


@pytest.mark.parametrize("moved", ["X", "X 橋を渡る。"], ids=["as it was", "changed"])
@pytest.mark.parametrize("large", [False, True])
def test_a_record_that_moves_to_a_file_read_earlier(
    workspace: Workspace, folder: Path, moved: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr("localrag.corpus.ingest.reading._LARGE", 1)
    a, z = folder / "a.jsonl", folder / "z.jsonl"
    records(a, "A")
    records(z, "X", "Z")
    run(workspace, folder)
    records(a, "A", moved, "N")
    records(z, "Z")
    report = run(workspace, folder)
    assert (report.failures, report.duplicated) == (0, 0)
    assert (report.added, report.unchanged, report.removed) == (2, 2, 1)
    assert sorted(texts(workspace)) == ["A", "N", "X", "Z"]
    assert texts(workspace)["X"] == [*moved.split(), "舟が出る。"][1]
    assert finished(workspace, folder)


def test_records_that_change_places(workspace: Workspace, folder: Path) -> None:
    a, z = folder / "a.jsonl", folder / "z.jsonl"
    records(a, "X", "A")
    records(z, "Y", "Z")
    run(workspace, folder)
    records(a, "Y 朝。", "A")
    records(z, "X 夜。", "Z")
    report = run(workspace, folder)
    assert (report.failures, report.duplicated) == (0, 0)
    assert texts(workspace) == {"X": "夜。", "Y": "朝。", "A": "舟が出る。", "Z": "舟が出る。"}
    assert finished(workspace, folder)


def test_what_waited_and_did_not_move_is_told_once_with_all_else(
    workspace: Workspace, folder: Path
) -> None:
    a, z = folder / "a.jsonl", folder / "z.jsonl"
    records(z, "X", "Z")
    run(workspace, folder)
    records(a, "A", "X", "Z 別の文。", "M", "M")
    records(z, "X", "Z", "N")
    seen: list[Event] = []
    report = run(workspace, folder, on_event=seen.append)
    assert [(one.source, one.original) for one in report.duplicates] == [
        ("a.jsonl:2", z.as_posix())
    ]
    assert [failed.source for failed in report.failed] == ["a.jsonl:5", "a.jsonl:3"]
    assert (report.added, report.unchanged) == (3, 2)
    assert sum(isinstance(event, FileRead) for event in seen) == 3
    assert sorted(texts(workspace)) == ["A", "M", "N", "X", "Z"]


def test_a_file_that_changes_while_its_documents_wait_is_told(
    workspace: Workspace, folder: Path
) -> None:
    a, z = folder / "a.jsonl", folder / "z.jsonl"
    records(a, "A")
    records(z, "X", "Z")
    run(workspace, folder)
    records(a, "A", "X")
    records(z, "Z")

    def change(event: Event) -> None:
        if isinstance(event, FileRead) and event.path == z.as_posix():
            records(a, "B", "X")

    report = run(workspace, folder, on_event=change)
    assert [failed.cause for failed in report.failed] == ["The file changed while it was added."]
    run(workspace, folder)
    assert sorted(texts(workspace)) == ["B", "X", "Z"]


CHILD = """
import os, signal, sys
from pathlib import Path
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import FileRead
from localrag.corpus.workspace import Workspace

def die(event):
    if isinstance(event, FileRead) and event.path.endswith(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    add(Workspace.locate(Path(sys.argv[1])), "main", [Path(sys.argv[2])], on_event=die)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
@pytest.mark.parametrize("moment", ["a.jsonl", "z.jsonl"])
def test_killed_while_a_record_moves(
    workspace: Workspace, folder: Path, tmp_path: Path, moment: str
) -> None:
    a, z = folder / "a.jsonl", folder / "z.jsonl"
    records(a, "A")
    records(z, "X", "Z")
    run(workspace, folder)
    records(a, "A", "X 橋を渡る。")
    records(z, "Z")
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    command = [sys.executable, str(script), str(workspace.home), str(folder), moment]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    report = run(workspace, folder)
    assert report.failures == 0
    assert texts(workspace) == {"A": "舟が出る。", "X": "橋を渡る。", "Z": "舟が出る。"}


@pytest.mark.parametrize("rewritten", ["a.txt", "z.txt"])
@pytest.mark.parametrize("check_content", [False, True])
def test_a_copy_of_a_file_that_is_then_rewritten_is_entered(
    workspace: Workspace, folder: Path, rewritten: str, check_content: bool
) -> None:
    (folder / rewritten).write_text("渡し舟は夜に出さない。", encoding="utf-8")
    run(workspace, folder)
    (folder / "m.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    (folder / rewritten).write_text("渡し舟は朝に出さない。", encoding="utf-8")
    touch(folder / rewritten)
    report = run(workspace, folder, check_content=check_content)
    assert report.duplicated == 0
    assert texts(workspace) == {
        rewritten: "渡し舟は朝に出さない。",
        "m.txt": "渡し舟は夜に出さない。",
    }


def test_a_copy_is_not_taken_for_a_duplicate_of_a_rewritten_file_elsewhere(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    original = tmp_path / "a.txt"
    original.write_text("渡し舟は夜に出さない。", encoding="utf-8")
    run(workspace, original)
    original.rename(folder / "b.txt")
    original.write_text("橋。", encoding="utf-8")
    assert run(workspace, folder).added == 1
    assert texts(workspace).keys() == {"a.txt", "b.txt"}


def test_a_touched_file_is_still_the_original_of_its_copy(
    workspace: Workspace, folder: Path
) -> None:
    (folder / "z.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    run(workspace, folder)
    (folder / "m.txt").write_text("渡し舟は夜に出さない。", encoding="utf-8")
    touch(folder / "z.txt")
    report = run(workspace, folder)
    assert [one.original for one in report.duplicates] == [(folder / "z.txt").as_posix()]
    assert list(texts(workspace)) == ["z.txt"]


def test_documents_that_stay_though_their_file_lost_them_are_told(
    workspace: Workspace, folder: Path
) -> None:
    path = folder / "a.jsonl"
    records(path, "A", "B", "C")
    run(workspace, folder)
    for rest in ("{broken\n", '{"id": "A", "text": "舟が出る。"}\n'):
        records(path, "A")
        path.write_text(path.read_text() + rest, encoding="utf-8")
        for _ in range(2):
            report = run(workspace, folder)
            ((kept),) = report.kept
            assert (kept.source, kept.documents, report.removed) == ("a.jsonl", 2, 0)
            assert "could be entered" in kept.reason
    records(path)
    report = run(workspace, folder)
    assert [(kept.documents, report.failures) for kept in report.kept] == [(3, 1)]
    assert "no document was found" in report.kept[0].reason
    records(path, "A")
    report = run(workspace, folder)
    assert (report.kept, report.removed) == ([], 2)


def test_of_many_duplicates_a_few_are_named_and_all_counted(
    workspace: Workspace, folder: Path
) -> None:
    names = [f"d{n}" for n in range(50)]
    records(folder / "a.jsonl", *names)
    records(folder / "b.jsonl", *names, "B")
    for _ in range(2):
        seen: list[Event] = []
        report = run(workspace, folder, on_event=seen.append)
        assert (report.duplicated, len(report.duplicates)) == (50, 3)
    stored = [event for event in seen if isinstance(event, DocumentsStored)]
    assert [event.unchanged for event in stored] == [("B",)]


def test_of_many_failures_all_are_told_and_counted_but_not_all_kept(
    workspace: Workspace, folder: Path
) -> None:
    (folder / "a.jsonl").write_text("{broken\n" * 1_500, encoding="utf-8")
    report = run(workspace, folder)
    assert (report.failures, len(report.failed)) == (1_500, 1_000)


def test_a_file_whose_documents_all_moved_is_not_told_as_gone(
    workspace: Workspace, folder: Path
) -> None:
    records(folder / "a.jsonl", "A")
    run(workspace, folder)
    (folder / "a.jsonl").rename(folder / "b.jsonl")
    report = run(workspace, folder)
    assert (report.gone, report.unchanged) == ([], 1)
    assert run(workspace, folder, prune=True).removed == 0
    (folder / "b.jsonl").unlink()
    assert run(workspace, folder).gone == [(folder / "b.jsonl").as_posix()]
