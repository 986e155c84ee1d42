"""Cross-encoders in GGUF files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from localrag_models.backends.llama_cpp.encoder import Encoder
from localrag_models.errors import WrongKind
from localrag_models.fingerprint import fingerprint
from localrag_models.gguf import Header
from localrag_models.reranking import WindowedReranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LlamaCppReranker(WindowedReranker):
    """A cross-encoder with one label, run by llama.cpp.

    Args:
        path: the GGUF file.
        id: names model and weights; empty, made of name and contents of the file.
        threads: to compute with; 0 for as many as there are processors.
        gpu_layers: layers to keep on a GPU, where there is one; -1 for all.

    Raises:
        ModelMissing: there is no such file.
        ModelDamaged: it is cut short or contradicts itself.
        WrongKind: it holds no reranker, or one with several labels.
        BackendMissing: llama-cpp-python is not installed.
        OutOfMemory: it does not fit.
    """

    def __init__(
        self,
        path: Path,
        *,
        id: str = "",  # noqa: A002
        threads: int = 0,
        gpu_layers: int = -1,
    ) -> None:
        self._encoder = Encoder(path, "reranker", threads=threads, gpu_layers=gpu_layers)
        try:
            _demand_one_score(self._encoder)
        except WrongKind:
            self._encoder.close()
            raise
        named = id or f"{path.stem}@{fingerprint([path])}"
        self._between = _separators(self._encoder.header) * self._encoder.end
        super().__init__(named, self._encoder.max_tokens, len(self._pair([], [])))

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(self._encoder.tokenize(text)) for text in texts]

    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        del tokens
        asked = self._encoder.tokenize(query)
        pairs = [self._pair(asked, self._encoder.tokenize(window)) for window in windows]
        return self._encoder.run(pairs)[:, 0]

    def _pair(self, query: list[int], window: list[int]) -> list[int]:
        return [*self._encoder.begin, *query, *self._between, *window, *self._encoder.end]

    def _release(self) -> None:
        self._encoder.close()


def _separators(header: Header) -> int:
    """How many tokens stand between the texts of a pair.

    ``query </s></s> passage </s>`` in XLM-R and RoBERTa, ``query [SEP] passage [SEP]`` in BERT.
    """
    metadata = header.metadata
    doubled = metadata.get("tokenizer.ggml.model") == "t5"
    return 2 if doubled or "roberta" in str(metadata.get("tokenizer.ggml.pre")) else 1


def _demand_one_score(encoder: Encoder) -> None:
    path = encoder.header.path
    if encoder.width != 1:
        raise WrongKind(f"{path} gives a pair {encoder.width} labels, not one score.")
    for tensor in encoder.header.tensors:
        if tensor.name == "token_types.weight" and tensor.shape[-1] > 1:
            raise WrongKind(
                f"{path} tells query and passage apart by token types, which llama.cpp leaves out.",
                "Use the model in its sentence-transformers format.",
            )
