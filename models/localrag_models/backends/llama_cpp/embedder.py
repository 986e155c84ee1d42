"""Embedding models in GGUF files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from localrag_models.backends.llama_cpp.encoder import Encoder
from localrag_models.embedding import E5, Prefixes, WindowedEmbedder
from localrag_models.errors import WrongKind
from localrag_models.fingerprint import fingerprint

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors

_POOLING_NONE = 0


class LlamaCppEmbedder(WindowedEmbedder):
    """An embedder run by llama.cpp; pools and counts positions as its file says.

    Args:
        path: the GGUF file.
        id: names model and weights; empty, made of name and contents of the file.
        prefixes: what the model was trained to see before queries and passages.
        threads: to compute with; 0 for as many as there are processors.
        gpu_layers: layers to keep on a GPU, where there is one; -1 for all.

    Raises:
        ModelMissing: there is no such file.
        ModelDamaged: it is cut short or contradicts itself.
        WrongKind: it holds no embedder.
        BackendMissing: llama-cpp-python is not installed.
        OutOfMemory: it does not fit.
    """

    def __init__(
        self,
        path: Path,
        *,
        id: str = "",  # noqa: A002
        prefixes: Prefixes = E5,
        threads: int = 0,
        gpu_layers: int = -1,
    ) -> None:
        self._encoder = Encoder(path, "embedder", threads=threads, gpu_layers=gpu_layers)
        if self._encoder.header.number("pooling_type") == _POOLING_NONE:
            self._encoder.close()
            raise WrongKind(
                f"{path} does not say how the vectors of its tokens make up that of a text.",
                "Get a newer conversion of the model.",
            )
        named = id or f"{path.stem}@{fingerprint([path], also=repr(prefixes))}"
        super().__init__(named, self._encoder.width, self._encoder.max_tokens, prefixes)

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(self._tokenize(text)) for text in texts]

    def _encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        del tokens
        return self._encoder.run([self._tokenize(window) for window in windows])

    def _tokenize(self, text: str) -> list[int]:
        return [*self._encoder.begin, *self._encoder.tokenize(text), *self._encoder.end]

    def _release(self) -> None:
        self._encoder.close()
