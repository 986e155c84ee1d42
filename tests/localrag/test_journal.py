"""The journal: what is written stays, whatever ends the process; what is damaged is named."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from localrag.corpus.journal import Journal
from localrag.errors import StorageError, WorkspaceError
from localrag.language import N_

from ..patience import PATIENCE
from ..rows import each


@dataclass(frozen=True)
class Note:
    """A row."""

    number: int
    text: str = ""
    tags: tuple[str, ...] = ()


def journal(path: Path) -> Journal[Note]:
    """The notes in a file."""
    return Journal(
        path,
        TypeAdapter(Note),
        lambda line: WorkspaceError(N_("Line {line} is no note."), line=line),
    )


def rows(path: Path) -> list[Note]:
    """What is read from a file."""
    return [line.row for line in journal(path).lines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a journal that is not there yet."""
    return tmp_path / "notes.jsonl"


def test_what_is_written_is_read(path: Path) -> None:
    assert rows(path) == []
    notes = [Note(1, "労働\n時間", ("a", "b")), Note(2, "half a pair: \ud800"), Note(3, "😀\0")]
    with journal(path) as opened:
        opened.append(notes[0])
    with journal(path) as opened:
        assert not opened.torn
        for note in notes[1:]:
            opened.append(note)
    lines = list(journal(path).lines())
    assert [line.row for line in lines] == notes
    assert [line.number for line in lines] == [1, 2, 3]
    content = path.read_bytes()
    assert "労働".encode() in content
    assert [content.count(b"\n", 0, line.offset) for line in lines] == [0, 1, 2]


@each("cut", [*range(0, 80, 7), 70_100])
def test_a_line_cut_anywhere_is_told_and_dropped(path: Path, cut: int) -> None:
    with journal(path) as opened:
        for text in ("a", "b", "c" * 70_000, "d"):
            opened.append(Note(1, text))
    content = path.read_bytes()[:cut]
    path.write_bytes(content)
    whole = content[: content.rfind(b"\n") + 1]
    reader = journal(path)
    assert len(list(reader.lines())) == whole.count(b"\n")
    assert reader.torn == (content != whole)
    assert path.read_bytes() == content, "reading changes nothing"
    with journal(path) as opened:
        assert opened.torn == (content != whole)
        opened.append(Note(2))
    assert path.read_bytes().startswith(whole)
    assert rows(path)[-1] == Note(2)
    assert not reader.torn or len(rows(path)) == whole.count(b"\n") + 1


@each(
    "line",
    [b"nonsense", b"[]", b"{}", b'{"number": "x"}', b"\xff", b"[" * 100_000, b"", b'{"number": 1'],
)
def test_a_damaged_line_is_named(path: Path, line: bytes) -> None:
    path.write_bytes(b'{"number": 1}\n' + line + b'\n{"number": 3}\n')
    with pytest.raises(WorkspaceError, match="Line 2 is no note"):
        rows(path)


def test_a_full_disk_keeps_what_was_written(path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with journal(path) as opened:
        opened.append(Note(1))
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
            with pytest.raises(StorageError, match=r"notes\.jsonl cannot be read or written"):
                opened.append(Note(2, "x" * 2_000))
            with pytest.raises(StorageError):
                opened.keep([0] * 1_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, before)
        assert rows(path) == [Note(1)]
        opened.append(Note(3))
    assert rows(path) == [Note(1), Note(3)]
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read or written"):
        rows(tmp_path)
    with pytest.raises(StorageError), journal(tmp_path / "none" / "notes.jsonl"):
        pass


def test_lines_are_put_in_order(path: Path) -> None:
    with journal(path) as opened:
        for number in (3, 1, 2, 1):
            opened.append(Note(number))
    newest = {line.row.number: line.offset for line in journal(path).lines()}
    journal(path).keep((newest[number] for number in sorted(newest)), path.with_name("aside"))
    assert rows(path) == [Note(1), Note(2), Note(3)]
    assert list(path.parent.iterdir()) == [path]


def test_threads_do_not_mix_their_lines(path: Path) -> None:
    with journal(path) as opened, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: opened.append(Note(number, "x" * 500)), range(400)))
    assert sorted(note.number for note in rows(path)) == list(range(400))


CHILD = """
import sys
from pathlib import Path
from pydantic import TypeAdapter
from localrag.corpus.journal import Journal

with Journal(Path(sys.argv[1]), TypeAdapter(dict[str, int]), lambda line: None) as journal:
    for number in range(1_000_000):
        journal.append({"number": number})
        print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
@pytest.mark.parametrize("count", [1, 50, 700])
def test_a_kill_loses_no_row(path: Path, count: int) -> None:
    command = (sys.executable, "-c", CHILD, str(path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        told = [child.stdout.readline() for _ in range(count)]
        child.kill()
        told += child.stdout.readlines()
        child.wait(PATIENCE)
    written = rows(path)
    acknowledged = sum(line.endswith("\n") for line in told)
    assert len(written) >= acknowledged >= count
    assert [note.number for note in written] == list(range(len(written)))
