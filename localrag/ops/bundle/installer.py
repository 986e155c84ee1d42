#!/usr/bin/env python3
"""Check a bundle of localrag and install it without a network.

This is the install.py of every bundle. It needs only Python's standard library: no network, no
compiler, no root. It checks the signature (if any), every file, and the machine first; then
something of the bundle runs.

The folder of an installation:

    bin/localrag            starts the installed version
    current                 a link to the version in use, switched by one rename
    versions/NAME/parts     wheels for later, smaller bundles
    versions/NAME/program   a virtual environment
    home                    the workspace; LOCALRAG_HOME names another
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from localrag.ops.bundle.signature import is_genuine  # in an install.py: its text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FORMAT = 1
MANIFEST = "manifest.json"
SIGNATURE = "manifest.json.minisig"
FOLDERS = ("wheels", "python", "models", "corpora", "sources")
FILES = ("install.py", "settings.toml", "parts.cdx.json")
_KEPT = ("wheels", "python")
LARGEST_MANIFEST = 100_000_000
_CHUNK = 1 << 20

WORDS: dict[str, dict[str, str]] = {}
"""The messages in other languages; `localrag bundle make` fills them in."""


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message for a later translation."""
    return message


_AGAIN = N_("Take another copy of the bundle; nothing of it was run.")
_DISTRUST = N_("Do not trust this bundle; nothing of it was run.")
HELD = N_("{name} belongs to an earlier bundle, and is not here.")
FIRST = N_("Install the bundle that this one was made since, then this one.")
"""Cause and cure for a missing file of an earlier bundle."""


class BundleError(Exception):
    """A bundle cannot be installed; cause and cure are sentences with the names of `fields`."""

    exit_code: int = 5

    def __init__(self, cause: str, cure: str = "", /, **fields: object) -> None:
        super().__init__(cause, cure)
        self.fields = fields

    def __str__(self) -> str:
        return " ".join(part.format_map(self.fields) for part in self.args if part)


class Refused(BundleError):  # noqa: N818 - the name says what became of it
    """The bundle is wrong, or not for this machine; nothing of it was run."""

    exit_code = 4


def damaged(name: str) -> Refused:
    """The error for a file other than the manifest says."""
    return Refused(N_("{name} is damaged."), _AGAIN, name=name)


def no_bundle(path: Path) -> Refused:
    """The error for a missing manifest."""
    return Refused(
        N_("{folder} is not a bundle, or is incomplete: manifest.json is missing."),
        N_("Name the folder made by localrag bundle make."),
        folder=path,
    )


class Busy(BundleError):  # noqa: N818 - likewise
    """Another process installs into the same folder."""

    exit_code = 6


