import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from localrag_indexes.manifest import current, new_generation

from ..rows import each


def build(root: Path, text: str) -> None:
    with new_generation(root) as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "data").write_text(text, encoding="utf-8")


def content(root: Path) -> str:
    folder = current(root)
    assert folder is not None
    return (folder / "inner" / "data").read_text(encoding="utf-8")


def test_no_generation_before_the_first(tmp_path: Path) -> None:
    assert current(tmp_path) is None
    assert current(tmp_path / "none") is None


def test_the_last_complete_one_is_current_and_alone(tmp_path: Path) -> None:
    for text in ("一", "二", "三"):
        build(tmp_path, text)
        assert content(tmp_path) == text
    assert len(list(tmp_path.glob("g-*"))) == 1


def test_a_failed_build_leaves_the_old_one(tmp_path: Path) -> None:
    build(tmp_path, "一")
    with suppress(RuntimeError), new_generation(tmp_path) as folder:
        (folder / "half").write_text("", encoding="utf-8")
        raise RuntimeError
    assert content(tmp_path) == "一"
    assert len(list(tmp_path.glob("g-*"))) == 1


def test_while_building_the_old_one_stays_current(tmp_path: Path) -> None:
    build(tmp_path, "一")
    with new_generation(tmp_path) as folder:
        assert content(tmp_path) == "一"
        (folder / "inner").mkdir()
        (folder / "inner" / "data").write_text("二", encoding="utf-8")
    assert content(tmp_path) == "二"


@pytest.mark.parametrize("pointer", ["", "g-gone", "../elsewhere", ".", "..", "/", "a/b", "\x00"])
def test_a_pointer_to_nowhere_is_no_generation(tmp_path: Path, pointer: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "current").write_text(pointer, encoding="utf-8")
    assert current(root) is None


@each("damage", [b"\xff\xfe\x00", b"", b"g-0123456789ab\n", b"xx"])
def test_a_damaged_pointer_costs_no_generation(tmp_path: Path, damage: bytes) -> None:
    build(tmp_path, "一")
    (tmp_path / "g-0123456789ac.new").mkdir()
    (tmp_path / "current").write_bytes(damage)
    assert content(tmp_path) == "一"
    (tmp_path / "current").unlink()
    assert content(tmp_path) == "一"
    build(tmp_path, "二")
    assert content(tmp_path) == "二"


KILLED = """
import itertools, sys
from pathlib import Path
from localrag_indexes.manifest import new_generation
for number in itertools.count():
    with new_generation(Path(sys.argv[1])) as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "data").write_text(str(number) * 1000, encoding="utf-8")
    print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill -9")
def test_a_killed_build_loses_nothing_complete(tmp_path: Path) -> None:
    for round_ in range(8):
        command = [sys.executable, "-c", KILLED, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(round_ + 1):
                process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
        text = content(tmp_path)
        assert len(text) in range(1000, 6000, 1000)
        assert len(set(text.split(text[: len(text) // 1000]))) == 1
    build(tmp_path, "終")
    assert [path.name for path in tmp_path.glob("*.new")] == []
    assert len(list(tmp_path.glob("g-*"))) == 1
