"""The files of a dataset in a workspace: landed whole, with the hash they had when they came.

::

    datasets/<name>/dataset.toml      the declaration, if it is a user's own
    datasets/<name>/<file of a split>
    datasets/<name>/excerpts/…        what the corpus was given besides its files
    datasets/<name>/received.json     hash, size, origin and date of each file
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from localrag.durable import replace_text
from localrag.errors import BusyError, InputError, NotFoundError, StorageError, WorkspaceError
from localrag.locking import locked
from localrag.workspace import Workspace

DECLARATION = "dataset.toml"
LARGEST = 200_000_000
"""Bytes of a file of questions, at most."""
EXCERPTS = "excerpts"
_RECORD = "received.json"
_LOCK = ".lock"
_PART = ".part"
DOWNLOAD = ".download"
"""The suffix of a file that is coming over the network."""
RESERVED = (DECLARATION, EXCERPTS, _RECORD, _LOCK)
"""What the folder itself holds, which no declared file can be called or lie under."""
PASSING = (_PART, DOWNLOAD)
"""What the names of files end with that are not whole yet."""


@dataclass(frozen=True, slots=True)
class Received:
    """A file as it came.

    Attributes:
        sha256: in hexadecimal digits.
        bytes: its size.
        source: the address or path it came from.
        date: ISO date and time (UTC).
    """

    sha256: str
    bytes: int
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder of one dataset, which need not exist.

    Attributes:
        folder: its path.
    """

    folder: Path

    @classmethod
    def of(cls, workspace: Workspace, name: str) -> "Shelf":
        """The folder of the dataset of this name.

        Raises:
            UsageError: the name could not be that of a folder, or of the dataset's corpus.
        """
        return cls(workspace.datasets / workspace.corpus(name).name)

    def received(self) -> dict[str, Received]:
        """The files that came, by their path in the folder.

        Raises:
            WorkspaceError: the record of them is damaged.
        """
        path = self.folder / _RECORD
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            return {str(file): Received(**entry) for file, entry in table.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise WorkspaceError(
                f"{path} cannot be read ({error}).",
                "Delete it, and bring the dataset in again: localrag data add",
            ) from error

    def land(self, file: str, content: bytes, source: str) -> bool:
        """Put a file in its place, flushed to the disk; returns whether anything changed.

        Raises:
            StorageError: it cannot be written; what was there before stays.
        """
        target = self.folder / file
        # A path need not be Unicode; the record is.
        readable = source.encode(errors="backslashreplace").decode()
        entry = Received(digest(content), len(content), readable, _now())
        known = self.received()
        same = file in known and known[file].sha256 == entry.sha256
        if same and target.is_file() and digest(content_of(target)) == entry.sha256:
            return False
        with self.writing():
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f"{target.name}{_PART}")
            with part.open("wb") as writer:
                writer.write(content)
                writer.flush()
                os.fsync(writer.fileno())
            # A file without an entry is taken for none; an entry without its file too.
            self._note(known | {file: entry})
            part.replace(target)
        return True

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the right to write the folder; the system frees it when the process ends.

        Raises:
            BusyError: another process holds it.
            StorageError: the folder cannot be written.
        """
        busy = BusyError(
            f"Another process is bringing in the dataset {self.folder.name!r}.",
            "Wait until it has finished, then try again.",
        )
        with ExitStack() as held:
            with self.writing():
                held.enter_context(locked(self.folder / _LOCK, busy))
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Tell what the system says about the disk as `StorageError`."""
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"{error.filename or self.folder} cannot be written ({error.strerror or error}).",
                "Free space on the disk, mend the permissions, or choose another workspace with "
                "--home.",
            ) from error

    def _note(self, entries: dict[str, Received]) -> None:
        table: dict[str, Any] = {file: asdict(entry) for file, entry in sorted(entries.items())}
        replace_text(self.folder / _RECORD, json.dumps(table, ensure_ascii=False, indent=1) + "\n")


def content_of(path: Path) -> bytes:
    """The bytes of a file of questions.

    Raises:
        NotFoundError: there is no such file.
        InputError: it is no file, too large, or cannot be read.
    """
    try:
        if not path.exists():
            raise NotFoundError(f"There is no file {path}.", "Check the spelling.")
        if not path.is_file():
            raise InputError(f"{path} is no file.", "Name a file.")
        size = path.stat().st_size
        if size > LARGEST:
            raise InputError(f"{path} has {size:,} bytes; {LARGEST:,} are the limit.", "Split it.")
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror or error}).", "Check its permissions."
        ) from error


def digest(content: bytes) -> str:
    """The SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def require_hash(name: str, content: bytes, expected: str, by: str, cure: str) -> None:
    """Compare a file with the hash it should have; an empty one stands for any.

    Args:
        name: of the file, for the message.
        content: the whole file.
        expected: the hash.
        by: who says so, for the message.
        cure: what to do.

    Raises:
        InputError: it has another; names both.
    """
    found = digest(content)
    if expected and found != expected:
        raise InputError(f"{name} has the SHA-256 {found}, but {by} says {expected}.", cure)


def _now() -> str:
    return datetime.now(UTC).replace(microsecond=0).isoformat()
