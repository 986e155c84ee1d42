"""An Ollama server: its address, its errors, and what it says about a model."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import httpx

from localrag_models.backends.servers.counts import tokens
from localrag_models.backends.servers.http import Json, Server, excerpt
from localrag_models.errors import (
    BackendMissing,
    ModelError,
    ModelMissing,
    ServerRefused,
    WrongKind,
)
from localrag_models.windows import well_formed

if TYPE_CHECKING:
    from ollama import Client

_READ_BY_THE_CLIENT = frozenset(
    {"OLLAMA_API_KEY", "OLLAMA_HOST", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"}
)


class OllamaServer(Server):
    """An Ollama server.

    Args:
        address: of the server.
        timeout: seconds without a byte after which it counts as stuck.
        model: the one to be asked about, where it is about one.

    Raises:
        ServerRefused: `address` is none.
        ModelMissing: `model` is empty.
        BackendMissing: the client of Ollama cannot be loaded.

    Attributes:
        model: as it is sent.
    """

    def __init__(self, address: str, *, timeout: float, model: str | None = None) -> None:
        if model == "":
            raise ModelMissing(
                "No model of Ollama is named.", "Write ollama:NAME; the names: ollama list"
            )
        super().__init__(
            address,
            name="Ollama",
            cure="Start it: ollama serve",
            probabilities="Update Ollama: it gives them (logprobs) since version 0.12.11.",
            timeout=timeout,
        )
        self.model = well_formed(model or "")
        with self._failures():
            self._ollama = _client_class()(
                self.address,
                follow_redirects=False,
                # Its own error loses the status where the body is JSON, but no object.
                event_hooks={"request": [_drop_key], "response": [self._demand_ok]},
                # With a key given it does not read OLLAMA_API_KEY, meant for another server.
                **{**self._options, "headers": {"Authorization": "dropped"}},
            )

    def refusal(self, status: int, message: str) -> ModelError:
        """The error that an HTTP status and the server's words stand for."""
        if status == 404 and "model" in message:
            return missing(self.model, self.address)
        if "does not support" in message:
            return WrongKind(
                f"Ollama at {self.address} cannot use {self.model!r} so: {message}",
                "See what it can do: ollama show NAME",
            )
        return super().refusal(status, message)

    @contextmanager
    def client(self) -> Iterator["Client"]:
        """The client that Ollama publishes; nothing but calls of it may stand in the block.

        Raises:
            ModelError: by the status; `ServerBroke` for an answer that is not what it should be.
        """
        with self._failures():
            try:
                yield self._ollama
            except ConnectionError as error:
                raise self._unreachable(error.__context__) from error
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                # The client lets through whatever json and pydantic make of an answer.
                sent = getattr(error, "doc", "") or " ".join(str(error).splitlines()[:3])
                raise self.broke(f"sent what is no answer of Ollama: {excerpt(sent)!r}") from error

    def show(self) -> "ModelCard":
        """What the server says about the model.

        Raises:
            ModelMissing: it has none of this name.
            ServerRefused: the model is not on this server, which would hand every prompt on to
                another host.
        """
        # The client drops `remote_host`, and insists on fields that such cards lack.
        shown = self.post("/api/show", {"model": self.model})
        if host := shown.get("remote_host"):
            raise ServerRefused(
                f"{self.model!r} does not run on Ollama at {self.address}, which would send every "
                f"prompt on to {excerpt(str(host))}.",
                "Choose a model that runs here: ollama list",
            )
        return ModelCard(shown)

    def close(self) -> None:
        """Close the connections."""
        self._ollama.close()  # type: ignore[no-untyped-call]
        super().close()


def missing(model: str, address: str) -> ModelMissing:
    """The error for a model that the server does not have."""
    return ModelMissing(
        f"Ollama at {address} has no model {model!r}.", f"Get it: ollama pull {model}"
    )


class ModelCard:
    """What a server says about a model.

    Attributes:
        capabilities: what the model can do; None where the server is too old to tell.
        context: tokens the model was trained to take; 0 where nobody says.
        dimension: length of its vectors; 0 where nobody says.
    """

    def __init__(self, shown: Json) -> None:
        capabilities = shown.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, list) else None
        told = shown.get("model_info")
        info: Json = told if isinstance(told, dict) else {}

        def size(what: str) -> int:
            return tokens(info.get(f"{info.get('general.architecture')}.{what}")) or 0

        self.context = size("context_length")
        self.dimension = size("embedding_length")


@cache
def _client_class() -> "type[Client]":
    try:
        # Its package makes a client while it is imported, and fails where the environment
        # names a host, a proxy or a certificate that is none.
        with _environment_hidden():
            from ollama import Client
    except ImportError as error:
        raise BackendMissing(
            f"The client of Ollama cannot be loaded: {error}", "pip install --upgrade ollama"
        ) from error
    return Client


@contextmanager
def _environment_hidden() -> Iterator[None]:
    hidden = {
        name: value
        for name, value in os.environ.items()
        if name in _READ_BY_THE_CLIENT or name.lower().endswith("_proxy")
    }
    for name in hidden:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.update(hidden)


def _drop_key(request: httpx.Request) -> None:
    request.headers.pop("Authorization", None)
