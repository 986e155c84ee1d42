"""Embedding models in the sentence-transformers format."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from localrag_models.backends.sentence_transformers.folder import (
    check_complete,
    check_modules,
    deciding_files,
    read_config,
    scores_pairs,
)
from localrag_models.backends.sentence_transformers.running import (
    Tokenizer,
    loading,
    packs,
    typed_errors,
)
from localrag_models.embedding import E5, Prefixes, WindowedEmbedder
from localrag_models.errors import ModelError, WrongKind
from localrag_models.fingerprint import fingerprint

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors


class SentenceTransformersEmbedder(WindowedEmbedder):
    """An embedder run by PyTorch.

    Args:
        folder: the model, as sentence-transformers saves it.
        id: names model and weights; empty, made of the name and contents of the folder.
        prefixes: what the model was trained to see before queries and passages; None for the
            prompts in its settings, else those of E5.
        device: ``cpu``, ``auto``, or as PyTorch names it (``cuda:0``).
        threads: to compute with, for everything in PyTorch; 0 leaves them as they are.

    Raises:
        ModelMissing: there is no such folder.
        ModelDamaged: a file is missing, cut short, or could run a program when loaded.
        WrongKind: it holds no embedder.
        BackendMissing: sentence-transformers is not installed.
        OutOfMemory: it does not fit.
        ModelError: there is no such device.
    """

    def __init__(
        self,
        folder: Path,
        *,
        id: str = "",  # noqa: A002
        prefixes: Prefixes | None = None,
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        config = read_config(folder)
        if scores_pairs(config):
            raise WrongKind(f"{folder} holds a reranker, not an embedder.")
        check_modules(folder)
        with loading(folder, device, threads) as arguments:
            from sentence_transformers import SentenceTransformer

            self._model = SentenceTransformer(str(folder), **arguments)
            check_complete(folder, self._model[0].auto_model)
            self._tokenizer = Tokenizer(config, self._model.tokenizer)
            dimension = self._model.get_embedding_dimension() or 0
        prefixes = prefixes or _prefixes(self._model.prompts)
        # Prefixes are added here, where their tokens are counted.
        self._model.default_prompt_name = None
        self._folder = folder
        named = id or f"{folder.name}@{fingerprint(deciding_files(folder), also=repr(prefixes))}"
        super().__init__(named, dimension, self._tokenizer.max_tokens, prefixes)

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return self._tokenizer.counts(texts, special=True)

    def _encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        import numpy as np

        vectors = np.empty((len(windows), self.dimension), np.float32)
        for pack in packs(tokens, self._model.device.type):
            texts = [self._tokenizer.normal(windows[number]) for number in pack]
            with typed_errors(self._folder, ModelError, "does not run"):
                vectors[pack] = self._model.encode(
                    texts, batch_size=len(pack), show_progress_bar=False
                )
        return vectors

    def _release(self) -> None:
        del self._model


def _prefixes(prompts: Mapping[str, str | None]) -> Prefixes:
    query = prompts.get("query") or ""
    passage = prompts.get("document") or prompts.get("passage") or ""
    return Prefixes(query, passage) if query or passage else E5
