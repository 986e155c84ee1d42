"""The installed models of a workspace."""

import difflib
import re
import shlex
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from localrag_models.embedding import Prefixes
from localrag_models.errors import N_, Cure, ModelDamaged, ModelError, ModelMissing
from localrag_models.files import PIECES, Progress, Tally, reading, require_space, silent, writing
from localrag_models.landing import (
    DO_NOT_USE,
    copy,
    discard,
    land,
    landing,
    partial,
    read_archive,
    record,
    write_archive,
)
from localrag_models.manifest import (
    LARGEST_MANIFEST,
    MANIFEST,
    InstalledModel,
    Kind,
    ModelManifest,
    Source,
    checked_name,
    has_manifest,
    recognise,
)

NO_SPACE = N_("The model {name!r} needs {needed} on the disk, and {free} are free.")
__all__ = ["InstalledModel", "ModelStore", "name_for"]

_NOT_INSTALLED = N_("The model {name!r} is not installed.")


class ModelStore:
    """The folder of the models; it need not exist yet.

    A model is installed as a whole or not at all: it is prepared in another folder and renamed. No
    method opens a socket.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def own_catalogue(self) -> Path:
        """The file of the user's own entries; it need not exist."""
        from localrag_models.catalogue import OWN

        return self.folder.parent / OWN

    def installed(self) -> list[InstalledModel]:
        return [found for found in self._scan().values() if isinstance(found, InstalledModel)]

    def problems(self) -> dict[str, ModelError]:
        """The error of everything that cannot be used as a model, by name."""
        scanned = self._scan().items()
        return {name: found for name, found in scanned if isinstance(found, ModelError)}

    def unfinished(self) -> dict[str, int]:
        return partial(self.folder)

    def names(self) -> list[str]:
        """Names of everything in the folder, usable or not."""
        return [path.name for path in self._standing()]

    def find(self, name: str) -> InstalledModel:
        """Find a model.

        Raises:
            ModelMissing: it is not installed; names the command that pulls it, or the nearest name.
            ModelDamaged: a file of it is missing or of another size.
        """
        if name in self._manifested():
            return self._load(self.folder / name)
        raise self._missing(name)

    def add(
        self,
        path: Path,
        *,
        name: str = "",
        kind: Kind | None = None,
        prefixes: Prefixes | None = None,
        licence: str = "",
        link: bool = False,
        on_progress: Progress = silent,
    ) -> InstalledModel:
        """Install a model from a GGUF file or a folder of sentence-transformers.

        The file is copied; with `link` it is hard-linked, which takes no space, but a change of it
        damages the model. An empty `name` is the name of the file, None for `kind` accepts any,
        and None for `prefixes` takes the prefixes of the folder or of its family.

        Raises:
            ModelError: as in `recognise` and `landing`; existing models are unchanged.
        """
        with reading(path):
            found = recognise(path, kind)
            sizes = [(found.folder / file).stat().st_size for file in found.files]
            name = checked_name(
                name or name_for(path.stem if path.is_file() else path.resolve().name)
            )
            with landing(self.folder, name, largest=max(sizes)) as files:
                if not link:
                    require_space(files, sum(sizes), NO_SPACE, name=name)
                tally = Tally(N_("copying"), name, sum(sizes), on_progress)
                records = tuple(
                    copy(found.folder / file, files, file, tally, link=link) for file in found.files
                )
                manifest = ModelManifest(
                    name=name,
                    kind=found.kind,
                    format=found.format,
                    licence=licence[:200],
                    context=found.context,
                    added=datetime.now(UTC).replace(microsecond=0),
                    source=Source(file=path.name[:1000]),
                    prefixes=found.prefixes if prefixes is None else prefixes,
                    pooling=found.pooling,
                    files=records,
                )
                land(files, self.folder, manifest)
        return self.find(name)

    def verify(self, name: str, on_progress: Progress = silent) -> InstalledModel:
        """Read every file of a model and compare it with its hash.

        Raises:
            ModelMissing: it is not installed.
            ModelDamaged: a file has changed, is missing, or does not belong to it; or it is no
                model.
        """
        if name in self.names() and name not in self._manifested():
            raise _no_model(self.folder / name)
        model = self.find(name)
        tally = Tally(N_("checking"), name, model.size, on_progress)
        for file in model.manifest.files:
            with reading(model.folder):
                found = record(model.folder, file.path, tally)
            if found != file:
                raise _damaged(
                    model.folder,
                    file.path,
                    N_(
                        "The model {name!r} is damaged: its file {file} has changed since it was "
                        "installed."
                    ),
                )
        for derived in model.folder.glob(f"{PIECES}*"):
            # Made of the other files, and made again when needed.
            with suppress(OSError):
                derived.unlink()
        expected = {MANIFEST, *(file.path for file in model.manifest.files)}
        for path in sorted(model.folder.rglob("*")):
            relative = path.relative_to(model.folder).as_posix()
            if path.is_file() and relative not in expected:
                raise _damaged(
                    model.folder,
                    relative,
                    N_("The model {name!r} is damaged: its file {file} does not belong to it."),
                )
        return model

    def remove(self, name: str) -> None:
        """Remove a model, the rest of an interrupted pull, or another file of this name.

        Raises:
            ModelMissing: there is nothing of that name.
            TransferFailed: as in `discard`.
        """
        # Compared with existing names, so that no name can lead out of the folder.
        if name not in self.unfinished() and name not in self.names():
            raise ModelMissing(_NOT_INSTALLED, Cure.SEE_INSTALLED, name=name)
        discard(self.folder, name)

    def export(self, name: str, archive: Path, on_progress: Progress = silent) -> Path:
        """Write a model to one file for `import_` on another machine, and return its path.

        `archive` is the file, or a folder for ``NAME.tar``.

        Raises:
            ModelMissing: it is not installed.
            ModelDamaged: a file of it has changed; nothing is written.
            TransferFailed: the archive exists already.
            StorageFailed: it cannot be written.
        """
        model = self.find(name)
        with writing(archive):
            target = archive / f"{name}.tar" if archive.is_dir() else archive
        write_archive(model, target, Tally(N_("exporting"), name, model.size, on_progress))
        return target

    def import_(
        self, archive: Path, *, name: str = "", on_progress: Progress = silent
    ) -> InstalledModel:
        """Install a model from a file of `export`, under another `name` if given.

        Raises:
            ModelMissing: there is no such file.
            WrongKind: it is a folder, a pipe or a device.
            ModelDamaged: it is no such archive, cut short, or does not match its manifest.
            TransferFailed: as in `landing`.
        """
        with reading(archive), read_archive(archive) as (manifest, extract):
            manifest = manifest.model_copy(update={"name": checked_name(name or manifest.name)})
            largest = max(file.size for file in manifest.files)
            with landing(self.folder, manifest.name, largest=largest) as files:
                require_space(files, manifest.size, NO_SPACE, name=manifest.name)
                extract(files, Tally(N_("importing"), manifest.name, manifest.size, on_progress))
                _check_kind(files, manifest, archive)
                land(files, self.folder, manifest)
        return self.find(manifest.name)

    def _scan(self) -> dict[str, InstalledModel | ModelError]:
        found: dict[str, InstalledModel | ModelError] = {}
        for name in self._manifested():
            try:
                found[name] = self._load(self.folder / name)
            except ModelError as error:
                found[name] = error
        others = (path for path in self._standing() if not has_manifest(path))
        return found | {path.name: _no_model(path) for path in others}

    def _manifested(self) -> list[str]:
        return [path.name for path in self._standing() if has_manifest(path)]

    def _standing(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*") if not path.name.startswith("."))

    def _load(self, folder: Path) -> InstalledModel:
        with reading(folder), (folder / MANIFEST).open("rb") as text:
            manifest = ModelManifest.parse(text.read(LARGEST_MANIFEST), folder / MANIFEST)
        if manifest.name != folder.name:
            raise ModelDamaged(
                N_("The folder {path} holds the model {name!r}."),
                N_("Rename the folder to {name}."),
                path=folder,
                name=manifest.name,
            )
        for file in manifest.files:
            path = folder / file.path
            if not path.is_file():
                raise _damaged(
                    folder,
                    file.path,
                    N_("The model {name!r} is damaged: its file {file} is missing."),
                )
            if path.stat().st_size != file.size:
                raise _damaged(
                    folder,
                    file.path,
                    N_(
                        "The model {name!r} is damaged: its file {file} is not of the size it was "
                        "installed with."
                    ),
                )
        return InstalledModel(folder, manifest)

    def _missing(self, name: str) -> ModelMissing:
        # The catalogue is read only to name a cure.
        from localrag_models.catalogue import catalogue

        entries = catalogue(self.own_catalogue)
        if name in entries:
            return ModelMissing(_NOT_INSTALLED, Cure.GET, name=name)
        known = [*self._manifested(), *entries]
        near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        if near:
            return ModelMissing(_NOT_INSTALLED, Cure.NEAREST, name=name, near=near[0])
        return ModelMissing(_NOT_INSTALLED, Cure.SEE_INSTALLED, name=name)


def _no_model(path: Path) -> ModelError:
    quoted = {"file": shlex.quote(str(path)), "name": shlex.quote(path.name)}
    if path.suffix == ".gguf" and path.is_file():
        return ModelMissing(
            N_("{path} is in the folder of the models, but not installed."),
            Cure.ADD_FILE,
            path=path,
            **quoted,
        )
    return ModelDamaged(
        N_("{path} has no {manifest}, so it is not a model."),
        Cure.REMOVE,
        path=path,
        manifest=MANIFEST,
        **quoted,
    )


def _check_kind(files: Path, manifest: ModelManifest, archive: Path) -> None:
    """Check that the files of an archive are the model of its manifest."""
    path = files / manifest.weights[0].path if manifest.format == "gguf" else files
    try:
        recognise(path, manifest.kind)
    except ModelError as error:
        raise ModelDamaged(
            N_(
                "{path} holds no model of kind {wanted} and format {format}, though its manifest "
                "says so."
            ),
            DO_NOT_USE,
            path=archive,
            wanted=manifest.kind,
            format=manifest.format,
        ) from error


def _damaged(folder: Path, file: str, cause: str) -> ModelDamaged:
    return ModelDamaged(cause, Cure.REPLACE, name=folder.name, file=file)


def name_for(stem: str) -> str:
    """A model name for a file or folder of this name."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._").lower()
    return re.sub(r"\.\.+", ".", plain)[:64].rstrip("-._")
