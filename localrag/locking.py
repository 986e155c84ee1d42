"""Locks that the system frees when the process that holds them ends, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localrag.errors import BusyError


@contextmanager
def locked(path: Path, busy: BusyError) -> Iterator[None]:
    """Hold a lock file; its folder is made.

    Args:
        path: of the lock file.
        busy: what is raised where another process holds it.

    Raises:
        BusyError: `busy`.
        OSError: the folder or the file cannot be written.
    """
    # Only writers pay for the import.
    from filelock import FileLock, Timeout

    # Whoever has it may free it from another thread.
    lock = FileLock(path, timeout=0, thread_local=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire()
    except Timeout:
        raise busy from None
    except OSError:
        lock.release()
        raise
    try:
        yield
    finally:
        lock.release()


def is_locked(path: Path) -> bool:
    """Whether a process, this one included, holds a lock file; makes none.

    It is held for a moment to find out: ask only where somebody looks at the answer.
    """
    if not path.exists():
        return False
    try:
        with locked(path, BusyError("")):
            return False
    except BusyError:
        return True
    except OSError:
        return False
