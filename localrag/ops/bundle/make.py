"""Make a bundle: everything for a workstation without a network, in one folder or tar.

It grows in a folder beside its place and gets there by one rename. If a run is stopped, the next
one for the same contents goes on with that folder.
"""

import filecmp
import hashlib
import json
import platform
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from localrag import __version__, language
from localrag.corpus.config import load
from localrag.corpus.durable import flush_folder, locked, replace_text, replacing, storing
from localrag.corpus.inference.opening import named
from localrag.corpus.ingest.reading import walk
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, FileExistsAlready, UsageError, to_install
from localrag.language import N_
from localrag.ops.backup import back_up
from localrag.ops.bundle import installer, parts, signature, wheels
from localrag.ops.bundle.parts import BundlePart
from localrag.text.progress import ignore
from localrag_models.store import InstalledModel, ModelStore

Tell = Callable[[str], object]
"""Reports progress: gets a message marked with `N_`."""

_SETTINGS = {"chat": "chat", "embedder": "embedding", "reranker": "reranking"}
"""By kind of model its table in the settings."""
_LICENCE = "Apache-2.0"
_FREE = N_("Free some space, then run the command again; it goes on from there.")
_WAIT = N_("Wait until it has finished, then try again.")
_TEXTS = re.compile(r'N_\(\s*("(?:[^"\\]|\\.)*")\s*\)')


