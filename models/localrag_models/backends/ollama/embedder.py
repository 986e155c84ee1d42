"""Embedding through an Ollama server."""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from localrag_models.backends.ollama.models import ollama_models
from localrag_models.backends.ollama.server import ADDRESS, ModelCard, OllamaServer, missing
from localrag_models.backends.servers.estimate import lower_bound, upper_bound
from localrag_models.embedding import E5, Prefixes, WindowedEmbedder
from localrag_models.errors import ContextExceeded, WrongKind
from localrag_models.retrying import Retry, retrying, warn
from localrag_models.windows import split

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors

Rows = Sequence[Sequence[float]]

_NOMIC = Prefixes("search_query: ", "search_document: ")
_IS_E5 = re.compile(r"(?<![^\W_])e5(?![^\W_])", re.IGNORECASE)
_LARGEST_INPUT = 2048
_SPECIAL_TOKENS = 2
_WINDOWS_AT_ONCE = 32


class OllamaEmbedder(WindowedEmbedder):
    """An embedding model that an Ollama server runs; fulfils `localrag_models.embedding.Embedder`.

    Tokens are estimated, so windows fill three quarters of what the server takes at once. What it
    finds too long all the same is split in two; it never cuts.

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
        server: str = ADDRESS,
        timeout: float = 300.0,
        prefixes: Prefixes | None = None,
        id: str = "",  # noqa: A002 - the name of the contract
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._on_retry = on_retry
        self._server = OllamaServer(server, timeout=timeout, model=model)
        try:
            card = self._server.show()
            _demand_embedder(model, card)
            # Servers read an input in one batch: beyond 2,048 tokens some cut it, some crash.
            self._input = min(card.context or _LARGEST_INPUT, _LARGEST_INPUT)
            super().__init__(
                id or embedder_id(model, server, prefixes),
                card.dimension or len(self._ask(["a"])[0]),
                self._input * 3 // 4,
                _trained_with(model) if prefixes is None else prefixes,
            )
        except BaseException:
            self._server.close()
            raise

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [upper_bound(text) + _SPECIAL_TOKENS for text in texts]

    def _encode(self, windows: Sequence[str], _: Sequence[int]) -> "Vectors":
        import numpy as np

        rows = [
            self._encode_some(windows[start : start + _WINDOWS_AT_ONCE])
            for start in range(0, len(windows), _WINDOWS_AT_ONCE)
        ]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), np.float32)

    def _encode_some(self, windows: Sequence[str]) -> "Vectors":
        import numpy as np

        try:
            rows = retrying(
                lambda: self._ask(windows), allowed=lambda: True, on_retry=self._on_retry
            )
        except ContextExceeded:
            if len(windows) > 1:
                return np.concatenate([self._encode_some([window]) for window in windows])
            return self._encode_in_parts(windows[0])
        return np.asarray(rows, np.float32)

    def _encode_in_parts(self, window: str) -> "Vectors":
        """The mean of both halves of a window that was estimated too low."""
        import numpy as np

        parts = split(window, len, max(len(window) // 2, 1))
        if len(parts) == 1:
            raise ContextExceeded(
                f"{self.id} takes no input as short as {window!r}.",
                "Use another embedder.",
                needed=len(window),
                available=0,
            )
        vectors = self._unit(np.concatenate([self._encode_some([part]) for part in parts]))
        weights = np.asarray([len(part) for part in parts], np.float32)
        return np.average(vectors, axis=0, weights=weights)[np.newaxis].astype(np.float32)

    def _ask(self, windows: Sequence[str]) -> Rows:
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
        least = sum(map(lower_bound, windows))
        if 0 < read < least:
            raise ContextExceeded(
                f"{self._server.model!r} read {read:,} tokens of a text that has {least:,} at the "
                "very least: the server cut it.",
                "Update Ollama.",
                needed=least,
                available=read,
            )
        return told.embeddings

    def _fit(self, rows: Rows) -> bool:
        """Whether every row is of the length that is expected; at first, of the same one."""
        lengths = {len(row) for row in rows}
        return lengths == {getattr(self, "dimension", max(lengths))} - {0}

    def _release(self) -> None:
        self._server.close()


def embedder_id(model: str, server: str = ADDRESS, prefixes: Prefixes | None = None) -> str:
    """Names an embedder and its weights, without loading it: "bge-m3:latest@79076464 (Ollama)".

    Args:
        model: its name on the server.
        server: address of the server.
        prefixes: as `OllamaEmbedder` takes them.

    Raises:
        ModelMissing: the server has no such model.
        ModelError: the server cannot be asked.
    """
    full = model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"
    listed = next((each for each in ollama_models(server) if each.name == full), None)
    if listed is None:
        raise missing(model, server)
    weights = f"{listed.digest} {_trained_with(model) if prefixes is None else prefixes}"
    return f"{full}@{blake2b(weights.encode(), digest_size=4).hexdigest()} (Ollama)"


def _demand_embedder(model: str, card: ModelCard) -> None:
    if card.capabilities is not None and "embedding" not in card.capabilities:
        raise WrongKind(
            f"{model!r} is no embedder: it offers {', '.join(card.capabilities)}.",
            "Set embedding.model to an embedding model, for example ollama:bge-m3.",
        )


def _trained_with(model: str) -> Prefixes:
    if "nomic-embed-text" in model:
        return _NOMIC
    return E5 if _IS_E5.search(model) else Prefixes()
