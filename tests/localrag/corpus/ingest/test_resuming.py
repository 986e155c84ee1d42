"""A large file that was not read to its end is gone on with; nothing is lost, nothing twice."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.ingest.events import (
    COMPARING,
    READING,
    DocumentsStored,
    Event,
    FileFailed,
    FileResumed,
    PartsLeftOut,
)
from localrag.corpus.readers import Limits
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.text.progress import Progress

SENTENCE = "海辺の灯台は夜の海を照らす。"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return tmp_path / "jawiki-cirrussearch-content.json.gz"


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localrag.corpus.ingest.reading._LARGE", 1)
    monkeypatch.setattr("localrag.corpus.ingest.add._BATCH_CHARACTERS", 1_000)


def write(dump: Path, titles: list[str], text: str = SENTENCE) -> None:
    rows: list[object] = []
    for number, title in enumerate(titles, start=1):
        rows.append({"index": {"_id": str(number)}})
        rows.append({"title": title, "text": f"{title}。{text}", "namespace": 0})
    # Separators as in real dumps: the first line tells the form.
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    dump.write_bytes(gzip.compress("\n".join(lines).encode()))


def titles(count: int) -> list[str]:
    return [f"灯台{n}" for n in range(count)]


def run(workspace: Workspace, *paths: Path, on_event: Callable[[Event], None]) -> AddReport:
    return add(workspace, "main", paths, on_event=on_event)


def interrupted(workspace: Workspace, *paths: Path, after: int) -> list[Event]:
    """Stop when so many batches are stored; returns the events."""
    seen: list[Event] = []

    def stop(event: Event) -> None:
        seen.append(event)
        if sum(isinstance(event, DocumentsStored) for event in seen) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(workspace, *paths, on_event=stop)
    return seen


def stored(workspace: Workspace) -> list[str]:
    with CorpusStore.open(workspace.corpus("main").store) as store:
        assert store.check() == []
        return [document.id for document in store.documents()]


def test_what_is_stored_is_not_parsed_again(
    workspace: Workspace, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(dump, titles(30))
    interrupted(workspace, dump, after=2)
    before = len(stored(workspace))
    assert 0 < before < 30
    parsed: list[bytes] = []
    parse = json.loads
    monkeypatch.setattr("json.loads", lambda line: parsed.append(line) or parse(line))
    seen: list[Event] = []
    report = run(workspace, dump, on_event=seen.append)
    assert len([line for line in parsed if "title" in line]) == 30 - before == report.added
    assert FileResumed(dump.as_posix(), before * 2) in seen
    assert stored(workspace) == titles(30)


def test_a_changed_file_begins_anew_and_finds_what_is_unchanged(
    workspace: Workspace, dump: Path
) -> None:
    write(dump, titles(30))
    interrupted(workspace, dump, after=2)
    before = len(stored(workspace))
    write(dump, [*titles(20), "新しい灯台"])
    seen: list[Event] = []
    report = run(workspace, dump, on_event=seen.append)
    assert not any(isinstance(event, FileResumed) for event in seen)
    assert (report.unchanged, report.added) == (before, 21 - before)


def test_what_vanished_is_found_also_by_a_reading_that_was_resumed(
    workspace: Workspace, dump: Path
) -> None:
    write(dump, ["古い灯台", *titles(30), "古い岬"])
    run(workspace, dump, on_event=lambda event: None)
    write(dump, titles(30))
    interrupted(workspace, dump, after=2)
    assert len(stored(workspace)) == 32
    report = run(workspace, dump, on_event=lambda event: None)
    assert (report.removed, report.failed) == (2, [])
    assert stored(workspace) == titles(30)


def test_an_id_that_comes_twice_is_told_also_across_an_interruption(
    workspace: Workspace, dump: Path
) -> None:
    write(dump, [*titles(30), "灯台0"])
    interrupted(workspace, dump, after=2)
    report = run(workspace, dump, on_event=lambda event: None)
    (failed,) = report.failed
    assert "two documents with the id '灯台0'" in failed.cause
    assert len(stored(workspace)) == 30


def test_what_failed_before_is_not_forgotten(workspace: Workspace, dump: Path) -> None:
    write(dump, ["古い灯台", *titles(30)])
    run(workspace, dump, on_event=lambda event: None)
    write(dump, ["", *titles(30)])
    first = interrupted(workspace, dump, after=2)
    assert sum(isinstance(event, FileFailed) for event in first) == 1
    seen: list[Event] = []
    report = run(workspace, dump, on_event=seen.append)
    assert not any(isinstance(event, FileResumed) for event in seen), "it is told once more"
    assert (report.failures, report.removed) == (1, 0), "it may be what could not be read"
    assert [(kept.source, kept.documents) for kept in report.kept] == [(dump.name, 1)]
    again = run(workspace, dump, on_event=lambda event: None)
    assert (len(again.failed), again.unchanged) == (1, 30), (
        "the file is read again until it is good"
    )


def test_what_another_file_had_is_not_passed_over_when_reading_goes_on(
    workspace: Workspace, dump: Path
) -> None:
    other = dump.with_name("z.json.gz")
    write(other, ["灯台12"])
    run(workspace, other, on_event=lambda event: None)
    write(dump, titles(30))
    interrupted(workspace, dump, after=3)
    write(other, ["岬"])
    run(workspace, other, on_event=lambda event: None)
    seen: list[Event] = []
    report = run(workspace, dump, on_event=seen.append)
    assert not any(isinstance(event, FileResumed) for event in seen)
    assert (report.failed, report.duplicated) == ([], 0)
    assert sorted(stored(workspace)) == sorted([*titles(30), "岬"])


def test_a_document_removed_meanwhile_comes_back(workspace: Workspace, dump: Path) -> None:
    write(dump, titles(30))
    interrupted(workspace, dump, after=2)
    with CorpusStore.open(workspace.corpus("main").store) as store:
        store.remove("灯台0")
    run(workspace, dump, on_event=lambda event: None)
    assert sorted(stored(workspace)) == sorted(titles(30))


def test_a_file_that_lost_documents_to_another_is_read_from_its_beginning(
    workspace: Workspace, dump: Path
) -> None:
    write(dump, titles(30))
    interrupted(workspace, dump, after=2)
    other = dump.with_name("moved.json.gz")
    dump.rename(other)
    run(workspace, other, on_event=lambda event: None)
    other.rename(dump)
    report = run(workspace, dump, on_event=lambda event: None)
    assert (report.unchanged, report.added) == (30, 0)


def test_a_dump_that_is_cut_off_keeps_its_articles_and_its_successor_completes_them(
    workspace: Workspace, dump: Path
) -> None:
    write(dump, titles(300))
    whole = dump.read_bytes()
    dump.write_bytes(whole[: len(whole) // 2])
    report = run(workspace, dump, on_event=lambda event: None)
    assert "cut off" in report.failed[0].cause
    kept = len(stored(workspace))
    assert 0 < kept < 300
    dump.write_bytes(whole)
    report = run(workspace, dump, on_event=lambda event: None)
    assert (report.unchanged, report.added, report.failed) == (kept, 300 - kept, [])


def test_progress_is_told_while_one_large_file_is_read(workspace: Workspace, dump: Path) -> None:
    write(dump, titles(30), text=os.urandom(300).hex())
    seen: list[Event] = []
    run(workspace, dump, on_event=seen.append)
    told = [event for event in seen if isinstance(event, Progress)]
    size = dump.stat().st_size
    assert {(event.phase, event.total) for event in told} == {(COMPARING, size), (READING, size)}
    done = [event.done for event in told if event.phase == READING]
    assert done == sorted(done)
    assert len(done) > 3
    assert done[-1] == size


def test_what_is_left_out_is_told_once_a_file(workspace: Workspace, dump: Path) -> None:
    rows = [{"title": f"企画{n}", "text": "a", "namespace": 4} for n in range(9)]
    good = {"title": "灯台", "text": SENTENCE, "namespace": 0}
    lines = [json.dumps(row) for row in (*rows, good)]
    data = "".join(f'{{"index":{{}}}}\n{line}\n' for line in lines)
    dump.write_bytes(gzip.compress(data.encode()))
    seen: list[Event] = []
    report = run(workspace, dump, on_event=seen.append)
    assert [event for event in seen if isinstance(event, PartsLeftOut)] == [
        PartsLeftOut(dump.name, "pages that are no articles", 9)
    ]
    assert report.left_out == {"pages that are no articles": 9}
    assert (report.added, report.failed) == (1, [])


def test_workers_change_nothing_but_the_time(workspace: Workspace, dump: Path) -> None:
    write(dump, [*titles(60), "", *titles(3)])
    contents = []
    for name, workers in (("one", 1), ("two", 2)):
        limits = Limits(piece_bytes=2_000)
        report = add(workspace, name, [dump], limits=limits, workers=workers)
        assert [failed.source for failed in report.failed] == [
            f"{dump.name}:{line}" for line in (122, 124, 126, 128)
        ]
        with CorpusStore.open(workspace.corpus(name).store) as store:
            contents.append([store.read(document.id) for document in store.documents()])
    assert contents[0] == contents[1]
    assert len(contents[0]) == 60


CHILD = """
import sys
from pathlib import Path
from localrag.corpus.ingest import add, reading
from localrag.corpus.ingest.events import DocumentsStored
from localrag.corpus.workspace import Workspace

def tell(event):
    if isinstance(event, DocumentsStored):
        print(*event.added, sep="\\n", flush=True)

if __name__ == "__main__":
    reading._LARGE, add._BATCH_CHARACTERS = 1, 1_000
    add.add(Workspace.locate(Path(sys.argv[1])), "main", [Path(sys.argv[2])], on_event=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_killed_again_and_again_it_comes_to_the_end(
    workspace: Workspace, dump: Path, tmp_path: Path
) -> None:
    write(dump, titles(400))
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    command = [sys.executable, str(script), str(workspace.home), str(dump)]
    told: list[str] = []
    for lines in (1, 40, 90):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told += [line.strip() for line, _ in zip(process.stdout, range(lines), strict=False)]
            process.send_signal(signal.SIGKILL)
        assert set(told) <= set(stored(workspace))
    assert len(told) == len(set(told)), "nothing was entered twice"
    run(workspace, dump, on_event=lambda event: None)
    assert stored(workspace) == titles(400)
