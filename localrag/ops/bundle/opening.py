"""Check and install a bundle, a folder or a tar, with an existing localrag.

The installer of every bundle does the work; its refusals become errors of localrag. A tar is read
member by member, and nothing reaches the disk before everything is checked.
"""

import shutil
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from localrag.corpus.durable import make_folder, work_folder
from localrag.errors import (
    BusyError,
    InputError,
    LocalragError,
    StorageError,
    UsageError,
    WorkspaceError,
)
from localrag.language import N_
from localrag.ops.bundle import installer
from localrag.ops.bundle.installer import LARGEST_MANIFEST, MANIFEST, SIGNATURE, Bundle, Refused

Member = tuple[str, BinaryIO | None]

_ERRORS: dict[int, type[LocalragError]] = {4: InputError, 6: BusyError, 7: StorageError}


def verify(path: Path, key: str = "") -> Bundle:
    """Check every byte of a bundle, a folder or a tar; runs nothing of it.

    `key` is the required public key, or a file of minisign with it. Raises InputError,
    StorageError.
    """
    with _as_ours(path):
        if path.is_dir():
            return installer.verify(path, key)
        with _members(path) as members:
            bundle, rest = _read(path, members, key)
            bundle.check(rest)
        return bundle


def manifest_of(path: Path) -> Bundle:
    """The manifest of a bundle: folder, tar or manifest; raises InputError, StorageError."""
    with _as_ours(path):
        place = path / MANIFEST if path.is_dir() else path
        if place.name == MANIFEST and place.is_file():
            signature = place.with_name(SIGNATURE)
            signed = signature.read_bytes() if signature.exists() else None
            return Bundle.read(place.read_bytes(), signed)
        with _members(path) as members:
            return _read(path, members, "")[0]


def install(
    path: Path, target: Path, key: str = "", tell: Callable[..., object] = print
) -> dict[str, Any]:
    """Check a bundle, and install it into a folder; see `installer.install`.

    Raises:
        InputError: it is refused; nothing of it was run.
        WorkspaceError: it does not work here; the former version stays in use.
        BusyError: another process installs there.
        StorageError: the disk is full, or cannot be read or written.
    """
    with _as_ours(target):
        if path.is_dir():
            return installer.install(path, target, key, tell)
        bundle = verify(path, key)
        target = target.expanduser().absolute()
        make_folder(target.parent)
        busy = BusyError(
            N_("Another process installs into {path}."),
            N_("Wait until it has finished, then try again."),
            path=target,
        )
        with work_folder(target.with_name(f".{target.name}.unpacked"), busy) as unpacked:
            _unpack(path, bundle, unpacked)
            return installer.install(unpacked, target, key, tell)


def installed_in() -> Path:
    """The folder into which a bundle installed this localrag; raises UsageError."""
    # FOLDER/versions/NAME/program
    folder = Path(sys.prefix).resolve().joinpath("..", "..", "..").resolve()
    if (folder / "current" / "bundle.json").exists():
        return folder
    raise UsageError(
        N_("No folder to install into is named, and this localrag was not installed by a bundle."),
        N_("Name a folder: localrag bundle install BUNDLE ~/localrag"),
    )


@contextmanager
def _as_ours(place: Path) -> Iterator[None]:
    try:
        yield
    except installer.BundleError as problem:
        kind = _ERRORS.get(problem.exit_code, WorkspaceError)
        raise kind(*problem.args, **problem.fields) from problem
    except OSError as error:
        raise StorageError(
            N_("{path} cannot be read or written ({problem})."),
            N_("Check the path and the disk, and free some space there."),
            path=error.filename or place,
            problem=error,
        ) from error


@contextmanager
def _members(path: Path) -> Iterator[Iterator[Member]]:
    """The members of a tar in order, each read before the next."""
    try:
        with tarfile.open(path, "r:") as tar:
            yield _each_once(tar)
    except (FileNotFoundError, tarfile.TarError, EOFError) as error:
        raise installer.no_bundle(path) from error


def _each_once(tar: tarfile.TarFile) -> Iterator[Member]:
    seen = set()
    for member in tar:
        if member.name in seen:
            raise Refused(N_("{name} is in the bundle twice."), name=member.name)
        seen.add(member.name)
        plain = member.isreg() and not member.issparse()
        yield member.name, tar.extractfile(member) if plain else None  # type: ignore[misc]


def _read(path: Path, members: Iterator[Member], key: str) -> tuple[Bundle, Iterator[Member]]:
    """The manifest (the first member) with its signature, and the other members."""
    name, content = next(members, ("", None))
    if name != MANIFEST or content is None:
        raise installer.no_bundle(path)
    text, signature = content.read(LARGEST_MANIFEST), None
    name, content = next(members, ("", None))
    if name == SIGNATURE and content is not None:
        signature = content.read(LARGEST_MANIFEST)
        rest = members
    else:
        rest = chain([(name, content)] if name else [], members)
    return Bundle.read(text, signature, installer.key_of(key)), rest


def _unpack(path: Path, bundle: Bundle, folder: Path) -> None:
    """Unpack a checked tar, checking the written files again."""
    own = (MANIFEST, SIGNATURE)
    with _members(path) as members:
        for name, content in members:
            if content is None or (name not in own and name not in bundle.files):
                raise installer.damaged(name)
            goal = folder / name
            goal.parent.mkdir(parents=True, exist_ok=True)
            with goal.open("xb") as copy:
                if name in own:
                    shutil.copyfileobj(content, copy)
                elif not installer.as_said(content, bundle.files[name], copy):
                    raise installer.damaged(name)
