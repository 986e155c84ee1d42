"""Files of a dataset in a workspace, each written whole and recorded with its hash.

::

    datasets/<name>/dataset.toml      the declaration of a user
    datasets/<name>/<file of a split>
    datasets/<name>/excerpts/…        documents added to the corpus
    datasets/<name>/received.json     hash, size, origin and date of each file
"""

import hashlib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from localrag.corpus.durable import locked, make_folder, replace_text, replacing, storing
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, InputError, NotFoundError, WorkspaceError
from localrag.language import N_

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
"""Names in the folder that no declared path may begin with."""
PASSING = (_PART, DOWNLOAD)
"""Endings of the names of partial files."""


@dataclass(frozen=True, slots=True)
class Received:
    """Record of a received file."""

    sha256: str
    bytes: int
    source: str
    date: str


_RECEIVED = TypeAdapter(dict[str, Received])


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """The folder of one dataset. It may be missing."""

    folder: Path

    @classmethod
    def of(cls, workspace: Workspace, name: str) -> "DatasetFolder":
        """The folder of a dataset by name. Raises `UsageError`."""
        return cls(workspace.datasets / workspace.corpus(name).name)

    def received(self) -> dict[str, Received]:
        """Records of received files, by path in the folder. Raises `WorkspaceError`."""
        path = self.folder / _RECORD
        try:
            return _RECEIVED.validate_json(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise WorkspaceError(
                N_("{path} cannot be read ({problem})."),
                N_("Delete it, and bring the dataset in again: localrag data add"),
                path=path,
                problem=error,
            ) from error

    def land(self, file: str, content: bytes, source: str) -> bool:
        """Write a file and flush it to the disk; returns whether anything changed."""
        target = self.folder / file
        # A path need not be Unicode; the record is.
        readable = source.encode(errors="backslashreplace").decode()
        entry = Received(digest(content), len(content), readable, _now())
        known = self.received()
        same = file in known and known[file].sha256 == entry.sha256
        if same and target.is_file() and digest(content_of(target)) == entry.sha256:
            return False
        with self.writing():
            make_folder(target.parent)
            with replacing(target, target.with_name(f"{target.name}{_PART}")) as writer:
                writer.write(content)
                # A file without a record counts as missing, and the reverse.
                self._note(known | {file: entry})
        return True

    def held(self) -> AbstractContextManager[None]:
        """Hold the right to write the folder; the system frees it when the process ends."""
        busy = BusyError(
            N_("Another process is bringing in the dataset {folder!r}."),
            N_("Wait until it has finished, then try again."),
            folder=self.folder.name,
        )
        return locked(self.folder / _LOCK, busy)

    def writing(self) -> AbstractContextManager[None]:
        """Convert errors of the disk to `StorageError`."""
        return storing(self.folder)

    def _note(self, entries: dict[str, Received]) -> None:
        table = _RECEIVED.dump_json(dict(sorted(entries.items())), indent=1)
        replace_text(self.folder / _RECORD, f"{table.decode()}\n")


def content_of(path: Path) -> bytes:
    """The bytes of a file of questions. Raises `NotFoundError` or `InputError`."""
    try:
        if not path.exists():
            raise no_file(path)
        if not path.is_file():
            raise InputError(N_("{path} is no file."), N_("Name a file."), path=path)
        size = path.stat().st_size
        if size > LARGEST:
            raise InputError(
                N_("{path} has {size:,} bytes; {most:,} are the limit."),
                N_("Split it."),
                path=path,
                size=size,
                most=LARGEST,
            )
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def no_file(path: Path) -> NotFoundError:
    """The error for a missing file."""
    return NotFoundError(N_("There is no file {path}."), N_("Check the spelling."), path=path)


def unreadable(path: Path, problem: OSError) -> InputError:
    """The error for a file that the system cannot read."""
    return InputError(
        N_("{path} cannot be read ({problem})."),
        N_("Check the path and its permissions."),
        path=path,
        problem=problem,
    )


def digest(content: bytes) -> str:
    """The SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


UNDECLARED = N_("{path} has the SHA-256 {found}, but the declaration of {dataset} says {expected}.")
"""Says that a file has another hash than its dataset declares."""


def require_hash(
    path: str, content: bytes, expected: str, dataset: str, refused: str, cure: str
) -> None:
    """Compare a file with its expected hash; an empty hash allows any file. Raises `InputError`."""
    found = digest(content)
    if expected and found != expected:
        raise InputError(refused, cure, path=path, found=found, expected=expected, dataset=dataset)


def _now() -> str:
    return datetime.now(UTC).replace(microsecond=0).isoformat()
