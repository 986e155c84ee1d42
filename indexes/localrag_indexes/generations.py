"""Generations of an index: built aside, switched in at once, swept when superseded.

::

    root/
      current        one line: the name of the generation in use
      g-1f0c…/       complete generations
      g-77ab….new/   one being built, or left by a build that was killed
"""

import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POINTER = "current"
_UNFINISHED = ".new"
_NAME = re.compile("g-[0-9a-f]{12}")
# How often, and after how many seconds, a folder is removed that files still come into.
_TRIES, _BETWEEN = 20, 0.05


@contextmanager
def new_generation(root: Path) -> Iterator[Path]:
    """Give an empty folder to build in; when the block ends well, switch it in.

    Everything written is flushed to disk before the switch, which is one rename of a small file.
    If the block raises or the process is killed, the old generation stays current. Superseded
    generations and what killed builds left are removed after the switch; readers that have one
    open keep it where the system allows removing open files, else it stays until a later build.

    One build at a time: the caller holds the lock of the corpus.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"g-{uuid.uuid4().hex[:12]}"
    unfinished = root / (name + _UNFINISHED)
    try:
        # Its owner's alone: what is searched in holds the words of the documents.
        unfinished.mkdir(mode=0o700)
        yield unfinished
        _finish_tree(unfinished)
    except BaseException:
        _remove(unfinished)
        raise
    finished = root / name
    unfinished.rename(finished)
    pointer = root / f"{_POINTER}{_UNFINISHED}"
    pointer.write_text(f"{name}\n", encoding="ascii")
    _finish(pointer)
    pointer.replace(root / _POINTER)
    _flush(root)
    sweep(root)


def current(root: Path) -> Path | None:
    """Find the folder of the generation in use; None where none was completed.

    Where the pointer is lost or damaged, it is the newest complete one: building it again may
    take hours.
    """
    try:
        folder = root / (root / _POINTER).read_text(encoding="ascii").strip()
        if _NAME.fullmatch(folder.name) and folder.parent == root and folder.is_dir():
            return folder
    except (OSError, ValueError):
        pass
    return max(filter(_is_complete, root.glob("g-*")), key=_made, default=None)


def was_built(root: Path) -> bool:
    """Tell whether a generation was ever completed, even if it is lost by now."""
    return (root / _POINTER).exists()


def sweep(root: Path) -> None:
    """Remove what is not in use: superseded generations, and what killed builds left.

    The caller holds the lock of the corpus.
    """
    kept = current(root)
    for folder in root.glob("g-*"):
        if folder != kept:
            shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove what a build has left, whose threads may still write for a moment."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_BETWEEN)


def _is_complete(folder: Path) -> bool:
    return bool(_NAME.fullmatch(folder.name)) and folder.is_dir()


def _made(folder: Path) -> int:
    return folder.stat().st_mtime_ns


def _finish_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        _finish(path)
    _flush(folder)


def _finish(path: Path) -> None:
    """Flush a file, and close it to others: libraries make theirs by the umask."""
    path.chmod(0o700 if path.is_dir() else 0o600)
    _flush(path)


def _flush(path: Path) -> None:
    # Windows can flush neither folders nor files opened for reading; there the order holds anyway.
    with suppress(PermissionError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            with suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
