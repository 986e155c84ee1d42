"""Removing documents and corpora: the Python side of ``localrag remove``."""

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import WRITER_LOCK, CorpusPaths, Workspace, writing
from localrag.errors import StorageError
from localrag.language import N_
from localrag.text.progress import ignore


def remove_documents(workspace: Workspace, corpus: str, documents: Sequence[str]) -> None:
    """Remove documents; all of them, or none if one does not exist."""
    place = workspace.corpus(corpus)
    place.require()  # Before the lock makes the folder of an unknown corpus.
    with writing(place), CorpusStore.open(place.store) as store, store.transaction():
        for document in dict.fromkeys(documents):
            store.remove(document)


def remove_corpus(
    workspace: Workspace, corpus: str, before: Callable[[Path], object] = ignore
) -> None:
    """Remove a corpus with its store and indexes, or the rest of one after a kill.

    `before` is called with each of its two folders before anything in it is removed.
    """
    place = workspace.corpus(corpus)
    if not _is_left(place):
        place.require()
    with writing(place):
        try:
            for folder in (place.store.parent, place.indexes):
                before(folder)
            # The store goes first: without it the rest is no corpus.
            place.store.unlink(missing_ok=True)
            shutil.rmtree(place.indexes, ignore_errors=True)
            _remove_folder(place.store.parent)
        except OSError as error:
            raise StorageError(
                N_("The corpus {corpus!r} cannot be removed ({problem})."),
                N_("Check the permissions of the workspace."),
                corpus=corpus,
                problem=error,
            ) from error


def _is_left(place: CorpusPaths) -> bool:
    """Whether a killed process left layers or an index without a store."""
    return any(
        path.is_file() and path.name != WRITER_LOCK
        for folder in (place.store.parent, place.indexes)
        for path in folder.rglob("*")
    )


def _remove_folder(folder: Path) -> None:
    """Remove the folder of a corpus; the caller holds the lock, removed last.

    An open lock file gives others no lock: `locked` checks its name. If the
    file was removed after the release, two writers could each hold a lock.
    """
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != WRITER_LOCK:
            path.unlink()
    with suppress(OSError):  # Windows keeps what is open; and another process may look in already.
        (folder / WRITER_LOCK).unlink()
        folder.rmdir()