@dataclass(frozen=True, slots=True)
class BundleContents:
    """The contents of a bundle.

    Attributes:
        pythons: versions, as 3.11.
        processors: as `platform.machine` names them.
        corpora: names; with their indexes.
        sources: files or folders to add on the workstation, each with the name of the corpus.
        settings: a settings file for a new workspace; None sets the first model of each kind.
        standalone: include a Python.
        follow_links: follow links inside folders of `sources`.
    """

    extras: tuple[str, ...] = ()
    pythons: tuple[str, ...] = (".".join(platform.python_version_tuple()[:2]),)
    processors: tuple[str, ...] = (platform.machine(),)
    models: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    sources: tuple[tuple[str, Path], ...] = ()
    settings: Path | None = None
    standalone: bool = False
    follow_links: bool = False


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs in the format of minisign; the public key is in base64."""

    public: str
    sign: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class BundleReport:
    """The bundle as made.

    Attributes:
        digest: SHA-256 of its manifest.
        held: number of files left to the earlier bundle.
        signed_by: a public key; "" if not signed.
        unlicensed: files without a stated licence.
    """

    path: Path
    digest: str
    files: int
    bytes: int
    held: int
    signed_by: str
    unlicensed: tuple[str, ...]


def make(
    workspace: Workspace,
    target: Path,
    contents: BundleContents,
    project: wheels.Project,
    *,
    since: installer.Bundle | None = None,
    signer: Signer | None = None,
    tell: Tell = ignore,
) -> BundleReport:
    """Make a bundle.

    A `target` with the ending ``.tar`` is a file, else a folder. Files unchanged since a bundle
    installed on the workstation (`since`) are left out.

    Raises:
        UsageError: the name exists, or the contents are impossible.
        ConfigError: the settings are not valid.
        InputError: pip or uv fails.
        ModelUnusable, NotFoundError: a model or a corpus is missing.
        BusyError: another process makes it.
        StorageError: it cannot be written.
    """
    _require_extra()
    target = target.expanduser().absolute()
    if target.exists():
        raise FileExistsAlready(target)
    contents = replace(contents, extras=_extras(contents.extras, since))
    for name in contents.corpora:
        workspace.corpus(name).require()
    if contents.settings is not None:
        _require_settings(contents.settings)
    with storing(target, _FREE), named(), ExitStack() as opened:
        store = ModelStore(workspace.models)
        models = [store.find(name) for name in contents.models]
        work = target.with_name(f".{target.name}.making")
        files = work / "files"
        busy = BusyError(N_("Another process makes this bundle."), _WAIT)
        opened.enter_context(locked(work / "lock", busy, _FREE))
        _begin(work, contents, models, since)
        if not (files / installer.MANIFEST).exists():
            with _leaving_nothing(work, files):
                _collect(contents, project, files, work, tell)
            tell(N_("models, corpora and documents"))
            for model in models:
                _export(store, model, files)
            for name in contents.corpora:
                _back_up(workspace, name, files)
            for corpus, source in contents.sources:
                folder = files / "sources" / workspace.corpus(corpus).name
                _copy(source, folder, contents.follow_links, tell)
            _write_settings(contents, models, files)
            replace_text(files / "install.py", script())
            tell(N_("checksums, licences and the list of parts"))
            _write_manifest(_manifest(contents, models, files, since), files, signer)
        report = _put_in_place(files, target)
        shutil.rmtree(work)
    return report


def _extras(named: Sequence[str], since: installer.Bundle | None) -> tuple[str, ...]:
    """The named extras, and the extras of the earlier bundle; raises UsageError."""
    # docs,office as in pip.
    wanted = [one.strip() for text in named for one in text.split(",") if one.strip()]
    known = sorted(metadata("localrag").get_all("Provides-Extra") or ())
    for one in wanted:
        if one not in known:
            raise UsageError(
                N_("localrag has no extra {name!r}."),
                N_("There is: {known}."),
                name=one,
                known=", ".join(known),
            )
    return tuple(dict.fromkeys((*(since.manifest["extras"] if since else ()), *wanted)))


def minisign_signer(secret: Path, ask: Callable[[], str]) -> Signer:
    """A signer with a secret key of minisign; `ask` gives its password. Raises UsageError."""
    _require_extra()
    import minisign

    try:
        key = minisign.SecretKey.from_file(secret)
        if key.is_encrypted():
            key.decrypt(ask())
    except (OSError, minisign.Error) as error:
        raise UsageError(
            N_("{path} cannot be used to sign ({problem})."),
            N_("Name the secret key that minisign -G has made."),
            path=secret,
            problem=error,
        ) from error

    return Signer(
        key.get_public_key().to_base64().decode(),
        lambda text: bytes(key.sign(text, trusted_comment="localrag bundle")) + b"\n",
    )


def script() -> str:
    """The text of install.py: the installer, its imports, its languages."""
    text = Path(installer.__file__).read_text(encoding="utf-8")
    signing = Path(signature.__file__).read_text(encoding="utf-8")
    before, _line, after = text.partition("from localrag.ops.bundle.signature import")
    text = before + signing + after.partition("\n")[2]
    said = [json.loads(message) for message in _TEXTS.findall(text)]
    words = {code: language.translated(said, code) for code in language.LANGUAGES if code != "en"}
    empty = "WORDS: dict[str, dict[str, str]] = {}"
    filled = json.dumps(words, ensure_ascii=False, indent=4)
    return text.replace(empty, f"WORDS: dict[str, dict[str, str]] = {filled}")


def _require_extra() -> None:
    if find_spec("cyclonedx") is None or find_spec("minisign") is None:
        raise UsageError(
            N_("To make a bundle the extra {extra!r} is needed."),
            to_install("bundle"),
            extra="bundle",
        )


class _Given(NamedTuple):
    """Settings of a future workspace."""

    settings: Path


def _require_settings(path: Path) -> None:
    """Check a settings file; raises UsageError, ConfigError."""
    if not path.is_file():
        raise UsageError(
            N_("There is no file {path}."),
            N_("Name a file of settings, as localrag.toml."),
            path=path,
        )
    load(_Given(path))


def _begin(
    work: Path,
    contents: BundleContents,
    models: list[InstalledModel],
    since: installer.Bundle | None,
) -> None:
    """Make the folder of a growing bundle, without half-written files of a killed run."""
    chosen = asdict(contents)
    chosen["models"] = [model.id for model in models]
    chosen["since"] = since.digest if since else ""
    choice = json.dumps(chosen, default=str, ensure_ascii=False)
    noted = work / "contents.json"
    if noted.exists() and noted.read_text(encoding="utf-8") != choice:
        raise UsageError(
            N_("{path} has the beginning of a bundle with other contents."),
            N_("Finish that bundle, or remove the folder."),
            path=work,
        )
    (work / "files").mkdir(parents=True, exist_ok=True)
    for unfinished in (*work.rglob(".*.new"), *work.rglob("*.partial")):
        unfinished.unlink()
    for unfinished in list(work.rglob(".*.backing-up")):
        shutil.rmtree(unfinished)
    replace_text(noted, choice)


@contextmanager
def _leaving_nothing(work: Path, files: Path) -> Iterator[None]:
    """Remove the folder if making fails before any progress."""
    try:
        yield
    except Exception:
        if not ((work / "pip").exists() or any((files / "wheels").glob("*.whl"))):
            shutil.rmtree(work)
        raise


def _collect(
    contents: BundleContents, project: wheels.Project, files: Path, work: Path, tell: Tell
) -> None:
    """Collect the packages, and a Python, once: it takes longest."""
    if (work / "collected").exists():
        return
    tell(N_("packages: this downloads, and compiles if necessary"))
    wheels.collect(
        project, contents.extras, contents.pythons, contents.processors, files / "wheels", work
    )
    if contents.standalone:
        tell(N_("a Python that needs none of the system"))
        wheels.standalone(contents.pythons[0], files / "python", work)
    (work / "collected").touch()


def _export(store: ModelStore, model: InstalledModel, files: Path) -> None:
    archive = files / "models" / f"{model.name}.tar"
    archive.parent.mkdir(exist_ok=True)
    if not archive.exists():
        store.export(model.name, archive)


def _back_up(workspace: Workspace, name: str, files: Path) -> None:
    packed = files / "corpora" / f"{name}.tar"
    packed.parent.mkdir(exist_ok=True)
    if not packed.exists():
        back_up(workspace, packed, name)


def _copy(source: Path, folder: Path, follow_links: bool, tell: Callable[[str], object]) -> None:
    """Copy a file or the content of a folder, without hidden files and links; raises UsageError."""
    found = walk([source], lambda _: True, follow_links=follow_links)
    for left_out in found.passed_over:
        tell(f"{left_out.source}: {left_out.cause} {left_out.cure}")
    for file in found.files:
        path = file.path
        inside = path.relative_to(found.roots[0].parent)
        try:
            installer.require_plain(f"sources/{folder.name}/{inside.as_posix()}")
        except installer.Refused as error:
            raise UsageError(
                N_("{path} cannot have this name in a bundle."),
                N_("Give it a plain name of letters and digits."),
                path=path,
            ) from error
        goal = folder / inside
        if not (goal.exists() and filecmp.cmp(path, goal, shallow=False)):
            goal.parent.mkdir(parents=True, exist_ok=True)
            with path.open("rb") as reader, replacing(goal) as writer:
                shutil.copyfileobj(reader, writer)


def _write_settings(contents: BundleContents, models: list[InstalledModel], files: Path) -> None:
    import tomli_w

    chosen = {_SETTINGS[model.kind]: {"model": model.name} for model in reversed(models)}
    if contents.settings is not None:
        replace_text(files / "settings.toml", contents.settings.read_text(encoding="utf-8"))
    elif chosen:
        replace_text(files / "settings.toml", tomli_w.dumps(chosen))


def _manifest(
    contents: BundleContents,
    models: list[InstalledModel],
    files: Path,
    since: installer.Bundle | None,
) -> dict[str, Any]:
    """The manifest; also writes the list of parts."""
    found = [replace(part, sha256=_hash(files / part.path)) for part in _parts(models, files)]
    replace_text(files / "parts.cdx.json", parts.as_cyclonedx(__version__, found))
    own = [BundlePart(name, "package", "", "", _LICENCE) for name in installer.FILES]
    listed: dict[str, dict[str, Any]] = {}
    ids = {f"models/{model.name}.tar": model.id for model in models}
    for part in [*found, *(one for one in own if (files / one.path).exists())]:
        digest = part.sha256 or _hash(files / part.path)
        size = (files / part.path).stat().st_size
        told: dict[str, Any] = {"sha256": digest, "size": size, "licence": part.licence}
        if part.path in ids:
            told["id"] = ids[part.path]
        before = since.files.get(part.path, {}) if since else {}
        if "/" in part.path and before.get("sha256") == digest:
            told["held"] = True
        listed[part.path] = told
    names = [Path(path).name for path in listed]
    return {
        "format": installer.FORMAT,
        "localrag": _version(files),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "extras": list(contents.extras),
        "needs": {
            "pythons": list(contents.pythons),
            "processors": list(contents.processors),
            "glibc": wheels.glibc(name for name in names if name.endswith(".whl")),
        },
        "signed_by": "",
        "since": since.digest if since else "",
        "files": listed,
    }


def _version(files: Path) -> str:
    return next((files / "wheels").glob("localrag-*.whl")).name.split("-")[1]


def _parts(models: list[InstalledModel], files: Path) -> Iterator[BundlePart]:
    licences = {model.name: model.manifest.licence for model in models}
    for path in sorted(path for path in files.rglob("*") if path.is_file()):
        name = path.relative_to(files).as_posix()
        match name.split("/"):
            case "wheels", _:
                yield parts.of_wheel(path, name)
            case "python", _:
                yield BundlePart(name, "python", path.name.removesuffix(".tar.gz"), "", "PSF-2.0")
            case "models", _:
                yield BundlePart(name, "model", path.stem, "", licences[path.stem])
            case "corpora", _:
                yield BundlePart(name, "corpus", path.stem, "", "")
            case "sources", *_:
                yield BundlePart(name, "documents", path.name, "", "")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_manifest(manifest: dict[str, Any], files: Path, signer: Signer | None) -> None:
    """Write the manifest as the last file: it marks a complete bundle."""
    manifest["signed_by"] = signer.public if signer else ""
    text = json.dumps(manifest, ensure_ascii=False, indent=1)
    if signer is not None:
        with replacing(files / installer.SIGNATURE) as file:
            file.write(signer.sign(text.encode()))
    replace_text(files / installer.MANIFEST, text)


def _put_in_place(files: Path, target: Path) -> BundleReport:
    """Remove files of the earlier bundle, and move the rest to its place."""
    text = (files / installer.MANIFEST).read_bytes()
    manifest = json.loads(text)
    listed = manifest["files"]
    held = [name for name, file in listed.items() if file.get("held")]
    for name in held:
        (files / name).unlink(missing_ok=True)
    here = [file for name, file in listed.items() if name not in held]
    if target.suffix == ".tar":
        _pack(files, target, files.with_name("packed"))
    else:
        files.rename(target)
        flush_folder(target.parent)
    return BundleReport(
        target,
        hashlib.sha256(text).hexdigest(),
        len(here),
        sum(file["size"] for file in here),
        len(held),
        manifest["signed_by"],
        tuple(name for name, file in listed.items() if not file["licence"]),
    )


def _pack(files: Path, target: Path, aside: Path) -> None:
    """Write a tar, the manifest first; it grows aside."""
    first = [name for name in (installer.MANIFEST, installer.SIGNATURE) if (files / name).exists()]
    found = sorted(
        path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file()
    )
    with replacing(target, aside, private=True) as out, tarfile.open(fileobj=out, mode="w") as tar:
        for name in [*first, *(name for name in found if name not in first)]:
            info = tarfile.TarInfo(name)
            info.size, info.mode = (files / name).stat().st_size, 0o644
            with (files / name).open("rb") as file:
                tar.addfile(info, file)
