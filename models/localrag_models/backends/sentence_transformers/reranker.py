"""Cross-encoders in the sentence-transformers format."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from localrag_models.backends.sentence_transformers.folder import (
    check_complete,
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
from localrag_models.errors import ModelError, WrongKind
from localrag_models.fingerprint import fingerprint
from localrag_models.reranking import WindowedReranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CrossEncoderReranker(WindowedReranker):
    """A cross-encoder with one label, run by PyTorch.

    Args:
        folder: the model, as sentence-transformers or transformers saves it.
        id: names model and weights; empty, made of the name and contents of the folder.
        device: ``cpu``, ``auto``, or as PyTorch names it (``cuda:0``).
        threads: to compute with, for everything in PyTorch; 0 leaves them as they are.

    Raises:
        ModelMissing: there is no such folder.
        ModelDamaged: a file is missing, cut short, or could run a program when loaded.
        WrongKind: it holds no reranker, or one with several labels.
        BackendMissing: sentence-transformers is not installed.
        OutOfMemory: it does not fit.
        ModelError: there is no such device.
    """

    def __init__(
        self,
        folder: Path,
        *,
        id: str = "",  # noqa: A002
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        config = read_config(folder)
        if not scores_pairs(config):
            raise WrongKind(f"{folder} holds no reranker.")
        with loading(folder, device, threads) as arguments:
            from sentence_transformers import CrossEncoder

            self._model = CrossEncoder(str(folder), **arguments)
            check_complete(folder, self._model.model)
            self._tokenizer = Tokenizer(config, self._model.tokenizer)
            labels = self._model.config.num_labels
        if labels != 1:
            raise WrongKind(f"{folder} gives a pair {labels} labels, not one score.")
        self._folder = folder
        named = id or f"{folder.name}@{fingerprint(deciding_files(folder))}"
        super().__init__(named, self._tokenizer.max_tokens, self._tokenizer.special_in_pair)

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return self._tokenizer.counts(texts, special=False)

    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        import numpy as np
        from torch.nn import Identity

        logits = np.empty(len(windows), np.float32)
        asked = self._tokenizer.normal(query)
        for pack in packs(tokens, self._model.device.type):
            pairs = [(asked, self._tokenizer.normal(windows[number])) for number in pack]
            with typed_errors(self._folder, ModelError, "does not run"):
                logits[pack] = self._model.predict(
                    pairs,
                    batch_size=len(pack),
                    show_progress_bar=False,
                    activation_fn=Identity(),
                )
        return logits

    def _release(self) -> None:
        del self._model
