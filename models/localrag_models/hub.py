"""Pulls models from a hub: asks for the content of a repository, and fetches its files.

The library `huggingface_hub` knows the protocol. Its own download is not used: release 2.4 keeps
nothing of an interrupted file.
"""

import hashlib
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from localrag_models.catalogue import CatalogueEntry, entry
from localrag_models.errors import (
    N_,
    BackendMissing,
    Cure,
    ModelDamaged,
    ModelError,
    ModelMissing,
    TransferFailed,
    WrongKind,
)
from localrag_models.files import Progress, Tally, require_space, silent
from localrag_models.landing import OnBytes, land, landing, record
from localrag_models.manifest import (
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
    recognise,
)
from localrag_models.store import NO_SPACE, ModelStore, name_for

PUBLIC_HUB = "https://huggingface.co"

_TIMEOUT = 30.0
"""Seconds without a sign of life of the hub."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file in the description of the hub.

    Attributes:
        path: in the repository.
        size: in bytes.
        sha256: of a file in large-file storage; else empty.
        blob: the git id of a small file.
    """

    path: str
    size: int
    sha256: str
    blob: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at one revision.

    Attributes:
        name: "owner/name".
        revision: the commit.
        licence: from its card; may be empty.
        files: all of them.
    """

    name: str
    revision: str
    licence: str
    files: tuple[RemoteFile, ...]


class ConnectionEnded(Exception):  # noqa: N818 - it says what happened to the connection
    """The connection ended or failed; trying again can help."""


class Hub:
    """A model hub.

    Args:
        endpoint: its address.
        token: of an account that has accepted the terms of gated models; never stored.

    Attributes:
        host: its name in messages.

    Raises:
        BackendMissing: the package `huggingface_hub` is not installed.
        TransferFailed: the environment forbids it (``HF_HUB_OFFLINE``), or address or token are
            invalid.
    """

    def __init__(self, endpoint: str = PUBLIC_HUB, token: str = "") -> None:
        self._library = _library()
        self._endpoint = endpoint.rstrip("/")
        self.host = _host(endpoint)
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise TransferFailed(
                N_(
                    "The token for the hub is not valid: it may only hold letters, digits and "
                    "signs."
                ),
                Cure.ENTER_AGAIN,
            )
        # False keeps the library from looking for a token of its own.
        self._token: str | bool = token or False

    def repository(self, name: str, revision: str = "main") -> Repository:
        """Ask for the content of a repository.

        Raises:
            ModelMissing: there is no such repository or revision.
            TransferFailed: it is not open to this account, or the hub does not answer.
        """
        api = self._library.HfApi(endpoint=self._endpoint, token=self._token)
        try:
            with self._told(name):
                info = api.model_info(
                    name, revision=revision, files_metadata=True, timeout=_TIMEOUT
                )
            files = {file.rfilename: _remote(file) for file in info.siblings or ()}
            licence = str((info.card_data or {}).get("license") or "")
        except ConnectionEnded as error:
            raise self.unreachable(str(error)) from error
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._no_hub(error) from error
        return Repository(
            name, str(info.sha or revision)[:100], licence[:200], tuple(files.values())
        )

    def fetch(
        self, repository: Repository, file: RemoteFile, target: Path, on_bytes: OnBytes
    ) -> None:
        """Fetch the rest of a file into `target`, until it is complete or the connection ends.

        Raises:
            ConnectionEnded: the connection ended; `target` keeps the bytes so far.
            ModelMissing: the repository no longer has it.
            TransferFailed: it is not open to this account, or the hub sends something else.
        """
        have = target.stat().st_size if target.exists() else 0
        url = self._library.hf_hub_url(
            repository.name, file.path, revision=repository.revision, endpoint=self._endpoint
        )
        headers = {"Accept-Encoding": "identity", "Range": f"bytes={have}-"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        session = self._library.get_session()
        with (
            self._told(repository.name),
            session.stream("GET", url, headers=headers, timeout=_TIMEOUT) as response,
        ):
            if response.status_code >= 400:
                response.read()
            self._library.hf_raise_for_status(response)
            with target.open("ab") as writer:
                if response.status_code != 206 and have:
                    # A server without ranges begins from the start.
                    on_bytes(-have)
                    writer.truncate(0)
                    have = 0
                for chunk in response.iter_raw():
                    have += len(chunk)
                    if have > file.size:
                        raise TransferFailed(
                            N_("{host} sends more than the {size:,} bytes of {file}."),
                            Cure.ANOTHER_HUB,
                            host=self.host,
                            size=file.size,
                            file=file.path,
                        )
                    writer.write(chunk)
                    on_bytes(len(chunk))

    def unreachable(self, reason: str) -> TransferFailed:
        return TransferFailed(
            N_("{host} does not answer ({why})."), Cure.CARRY, host=self.host, why=reason
        )

    @contextmanager
    def _told(self, repository: str) -> Iterator[None]:
        # The HTTP client of huggingface_hub, which passes its errors on.
        import httpx2

        try:
            yield
        except httpx2.TransportError as error:
            raise ConnectionEnded(str(error) or type(error).__name__) from error
        except self._library.errors.HfHubHTTPError as error:
            raise self._refusal(repository, error.response) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._no_hub(error) from error

    def _no_hub(self, error: Exception) -> TransferFailed:
        return TransferFailed(
            N_("{host} sent an answer that cannot be read ({why})."),
            Cure.HUB_ADDRESS,
            host=self.host,
            why=error,
        )

    def _refusal(self, repository: str, response: Any) -> Exception:
        status, code = response.status_code, response.headers.get("X-Error-Code", "")
        fields = {
            "repository": repository,
            "host": self.host,
            "page": f"{self._endpoint}/{repository}",
            "status": status,
        }
        if code == "GatedRepo" or status == 403:
            cause = N_("{repository} is open only to those who have accepted its terms.")
            return TransferFailed(cause, Cure.ACCEPT_TERMS, **fields)
        if status == 401:
            cause = N_("There is no repository {repository} on {host}, or it is not open to you.")
            return TransferFailed(cause, Cure.CHECK_REPOSITORY, **fields)
        if status == 404:
            cause = N_("{host} has no repository, revision or file for {repository}.")
            return ModelMissing(cause, N_("Check the name: {page}"), **fields)
        if status in (408, 429) or status >= 500:
            return ConnectionEnded(f"status {status}")
        return TransferFailed(N_("{host} refuses {repository} (status {status})."), **fields)


def _host(endpoint: str) -> str:
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TransferFailed(
            N_("{address!r} is not the address of a hub."),
            N_("Write it as in {example}"),
            address=endpoint,
            example=PUBLIC_HUB,
        )
    return parts.netloc.rpartition("@")[2]


def _remote(file: Any) -> RemoteFile:
    return RemoteFile(
        file.rfilename,
        file.size if isinstance(file.size, int) else -1,
        str(file.lfs.sha256) if file.lfs else "",
        str(file.blob_id or ""),
    )


def _library() -> ModuleType:
    try:
        import huggingface_hub
        from huggingface_hub import constants, errors  # noqa: F401 - loaded for Hub._told
    except ImportError as error:
        raise BackendMissing(
            N_("Pulling models needs the package {package}."),
            Cure.INSTALL_PACKAGE,
            package="huggingface-hub",
        ) from error
    if constants.is_offline_mode():
        raise TransferFailed(
            N_("HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids to ask the hub."), Cure.ONLINE
        )
    # With telemetry on, every header asks the public hub first, even for another endpoint.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    return huggingface_hub


_TRIES = 5
"""Connections in a row without a byte before a pull gives up."""
_PART = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_REPOSITORY = re.compile(f"{_PART}/{_PART}")


@dataclass(frozen=True, slots=True)
class Wish:
    """The model to pull.

    Attributes:
        repository: "owner/name".
        file: the file of the model; None for the whole folder.
        name: of the installed model.
        known: its entry, if it is in the catalogue.
    """

    repository: str
    file: str | None
    name: str
    known: CatalogueEntry | None = None

    @classmethod
    def parse(cls, wanted: str, own: Path | None = None) -> "Wish":
        """Read a name of the catalogue, ``OWNER/REPOSITORY`` or ``OWNER/REPOSITORY/FILE.gguf``.

        `own` is the file of the user's own entries.

        Raises:
            ModelMissing: the catalogue has no such name, or it cannot be a repository.
        """
        owner, _, rest = wanted.partition("/")
        repository, _, file = rest.partition("/")
        if not (owner and repository):
            known = entry(wanted, own)
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
    """Fetch a model and install it, unless it is installed already (in any state of "main").

    An interrupted pull keeps its bytes, and the next one continues. Every file is compared with the
    size and hash of the hub before the model is installed.

    `wanted` is as in `Wish.parse`, `revision` a branch, tag or commit. An empty `name` is that of
    the catalogue or the file, and None for `kind` accepts any. `pause` is the number of seconds
    before a new connection; progress does not count the bytes of an earlier pull.

    Raises:
        ModelMissing: there is no such model, repository or file.
        WrongKind: it is no model that can be run here.
        TransferFailed: it could not be fetched, does not match the hub's hash, or as in `landing`.
    """
    wish = Wish.parse(wanted, store.own_catalogue)
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
    # Only the hub knows today's "main"; a newer state is pulled after a removal.
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
    """Bytes of a file from an earlier pull; a file that is too long is deleted."""
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
            N_("The hash of {file} is not the one that {host} announced; the file was deleted."),
            Cure.ANOTHER_HUB,
            file=file.path,
            host=hub.host,
        )
    return found


def _git_blob(content: bytes) -> str:
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
        # It came as published: there is nothing to continue with.
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
        pooling=found.pooling,
        sampling=known.sampling if known else Sampling(),
        files=tuple(records),
    )
