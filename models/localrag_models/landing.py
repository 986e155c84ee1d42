"""How a model gets into the store, and into an archive.

::

    models/<name>/             a model, complete and checked
    models/.partial/<name>/    one being installed: ``files/``, and ``source``, its origin
    models/.partial/<name>.lock

A model is prepared, flushed and renamed. Anything else at ``models/<name>`` is never overwritten;
`discard` removes it. The lock is freed when its process ends. The next installation of that name
removes the rest of a killed one, or continues it.

An archive is a plain tar of regular files without extension headers; its first member is the
manifest. It is read member by member, because it may come from anywhere. Files outside the
manifest, and wrong sizes or hashes, are refused.
"""

import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from localrag_models.errors import N_, Cure, ModelDamaged, ModelMissing, StoreBusy, TransferFailed
from localrag_models.files import put_in_place, require_regular, require_space, writing
from localrag_models.manifest import (
    LARGEST_MANIFEST,
    MANIFEST,
    InstalledModel,
    ModelFile,
    ModelManifest,
    checked_path,
    has_manifest,
)

PARTIAL = ".partial"
_CHUNK = 1 << 20

OnBytes = Callable[[int], None]
"""Called with the number of bytes handled since the last call."""


@contextmanager
def landing(root: Path, name: str, *, largest: int, resume: str = "") -> Iterator[Path]:
    """Hold the right to install `name`, and a folder to prepare its files in.

    Args:
        root: folder of the models.
        name: of the model.
        largest: bytes of its largest file.
        resume: names the download. Files of an earlier attempt at the same download are still in
            the folder, and stay if this one fails. If empty, so is the folder, and it is removed on
            failure.

    Raises:
        TransferFailed: something of that name is there.
        StoreBusy: another process is installing a model of that name.
        StorageFailed: the folder cannot be written.
    """
    with writing(root, largest), _locked(root, name):
        _refuse_existing(root, name)
        place = root / PARTIAL / name
        files, note = place / "files", place / "source"
        if not (resume and note.is_file() and note.read_text(encoding="utf-8") == resume):
            _clear(place)
        files.mkdir(parents=True, exist_ok=True)
        note.write_text(resume, encoding="utf-8")
        try:
            yield files
        except BaseException:
            if not resume:
                _clear(place)
            raise


def land(files: Path, root: Path, manifest: ModelManifest) -> Path:
    """Install the model prepared in `files`, and return its folder."""
    _drop_unlisted(files, manifest)
    (files / MANIFEST).write_bytes(manifest.dump())
    target = root / manifest.name
    put_in_place(files, target)
    _clear(files.parent)
    return target


def discard(root: Path, name: str) -> None:
    """Remove everything at a name, and the rest of an attempt to install it.

    A link is removed itself; its target stays.
    """
    with writing(root), _locked(root, name):
        place = root / PARTIAL / name
        _clear(place)
        if os.path.lexists(root / name):
            # Invisible at once, however long the removal takes.
            place.mkdir()
            (root / name).rename(place / "files")
            shutil.rmtree(place)


def partial(root: Path) -> dict[str, int]:
    """Bytes left by unfinished attempts, by the name of the model."""
    left = {
        files.parent.name: sum(path.stat().st_size for path in files.rglob("*") if path.is_file())
        for files in sorted(root.glob(f"{PARTIAL}/*/files"))
    }
    return {name: size for name, size in left.items() if size}


def copy(source: Path, target: Path, path: str, on_bytes: OnBytes, *, link: bool) -> ModelFile:
    """Copy, or hard-link, a file to ``target/path``, and take its hash.

    Raises:
        TransferFailed: the name is not valid, or, with `link`, the file is on another file system.
    """
    goal = target / checked_path(path)
    goal.parent.mkdir(parents=True, exist_ok=True)
    if not link:
        with source.open("rb") as reader, goal.open("wb") as writer:
            return hashed(path, reader.read, on_bytes, writer.write)
    try:
        os.link(source.resolve(), goal)
    except OSError as error:
        raise TransferFailed(
            N_("{path} cannot be linked into the store ({why})."),
            Cure.COPY,
            path=source,
            why=error.strerror,
        ) from error
    return record(target, path, on_bytes)


def record(folder: Path, path: str, on_bytes: OnBytes) -> ModelFile:
    """Read a file for its size and hash."""
    with (folder / path).open("rb") as reader:
        return hashed(path, reader.read, on_bytes)


def hashed(
    path: str,
    read: Callable[[int], bytes],
    on_bytes: OnBytes,
    write: Callable[[bytes], object] = len,
) -> ModelFile:
    """Read to the end for size and hash, and pass everything on to `write`."""
    digest, size = hashlib.sha256(), 0
    while chunk := read(_CHUNK):
        write(chunk)
        digest.update(chunk)
        size += len(chunk)
        on_bytes(len(chunk))
    return ModelFile(path=path, size=size, sha256=digest.hexdigest())


@contextmanager
def _locked(root: Path, name: str) -> Iterator[None]:
    from filelock import FileLock, Timeout

    (root / PARTIAL).mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(root / PARTIAL / f"{name}.lock", timeout=0, mode=0o600).acquire()
    except Timeout:
        raise StoreBusy(
            N_("Another process is installing or removing the model {name!r}."),
            N_("Wait until it has finished, then try again."),
            name=name,
        ) from None
    with lock:
        yield


def _refuse_existing(root: Path, name: str) -> None:
    here = root / name
    if os.path.lexists(here):
        cause = N_("{path} is not a model, but has its name.")
        if has_manifest(here):
            cause = N_("There is already a model {name!r}.")
        raise TransferFailed(cause, Cure.NAME_FOR_NEW, name=name, path=here)


def _clear(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def _drop_unlisted(files: Path, manifest: ModelManifest) -> None:
    listed = {files / file.path for file in manifest.files}
    for path in files.rglob("*"):
        if path.is_file() and path not in listed:
            path.unlink()


Extract = Callable[[Path, OnBytes], None]
"""Writes the files of an archive into a folder."""

DO_NOT_USE = N_("Do not use it; export the model again.")
_AGAIN = N_("Copy it, or export the model, once more.")
_OVERHEAD = 1_000_000
"""The most bytes of headers and padding."""


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
    """Open an archive; yield its manifest, and a function that extracts and checks its files.

    Raises:
        ModelMissing: there is no such file.
        WrongKind: it is a folder, a pipe or a device.
        ModelDamaged: it is no such archive, cut short, or does not match its manifest.
    """
    if not path.exists():
        raise ModelMissing(N_("There is no file {path}."), Cure.EXPORT, path=path)
    require_regular(path, N_("Name a file written by an export."))
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
                N_("{path} holds {name!r}; its manifest does not list it."),
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
            N_("{path} holds {name!r}; this is not a plain file."),
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
        N_("{path} is not an archive of a model."),
        N_("Name a file written by an export; if it is compressed, unpack it first."),
        path=path,
    )
