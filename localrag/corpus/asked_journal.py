"""A journal of who asked what, for offices that must keep one: ``asked.jsonl`` in the workspace.

The setting ``journal.questions`` switches it on. Every question is written before it is answered,
as a line of JSON with the SHA-256 of the line before. A changed, removed or moved line breaks the
chain. A cut off end stays unseen, unless the digest of the last line (`checked`) was noted
elsewhere. So does a rewritten file. Searches and answers are not written.
"""

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from localrag.corpus.journal import Journal
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, StorageError, StoreError
from localrag.language import N_

_FIRST = "0" * 64
"""The digest in the first line."""
_TAIL = 1 << 22
_PATIENCE = 10.0
"""Seconds to wait for another writer."""


class AskedQuestion(BaseModel):
    """A line of the journal."""

    model_config = ConfigDict(extra="forbid")

    at: str  # ISO date and time (UTC)
    user: str  # user, process: the account and the number of the process
    process: int
    corpus: str
    method: str
    question: str  # question, options: the text and its options
    options: tuple[str, ...]
    before: str  # SHA-256 of the line before


class CheckedChain(NamedTuple):
    """The number of questions in a journal, and the digest of its last line."""

    questions: int
    last: str


def journal_of(workspace: Workspace) -> Path:
    """The file of the journal; may be missing."""
    return workspace.home / "asked.jsonl"


def write_down(
    workspace: Workspace, corpus: str, method: str, question: str, options: tuple[str, ...]
) -> None:
    """Write a question; after the return it is on the disk."""
    from filelock import FileLock, Timeout

    path = journal_of(workspace)
    try:
        with FileLock(path.with_suffix(".lock"), timeout=_PATIENCE, mode=0o600):
            journal = _journal(path)
            with journal:
                row = AskedQuestion(
                    at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                    user=_user(),
                    process=os.getpid(),
                    corpus=corpus,
                    method=method,
                    question=question.encode(errors="replace").decode(),
                    options=tuple(one.encode(errors="replace").decode() for one in options),
                    before=_digest(_last_line(path)),
                )
                journal.append(row)
    except Timeout:
        raise BusyError(
            N_("Another process holds the journal {path}."), N_("Try it again."), path=path
        ) from None
    except OSError as error:
        raise StorageError(
            N_("{path} cannot be read or written ({problem})."),
            N_("Free some space or mend its permissions: questions must be written down here."),
            path=path,
            problem=error,
        ) from error


def checked(workspace: Workspace) -> CheckedChain:
    """Check the chain of the journal. Raises `StoreError` or `StorageError`."""
    path = journal_of(workspace)
    before, count = _FIRST, 0
    try:
        with path.open("rb") as file:
            for count, line in enumerate(file, 1):
                try:
                    row = AskedQuestion.model_validate_json(line)
                except ValidationError:
                    raise _broken(path, count) from None
                if row.before != before or not line.endswith(b"\n"):
                    raise _broken(path, count)
                before = _digest(line)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StorageError(
            N_("{path} cannot be read ({problem})."),
            N_("Check the path and its permissions."),
            path=path,
            problem=error,
        ) from error
    return CheckedChain(count, before)


def _journal(path: Path) -> Journal[AskedQuestion]:
    return Journal(path, TypeAdapter(AskedQuestion), lambda number: _broken(path, number))


def _broken(path: Path, line: int) -> StoreError:
    # A line has the digest of the line before: either of the two may have been changed.
    cure = (
        N_(
            "Compare it with a copy: line {before} or {line} was changed, or lines between them "
            "are missing. The lines before line {before} are unchanged."
        )
        if line > 1
        else N_("Compare it with a copy: line 1 was changed, or lines before it are missing.")
    )
    return StoreError(
        N_("{path} was changed: line {line} does not follow the one before it."),
        cure,
        path=path,
        line=line,
        before=line - 1,
    )


def _last_line(path: Path) -> bytes:
    """The last line with its end; empty if there is none. No question makes a longer one."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return (file.read().splitlines(keepends=True) or [b""])[-1]


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest() if line else _FIRST


def _user() -> str:
    """The account by the system; the environment can be forged."""
    try:
        import pwd
    except ImportError:  # Windows
        return os.getlogin()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # An account without a name.
        return str(os.getuid())
