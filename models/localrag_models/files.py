"""Files of models: told apart, written for good, and what the system says of them."""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from localrag_models.errors import N_, Cure, StorageFailed, TransferFailed, WrongKind

_WHOLE = 4 * 2**20
_SAMPLES = 256
_SAMPLE = 4096
_LARGEST_ON_FAT32 = 2**32 - 1

PIECES = "pieces.sqlite"
"""The pieces of a model's vocabulary, to be looked up one by one; made where it is missing."""

Progress = Callable[[str, str, int, int], None]
"""Called with the step (a message, marked with `N_`), what it is done to, the bytes done and the
bytes there are in that step."""


def silent(step: str, about: str, done: int, total: int) -> None:
    """Tell nobody."""
    del step, about, done, total


class Tally:
    """Adds up the bytes of one step, and passes the sum on."""

    def __init__(self, step: str, about: str, total: int, on_progress: Progress) -> None:
        self._step = step
        self._about = about
        self._total = total
        self._tell = on_progress
        self._done = 0

    def __call__(self, count: int) -> None:
        """Note that `count` more bytes are done."""
        self._done += count
        self._tell(self._step, self._about, self._done, self._total)


def fingerprint(files: Iterable[Path], also: str = "") -> str:
    """Eight hexadecimal digits that change with the weights.

    Of a large file, its size, its first 4 MiB (with the header) and 256 samples spread evenly over
    the rest are read: another training or quantisation changes every one of them. That a file is
    undamaged is for checksums of the whole to say.

    Args:
        files: the files of one model.
        also: what else tells models apart.
    """
    digest = hashlib.blake2b(also.encode(), digest_size=4)
    for path in sorted(files):
        size = path.stat().st_size
        digest.update(f"\n{path.name} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_WHOLE))
            for number in range(_SAMPLES if size > _WHOLE else 0):
                file.seek(_WHOLE + (size - _WHOLE) * number // _SAMPLES)
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def require_regular(path: Path, cure: str) -> None:
    """Make sure that opening a path and reading to its end comes to an end.

    Raises:
        OSError: there is nothing, or it cannot be looked at.
        WrongKind: it is no regular file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise WrongKind(
            N_("{path} is no regular file: a folder, a pipe or a device."), cure, path=path
        )


def require_space(folder: Path, needed: int, cause: str, **fields: object) -> None:
    """Make sure that `needed` bytes can be written.

    Args:
        folder: on the disk to be written to.
        needed: bytes.
        cause: of the error, which names {needed} and {free}.
        fields: the other values that `cause` names.

    Raises:
        StorageFailed: they cannot.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        sizes = {"needed": gigabytes(needed), "free": gigabytes(free)}
        raise StorageFailed(cause, Cure.FREE_SPACE, **sizes, **fields)


def put_in_place(unfinished: Path, target: Path) -> None:
    """Give a finished file or folder its name, once all of it is on the disk.

    Raises:
        OSError: it cannot be written.
    """
    for path in (*unfinished.rglob("*"), unfinished):
        _flush(path)
    unfinished.rename(target)
    _flush(target.parent)


@contextmanager
def reading(place: Path) -> Iterator[None]:
    """Turn what the system says about a file it does not give into `TransferFailed`."""
    try:
        yield
    except OSError as error:
        raise TransferFailed(
            N_("{path} cannot be read ({why})."),
            N_("Check its permissions and the disk."),
            path=error.filename or place,
            why=error.strerror or error,
        ) from error


@contextmanager
def writing(place: Path, largest: int = 0) -> Iterator[None]:
    """Turn what the system says about a full disk or a forbidden folder into `StorageFailed`.

    Args:
        place: named where the system names no file.
        largest: bytes of the largest file that is written.
    """
    try:
        yield
    except OSError as error:
        cures = {
            errno.ENOENT: N_("Check that its folder is there."),
            errno.ENOSPC: Cure.FREE_SPACE,
            errno.EDQUOT: N_("The quota is used up: free some space."),
            errno.EFBIG: N_("FAT32 takes no file over 4 GB; exFAT and ext4 do.")
            if largest > _LARGEST_ON_FAT32
            else N_("There is a limit on the size of files (ulimit -f, a quota): raise it."),
        }
        raise StorageFailed(
            N_("{path} cannot be read or written ({why})."),
            cures.get(error.errno or 0, N_("Check its permissions and the disk.")),
            path=error.filename or place,
            why=error.strerror or error,
        ) from error


def gigabytes(size: int) -> str:
    """Write a number of bytes as people compare it with their disk."""
    return f"{size / 1e9:,.2f} GB" if size >= 10_000_000 else f"{size / 1e6:,.2f} MB"


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
