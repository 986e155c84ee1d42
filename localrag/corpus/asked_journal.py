"""A journal of who asked what, for offices that must keep one: ``asked.jsonl`` in the workspace.

It is kept where the setting ``journal.questions`` says so. Every question is written down before it
is answered: a line of JSON each, which names the SHA-256 of the line before it. Whoever changes,
removes or moves a line breaks the chain there. The end of a file can be cut off unseen, and who may
write it can write all of it anew: `checked` gives the digest of the last line, to be noted
elsewhere from time to time.

Searches are not written down, and neither are answers.
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
"""What the first line names in the place of one before it."""
_TAIL = 1 << 22
_PATIENCE = 10.0
"""Seconds to wait for another process that writes a line."""


class AskedQuestion(BaseModel):
    """A line of the journal.

    Attributes:
        at: when it was asked, ISO date and time (UTC).
        user, process: who asked: the name of the account, and the number of the process.
        corpus, method: what was asked.
        question, options: the text, and what it offers to choose from.
        before: SHA-256 of the line before.
    """

    model_config = ConfigDict(extra="forbid")

    at: str
    user: str
    process: int
    corpus: str
    method: str
    question: str
    options: tuple[str, ...]
    before: str


class Chain(NamedTuple):
    """What a journal holds: how many questions, and the digest of the last line."""

    questions: int
    last: str


def journal_of(workspace: Workspace) -> Path:
    """The file of the journal, which need not exist."""
    return workspace.home / "asked.jsonl"


def write_down(
    workspace: Workspace, corpus: str, method: str, question: str, options: tuple[str, ...]
) -> None:
    """Add a question to the journal; when this returns, it is on the disk.

    Raises:
        StorageError: it cannot be written, so the question may not be answered.
        BusyError: another process holds the journal.
    """
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


def checked(workspace: Workspace) -> Chain:
    """Follow the chain of the journal from its first line to its last.

    Raises:
        StoreError: it is broken; the first line is named that does not follow the one before it.
        StorageError: it cannot be read.
    """
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
    return Chain(count, before)


def _journal(path: Path) -> Journal[AskedQuestion]:
    return Journal(path, TypeAdapter(AskedQuestion), lambda number: _broken(path, number))


def _broken(path: Path, line: int) -> StoreError:
    # A line says what the one before it was: which of the two was changed, nothing tells.
    cure = (
        N_(
            "Compare it with a copy: line {before} or line {line} was changed, or what stood "
            "between them is missing; what stands before line {before} is as it was written."
        )
        if line > 1
        else N_("Compare it with a copy: line 1 was changed, or what stood before it is missing.")
    )
    return StoreError(
        N_("{path} was changed: line {line} does not follow the one before it."),
        cure,
        path=path,
        line=line,
        before=line - 1,
    )


def _last_line(path: Path) -> bytes:
    """The last line, with its end; empty where there is none. Longer ones no question makes."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return (file.read().splitlines(keepends=True) or [b""])[-1]


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest() if line else _FIRST


def _user() -> str:
    """The name of the account, as the system has it: whoever asks sets the environment."""
    try:
        import pwd
    except ImportError:  # Windows
        return os.getlogin()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # An account without a name.
        return str(os.getuid())
