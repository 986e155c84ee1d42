"""Files that are there as a whole or not at all, and that nobody reads who may not.

The lock that lets one process write at a time is freed by the system however that process ends.

Folders are made 0700 and files 0600, whatever the umask. Libraries that make files by themselves
(SQLite, Tantivy, hnswlib, numpy) go by the umask, and a umask cannot be set for one thread: their
files come into folders that are closed to others already, and get their own modes from `settle`
once they are written.

A workspace is shared by a line in its ``localrag.toml``: ``[workspace] readers = "group"``. Then
the others may read corpora, indexes, models and settings; never write, and never read what somebody
asked: conversations, runs and journals. Windows has no such modes: there nothing is done.
"""

import errno
import os
import re
import shutil
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Literal, cast, get_args

from localrag.errors import BusyError, StorageError
from localrag.language import N_

if TYPE_CHECKING:
    from filelock import FileLock

Readers = Literal["owner", "group", "everyone"]
"""Who may read the corpora of a workspace."""

_BITS: dict[Readers, int] = {"owner": 0, "group": 0o050, "everyone": 0o055}
"""What others get of a folder; of a file they get no right to execute it."""
_SHARED = frozenset({"corpora", "indexes", "models", "localrag.toml"})
"""What of a workspace can be shared."""
_OTHERS = 0o077
_KNOWS_MODES = os.name != "nt"


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, for their owner alone; what is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    # Another process may make it at the same time; a file in its place is an error.
    folder.mkdir(mode=0o700, exist_ok=True)


