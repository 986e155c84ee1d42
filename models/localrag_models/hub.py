"""Talks to a model hub: what a repository holds, and its files, piece by piece.

The library `huggingface_hub` knows the protocol. Its own download is not used: release 2.4 keeps
nothing of a file whose download was interrupted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from localrag_models.errors import N_, BackendMissing, Cure, ModelMissing, TransferFailed
from localrag_models.store.landing import OnBytes

PUBLIC_HUB = "https://huggingface.co"

_TIMEOUT = 30.0
"""Seconds without a sign of life of the hub."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the hub describes it.

    Attributes:
        path: in the repository.
        size: in bytes.
        sha256: of a file in large-file storage; else empty.
        blob: the id git gives its content; of a small file.
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
        licence: as its card names it; may be empty.
        files: all of them.
    """

    name: str
    revision: str
    licence: str
    files: tuple[RemoteFile, ...]


class ConnectionEnded(Exception):  # noqa: N818 - it says what happened to the connection
    """The connection ended, or could not be made; trying again can help."""


class Hub:
    """A model hub.

    Args:
        endpoint: its address.
        token: of an account that has accepted the terms of gated models; never stored.

    Attributes:
        host: as messages name it.

    Raises:
        BackendMissing: the package that talks to hubs is not installed.
        TransferFailed: the environment forbids it (``HF_HUB_OFFLINE``), or address or token
            are none.
    """

    def __init__(self, endpoint: str = PUBLIC_HUB, token: str = "") -> None:
        self._library = _library()
        self._endpoint = endpoint.rstrip("/")
        self.host = _host(endpoint)
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise TransferFailed(
                N_("The token for the hub is none: it holds more than letters, digits and signs."),
                Cure.ENTER_AGAIN,
            )
        # False keeps the library from looking for a token of its own.
        self._token: str | bool = token or False

    def repository(self, name: str, revision: str = "main") -> Repository:
        """Ask what a repository holds.

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
        """Fetch what `target` does not yet hold of a file, until it is whole or the line breaks.

        Raises:
            ConnectionEnded: the connection ended; `target` holds what has come.
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
                    # A server that knows no ranges begins from the start.
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
        """The error for a hub that does not answer."""
        return TransferFailed(
            N_("{host} does not answer ({why})."), Cure.CARRY, host=self.host, why=reason
        )

    @contextmanager
    def _told(self, repository: str) -> Iterator[None]:
        # The HTTP client of huggingface_hub, whose errors it lets through.
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
            N_("{host} sent what cannot be understood ({why})."),
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
            N_("{address!r} is no address of a hub."),
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
    # With telemetry on, every header is made by asking the public hub first, whatever the endpoint.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    return huggingface_hub
