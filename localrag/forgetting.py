"""Forgetting for good: a conversation, a run, or a corpus with all that was made of it.

What `localrag remove` or the workbench deletes can stand in free pages of a database for a while.
Here those pages are overwritten (SQLite's ``secure_delete``), the file is written anew without
them, and its log is emptied. Files are overwritten before they are unlinked; how far that reaches
is up to the disk: one that spreads writes (SSD), a snapshot or a backup may keep what it had.
"""

import glob
import os
import shutil
from contextlib import suppress
from pathlib import Path

from localrag.batch import registry
from localrag.batch.document import rows_beside
from localrag.batch.folder import BatchFolder
from localrag.conversations.store import Conversations
from localrag.durable import storing
from localrag.errors import NotFoundError, UsageError
from localrag.evaluation.record import recorded
from localrag.ingest.remove import remove_corpus
from localrag.language import N_
from localrag.workspace import Workspace

_CHUNK = 1 << 20


def forget_conversation(workspace: Workspace, conversation: int) -> None:
    """Forget a conversation with all its turns.

    Raises:
        NotFoundError: there is none with this number.
        StorageError: the disk is full or cannot be written.
    """
    if not workspace.conversations.exists():
        raise NotFoundError(N_("There is no conversation yet."))
    with Conversations.open(workspace) as conversations:
        try:
            conversations.forget(conversation)
        except OverflowError as error:  # No number of a database is as large.
            raise NotFoundError(
                N_("There is no conversation {number}."),
                N_("Choose another one."),
                number=conversation,
            ) from error


def forget_corpus(workspace: Workspace, corpus: str) -> list[Path]:
    """Forget a corpus with its index, its vectors, its layers and its settings.

    Returns:
        Files of answers that quote it, and stay: those of batches.

    Raises:
        NotFoundError: there is no such corpus.
        BusyError: another process is writing to it.
        StorageError: a file cannot be removed.
    """
    batches = [batch for batch in registry.known(workspace) if batch.corpus == corpus]
    quoted = [path for one in batches for path in (one.out, *BatchFolder(one.out).documents())]
    remove_corpus(workspace, corpus, before=_overwrite)
    return [path for path in quoted if path.exists()]


def set_aside(workspace: Workspace, place: Path) -> list[Path]:
    """Folders that restoring a backup has set aside beside a workspace, and that have a place.

    Args:
        workspace: lies beside them.
        place: a file or folder of it, which may have been forgotten there.
    """
    home = workspace.home
    if not place.is_relative_to(home):
        return []
    folders = sorted(home.parent.glob(f"{glob.escape(home.name)}.before-*"))
    return [one for one in folders if (one / place.relative_to(home)).exists()]


def forget_run(workspace: Workspace, run: str) -> None:
    """Forget a run: a batch by its file of answers, another one by its folder below ``runs``.

    Args:
        workspace: where it was noted.
        run: the file of answers (the rows, or one made of them), ``eval/DATASET/NAME`` or
            ``optimize/NAME``. With an evaluation go the answers it was made of, unless another
            evaluation is made of them.

    Raises:
        NotFoundError: there is no such run.
        UsageError: it is running.
        StorageError: a file cannot be removed, or the runs may not be read.
    """
    batches = registry.known(workspace)
    runs = workspace.runs.resolve()
    folder = (runs / run).resolve()
    if folder.is_dir() and folder.parent != runs and folder.parent.is_relative_to(runs):
        # Its record comes last: where that is gone, nothing tells which answers were its own.
        for path in sorted(_own_answers(workspace, folder)):
            _forget_folder(path)
        _forget_folder(folder)
        return
    named = Path(run).resolve()
    rows = (named, rows_beside(named))
    batch = next((one for one in batches if one.out in rows), None)
    if batch is None:
        raise NotFoundError(
            N_("There is no run {run!r}."),
            N_("Name the file of answers of a batch, eval/DATASET/NAME or optimize/NAME."),
            run=run,
        )
    beside = BatchFolder(batch.out)
    if beside.busy:
        raise UsageError(N_("{run} is running."), N_("Stop it first."), run=run)
    for path in (batch.out, *beside.documents()):
        _forget_file(path)
    _forget_folder(beside.path)
    registry.forget(workspace, batch)


def _own_answers(workspace: Workspace, run: Path) -> set[Path]:
    """The folders of answers that an evaluation is made of, and no other one."""
    own: set[Path] = set()
    others: set[Path] = set()
    for folder, found in recorded(workspace):
        named = own if folder.resolve() == run else others
        for entry in found.entries:
            named |= {(workspace.home / path).parent for path in entry.answers}
    return own - others


def _forget_folder(folder: Path) -> None:
    with storing(folder):
        _overwrite(folder)
        if folder.exists():
            shutil.rmtree(folder)


def _forget_file(path: Path) -> None:
    with storing(path):
        _overwrite(path)
        path.unlink(missing_ok=True)


def _overwrite(root: Path) -> None:
    """Write zeros over a file, or over all files of a folder that have no other name."""
    for path in [root, *root.rglob("*")] if root.is_dir() else [root]:
        if path.is_symlink() or not path.is_file() or path.stat().st_nlink > 1:
            continue
        with path.open("r+b") as file:
            left = path.stat().st_size
            while left > 0:
                left -= file.write(bytes(min(left, _CHUNK)))
            file.flush()
            with suppress(OSError):
                os.fsync(file.fileno())
