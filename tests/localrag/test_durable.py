"""Files that are replaced as a whole: by several processes, over links, on a full disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from localrag.corpus.durable import replace_text, replacing

from ..patience import PATIENCE

LOOP = """
import sys
from pathlib import Path
from localrag.corpus.durable import replace_text

path, text = Path(sys.argv[1]), sys.argv[2] * 50_000
for _ in range(150):
    replace_text(path, text)
    assert path.read_text() in (len(text) * "a", len(text) * "b"), "a mixture"
"""


def test_two_processes_in_a_loop(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    command = (sys.executable, "-c", LOOP, str(path))
    writers = [subprocess.Popen((*command, text)) for text in "ab"]
    assert [writer.wait(PATIENCE) for writer in writers] == [0, 0]
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_file_before_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    replace_text(path, "before")
    with pytest.raises(UnicodeEncodeError):
        replace_text(path, "\ud800")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"half of" * (1 // 0))
    with pytest.raises(OSError, match=r"No such|not exist"):
        replace_text(tmp_path / "none" / "note.json", "text")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    path = tmp_path / "note.json"
    replace_text(path, "before")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
        with pytest.raises(OSError, match="large"):
            replace_text(path, "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links are of POSIX")
def test_permissions_are_kept_and_links_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.touch(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(secret)
    replace_text(link, "text")
    assert (link.is_symlink(), secret.read_text()) == (True, "text")
    assert secret.stat().st_mode & 0o777 == 0o600
    plain = tmp_path / "plain.json"
    mask = os.umask(0o027)
    try:
        replace_text(plain, "text")
    finally:
        os.umask(mask)
    assert plain.stat().st_mode & 0o777 == 0o600, "whatever the umask lets others do"


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("長" * 85)
    replace_text(path, "text")
    assert path.read_text() == "text"
