"""Files of models: fingerprints, safe writing, and the errors of the system."""

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
"""The pieces of a model's vocabulary, looked up one by one; made if missing."""

Progress = Callable[[str, str, int, int], None]
"""Called with the step (a message marked with `N_`), its subject, the bytes done and the bytes
in all."""


def silent(step: str, about: str, done: int, total: int) -> None:
    """Ignore progress."""
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
        self._done += count
        self._tell(self._step, self._about, self._done, self._total)


def fingerprint(files: Iterable[Path], also: str = "") -> str:
    """Eight hexadecimal digits that change with the weights in `files`, and with `also`.

    Of a large file it reads the size, the first 4 MiB (with the header) and 256 samples spread
    evenly over the rest. Another training or quantisation changes every one of them. Damage is
    found by the checksums of whole files instead.
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
    """Make sure that a path can be opened and read to an end.

    Raises:
        OSError: it does not exist, or cannot be looked at.
        WrongKind: it is no regular file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise WrongKind(
            N_("{path} is not a regular file, but a folder, a pipe or a device."), cure, path=path
        )


def require_space(folder: Path, needed: int, cause: str, **fields: object) -> None:
    """Make sure that `needed` bytes fit on the disk of `folder`.

    `cause` is the message of the error, with {needed}, {free} and `fields`.

    Raises:
        StorageFailed: they do not fit.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        sizes = {"needed": gigabytes(needed), "free": gigabytes(free)}
        raise StorageFailed(cause, Cure.FREE_SPACE, **sizes, **fields)


def put_in_place(unfinished: Path, target: Path) -> None:
    """Flush a finished file or folder to the disk, then rename it.

    Raises:
        OSError: it cannot be written.
    """
    for path in (*unfinished.rglob("*"), unfinished):
        _flush(path)
    unfinished.rename(target)
    _flush(target.parent)


@contextmanager
def reading(place: Path) -> Iterator[None]:
    """Turn the system's errors on reading into `TransferFailed`."""
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
    """Turn the system's errors on writing into `StorageFailed`.

    Args:
        place: named if the system names no file.
        largest: bytes of the largest file to write.
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
    """Write a number of bytes in GB, or in MB if it is small; one decimal from 10 GB."""
    if size >= 9_995_000_000:
        return f"{size / 1e9:,.1f} GB"
    return f"{size / 1e9:,.2f} GB" if size >= 10_000_000 else f"{size / 1e6:,.2f} MB"


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
