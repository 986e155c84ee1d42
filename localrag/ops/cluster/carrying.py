"""A workspace where workers are: read from a shared folder, or carried there once.

A folder is shared where a worker finds in it the file of a random name that was just put there.
Elsewhere it goes over the wire, file by file, each known by the digest of its content, so that a
machine gets what it has not had yet.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path, PurePosixPath

from localrag.corpus.config import Config
from localrag.corpus.durable import make_folder, replacing, storing
from localrag.corpus.inference.opening import models_in_use
from localrag.corpus.workspace import Workspace
from localrag_indexes.manifest import COMPARED

CHUNK = 32 << 20
"""Bytes that are sent at a time."""

# What belongs to the process that writes, or to this disk, and not to what is written.
_OF_HERE = ("lock", ".lock", "-shm", ".new", "writer.json", COMPARED)


@dataclass(frozen=True, slots=True)
class CarriedFile:
    """A file of a workspace.

    Attributes:
        path: relative to the workspace, with slashes.
        size: in bytes.
        digest: of its content.
    """

    path: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Parcel:
    """The files of a workspace that some work needs."""

    files: tuple[CarriedFile, ...]

    @classmethod
    def of(cls, workspace: Workspace, corpus: str, config: Config) -> "Parcel":
        """What answers to questions about a corpus are made of, or without one what models do.

        Args:
            workspace: whose files they are.
            corpus: the name of the corpus; "" for none.
            config: the settings, which name the models.

        Raises:
            StorageError: a file cannot be read.
        """
        wanted = [workspace.prompts]
        if corpus:
            place = workspace.corpus(corpus)
            wanted += [place.store.parent, place.indexes]
        wanted += [workspace.models / name for name in models_in_use(workspace, config)]
        with storing(workspace.home):
            files = tuple(
                CarriedFile(
                    path.relative_to(workspace.home).as_posix(), path.stat().st_size, _digest(path)
                )
                for folder in wanted
                for path in sorted(folder.rglob("*"))
                if path.is_file() and not _is_of_here(path)
            )
        return cls(files)

    @property
    def digest(self) -> str:
        """What tells it from any other."""
        found = _hash()
        for file in self.files:
            found.update(f"{file.path}\0{file.digest}\n".encode(errors="surrogateescape"))
        return found.hexdigest()


def _is_of_here(path: Path) -> bool:
    """Whether a file says nothing of the workspace elsewhere; so an empty log of a store."""
    is_log = path.name.endswith("-wal")
    return path.name.endswith(_OF_HERE) or (is_log and not path.stat().st_size)


class Shelf:
    """What a machine has been sent: contents by their digests, and workspaces made of them.

    Args:
        folder: where it lies; it may be removed whenever no worker runs.
    """

    def __init__(self, folder: Path) -> None:
        self._contents = folder / "contents"
        self._folder = folder

    def lacks(self, parcel: Parcel) -> list[CarriedFile]:
        """The files whose content is not here, each content once."""
        lacking = {
            one.digest: one for one in parcel.files if not self._content(one.digest).exists()
        }
        return list(lacking.values())

    def take(self, digest: str, chunks: Iterable[bytes]) -> None:
        """Keep the content of a file.

        Raises:
            StorageError: the disk is full.
            ValueError: it is not what the digest says.
        """
        with storing(self._folder):
            make_folder(self._contents)
            found = _hash()
            with replacing(self._content(digest)) as file:
                for chunk in chunks:
                    found.update(chunk)
                    file.write(chunk)
                if found.hexdigest() != digest:
                    raise ValueError(digest)

    def unpacked(self, parcel: Parcel) -> Path:
        """The workspace that a parcel makes, whose contents are all here.

        Raises:
            StorageError: the disk is full.
        """
        home = self._folder / "workspaces" / parcel.digest
        if home.exists():
            return home
        unfinished = home.with_name(f".{secrets.token_hex(8)}.new")
        with storing(self._folder):
            for one in parcel.files:
                path = unfinished / PurePosixPath(one.path)
                make_folder(path.parent)
                os.link(self._content(one.digest), path)
            # Another worker of this machine may have been faster.
            with suppress(OSError):
                unfinished.rename(home)
        return home

    def _content(self, digest: str) -> Path:
        return self._contents / digest


@contextmanager
def marked(workspace: Workspace) -> Iterator[str]:
    """Put a file of a random name into a workspace for a while; gives its path within.

    Raises:
        StorageError: it cannot be written.
    """
    path = workspace.runs / "cluster" / secrets.token_hex(16)
    with storing(path):
        make_folder(path.parent)
        path.touch(mode=0o600)
    try:
        yield path.relative_to(workspace.home).as_posix()
    finally:
        path.unlink(missing_ok=True)


def chunks_of(path: Path) -> Iterator[bytes]:
    """The content of a file, piece by piece.

    Raises:
        StorageError: it cannot be read.
    """
    with storing(path), path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, _hash).hexdigest()


def _hash() -> blake2b:
    return blake2b(digest_size=16)
