"""Opening Tantivy's files, whatever state the folder is in."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localrag_indexes.errors import IndexDamaged


def open_searcher(folder: Path) -> tuple[Any, Any]:
    """Open the Tantivy index in `folder`, also where nothing may be written.

    Returns:
        Its schema and a searcher, which holds every file it needs open.
    """
    if os.access(folder, os.W_OK):
        return _open(folder)
    # Tantivy insists on a lock file beside the index: on a read-only share it gets a folder of
    # links for as long as it takes to open the files.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as links:
        # A lock file that is there already cannot be opened through a link either.
        for path in folder.iterdir():
            if path.suffix != ".lock":
                _link(path, Path(links) / path.name)
        return _open(Path(links))


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Turn what Tantivy raises on files that are not what it wrote into `IndexDamaged`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise IndexDamaged(folder, str(error)) from error
    except BaseException as error:
        # A panic of native code arrives as an exception outside the tree of Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexDamaged(folder, str(error)) from error


def _open(folder: Path) -> tuple[Any, Any]:
    import tantivy

    index = tantivy.Index.open(str(folder))
    return index.schema, index.searcher()


def _link(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source.absolute())
    except OSError:
        shutil.copyfile(source, target)
