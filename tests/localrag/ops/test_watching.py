"""`localrag watch`: a corpus follows the files of folders until it is stopped."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.errors import NotFoundError
from localrag.ops.watching import FolderWatch, unit

from ...patience import PATIENCE, wait_for

pytest.importorskip("watchdog")
Cli = Callable[..., Any]


def ended(running: "subprocess.Popen[bytes]") -> bytes:
    """What a process said until Ctrl-C ended it; Python may lose one that meets a destructor."""
    for _ in range(3):
        running.send_signal(signal.SIGINT)
        try:
            return running.communicate(timeout=PATIENCE / 4)[1]
        except subprocess.TimeoutExpired:
            continue
    running.kill()
    return running.communicate()[1]


@pytest.mark.parametrize("polling", [0, 1])
def test_a_change_ends_the_waiting(tmp_path: Path, polling: int) -> None:
    with FolderWatch([tmp_path], PATIENCE, polling) as watched:
        below = tmp_path / "cases" / "one.txt"
        below.parent.mkdir()
        below.write_text("渡し舟", encoding="utf-8")
        assert watched.wait()
        watched.stop()
        assert not watched.wait()


def test_silence_ends_it_too(tmp_path: Path) -> None:
    with FolderWatch([tmp_path], 0.01) as watched:
        assert watched.wait()


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        FolderWatch([tmp_path / "none"], 1)


def test_a_unit_has_the_command_without_its_option(tmp_path: Path) -> None:
    text = unit(["/bin/localrag", "watch", str(tmp_path), "--corpus", "firm", "--service"])
    assert f"ExecStart=/bin/localrag watch {tmp_path} --corpus firm\n" in text.replace("/usr", "")


def test_new_changed_and_removed_files_follow(home: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("init").code == 0
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "first.txt").write_text("灯台の記録である。", encoding="utf-8")
    command = [sys.executable, "-m", "localrag", "--home", str(home), "watch", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def found(words: str) -> list[str]:
        try:
            with localrag.open(home).corpus() as corpus:
                return [hit.passage.text for hit in corpus.search(words).hits]
        except localrag.LocalragError:
            return []

    try:
        wait_for(lambda: found("灯台"))
        (folder / "second.txt").write_text("桟橋の修繕の見積りである。", encoding="utf-8")
        wait_for(lambda: any("桟橋" in text for text in found("桟橋の修繕")))
        (folder / "first.txt").unlink()
        wait_for(lambda: not any("灯台" in text for text in found("灯台の記録")))
    finally:
        said = ended(running)
    assert running.returncode == 130, said


def test_a_drive_that_is_gone_loses_no_document(home: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("init").code == 0
    folder = tmp_path / "drive"
    folder.mkdir()
    (folder / "first.txt").write_text("灯台の記録である。", encoding="utf-8")
    assert cli("add", str(folder)).code == 0
    (folder / "first.txt").unlink()
    command = [sys.executable, "-m", "localrag", "--home", str(home), "watch", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert running.stderr is not None
    try:
        while b"its documents stay" not in (line := running.stderr.readline()):
            assert line, "it ended"
    finally:
        ended(running)
    with localrag.open(home).corpus() as corpus:
        assert corpus.store.extent().documents == 1
