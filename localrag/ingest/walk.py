"""Which files an `add` looks at."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from localrag.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to look at.

    Attributes:
        path: absolute.
        name: relative to the folder it was found in, with forward slashes; for ids of documents.
        bytes, modified: size and modification time (nanoseconds) when it was found.
    """

    path: Path
    name: str
    bytes: int
    modified: int


@dataclass(frozen=True, slots=True)
class Walk:
    """The outcome of a walk.

    Attributes:
        roots: the folders and files asked for, absolute.
        files: each once, folder by folder, sorted by name.
        unsupported: how many files nobody reads, by suffix.
        unreadable: folders and files that could not be looked at.
    """

    roots: tuple[Path, ...]
    files: tuple[FoundFile, ...]
    unsupported: dict[str, int]
    unreadable: tuple[Path, ...] = ()

    def covers(self, path: str) -> bool:
        """Whether a path lies below one of the roots."""
        return any(Path(path).is_relative_to(root) for root in self.roots)


def walk(paths: Sequence[Path], supported: Callable[[Path], bool]) -> Walk:
    """Find the files below some folders; files named outright are taken whatever they are.

    Hidden files and folders (``.git``, ``.DS_Store``) are passed over, links to folders are
    followed unless they lead back to where the walk has been.

    Raises:
        NotFoundError: one of the paths does not exist or cannot be looked up.
    """
    roots = tuple(Path(os.path.abspath(path)) for path in paths)  # noqa: PTH100 - keeps links
    found: dict[Path, FoundFile] = {}
    unsupported: Counter[str] = Counter()
    unreadable: list[Path] = []
    for root in roots:
        _require(root)
        if not root.is_dir():
            found.setdefault(root, _describe(root, root.parent))
            continue
        for path in _files(root, set(), unreadable):
            if not supported(path):
                unsupported[path.suffix.lower() or path.name] += 1
            elif path not in found:
                try:
                    found[path] = _describe(path, root)
                except OSError:
                    unreadable.append(path)
    return Walk(roots, tuple(found.values()), dict(unsupported), tuple(unreadable))


def _require(root: Path) -> None:
    try:
        exists = root.exists()
    except OSError as error:
        raise NotFoundError(
            f"{root} cannot be looked up ({error.strerror}).", "Check the path and its permissions."
        ) from error
    if not exists:
        raise NotFoundError(f"There is no file or folder {root}.", "Check the spelling.")


def still_there(path: str) -> bool:
    """Tell whether a file exists: yes where that cannot be known, to drop nothing on a guess."""
    try:
        return Path(path).exists()
    except OSError:
        return True


def _files(folder: Path, seen: set[tuple[int, int]], unreadable: list[Path]) -> Iterator[Path]:
    try:
        status = folder.stat()
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return
        seen.add(identity)
        with os.scandir(folder) as entries:
            visible = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        unreadable.append(folder)
        return
    for entry in sorted(visible, key=lambda entry: entry.name):
        path = Path(entry.path)
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:  # A link that leads to itself, a share that went away.
            unreadable.append(path)
            continue
        if is_folder:
            yield from _files(path, seen, unreadable)
        elif is_file:
            yield path
        elif entry.is_symlink() and not path.exists():
            unreadable.append(path)


def _describe(path: Path, root: Path) -> FoundFile:
    status = path.stat()
    name = path.relative_to(root).as_posix()
    return FoundFile(path, name, status.st_size, status.st_mtime_ns)
