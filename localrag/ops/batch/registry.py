"""Lists the batches of a workspace: ``runs/batches/<digest of their file>.json``.

Answers may be anywhere on the disk. These notes record their paths, so a batch can be found and
continued. They hold no answers and may be lost.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from localrag.corpus.durable import listed, make_folder, replace_text
from localrag.corpus.workspace import Workspace
from localrag.errors import StorageError
from localrag.language import N_
from localrag.ops.batch.types import cause_and_cure

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownBatch:
    """A batch begun in a workspace.

    Attributes:
        out, questions: absolute files; `questions` of a stream are None.
        concurrency: requested parallel questions; 0 for the settings.
        started, finished: ISO date and time (UTC); `finished` is "" until the end.
        cause, cure: of an early end by an error; "" otherwise.
        document: the Office file made from the rows, or None.
    """

    out: Path
    questions: Path | None
    corpus: str
    concurrency: int
    rows: int
    started: str
    finished: str = ""
    cause: str = ""
    cure: str = ""
    document: Path | None = None

    def missing(self) -> list[Path]:
        """Return the files moved or removed since; without questions it cannot continue."""
        return [path for path in (self.questions, self.out) if path and not path.exists()]


_adapter = TypeAdapter(KnownBatch)


@contextmanager
def noted(workspace: Workspace, batch: KnownBatch, *, anew: bool) -> Iterator[None]:
    """Note a batch during its run, and its end; if this fails, the log says so.

    `anew` replaces an earlier batch with the same file.
    """
    before = _read(_note(workspace, batch.out))
    if before is not None and not anew:
        batch = replace(batch, started=before.started)
    _write(workspace, batch)
    try:
        yield
    except Exception as error:
        cause, cure = cause_and_cure(error)
        _write(workspace, replace(batch, cause=cause, cure=cure))
        raise
    _write(workspace, replace(batch, finished=now()))


def known(workspace: Workspace) -> list[KnownBatch]:
    """Return the batches, the newest first; raises `StorageError` if the folder is closed."""
    found = (_read(path) for path in _notes(workspace))
    return sorted(filter(None, found), key=lambda batch: batch.started, reverse=True)


def damaged(workspace: Workspace) -> list[Path]:
    """Return the unreadable notes."""
    return [path for path in _notes(workspace) if _read(path) is None]


def forget(workspace: Workspace, batch: KnownBatch) -> None:
    """Remove the note of a batch; questions and answers stay. Raises `StorageError`."""
    path = _note(workspace, batch.out)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            N_("{path} cannot be removed ({problem})."),
            N_("Check the permissions of its folder."),
            path=path,
            problem=error,
        ) from error


def now() -> str:
    """Return ISO date and time (UTC), to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _note(workspace: Workspace, out: Path) -> Path:
    name = sha256(str(out).encode(errors="surrogateescape")).hexdigest()[:16]
    return workspace.runs / "batches" / f"{name}.json"


def _notes(workspace: Workspace) -> list[Path]:
    return listed(workspace.runs / "batches", "*.json")


def _read(path: Path) -> KnownBatch | None:
    try:
        return _adapter.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _write(workspace: Workspace, batch: KnownBatch) -> None:
    path = _note(workspace, batch.out)
    try:
        make_folder(path.parent)
        replace_text(path, _adapter.dump_json(batch, indent=1).decode())
    except (OSError, ValueError) as error:
        _log.warning(
            N_("The batch goes on, but is not noted among the runs of the workspace (%s)."), error
        )
