"""Index folders: generations that replace each other at once, and the manifest of each.

A generation is built beside the current one, then switched in::

    root/
      current        one line: the name of the generation in use
      g-1f0c…/       complete generations
      g-77ab….new/   one that is being built, or the rest of a build that was killed

``manifest.json`` is written last: a folder without it is no index. A note beside it lists the files
compared byte by byte, with inode and time of writing. A copied, restored or changed file
is compared again.
"""

import hashlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from localrag_indexes.errors import (
    CHANGED,
    N_,
    UNREADABLE,
    IndexDamaged,
    IndexMissing,
    IndexVersionError,
)

FORMAT = 1
"""Raise it whenever this version can no longer read the indexes of the last one."""
FILE_NAME = "manifest.json"
COMPARED = "manifest.compared"
"""Name of the note on the files that were compared."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """Size in bytes and SHA-256 of a file when the index was complete."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """The contents of an index folder."""

    kind: str  # ``bm25`` or ``vectors``; an index opens only as its kind
    count: int
    analyzer: str = ""  # id of the analyzer; empty for vectors
    attributes: tuple[str, ...] = ()  # names of the attributes for filters
    # every other file of the folder, by its path inside it
    files: Mapping[str, IndexFile] = field(default_factory=dict)
    # JSON values of the owner (model id, dimension …)
    extra: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT  # version of the files

    def write(self, folder: Path) -> None:
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1)
        (folder / FILE_NAME).write_text(text, encoding="utf-8")
        self._note(folder)

    @classmethod
    def read(cls, folder: Path) -> "IndexManifest":
        """Read a manifest. Raises `IndexMissing`, `IndexVersionError` or `IndexDamaged`."""
        path = folder / FILE_NAME
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise IndexVersionError(folder, "format", data["format"], FORMAT)
            files = {name: IndexFile(**record) for name, record in data.pop("files").items()}
            attributes = tuple(data.pop("attributes"))
            return cls(**data, attributes=attributes, files=files)
        except (FileNotFoundError, NotADirectoryError):
            raise IndexMissing(folder) from None
        except OSError as error:
            raise IndexDamaged(path, UNREADABLE, why=error.strerror) from error
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise IndexDamaged(
                path, N_("index file {file} is not a manifest ({why})"), why=error
            ) from error

    def verify(self, folder: Path, *, deep: bool = False) -> None:
        """Check that the files are unchanged since the index was completed; else `IndexDamaged`."""
        for name, record in self.files.items():
            path = folder / name
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                raise IndexDamaged(path, N_("index file {file} is missing")) from None
            except OSError as error:
                raise IndexDamaged(path, UNREADABLE, why=error.strerror) from error
            if size != record.size:
                raise IndexDamaged(
                    path,
                    N_("index file {file} is damaged: {size} bytes instead of {expected}"),
                    size=size,
                    expected=record.size,
                )
        if deep or not self._is_noted(folder):
            self._compare(folder)
            # Without the right to write or free space, the next open compares again.
            with suppress(OSError):
                self._note(folder)

    def _compare(self, folder: Path) -> None:
        for name, record in self.files.items():
            path = folder / name
            try:
                changed = _sha256(path) != record.sha256
            except OSError as error:
                raise IndexDamaged(path, UNREADABLE, why=error.strerror) from error
            if changed:
                raise IndexDamaged(path, CHANGED)

    def _is_noted(self, folder: Path) -> bool:
        noted = _noted(folder)
        return all(noted.get(name) == one for name, one in self._marks(folder).items())

    def _note(self, folder: Path) -> None:
        before = _noted(folder)
        now = before | self._marks(folder)
        if now == before:
            return
        noted = json.dumps(now).encode()
        # For the owner alone, despite the umask. Others may read at the same time.
        unfinished = folder / f"{COMPARED}.{uuid.uuid4().hex[:12]}"
        try:
            descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(noted)
            unfinished.replace(folder / COMPARED)
        finally:
            unfinished.unlink(missing_ok=True)

    def _marks(self, folder: Path) -> dict[str, list[int]]:
        found = {}
        for name in self.files:
            status = (folder / name).stat()
            found[name] = [status.st_ino, status.st_mtime_ns]
        return found


def _noted(folder: Path) -> dict[str, Any]:
    try:
        noted = json.loads((folder / COMPARED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}


def describe_files(folder: Path) -> dict[str, IndexFile]:
    """Record every file below `folder`, except a manifest, for `IndexManifest.files`."""
    return {
        path.relative_to(folder).as_posix(): IndexFile(path.stat().st_size, _sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (FILE_NAME, COMPARED)
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_POINTER = "current"
_UNFINISHED = ".new"
_NAME = re.compile("g-[0-9a-f]{12}")
# How often, and after how many seconds, the removal of a folder is tried again.
_TRIES, _BETWEEN = 20, 0.05


@contextmanager
def new_generation(root: Path) -> Iterator[Path]:
    """Yield an empty folder to build in; switch it in when the block ends well.

    Everything is flushed to disk before the switch, which renames one small file. If the block
    raises or the process is killed, the old generation stays in use. The switch removes superseded
    generations and the rest of killed builds. Where the system cannot remove open files, a later
    build does. The caller holds the lock of the corpus: one build at a time.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"g-{uuid.uuid4().hex[:12]}"
    unfinished = root / (name + _UNFINISHED)
    try:
        # For the owner alone: the index holds the words of the documents.
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
    """Find the folder of the generation in use; None if none was completed.

    If the pointer is lost, take the newest complete generation: a rebuild may take hours.
    """
    try:
        folder = root / (root / _POINTER).read_text(encoding="ascii").strip()
        if _NAME.fullmatch(folder.name) and folder.parent == root and folder.is_dir():
            return folder
    except (OSError, ValueError):
        pass
    return max(filter(_is_complete, root.glob("g-*")), key=_made, default=None)


def was_built(root: Path) -> bool:
    """Whether a generation was ever completed, even if it is lost now."""
    return (root / _POINTER).exists()


def sweep(root: Path) -> None:
    """Remove superseded generations and the rest of killed builds; the caller holds the lock."""
    kept = current(root)
    for folder in root.glob("g-*"):
        if folder != kept:
            shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove a folder; threads of a build may still write to it for a moment."""
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
    path.chmod(0o700 if path.is_dir() else 0o600)
    _flush(path)


def _flush(path: Path) -> None:
    # Windows cannot flush folders or files opened for reading; the order holds anyway.
    with suppress(PermissionError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            with suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
