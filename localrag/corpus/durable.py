"""Files that are complete or absent, with the right modes, and locks for one writer.

The system frees a lock however its process ends.

Folders get 0700 and files 0600, under any umask. Libraries that make files (SQLite, Tantivy,
hnswlib, numpy) follow the umask, which cannot be set for one thread. Their files are made in closed
folders, and `settle` sets their modes afterwards.

``[workspace] readers = "group"`` in ``localrag.toml`` shares a workspace. Others may then read
corpora, indexes, models and settings. They may never write, or read conversations, runs and
journals. On Windows nothing is done.
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
"""Rights of others to folders; files are not executable."""
_SHARED = frozenset({"corpora", "indexes", "models", "localrag.toml"})
"""The parts of a workspace that can be shared."""
_OTHERS = 0o077
_KNOWS_MODES = os.name != "nt"


def make_folder(folder: Path) -> None:
    """Make a folder and its parents for the owner alone; existing ones stay as they are."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    # Another process may make it at the same time; a file of this name is an error.
    folder.mkdir(mode=0o700, exist_ok=True)


def open_file(path: Path, mode: str, buffering: int = -1, *, private: bool = False) -> IO[bytes]:
    """Open a file to write bytes ("wb", "xb", "ab", "a+b"); a new one is for its owner alone."""
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
    """The readers of a workspace by its settings file; the owner if it cannot be read."""
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        said = tomllib.loads(settings.read_text(encoding="utf-8-sig"))["workspace"]["readers"]
        return said if said in get_args(Readers) else "owner"
    return "owner"


def settle(home: Path, chosen: Readers) -> None:
    """Set the modes of all files in a workspace.

    Links and files with other hard links are left alone: a linked model has another owner.
    `exposed` reports unchangeable files (another owner, a read-only disk).
    """
    for path, mode in _misplaced(home, chosen):
        with suppress(OSError):
            path.chmod(mode)


def exposed(home: Path, chosen: Readers) -> list[Path]:
    """Files that more people can read or write than they should."""
    if home.stat().st_mode & _OTHERS == 0:
        return []  # Nobody gets past its folder.
    return [
        path for path, mode in _misplaced(home, chosen) if path.stat().st_mode & _OTHERS & ~mode
    ]


def _misplaced(home: Path, chosen: Readers) -> Iterator[tuple[Path, int]]:
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
    """A path and its right mode, if its mode is wrong."""
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
    """Turn errors of the system about files into `StorageError`; `cures` by error number."""
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
    """The matching entries of a folder, sorted; empty without a folder. Raises `StorageError`."""
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
    """Replace a small file; see `replacing`. Raises `OSError` or `ValueError`."""
    content = text.encode()
    with replacing(path, private=private) as file:
        file.write(content)


@contextmanager
def replacing(
    path: Path, aside: Path | None = None, *, only_new: bool = False, private: bool = False
) -> Iterator[IO[bytes]]:
    """Open a new file that replaces another once it is complete on the disk.

    Of several processes the last one wins. If the block fails, the former file stays. Permissions
    are kept and a link is followed. A `private` file, outside the workspace, is the owner's alone
    and replaces a link. Raises `FileExistsError` with `only_new`.
    """
    if only_new:
        _require_free(path)
    target = path.absolute() if private else Path(os.path.realpath(path))
    # Every writer has its own name: two must not write into one file.
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
    """Give a finished file a new name. Raises `FileExistsError` or `OSError`."""
    try:
        # A rename could replace a file made just now.
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
    """Remove remains of killed `replacing` calls in a folder, if they are a day old."""
    for path in folder.glob(".*.new"):
        with suppress(OSError):
            if _UNFINISHED.fullmatch(path.name) and time() - path.lstat().st_mtime > _A_DAY:
                path.unlink()


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if the system can. Raises `OSError`."""
    with suppress(PermissionError):  # Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(path: Path, busy: BusyError, cure: str = _CURE) -> Iterator[None]:
    """Hold a lock file; its folder is made. Raises `BusyError` or `StorageError`."""
    # Imported late: only writers need it.
    from filelock import FileLock, Timeout

    # Another thread may free it.
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
    """An empty folder for one process at a time, removed afterwards with its content.

    Remains of a killed process are removed first. Raises `BusyError` with the message `busy`.
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
            # Other files there describe how to finish.
            with suppress(OSError):
                lock.unlink()
                folder.rmdir()


def _acquire(lock: "FileLock", path: Path) -> None:
    make_folder(path.parent)
    try:
        lock.acquire()
    except FileNotFoundError:
        # The former holder has just removed the folder.
        make_folder(path.parent)
        lock.acquire()


def is_locked(path: Path) -> bool:
    """Whether any process holds a lock file; makes none.

    The check holds the lock for a moment: call it only for people who look at the result.
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