def open_file(path: Path, mode: str, buffering: int = -1, *, private: bool = False) -> IO[bytes]:
    """Open a file to write bytes; one that is made is its owner's alone.

    Args:
        path: of the file.
        mode: as for `open`: "wb", "xb", "ab", "a+b".
        buffering: as for `open`.
        private: so is one that is there already, and a link is refused.

    Raises:
        OSError: as `open`.
    """
    opener = _private_opener if private else _opener
    opened = open(path, mode, buffering, opener=opener)  # noqa: SIM115 - Path has no opener
    return cast(IO[bytes], opened)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _private_opener(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if _KNOWS_MODES and os.fstat(descriptor).st_mode & _OTHERS:
        try:
            os.fchmod(descriptor, 0o600)
        except OSError:
            os.close(descriptor)
            raise
    return descriptor


def readers(settings: Path) -> Readers:
    """Who may read a workspace, as its settings file says; its owner where that cannot be read."""
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        said = tomllib.loads(settings.read_text(encoding="utf-8-sig"))["workspace"]["readers"]
        return said if said in get_args(Readers) else "owner"
    return "owner"


def settle(home: Path, chosen: Readers) -> None:
    """Give all that lies in a workspace the modes it should have.

    Links are left alone, and so are files with other names elsewhere: a model linked into the
    workspace is somebody's file. What cannot be changed (a file of somebody else, a disk that is
    read-only) stays, and is told by `exposed`.
    """
    for path, mode in _misplaced(home, chosen):
        with suppress(OSError):
            path.chmod(mode)


def exposed(home: Path, chosen: Readers) -> list[Path]:
    """What of a workspace more people can read or write than should."""
    if home.stat().st_mode & _OTHERS == 0:
        return []  # Nobody gets past its folder.
    return [
        path for path, mode in _misplaced(home, chosen) if path.stat().st_mode & _OTHERS & ~mode
    ]


def _misplaced(home: Path, chosen: Readers) -> Iterator[tuple[Path, int]]:
    """Folders and files with another mode than they should have, and that mode."""
    if not _KNOWS_MODES:
        return
    bits = _BITS[chosen]
    yield from _other_than(home, bits)
    with suppress(FileNotFoundError), os.scandir(home) as entries:
        for entry in entries:
            path = Path(entry.path)
            below = bits if entry.name in _SHARED else 0
            yield from _other_than(path, below)
            if entry.is_dir(follow_symlinks=False):
                for folder, folders, files in os.walk(path):
                    for name in (*folders, *files):
                        yield from _other_than(Path(folder, name), below)


def _other_than(path: Path, bits: int) -> Iterator[tuple[Path, int]]:
    """A path with the mode it should have, if it has another one."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.st_mode):
        wanted = 0o700 | bits
    elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        wanted = status.st_mode & 0o700 | 0o600 | bits & 0o044
    else:
        return
    if stat.S_IMODE(status.st_mode) != wanted:
        yield path, wanted


_CURE = N_("Free space on the disk, mend the permissions, or choose another workspace with --home.")

_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.new")
_A_DAY = 86_400


@contextmanager
def storing(
    path: Path, cure: str = _CURE, cures: Mapping[int, str] = MappingProxyType({})
) -> Iterator[None]:
    """Tell what the system says of a file or a folder as an error of ours, with its cure.

    Args:
        path: named where the system names none.
        cure: where `cures` has none.
        cures: by the number of the system's error.

    Raises:
        StorageError: what the block does to the disk fails.
    """
    try:
        yield
    except OSError as error:
        raise StorageError(
            N_("{path} cannot be written ({problem})."),
            cures.get(error.errno or 0, cure),
            path=error.filename or path,
            problem=error,
        ) from error


def listed(folder: Path, pattern: str) -> list[Path]:
    """What of a folder has such a name, sorted; nothing where there is no folder.

    Raises:
        StorageError: it may not be read.
    """
    try:
        os.scandir(folder).close()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(
            N_("{path} cannot be read ({problem})."),
            N_(
                "Let the owner of the workspace run the command: of a shared one, others read the "
                "corpora alone."
            ),
            path=folder,
            problem=error,
        ) from error
    return sorted(folder.glob(pattern))


def replace_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a small file in the place of the one before it; see `replacing`.

    Args:
        path: of the file.
        text: what it is to hold.
        private: as for `replacing`.

    Raises:
        OSError: it cannot be written; the one before it stays.
        ValueError: the text is not Unicode; likewise.
    """
    content = text.encode()
    with replacing(path, private=private) as file:
        file.write(content)


@contextmanager
def replacing(
    path: Path, aside: Path | None = None, *, only_new: bool = False, private: bool = False
) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of another once it is written and on the disk.

    Several processes may do so at once: one of them is last. The permissions of the file before
    are kept, and a link is followed; not so with `private`. Where the block fails, the file before
    stays.

    Args:
        path: of the file, which need not exist.
        aside: where the new file grows, on the same disk, for a file so large that a kill while
            it is written should leave its remains in a known place. Only one may use it at a time.
        only_new: replace none, not even one that comes while this one is written.
        private: the new file is its owner's alone, whatever others may do with the one before. A
            link is replaced, and what it leads to stays as it is: for all that is written outside
            the workspace.

    Raises:
        FileExistsError: with `only_new`, there is one.
        OSError: it cannot be written.
    """
    if only_new:
        _require_free(path)
    target = path.absolute() if private else Path(os.path.realpath(path))
    # A name of its own for every writer: two that share one write into each other's file.
    unfinished = aside or target.with_name(f".{os.urandom(8).hex()}.new")
    try:
        with open_file(unfinished, "wb" if aside else "xb") as file:
            if not private:
                with suppress(FileNotFoundError):
                    unfinished.chmod(target.stat().st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        (name_new if only_new else os.replace)(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def name_new(finished: Path, path: Path) -> None:
    """Give a finished file a name that no file has.

    Raises:
        FileExistsError: one has it.
        OSError: it cannot be named.
    """
    try:
        # A rename would replace one that has come just now.
        os.link(finished, path)
    except FileExistsError:
        raise
    except OSError:  # A disk without links.
        _require_free(path)
        finished.rename(path)
    else:
        finished.unlink()


def _require_free(path: Path) -> None:
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def remove_left_over(folder: Path) -> None:
    """Remove what `replacing` has left in a folder where its process was killed.

    What has not grown for a day is nobody's any more. What cannot be removed stays.
    """
    for path in folder.glob(".*.new"):
        with suppress(OSError):
            if _UNFINISHED.fullmatch(path.name) and time() - path.lstat().st_mtime > _A_DAY:
                path.unlink()


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system can.

    Raises:
        OSError: the disk fails.
    """
    with suppress(PermissionError):  # Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(path: Path, busy: BusyError, cure: str = _CURE) -> Iterator[None]:
    """Hold a lock file; its folder is made.

    Args:
        path: of the lock file.
        busy: what is raised where another process holds it.
        cure: what to do where it cannot be written.

    Raises:
        BusyError: `busy`.
        StorageError: the folder or the file cannot be written.
    """
    # Only writers pay for the import.
    from filelock import FileLock, Timeout

    # Whoever has it may free it from another thread.
    lock = FileLock(path, timeout=0, mode=0o600, thread_local=False)
    with storing(path, cure):
        try:
            _acquire(lock, path)
        except Timeout:
            raise busy from None
        except OSError:
            lock.release()
            raise
    try:
        yield
    finally:
        lock.release()


@contextmanager
def work_folder(folder: Path, busy: BusyError, cure: str = _CURE) -> Iterator[Path]:
    """An empty folder for one process at a time; it is removed with all that is left in it.

    What a process that was killed has left there is removed, too.

    Args:
        folder: where it lies, beside its lock, in a folder that is there.
        busy: what is raised where another process works there.
        cure: what to do where it cannot be made.

    Raises:
        BusyError: `busy`.
        StorageError: the folder cannot be made.
    """
    with storing(folder, cure):
        folder.mkdir(mode=0o700, exist_ok=True)
    lock, aside = folder / "lock", folder / "work"
    with locked(lock, busy, cure):
        try:
            shutil.rmtree(aside, ignore_errors=True)
            with storing(aside, cure):
                make_folder(aside)
            yield aside
        finally:
            shutil.rmtree(aside, ignore_errors=True)
            # What else lies there says how to end what was begun.
            with suppress(OSError):
                lock.unlink()
                folder.rmdir()


def _acquire(lock: "FileLock", path: Path) -> None:
    make_folder(path.parent)
    try:
        lock.acquire()
    except FileNotFoundError:
        # Its folder was removed just now, by who held the lock.
        make_folder(path.parent)
        lock.acquire()


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
    except StorageError:
        return False
