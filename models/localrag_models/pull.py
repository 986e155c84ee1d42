"""Pulling a model from a hub into a store."""

import hashlib
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from localrag_models.catalogue import CatalogueEntry, entry
from localrag_models.errors import (
    N_,
    Cure,
    ModelDamaged,
    ModelError,
    ModelMissing,
    TransferFailed,
    WrongKind,
)
from localrag_models.files import Progress, Tally, require_space, silent
from localrag_models.hub import ConnectionEnded, Hub, RemoteFile, Repository
from localrag_models.store.landing import land, landing, record
from localrag_models.store.manifest import (
    InstalledModel,
    Kind,
    ModelFile,
    ModelManifest,
    Sampling,
    Source,
    belongs,
    checked_name,
    checked_path,
    is_terms,
)
from localrag_models.store.models import NO_SPACE, ModelStore, name_for
from localrag_models.store.recognition import recognise

_TRIES = 5
"""Connections in a row that may bring nothing before a pull gives up."""
_PART = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_REPOSITORY = re.compile(f"{_PART}/{_PART}")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be pulled.

    Attributes:
        repository: "owner/name".
        file: its one file that is the model; None: the whole folder is.
        name: what to install it as.
        known: its entry, if it is in the catalogue.
    """

    repository: str
    file: str | None
    name: str
    known: CatalogueEntry | None = None

    @classmethod
    def parse(cls, wanted: str) -> "Wish":
        """Read a name of the catalogue, ``OWNER/REPOSITORY`` or ``OWNER/REPOSITORY/FILE.gguf``.

        Raises:
            ModelMissing: the catalogue has no such name, no hub such a repository.
        """
        owner, _, rest = wanted.partition("/")
        repository, _, file = rest.partition("/")
        if not (owner and repository):
            known = entry(wanted)
            return cls(known.repository, known.file, known.name, known)
        if not _REPOSITORY.fullmatch(f"{owner}/{repository}"):
            raise ModelMissing(
                N_("{repository} cannot be a repository."),
                N_("Write OWNER/REPOSITORY, or OWNER/REPOSITORY/FILE.gguf."),
                repository=f"{owner}/{repository}",
            )
        stem = file.rpartition("/")[2].removesuffix(".gguf") if file else repository
        return cls(f"{owner}/{repository}", file or None, name_for(stem))


def pull(
    store: ModelStore,
    wanted: str,
    hub: Hub,
    *,
    name: str = "",
    kind: Kind | None = None,
    revision: str = "main",
    on_progress: Progress = silent,
    pause: float = 1.0,
) -> InstalledModel:
    """Fetch a model and install it, unless it is installed already, in whatever state of "main".

    What an interrupted pull has fetched is kept, and the next one goes on with it. Every file is
    compared with the size and the hash that the hub gives before the model is put in its place.

    Args:
        store: where to install it.
        wanted: as `Wish.parse` reads it.
        hub: where to fetch it from.
        name: what to call it; empty, as in the catalogue or after the file.
        kind: what it has to be; None takes any.
        revision: a branch, tag or commit.
        on_progress: see `Progress`; bytes that were there from an earlier pull are not counted.
        pause: seconds before a broken connection is made anew.

    Raises:
        ModelMissing: there is no such model, repository or file.
        WrongKind: it is no model that can be run here.
        TransferFailed: it could not be fetched, or is not what the hub announced; or as
            `landing` says.
    """
    wish = Wish.parse(wanted)
    name = checked_name(name or wish.name)
    present = {model.name: model for model in store.installed()}.get(name)
    if present and _is_what_is_wanted(present, wish, revision):
        return present
    repository = hub.repository(wish.repository, revision)
    files = _choose(repository, wish)
    largest = max(file.size for file in files)
    resume = f"{repository.name}@{repository.revision}/{wish.file or ''}"
    with landing(store.folder, name, largest=largest, resume=resume) as folder:
        missing = {file.path: file.size - _have(folder, file) for file in files}
        require_space(folder, sum(missing.values()), NO_SPACE, name=name)
        tally = Tally(N_("pulling"), name, sum(missing.values()), on_progress)
        for file in files:
            _fetch(hub, repository, file, folder / file.path, tally, pause)
        tally = Tally(N_("checking"), name, sum(file.size for file in files), on_progress)
        records = tuple(_checked(hub, file, folder, tally) for file in files)
        manifest = _manifest(wish, name, repository, folder, records, kind)
        land(folder, store.folder, manifest)
    return store.find(name)


def _is_what_is_wanted(present: InstalledModel, wish: Wish, revision: str) -> bool:
    source = present.manifest.source
    same_file = not wish.file or wish.file == present.manifest.weights[0].path
    # What "main" stands for today, only the hub knows; a newer state is pulled after a removal.
    same_revision = revision in ("main", source.revision)
    return source.repository == wish.repository and same_file and same_revision


def _choose(repository: Repository, wish: Wish) -> list[RemoteFile]:
    """Pick the files of the model, and its licence."""
    if wish.file:
        files = [f for f in repository.files if f.path == wish.file or is_terms(f.path)]
        found = any(file.path == wish.file for file in files)
    else:
        files = [file for file in repository.files if belongs(file.path)]
        found = any(file.path == "config.json" for file in files)
        found = found and any(file.path.endswith(".safetensors") for file in files)
    if not found:
        raise _not_there(repository, wish)
    for file in files:
        checked_path(file.path)
        if file.size < 0 or not (file.sha256 or file.blob):
            raise TransferFailed(
                N_("The hub gives neither size nor hash of {file} in {repository}."),
                Cure.ANOTHER_HUB,
                file=file.path,
                repository=repository.name,
            )
    return files


def _not_there(repository: Repository, wish: Wish) -> ModelError:
    ggufs = [file.path for file in repository.files if file.path.endswith(".gguf")]
    shown = ", ".join(ggufs[:10]) + (" …" if len(ggufs) > 10 else "")
    fields = {"repository": repository.name, "file": wish.file, "files": shown}
    if wish.file:
        cure = N_("It has: {files}") if ggufs else ""
        return ModelMissing(N_("{repository} has no file {file}."), cure, **fields)
    cure = N_("Name one file, {repository}/FILE: {files}") if ggufs else ""
    return WrongKind(
        N_("{repository} holds no model as config.json and *.safetensors."), cure, **fields
    )


def _have(folder: Path, file: RemoteFile) -> int:
    """Bytes of a file that an earlier pull has left; a longer one is no part of it."""
    path = folder / file.path
    if not path.is_file():
        return 0
    if path.stat().st_size > file.size:
        path.unlink()
        return 0
    return path.stat().st_size


def _fetch(
    hub: Hub, repository: Repository, file: RemoteFile, target: Path, tally: Tally, pause: float
) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()
    idle = 0
    while (have := target.stat().st_size) < file.size:
        reason = "the connection ended"
        try:
            hub.fetch(repository, file, target, tally)
        except ConnectionEnded as error:
            reason = str(error)
        if target.stat().st_size > have:
            idle = 0
        else:
            idle += 1
            if idle == _TRIES:
                raise hub.unreachable(reason)
            time.sleep(pause * idle)


def _checked(hub: Hub, file: RemoteFile, folder: Path, tally: Tally) -> ModelFile:
    found = record(folder, file.path, tally)
    if file.sha256:
        right = found.sha256 == file.sha256
    else:
        right = _git_blob((folder / file.path).read_bytes()) == file.blob
    if not right:
        (folder / file.path).unlink()
        raise TransferFailed(
            N_(
                "What came as {file} is not what {host} announced (its hash differs); it was "
                "deleted."
            ),
            Cure.ANOTHER_HUB,
            file=file.path,
            host=hub.host,
        )
    return found


def _git_blob(content: bytes) -> str:
    """The id that git gives a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _manifest(
    wish: Wish,
    name: str,
    repository: Repository,
    folder: Path,
    records: Sequence[ModelFile],
    kind: Kind | None,
) -> ModelManifest:
    known = wish.known
    try:
        found = recognise(
            folder / wish.file if wish.file else folder, known.kind if known else kind
        )
    except (WrongKind, ModelDamaged):
        # It came as it is published: nothing to go on with.
        shutil.rmtree(folder)
        raise
    return ModelManifest(
        name=name,
        kind=found.kind,
        format=found.format,
        licence=known.licence if known else repository.licence,
        context=(known and known.context) or found.context,
        added=datetime.now(UTC).replace(microsecond=0),
        source=Source(repository=repository.name, revision=repository.revision),
        prefixes=known.prefixes if known else found.prefixes,
        sampling=known.sampling if known else Sampling(),
        files=tuple(records),
    )