@dataclass(frozen=True)
class Bundle:
    """The manifest of a bundle, with its signature checked.

    Attributes:
        digest: SHA-256 of the manifest.
        signed_by: the public key of minisign behind the signature; "" if not signed.
    """

    digest: str
    signed_by: str
    manifest: dict[str, Any]

    @classmethod
    def read(cls, text: bytes, signature: bytes | None, key: str = "") -> Bundle:
        """Read a manifest; `key` is the required public key, if any. Raises Refused."""
        try:
            manifest = json.loads(text)
            found = manifest["format"]
            if found == FORMAT:
                _require_valid(manifest)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise Refused(
                N_("manifest.json is damaged ({problem})."), _AGAIN, problem=repr(error)[:200]
            ) from error
        if found != FORMAT:
            raise Refused(
                N_("The bundle is of format {found}; this program reads format {known}."),
                N_("Install it with its own install.py."),
                found=found,
                known=FORMAT,
            )
        signer = _signer(text, signature, manifest["signed_by"], key)
        return cls(hashlib.sha256(text).hexdigest(), signer, manifest)

    @property
    def version(self) -> str:
        """The version of localrag in it."""
        return str(self.manifest["localrag"])

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """By path its ``sha256``, ``size`` in bytes, ``licence``, and whether it is ``held``.

        A held file is in the earlier bundle, not in this one.
        """
        files: dict[str, dict[str, Any]] = self.manifest["files"]
        return files

    def below(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The files of a folder: their paths and entries of `files`."""
        return (item for item in self.files.items() if item[0].startswith(f"{folder}/"))

    def check(self, entries: Iterable[tuple[str, BinaryIO | None]]) -> None:
        """Compare every file with the manifest; raises Refused.

        An entry without content is not a plain file.
        """
        awaited = {name for name, file in self.files.items() if not file["held"]}
        for name, content in entries:
            if content is None:
                raise Refused(N_("{name} is a link, or not a plain file."), _DISTRUST, name=name)
            if name in (MANIFEST, SIGNATURE):
                continue
            if name not in awaited:
                raise Refused(N_("{name} is not in the manifest."), _DISTRUST, name=name)
            awaited.remove(name)
            if not as_said(content, self.files[name]):
                raise damaged(name)
        for name in sorted(awaited):
            raise Refused(N_("{name} is missing from the bundle."), _AGAIN, name=name)


def _require_valid(manifest: dict[str, Any]) -> None:
    """Check the types of everything read from a manifest; raises ValueError, Refused."""
    needs = manifest["needs"]
    texts = [manifest["localrag"], manifest["signed_by"], needs["glibc"], *manifest["extras"]]
    if not all(isinstance(text, str) for text in (*texts, *needs["pythons"], *needs["processors"])):
        raise ValueError("a text is missing")
    if not re.fullmatch(r"[\w.+!]+", manifest["localrag"]):
        raise ValueError("no version")
    if not all(re.fullmatch(r"[\w-]+", extra) for extra in manifest["extras"]):
        raise ValueError("no extra")
    for name, file in manifest["files"].items():
        require_plain(name)
        whole = isinstance(file["size"], int) and file["size"] >= 0
        if not (whole and re.fullmatch("[0-9a-f]{64}", file["sha256"])):
            raise ValueError(name)
        file.setdefault("held", False)


def require_plain(name: str) -> None:
    """Raise Refused if a path leads out of a bundle."""
    folder, *parts = name.split("/")
    odd = not name.isprintable() or set(name) & set('\\:*?"<>|')
    hidden = any(not part or part.startswith((".", "-")) for part in parts)
    if odd or hidden or (folder not in FOLDERS if parts else folder not in FILES):
        raise Refused(N_("{name!r} is not a path inside a bundle."), _DISTRUST, name=name[:200])


def _signer(text: bytes, signature: bytes | None, said: str, key: str) -> str:
    """The key of the signature; "" if there is and need be none. Raises Refused."""
    wanted = key or said
    if not wanted and signature is not None:
        raise Refused(
            N_("The bundle is signed, and does not say by whom."),
            N_("Name the public key of who made it: --key KEY"),
        )
    others = bool(said) and said != wanted
    if wanted and (others or signature is None or not is_genuine(wanted, text, signature)):
        raise Refused(
            N_("{name} is missing, or no signature of this bundle by the key {key}."),
            _DISTRUST,
            name=SIGNATURE,
            key=wanted,
        )
    return wanted


def as_said(content: BinaryIO, file: dict[str, Any], copy: BinaryIO | None = None) -> bool:
    """Whether a file has the stated size and hash; optionally copies it."""
    digest, left = hashlib.sha256(), int(file["size"])
    while chunk := content.read(min(_CHUNK, left + 1)):
        digest.update(chunk)
        left -= len(chunk)
        if left < 0:
            return False
        if copy:
            copy.write(chunk)
    return left == 0 and digest.hexdigest() == file["sha256"]


def verify(folder: Path, key: str = "") -> Bundle:
    """Check every byte of a bundle folder; runs nothing of it. Raises Refused, OSError.

    `key` is the required public key, or a file of minisign with it.
    """
    if not (folder / MANIFEST).is_file():
        raise no_bundle(folder)
    with (folder / MANIFEST).open("rb") as file:
        text = file.read(LARGEST_MANIFEST)
    signature = folder / SIGNATURE
    bundle = Bundle.read(text, signature.read_bytes() if signature.exists() else None, key_of(key))
    bundle.check(_entries(folder))
    return bundle


def key_of(said: str) -> str:
    """A public key, from itself or a file of minisign; raises Refused if it is neither."""
    key = said
    if said and Path(said).is_file():
        key = [*Path(said).read_text(errors="replace").split("\n"), ""][1].strip()
    if said and not re.fullmatch(r"[A-Za-z0-9+/]{56}", key):
        raise Refused(
            N_("{said} is neither a public key of minisign nor a file with one."), said=said[:200]
        )
    return key


def _entries(folder: Path) -> Iterator[tuple[str, BinaryIO | None]]:
    """The files of a folder by path, each open while it is used."""
    for place, folders, names in os.walk(folder):
        for name in sorted((*folders, *names)):
            path = Path(place, name)
            inside = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                yield inside, None
            elif path.is_file():
                with path.open("rb") as file:
                    yield inside, file


def install(folder: Path, target: Path, key: str, tell: Callable[..., object]) -> dict[str, Any]:
    """Check a bundle, install it, try it, then switch to it.

    After a kill the former version, if any, is in use; the next run goes on. `tell` gets messages
    with their values.

    Returns:
        The JSON of `localrag.doors.entering`, and ``start``, the path of the command.

    Raises:
        BundleError: the bundle is refused, or does not work here; the former version stays.
        OSError: the disk is full, or cannot be read or written.
    """
    bundle = verify(folder, key)
    tell(N_("{n} files are as the manifest says"), n=len(bundle.files))
    if bundle.signed_by:
        tell(N_("signed by {key}"), key=bundle.signed_by)
    target = target.expanduser().resolve()
    _require_place(target, folder)
    with _alone(target):
        current = (target / "current").resolve()
        if (current / "bundle.json").exists():
            _require_successor(bundle, installed(current), trusted=bool(key))
        interpreter = _interpreter(bundle)
        version = target / "versions" / f"{bundle.version}-{bundle.digest[:12]}"
        if not (version / "bundle.json").exists():
            shutil.rmtree(version, ignore_errors=True)
            _keep_parts(bundle, folder, current / "parts", version / "parts")
            tell(N_("installing localrag {version} …"), version=bundle.version)
            _build(bundle, interpreter, version)
            os.sync()
            # Written in one step: it marks a usable version.
            (version / ".bundle.json").write_text(json.dumps(vars(bundle)))
            (version / ".bundle.json").replace(version / "bundle.json")
        # The new localrag fills the workspace and asks the sample question.
        entering = [*_python(version), "-m", "localrag.doors.entering"]
        places = (folder, target / "home", current / "bundle.json")
        done = json.loads(_run([*entering, *map(str, places)], heard=True))
        _switch(target, version, current)
        return {**done, "start": str(target / "bin" / "localrag")}


def _require_place(target: Path, folder: Path) -> None:
    """Refuse (`BundleError`) a folder with other content."""
    elsewhere = N_("Name another folder: python3 install.py FOLDER")
    if target.is_relative_to(folder.resolve()):
        raise BundleError(N_("The bundle itself lies in {path}."), elsewhere, path=target)
    if not target.exists() or (target / "versions").is_dir():
        return
    # A killed run leaves the lock; a workspace may be there.
    if not target.is_dir() or {path.name for path in target.iterdir()} - {".lock", "home"}:
        other = N_("{path} is a file, or a folder that holds something else than localrag.")
        raise BundleError(other, elsewhere, path=target)


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    target.mkdir(parents=True, exist_ok=True)
    with (target / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            wait = N_("Wait until it has finished, then try again.")
            raise Busy(N_("Another process installs into {path}."), wait, path=target) from None
        yield


def installed(version: Path) -> Bundle:
    """The bundle of an installed version; raises BundleError if its stored manifest is damaged."""
    try:
        return Bundle(**json.loads((version / "bundle.json").read_bytes()))
    except (ValueError, TypeError) as error:
        elsewhere = N_("Install it into another folder.")
        noted = version / "bundle.json"
        raise BundleError(N_("{name} is damaged."), elsewhere, name=noted) from error


def _require_successor(bundle: Bundle, before: Bundle, *, trusted: bool) -> None:
    """Raise Refused if a bundle may not replace the installed one."""
    if _ordered(bundle.version) < _ordered(before.version):
        raise Refused(
            N_("The bundle holds localrag {version}; {before}, which is newer, is installed."),
            N_("Install it into another folder."),
            version=bundle.version,
            before=before.version,
        )
    if before.signed_by and not trusted and bundle.signed_by != before.signed_by:
        raise Refused(
            N_("The installed version was signed by the key {before}, and the bundle is not."),
            N_("If you trust it all the same, name its key: --key KEY"),
            before=before.signed_by,
        )


def _interpreter(bundle: Bundle) -> str:
    """A Python for the bundle; "" if it brings its own. Raises Refused."""
    needs = bundle.manifest["needs"]
    here = "{}.{}".format(*sys.version_info)
    found = f"{sys.platform} {platform.machine()}, glibc {platform.libc_ver()[1] or '-'}"
    wanted = f"linux {' '.join(needs['processors'])}, glibc {needs['glibc'] or '-'}"
    right = sys.platform == "linux" and platform.machine() in needs["processors"]
    if not right or _ordered(platform.libc_ver()[1]) < _ordered(needs["glibc"]):
        raise Refused(
            N_("The bundle is for {wanted} or newer; this is {found}."),
            N_("Make one on a machine such as this, or no newer."),
            wanted=wanted,
            found=found,
        )
    if any(bundle.below("python")):
        return ""
    others = (shutil.which(f"python{version}") for version in needs["pythons"])
    python = sys.executable if here in needs["pythons"] else next(filter(None, others), "")
    if not python:
        raise Refused(
            N_("The bundle is for Python {wanted}, which is not here."),
            N_("Make one for Python {found}, or with a Python of its own."),
            wanted=", ".join(needs["pythons"]),
            found=here,
        )
    return python


def _keep_parts(bundle: Bundle, folder: Path, earlier: Path, parts: Path) -> None:
    """Copy the files to install and to keep for later bundles, checking them again."""
    for name, file in (item for kind in _KEPT for item in bundle.below(kind)):
        goal = parts / name
        goal.parent.mkdir(parents=True, exist_ok=True)
        try:
            source = (earlier if file["held"] else folder) / name
            with source.open("rb") as content, goal.open("wb") as copy:
                whole = as_said(content, file, copy)
        except FileNotFoundError:
            whole = False
        if not whole and file["held"]:
            raise Refused(HELD, FIRST, name=name)
        if not whole:
            raise damaged(name)


def _build(bundle: Bundle, interpreter: str, version: Path) -> None:
    """Make the virtual environment of a version; raises BundleError if it cannot be made."""
    for archive in sorted(version.glob("parts/python/*.tar.gz")):
        with tarfile.open(archive) as tar:
            # Its hash is checked; Python 3.12 warns without a filter.
            tar.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
            tar.extractall(version / "python")  # noqa: S202 - as said
        interpreter = str(next((version / "python").glob("**/bin/python3")))
    # Debian's Python has no pip: pip runs from its wheel.
    _run([interpreter, "-I", "-m", "venv", "--without-pip", str(version / "program")])
    wheels = version / "parts" / "wheels"
    pip = str(next(wheels.glob("pip-*.whl")) / "pip")
    options = ["--isolated", "--disable-pip-version-check", "--no-cache-dir", "--quiet"]
    sources = ["--no-index", "--find-links", str(wheels), "--only-binary", ":all:"]
    wanted = f"localrag[{','.join(bundle.manifest['extras'])}]=={bundle.version}"
    _run([*_python(version), pip, "install", *options, *sources, wanted])


def _python(version: Path) -> list[str]:
    return [str(version / "program" / "bin" / "python"), "-I"]


def _switch(target: Path, version: Path, current: Path) -> None:
    """Switch to a version; the former one stays until the next installation."""
    os.sync()
    link = target / ".current"
    link.unlink(missing_ok=True)
    link.symlink_to(version.relative_to(target))
    link.replace(target / "current")
    start = target / "bin" / "localrag"
    start.parent.mkdir(exist_ok=True)
    new = start.with_name(".localrag")
    new.write_text(
        "#!/bin/sh\n"
        "# Starts the localrag that `current` leads to, on the workspace beside it.\n"
        f"here={shlex.quote(str(target))}\n"
        'export LOCALRAG_HOME="${LOCALRAG_HOME:-$here/home}"\n'
        # Running processes are not affected by the new link.
        'exec "$(readlink -f "$here/current")/program/bin/python" -I -m localrag "$@"\n'
    )
    new.chmod(0o755)
    new.replace(start)
    for other in (target / "versions").iterdir():
        if other not in (version, current):
            shutil.rmtree(other, ignore_errors=True)


def _ordered(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _run(command: list[str], *, heard: bool = False) -> str:
    """Run a command without input; returns its standard output. Raises BundleError, OSError.

    If `heard`, its standard error is shown instead of being kept for the message.
    """
    err = None if heard else subprocess.PIPE
    own = {name: value for name, value in os.environ.items() if not name.startswith("LOCALRAG_")}
    done = subprocess.run(  # noqa: S603 - as said above
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, env=own, check=False
    )
    if done.returncode and heard:
        failed = BundleError(N_("The installed version does not work here, as said above."))
        failed.exit_code = max(BundleError.exit_code, done.returncode)
        raise failed
    if done.returncode:
        said = (done.stderr or b"").decode(errors="replace").strip()
        if os.strerror(errno.ENOSPC) in said:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        name = " ".join(Path(word).name for word in command[:5])
        told = said[-2_000:] or f"exit code {done.returncode}"
        raise BundleError(N_("{command} failed: {said}"), command=name, said=told)
    return done.stdout.decode()


def main() -> int:
    """Check and install the bundle around this file."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python may start it
        print("This needs Python 3.11 or newer; this is " + platform.python_version())  # noqa: T201
        return 4
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("target", nargs="?", default="~/localrag", type=Path, help="~/localrag")
    parser.add_argument("--key", default="", help="public key of who made it, or a file of it")
    parser.add_argument("--check", action="store_true", help="check the bundle, install nothing")
    given = parser.parse_args()
    folder = Path(__file__).resolve().parent
    languages = map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))
    words = WORDS.get((next(filter(None, languages), None) or "")[:2], {})

    def tell(message: str, **fields: object) -> None:
        text = words.get(message, message).format_map(fields)
        # Names of files are data: control characters are made visible.
        print("".join(c if c.isprintable() else "?" for c in text), flush=True)  # noqa: T201

    try:
        if given.check:
            tell(N_("{n} files are as the manifest says"), n=len(verify(folder, given.key).files))
            return 0
        done = install(folder, given.target, given.key, tell)
    except BundleError as problem:
        for part in filter(None, problem.args):
            tell(part, **problem.fields)
        return problem.exit_code
    except OSError as error:
        told = N_("{path} cannot be read or written ({problem}).")
        tell(told, path=error.filename or given.target, problem=error.strerror)
        tell(
            N_(
                "Free some space there, or mend the permissions; the installed version stays in "
                "use."
            )
        )
        return 7
    tell(N_("start it: {path}"), path=done["start"])
    return 5 if done["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
