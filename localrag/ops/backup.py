"""Backups: a workspace in one file, made while it is in use.

A tar: the files by their paths, and as last member ``manifest.json`` with size and SHA-256 of each.
SQLite's backup copies each database as it is at one moment, while others write. Models are left
out, because they are large and can be pulled again.

`restore` unpacks a backup beside the workspace, checks it and replaces the workspace with one
rename. The former workspace stays under another name. Its tokens of `localrag serve` are kept, so
withdrawn ones stay withdrawn. A backup of one corpus with its index is restored in the same way.
"""

import errno
import hashlib
import os
import shutil
import tarfile
import tomllib
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import IO

import apsw
from pydantic import BaseModel, ConfigDict, ValidationError

from localrag import __version__
from localrag.corpus.database import connect, connect_to_read, damage_told
from localrag.corpus.durable import (
    flush_folder,
    is_locked,
    make_folder,
    open_file,
    replacing,
    storing,
    work_folder,
)
from localrag.corpus.workspace import WRITER_LOCK, Workspace
from localrag.errors import (
    BusyError,
    InputError,
    LocalragError,
    StorageError,
    StoreError,
    UsageError,
)
from localrag.language import N_

_FORMAT = 1
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 100_000_000
_CHUNK = 1 << 20
_MODELS = "models"
_FOLDERS = ("corpora", "indexes", "runs", "prompts", "datasets")
_NOTE = "before"
_COMPANIONS = ("-wal", "-shm", "-journal")
# Older versions copied databases beside them; a kill could leave the copy.
_PASSING = (".lock", ".new", ".scratch", ".snapshot")
_FREE = N_(
    "Free some space or mend the permissions, then run the command again; nothing was changed."
)
_FULL = N_("Free some space, then run the command again; nothing was changed.")
_FORBIDDEN = N_(
    "Let the owner of the folder run the command, mend the permissions, or close programs with "
    "open files of it. Or name another folder with --home. Nothing was changed."
)
# Cures by system error, for a folder that cannot be written or moved.
_CURES = {
    errno.EBUSY: N_(
        "A folder with a mounted disk, or in use by others, cannot be put aside: name one in "
        "it, or elsewhere, with --home. Nothing was changed."
    ),
    errno.EXDEV: N_(
        "A folder on another file system than its parent, as in the image of a container, "
        "cannot be put aside. Name one elsewhere with --home. Nothing was changed."
    ),
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int
    sha256: str


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: int
    localrag: str
    made: str
    files: dict[str, _File]
    corpus: str = ""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The content of a backup, or the result of a restore.

    Attributes:
        made: ISO date and time (UTC).
        vanished: files removed in the meantime, such as a replaced index.
        before: the path of the former workspace; None without one.
        tokens: restored tokens of `localrag serve`.
        tokens_left_out: tokens of the backup, ignored because the workspace has its own.
    """

    file: Path
    made: str
    files: int
    bytes: int
    vanished: tuple[str, ...] = ()
    before: Path | None = None
    tokens: int = 0
    tokens_left_out: int = 0


def back_up(
    workspace: Workspace, target: Path, corpus: str = "", *, force: bool = False
) -> BackupReport:
    """Write a backup; an earlier backup of this name is replaced.

    Only the owner can read the file. A link is replaced, not followed. With `corpus` it is a
    backup of this one, for `restore_corpus`. `force` replaces any file.

    Raises:
        WorkspaceError: there is no workspace.
        UsageError: the file would be in the workspace, is a folder, or is not a backup.
        StorageError: a file cannot be written or read; the earlier backup stays.
    """
    workspace.require()
    if corpus:
        workspace.corpus(corpus).require()
    target = target.expanduser()
    # The file itself may be a link.
    target = target.parent.resolve() / target.name
    with storing(target, _FREE):
        there = target.exists() or target.is_symlink()
        is_other = there and not (target.is_file() or target.is_symlink())
    if (
        is_other
        or target.is_dir()
        or not target.name
        or target.is_relative_to(workspace.home.resolve())
    ):
        raise UsageError(
            N_("{path} cannot be the file of the backup."),
            N_("Name a file outside the workspace."),
            path=target,
        )
    if there and not force and not _is_backup(target):
        raise UsageError(
            N_("The file {path} was not written by localrag backup."),
            N_("Name another file, or replace it with --force."),
            path=target,
        )
    files: dict[str, _File] = {}
    vanished = []
    busy = BusyError(N_("Another process makes this backup."), N_("Wait until it has finished."))
    with (
        storing(target, _FREE),
        work_folder(target.with_name(f".{target.name[:60]}.backing-up"), busy, _FREE) as aside,
        replacing(target, aside / "backup", only_new=not there, private=True) as out,
        tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _kept(workspace, corpus):
            name = path.relative_to(workspace.home).as_posix()
            try:
                files[name] = _enter(tar, name, path, aside / "snapshot")
            except FileNotFoundError:
                vanished.append(name)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = _Manifest(
            format=_FORMAT, localrag=__version__, made=made, files=files, corpus=corpus
        )
        _write_manifest(tar, manifest)
    return _report(target, manifest, vanished=tuple(vanished))


def _is_backup(path: Path) -> bool:
    """Whether a file has the end of a backup; its content is not read."""
    try:
        with tarfile.open(path, "r:") as tar:
            last = deque(tar, maxlen=1)
            if not last or last[0].name != _MANIFEST:
                return False
            _manifest(path, tar, last[0])
    except (tarfile.TarError, EOFError, OSError, InputError):
        return False
    return True


def restore(workspace: Workspace, source: Path) -> BackupReport:
    """Replace a workspace, even a missing one, by a backup: all of it, or nothing.

    Models and existing tokens stay. The former content is kept beside it.

    Raises:
        InputError: the file is not a backup, is damaged, or contains foreign files.
        BusyError: a corpus is being written, or another process restores.
        StorageError: a disk or a mount point forbids it; the workspace is unchanged.
    """
    home = workspace.home
    with storing(home, _FREE, _CURES):
        corpora = workspace.corpora()
    for name in corpora:
        _require_idle(workspace, name)
    with _unpacked(workspace, source) as (unpacked, manifest):
        if manifest.corpus:
            raise InputError(
                N_("{file} is not a backup of a workspace: it has the corpus {name!r} alone."),
                N_("Name a file written by localrag backup."),
                file=source,
                name=manifest.corpus,
            )
        theirs = unpacked / workspace.tokens.relative_to(home)
        tokens, kept = _count_tokens(theirs), workspace.tokens.exists()
        if kept:
            # Before the switch: withdrawn tokens are never valid, not even briefly.
            shutil.copy2(workspace.tokens, theirs)
        before = _switch(home, unpacked, workspace.restoring / _NOTE)
    workspace.init()
    report = _report(source, manifest, before=before)
    return replace(report, tokens=tokens * (not kept), tokens_left_out=tokens * kept)


def _count_tokens(path: Path) -> int:
    try:
        return len(tomllib.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return 0  # A damaged file makes no token valid.


def restore_corpus(workspace: Workspace, source: Path) -> BackupReport:
    """Put a backup of one corpus into a workspace: all of it, or nothing; raises as `restore`.

    An existing corpus of this name is renamed with its index. If it equals the backup, a killed
    run had restored it. `before` of the report is the renamed folder.
    """
    workspace.require()
    with _unpacked(workspace, source) as (unpacked, manifest):
        name = manifest.corpus
        if not name:
            raise InputError(
                N_("{file} is not a backup of one corpus."),
                N_("Take another copy of it; nothing was changed."),
                file=source,
            )
        _require_idle(workspace, name)
        before = None
        if workspace.corpus(name).store.exists() and not _is_there(workspace, manifest):
            before = _aside(workspace.corpus(name[:40]).store.parent)
        # The index comes last: a corpus is complete without one.
        for kind in ("indexes", "corpora"):
            here = workspace.home / kind / name
            if before is None:
                # Remains of a removed corpus, or the same corpus.
                shutil.rmtree(here, ignore_errors=True)
            elif here.exists():
                here.rename(workspace.home / kind / before.name)
        for kind in ("corpora", "indexes"):
            if (unpacked / kind / name).exists():
                make_folder(workspace.home / kind)
                (unpacked / kind / name).rename(workspace.home / kind / name)
    workspace.settle()
    return _report(source, manifest, before=before)


def _is_there(workspace: Workspace, manifest: _Manifest) -> bool:
    """Whether a corpus equals a backup byte by byte, except its index."""
    store = workspace.corpus(manifest.corpus).store
    log = store.with_name(f"{store.name}-wal")
    if log.exists() and log.stat().st_size:
        # It contains commits of a killed writer.
        return False
    top = store.parent.relative_to(workspace.home)
    kept = {path.relative_to(workspace.home) for path in _kept(workspace, manifest.corpus)}
    listed = {Path(name): file for name, file in manifest.files.items()}
    here = {path for path in kept if path.is_relative_to(top)}
    if here != {path for path in listed if path.is_relative_to(top)}:
        return False
    return all(_described(workspace.home / path) == listed[path] for path in here)


def _described(path: Path) -> _File:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _File(size=path.stat().st_size, sha256=digest)


def _require_idle(workspace: Workspace, name: str) -> None:
    """Raise BusyError if another process writes a corpus."""
    if is_locked(workspace.corpus(name).store.with_name(WRITER_LOCK)):
        raise BusyError(
            N_("The corpus {name!r} is being written."),
            N_("Wait until that has finished, then try again."),
            name=name,
        )


@contextmanager
def _unpacked(workspace: Workspace, source: Path) -> Iterator[tuple[Path, _Manifest]]:
    """A checked backup as a folder beside the workspace, removed afterwards.

    Remains of a killed process are removed first.
    """
    home = workspace.home
    busy = BusyError(
        N_("Another process restores a backup here."), N_("Wait until it has finished.")
    )
    with storing(home.parent, _FREE):
        make_folder(home.parent)
    with (
        storing(home.parent, _FREE, _CURES),
        work_folder(workspace.restoring, busy, _FREE) as aside,
    ):
        _end_switch(home, workspace.restoring / _NOTE)
        unpacked = aside / "unpacked"
        yield unpacked, _unpack(source, unpacked)


def _report(
    file: Path,
    manifest: _Manifest,
    *,
    vanished: tuple[str, ...] = (),
    before: Path | None = None,
) -> BackupReport:
    size = sum(one.size for one in manifest.files.values())
    return BackupReport(file, manifest.made, len(manifest.files), size, vanished, before)


def _kept(workspace: Workspace, corpus: str) -> Iterator[Path]:
    """The files of a backup, sorted: no models, locks or unfinished files."""
    home, place = workspace.home, workspace.corpus(corpus) if corpus else None
    tops = (place.store.parent, place.indexes) if place else (home,)
    holding_corpora = {str(home / "corpora"), str(home / "indexes")}
    for folder, folders, names in chain.from_iterable(map(os.walk, tops)):
        if Path(folder) == home:
            folders[:] = [name for name in folders if name != _MODELS]
        # A corpus may have any name, such as mine.new.
        endings = () if folder in holding_corpora else _PASSING
        folders[:] = sorted(name for name in folders if not name.endswith(endings))
        for name in sorted(names):
            path = Path(folder, name)
            passing = name.endswith((*_PASSING, *_COMPANIONS)) or name == "writer.json"
            if not passing and path.is_file() and not path.is_symlink():
                yield path


def _enter(tar: tarfile.TarFile, name: str, path: Path, copy: Path) -> _File:
    if path.suffix != ".sqlite":
        with path.open("rb") as file:
            return _write(tar, name, file)
    try:
        open_file(copy, "xb").close()
        _snapshot(path, copy)
        with copy.open("rb") as file:
            return _write(tar, name, file)
    finally:
        copy.unlink(missing_ok=True)


def _snapshot(path: Path, copy: Path) -> None:
    """Copy a database as it is at one moment, with a checksum for each page.

    Pages from the source's log have none. They get it on the way from the copy's log into its
    file, after the first page, which switches checksums on.
    """
    try:
        with (
            closing(connect_to_read(path)) as source,
            closing(connect(copy)) as target,
        ):
            target.execute("PRAGMA journal_mode = WAL")
            with target.backup("main", source, "main") as pages:
                while not pages.done:
                    pages.step()
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            found = target.execute("PRAGMA quick_check(1)").get
    except apsw.Error as error:
        if not path.exists():
            raise FileNotFoundError(path) from error
        if isinstance(error, apsw.FullError):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), copy) from error
        damage = damage_told(error)
        raise _not_copied(StoreError if damage else StorageError, path, damage or error) from error
    if found != "ok":
        raise _not_copied(StoreError, path, found)


def _not_copied(kind: type[LocalragError], path: Path, problem: object) -> LocalragError:
    return kind(
        N_("{path} cannot be copied ({problem})."),
        N_("Find the problem: localrag doctor"),
        path=path,
        problem=problem,
    )


def _write(tar: tarfile.TarFile, name: str, file: IO[bytes]) -> _File:
    """Write a file in its present length; others may append meanwhile."""
    info = tarfile.TarInfo(name)
    info.size = os.fstat(file.fileno()).st_size
    info.mode = 0o600
    digest = _Hashing(file, info.size)
    tar.addfile(info, digest)
    return _File(size=info.size, sha256=digest.hexdigest())


def _write_manifest(tar: tarfile.TarFile, manifest: _Manifest) -> None:
    content = manifest.model_dump_json(indent=1, exclude_defaults=True).encode()
    info = tarfile.TarInfo(_MANIFEST)
    info.size, info.mode = len(content), 0o600
    tar.addfile(info, BytesIO(content))


class _Hashing:
    """The next bytes of a file, up to a size, hashed while they are read."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        """The SHA-256 of the bytes read."""
        return self._digest.hexdigest()


def _unpack(source: Path, folder: Path) -> _Manifest:
    """Unpack a backup into a new folder and check it with its manifest; raises as `restore`."""
    found: dict[str, _File] = {}
    manifest = None
    make_folder(folder)
    try:
        with source.open("rb") as file, tarfile.open(fileobj=file, mode="r|") as tar:
            for member in tar:
                if manifest is not None:
                    raise _refused(
                        source,
                        N_("{file}: {name} is after the end of the backup."),
                        member.name,
                    )
                if member.name == _MANIFEST:
                    manifest = _manifest(source, tar, member)
                    continue
                goal = folder / _checked(source, member)
                make_folder(goal.parent)
                content = tar.extractfile(member)
                assert content is not None, "it is a regular file"
                with open_file(goal, "xb") as out:
                    found[member.name] = _copied(content, out)
    except (tarfile.TarError, EOFError) as error:
        raise InputError(
            N_("{file} is not a backup, or is damaged."),
            N_("Take another copy of it."),
            file=source,
        ) from error
    except FileExistsError as error:
        raise _refused(source, N_("{file}: {name} is in it twice."), error.filename) from error
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        if error.filename != str(source):
            raise
        raise InputError(
            N_("{file} cannot be read ({problem})."),
            N_("Check the path and its permissions."),
            file=source,
            problem=error,
        ) from error
    if manifest is None:
        raise _refused(source, N_("{file} is not a backup of localrag, or its end is missing."))
    for name in sorted(found.keys() ^ manifest.files.keys()):
        raise _refused(source, N_("{file}: {name} is missing, or not in the manifest."), name)
    for name, file_ in manifest.files.items():
        if found[name] != file_:
            raise _refused(source, N_("{file}: {name} is damaged."), name)
    return manifest


def _refused(source: Path, cause: str, name: object = "") -> InputError:
    return InputError(
        cause, N_("Take another copy of it; nothing was changed."), file=source, name=name
    )


def _manifest(source: Path, tar: tarfile.TarFile, member: tarfile.TarInfo) -> _Manifest:
    content = tar.extractfile(member) if member.isreg() and not member.issparse() else None
    try:
        assert content is not None
        read = _Manifest.model_validate_json(content.read(_LARGEST_MANIFEST))
    except (ValidationError, AssertionError) as error:
        raise _refused(source, N_("{file}: its manifest is damaged.")) from error
    if read.format != _FORMAT:
        raise InputError(
            N_("{file} is a backup of format {found}; this localrag reads format {known}."),
            N_("Restore it with localrag {version}."),
            file=source,
            found=read.format,
            known=_FORMAT,
            version=read.localrag,
        )
    return read


def _checked(source: Path, member: tarfile.TarInfo) -> PurePosixPath:
    """The path of a member in the workspace; raises InputError."""
    path = PurePosixPath(member.name)
    top = "".join(path.parts[:1])
    odd = path.is_absolute() or ".." in path.parts or "\\" in member.name or ":" in top
    # Folders of a workspace are not files; a sparse member could fill the disk.
    odd = odd or top in ("", _MODELS) or str(path) in _FOLDERS
    if odd or not member.isreg() or member.issparse():
        raise InputError(
            N_("{file}: {name} does not belong in a backup."),
            N_("Do not trust this file; nothing was changed."),
            file=source,
            name=member.name,
        )
    return path


def _copied(content: IO[bytes], out: IO[bytes]) -> _File:
    digest, size = hashlib.sha256(), 0
    while chunk := content.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        out.write(chunk)
    out.flush()
    os.fsync(out.fileno())
    return _File(size=size, sha256=digest.hexdigest())


def _switch(home: Path, unpacked: Path, note: Path) -> Path | None:
    """Replace the workspace by the folder, keeping its models; returns its former path.

    `note` is a file with the path, for `_end_switch`.
    """
    before = _aside(home) if home.exists() else None
    if before is not None:
        # Remains after a kill are removed with the rest.
        with replacing(note, unpacked.with_name("note")) as file:
            file.write(before.name.encode())
    try:
        if before is not None:
            home.rename(before)
        unpacked.rename(home)
        _end_switch(home, note)
    except OSError:
        if not unpacked.exists():
            home.rename(unpacked)  # Its models cannot come: a disk is mounted there, say.
        _end_switch(home, note)
        raise
    flush_folder(home.parent)
    return before


def _end_switch(home: Path, note: Path) -> None:
    """Finish or undo a killed `_switch`."""
    if not note.exists():
        return
    before = home.with_name(note.read_text(encoding="utf-8"))
    models = home / _MODELS
    if before.exists() and not home.exists():
        before.rename(home)
    elif (before / _MODELS).exists():
        if models.is_dir() and not any(models.iterdir()):
            models.rmdir()  # Made by a later use of the workspace.
        if not models.exists():
            (before / _MODELS).rename(models)
    note.unlink()


def _aside(folder: Path) -> Path:
    name = f"{folder.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(path for path in map(folder.with_name, names) if not path.exists())
