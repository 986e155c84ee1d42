"""Who may read what localrag keeps: its owner alone, unless a workspace is shared.

Folders are made 0700 and files 0600, whatever the umask. Libraries that make files by themselves
(SQLite, Tantivy, hnswlib, numpy) go by the umask, and a umask cannot be set for one thread: their
files come into folders that are closed to others already, and get their own modes from `settle`
once they are written.

A workspace is shared by a line in its ``localrag.toml``: ``[workspace] readers = "group"``. Then
the others may read corpora, indexes, models and settings; never write, and never read what somebody
asked: conversations, runs and journals. Windows has no such modes: there nothing is done.
"""

import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal, cast, get_args

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
