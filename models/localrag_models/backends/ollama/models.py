"""What models an Ollama server has, and getting more of them."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag_models.backends.ollama.server import OllamaServer
from localrag_models.backends.servers.streaming import Cancelled
from localrag_models.chat import never
from localrag_models.errors import ModelMissing, TransferFailed
from localrag_models.store.progress import Progress, silent

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


def list_models(server: str) -> list[OllamaModel]:
    """The models an Ollama server has.

    Raises:
        ModelError: the server cannot be asked.
    """
    with closing(OllamaServer(server, timeout=_SECONDS)) as ollama, ollama.client() as client:
        listed = client.list().models
    return [_model(each) for each in listed]


def pull_model(
    model: str,
    server: str,
    on_progress: Progress = silent,
    cancelled: Callable[[], bool] = never,
) -> None:
    """Have an Ollama server fetch a model from its library; a broken pull goes on where it was.

    Args:
        model: its name in the library.
        server: address of the server.
        on_progress: told what the server is doing, in its words, and how many bytes of the file
            that it is fetching are there and in all; 0 where it fetches none.
        cancelled: asked at each sign of progress.

    Raises:
        ModelMissing: its library has no such model.
        TransferFailed: the pull did not end well.
        Cancelled: `cancelled` was true (from `backends.servers.streaming`).
        ModelError: the server cannot be asked.
    """
    done = False
    with closing(OllamaServer(server, timeout=_PULL_SECONDS, model=model)) as ollama:
        with closing(_pulled(ollama)) as lines:
            for told in lines:
                if cancelled():
                    raise Cancelled
                done = told.status == "success"
                on_progress(told.status or "", told.completed or 0, told.total or 0)
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
        digest=(listed.digest or "").removeprefix("sha256:"),
        family=(details and details.family) or "",
        parameters=(details and details.parameter_size) or "",
        quantization=(details and details.quantization_level) or "",
    )
