"""What models an Ollama server has, and getting more of them."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag_models.backends.ollama.server import ADDRESS, OllamaServer
from localrag_models.backends.servers.streaming import Cancelled
from localrag_models.chat import never
from localrag_models.errors import ModelMissing, TransferFailed

if TYPE_CHECKING:
    from ollama import ListResponse, ProgressResponse

_SECONDS = 30.0
_PULL_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model on an Ollama server.

    Attributes:
        name: as the server knows it, ``qwen3:8b``.
        size: bytes.
        digest: of the model, hexadecimal; changes with its weights.
        family: architecture, ``qwen3``.
        parameters: how many, as the server writes it, ``8.2B``.
        quantization: ``Q4_K_M``.
    """

    name: str
    size: int
    digest: str
    family: str
    parameters: str
    quantization: str


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a pull has come.

    Attributes:
        status: what the server is doing, in its words.
        digest: of the file it is fetching; empty where it fetches none.
        completed: bytes of it that are there.
        total: bytes it has; 0 where unknown.
    """

    status: str
    digest: str
    completed: int
    total: int


def ollama_models(server: str = ADDRESS) -> list[OllamaModel]:
    """The models an Ollama server has.

    Raises:
        ModelError: the server cannot be asked.
    """
    with closing(OllamaServer(server, timeout=_SECONDS)) as ollama, ollama.client() as client:
        listed = client.list().models
    return [_model(each) for each in listed]


def ollama_pull(
    model: str,
    server: str = ADDRESS,
    on_progress: Callable[[PullProgress], None] | None = None,
    cancelled: Callable[[], bool] = never,
) -> None:
    """Have an Ollama server fetch a model from its library; a broken pull goes on where it was.

    Raises:
        ModelMissing: its library has no such model.
        TransferFailed: the pull did not end well.
        Cancelled: `cancelled`, asked at each sign of progress, was true (from
            `backends.servers.streaming`).
        ModelError: the server cannot be asked.
    """
    done = False
    with closing(OllamaServer(server, timeout=_PULL_SECONDS, model=model)) as ollama:
        with closing(_pulled(ollama)) as lines:
            for told in lines:
                if cancelled():
                    raise Cancelled
                done = told.status == "success"
                if on_progress is not None:
                    on_progress(_progress(told))
        if not done:
            raise ollama.broke(f"ended the pull of {model!r} before it was done")


def _pulled(server: OllamaServer) -> "Generator[ProgressResponse, None, None]":
    from ollama import ResponseError

    with server.client() as client:
        try:
            yield from client.pull(server.model, stream=True)
        except ResponseError as error:
            raise _not_pulled(server.model, error.error) from error


def _not_pulled(model: str, error: str) -> ModelMissing | TransferFailed:
    if "not exist" in error or "not found" in error:
        return ModelMissing(
            f"The library of Ollama has no model {model!r}: {error}", "Look at its name again."
        )
    return TransferFailed(
        f"Ollama could not pull {model!r}: {error}",
        f"Try again: localrag models pull ollama:{model}",
    )


def _model(listed: "ListResponse.Model") -> OllamaModel:
    details = listed.details
    return OllamaModel(
        name=listed.model or "",
        size=listed.size or 0,
        digest=_hexadecimal(listed.digest),
        family=(details and details.family) or "",
        parameters=(details and details.parameter_size) or "",
        quantization=(details and details.quantization_level) or "",
    )


def _progress(told: "ProgressResponse") -> PullProgress:
    return PullProgress(
        status=told.status or "",
        digest=_hexadecimal(told.digest),
        completed=told.completed or 0,
        total=told.total or 0,
    )


def _hexadecimal(digest: str | None) -> str:
    return (digest or "").removeprefix("sha256:")
