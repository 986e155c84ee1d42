"""Embedding through an Ollama server."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from localrag_models.backends.ollama.models import list_models
from localrag_models.backends.ollama.server import ModelCard, OllamaServer, missing
from localrag_models.backends.servers.embedder import (
    LARGEST_INPUT,
    ServerEmbedder,
    demand_whole,
    trained_with,
)
from localrag_models.embedding import Prefixes
from localrag_models.errors import WrongKind
from localrag_models.retrying import Retry, warn
from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors


class OllamaEmbedder(ServerEmbedder):
    """An embedding model that an Ollama server runs; fulfils `localrag_models.embedding.Embedder`.

    Args:
        model: its name there, ``bge-m3``.
        server: address of the server.
        timeout: seconds without a byte after which the server counts as stuck.
        prefixes: what is put before queries and passages; None for those of the families E5 and
            nomic-embed-text, told by the name, and none for others.
        id: names model and weights; empty for `embedder_id`.
        on_retry: told of each failure that is followed by another attempt.

    Raises:
        ServerUnreachable: nobody answers.
        ModelMissing: the server has no such model.
        WrongKind: the model cannot embed.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str,
        timeout: float = 300.0,
        prefixes: Prefixes | None = None,
        id: str = "",  # noqa: A002 - the name of the contract
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._server = OllamaServer(server, timeout=timeout, model=model)
        try:
            card = self._server.show()
            _demand_embedder(model, card)
            self._input = min(card.context or LARGEST_INPUT, LARGEST_INPUT)
            super().__init__(
                id or embedder_id(ModelSpec(name=model, server=server, prefixes=prefixes)),
                card.dimension or len(self._ask(["a"])[0]),
                self._input * 3 // 4,
                trained_with(model) if prefixes is None else prefixes,
                on_retry,
            )
        except BaseException:
            self._server.close()
            raise

    def _ask(self, windows: Sequence[str]) -> "Vectors":
        import numpy as np

        with self._server.client() as client:
            told = client.embed(
                self._server.model,
                windows,
                truncate=False,
                options={"num_ctx": self._input, "num_batch": self._input},
            )
        if len(told.embeddings) != len(windows) or not self._fit(told.embeddings):
            raise self._server.broke("sent no vectors for what was to be embedded")
        read = told.prompt_eval_count or 0
        demand_whole(windows, read, self._server.model, "Update Ollama.")
        return np.asarray(told.embeddings, np.float32)

    def _fit(self, rows: Sequence[Sequence[float]]) -> bool:
        """Whether every row is of the length that is expected; at first, of the same one."""
        lengths = {len(row) for row in rows}
        return lengths == {getattr(self, "dimension", max(lengths))} - {0}

    def _release(self) -> None:
        self._server.close()


def embedder_id(spec: ModelSpec) -> str:
    """Names an embedder and its weights, without loading it: "bge-m3:latest@79076464 (Ollama)".

    Raises:
        ModelMissing: the server has no such model.
        ModelError: the server cannot be asked.
    """
    model = spec.name
    full = model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"
    listed = next((each for each in list_models(spec.server) if each.name == full), None)
    if listed is None:
        raise missing(model, spec.server)
    prefixes = trained_with(model) if spec.prefixes is None else spec.prefixes
    weights = f"{listed.digest} {prefixes}"
    return f"{full}@{blake2b(weights.encode(), digest_size=4).hexdigest()} (Ollama)"


def _demand_embedder(model: str, card: ModelCard) -> None:
    if card.capabilities is not None and "embedding" not in card.capabilities:
        raise WrongKind(
            f"{model!r} is no embedder: it offers {', '.join(card.capabilities)}.",
            "Set embedding.model to an embedding model, for example ollama:bge-m3.",
        )
