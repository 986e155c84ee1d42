"""Index folders: generations that are switched in at once, and manifests of what lies in them.

A generation is built aside, switched in, and swept when superseded::

    root/
      current        one line: the name of the generation in use
      g-1f0c…/       complete generations
      g-77ab….new/   one being built, or left by a build that was killed

``manifest.json`` is written last, so a folder without one is not an index. Beside it a note says
which files were compared with it byte by byte: their numbers on the disk, when they were written.
Those that are other files now, because they were copied, restored or written to, are compared once
more.
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
"""Raised whenever an index of the version before can no longer be read."""
FILE_NAME = "manifest.json"
COMPARED = "manifest.compared"
"""Name of the note on the files that were compared."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """Size in bytes and SHA-256 of one file when the index was complete."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """What an index folder holds.

    Attributes:
        kind: ``bm25``, ``vectors`` …; an index is opened only as what it is.
        count: number of entries.
        analyzer: id of the analyzer its terms were made with; empty for vectors.
        attributes: names of the attributes entries can be filtered by.
        files: every other file of the folder, by its path inside it.
        extra: whatever the owner of the index wants to find again (model id, dimension …);
            JSON values.
        format: version of the layout on disk.
    """

    kind: str
    count: int
    analyzer: str = ""
    attributes: tuple[str, ...] = ()
    files: Mapping[str, IndexFile] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Write it into `folder` as ``manifest.json``."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1)
        (folder / FILE_NAME).write_text(text, encoding="utf-8")
        self._note(folder)

    @classmethod
    def read(cls, folder: Path) -> "IndexManifest":
        """Read the manifest of `folder`.

        Raises:
            IndexMissing: the folder has none.
            IndexVersionError: it was written in another format.
            IndexDamaged: it is not a manifest, or cannot be read.
        """
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
                path, N_("index file {file} is no manifest ({why})"), why=error
            ) from error

    def verify(self, folder: Path, *, deep: bool = False) -> None:
        """Check that the files are those the index was completed with.

        Args:
            folder: where the index lies.
            deep: compare every byte by checksum; otherwise presence and size, and the bytes only
                where a file is another one than when they were compared last, which costs
                microseconds where none is.

        Raises:
            IndexDamaged: names the first file that differs.
        """
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
            # Without the right to write it, or room, it is compared again next time.
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
        """Note that the bytes of these files are those of the manifest; what else is noted stays.

        Of an index with a graph its files alone are compared, too.
        """
        before = _noted(folder)
        now = before | self._marks(folder)
        if now == before:
            return
        noted = json.dumps(now).encode()
        # Its owner's alone, whatever the umask; others may read at the same time.
        unfinished = folder / f"{COMPARED}.{uuid.uuid4().hex[:12]}"
        try:
            descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(noted)
            unfinished.replace(folder / COMPARED)
        finally:
            unfinished.unlink(missing_ok=True)

    def _marks(self, folder: Path) -> dict[str, list[int]]:
        """Number on the disk and time of writing of every file."""
        found = {}
        for name in self.files:
            status = (folder / name).stat()
            found[name] = [status.st_ino, status.st_mtime_ns]
        return found


def _noted(folder: Path) -> dict[str, Any]:
    """What the note says; nothing where there is none that can be read."""
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
