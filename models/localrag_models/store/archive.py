"""A model as one file: a plain tar archive whose first member is the manifest.

Any tar program opens it. It holds regular files only, without extension headers; that is why it is
read here member by member: an archive comes from a stick or a share, and nothing in it is believed.
What the manifest does not list is refused, and every file has to have the size and the hash that
the manifest says.
"""

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from localrag_models.errors import N_, Cure, ModelDamaged, ModelMissing, TransferFailed
from localrag_models.files import put_in_place, require_regular, require_space, writing
from localrag_models.store.landing import OnBytes, hashed
from localrag_models.store.manifest import LARGEST_MANIFEST, MANIFEST, InstalledModel, ModelManifest

Extract = Callable[[Path, OnBytes], None]
"""Writes the files of an archive into a folder."""

DO_NOT_USE = N_("Do not use it; export the model again.")
_AGAIN = N_("Copy it, or export the model, once more.")
_OVERHEAD = 1_000_000
"""Bytes that headers and padding take at most."""


def write_archive(model: InstalledModel, target: Path, on_bytes: OnBytes) -> None:
    """Write a model to an archive, checking its files on the way.

    Raises:
        ModelDamaged: a file has changed since the model was installed; there is no archive.
        TransferFailed: there is already such a file.
        StorageFailed: it cannot be written.
    """
    unfinished = target.with_name(f"{target.name}.partial")
    with writing(target, model.size):
        if target.exists():
            raise TransferFailed(
                N_("There is already a file {path}."), N_("Name another one."), path=target
            )
        require_space(
            target.parent,
            model.size + _OVERHEAD,
            N_("The archive {path} needs {needed} on the disk, and {free} are free."),
            path=target,
        )
        try:
            with tarfile.open(unfinished, "w", format=tarfile.GNU_FORMAT) as archive:
                text = model.manifest.dump()
                archive.addfile(_member(MANIFEST, len(text)), io.BytesIO(text))
                for file in model.manifest.files:
                    with (model.folder / file.path).open("rb") as reader:
                        body = _Hashed(reader, on_bytes)
                        archive.addfile(_member(file.path, file.size), body)
                    if body.digest.hexdigest() != file.sha256:
                        raise ModelDamaged(
                            N_(
                                "The file {file} of the model {name!r} has changed since it was "
                                "installed."
                            ),
                            N_("Install the model again, then export it."),
                            file=file.path,
                            name=model.name,
                        )
            put_in_place(unfinished, target)
        finally:
            unfinished.unlink(missing_ok=True)


@contextmanager
def read_archive(path: Path) -> Iterator[tuple[ModelManifest, Extract]]:
    """Open an archive; gives its manifest, and what extracts and checks its files.

    Raises:
        ModelMissing: there is no such file.
        WrongKind: it is a folder, a pipe or a device.
        ModelDamaged: it is no such archive, cut short, or not what its manifest says.
    """
    if not path.exists():
        raise ModelMissing(N_("There is no file {path}."), Cure.EXPORT, path=path)
    require_regular(path, N_("Name a file that an export has written."))
    with path.open("rb") as file:
        first = _next(file, path)
        if first is None or first.name != MANIFEST or first.size > LARGEST_MANIFEST:
            raise _no_archive(path)
        body = _MemberBody(file, first.size)
        manifest = ModelManifest.parse(body.read(first.size), path)
        body.skip_padding()
        yield manifest, lambda folder, on_bytes: _extract(file, path, manifest, folder, on_bytes)


def _extract(
    file: BinaryIO, path: Path, manifest: ModelManifest, folder: Path, on_bytes: OnBytes
) -> None:
    awaited = {record.path: record for record in manifest.files}
    while (member := _next(file, path)) is not None:
        expected = awaited.pop(member.name, None)
        if expected is None or member.size != expected.size:
            raise ModelDamaged(
                N_("{path} holds {name!r}, which is not what its manifest lists."),
                DO_NOT_USE,
                path=path,
                name=member.name,
            )
        target = folder / expected.path
        target.parent.mkdir(parents=True, exist_ok=True)
        body = _MemberBody(file, member.size)
        with target.open("wb") as writer:
            found = hashed(expected.path, body.read, on_bytes, writer.write)
        body.skip_padding()
        if found != expected:
            raise ModelDamaged(
                N_("{path} is damaged: its file {file} is cut short or changed."),
                _AGAIN,
                path=path,
                file=expected.path,
            )
    if awaited:
        raise ModelDamaged(
            N_("{path} is damaged: its file {file} is missing."),
            _AGAIN,
            path=path,
            file=min(awaited),
        )


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    return member


def _next(file: BinaryIO, path: Path) -> tarfile.TarInfo | None:
    """Read the header of the next member; None at the end."""
    block = file.read(tarfile.BLOCKSIZE)
    if not block.strip(b"\0"):
        return None
    try:
        member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    except (tarfile.HeaderError, ValueError):
        raise _no_archive(path) from None
    if member.type != tarfile.REGTYPE or member.size < 0:
        raise ModelDamaged(
            N_("{path} holds {name!r}, which is no plain file."),
            DO_NOT_USE,
            path=path,
            name=member.name,
        )
    return member


class _MemberBody:
    """The content of one member."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size
        self._padding = -size % tarfile.BLOCKSIZE

    def read(self, size: int) -> bytes:
        chunk = self._file.read(min(size, self._left))
        self._left -= len(chunk)
        return chunk

    def skip_padding(self) -> None:
        self._file.read(self._padding)


class _Hashed(io.RawIOBase):
    """A file that is hashed while it is read."""

    def __init__(self, file: BinaryIO, on_bytes: OnBytes) -> None:
        self._file = file
        self._on_bytes = on_bytes
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        self._on_bytes(len(chunk))
        return chunk


def _no_archive(path: Path) -> ModelDamaged:
    return ModelDamaged(
        N_("{path} is no archive of a model."),
        N_("Name a file that an export has written; if it is compressed, unpack it first."),
        path=path,
    )
