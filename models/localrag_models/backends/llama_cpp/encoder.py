"""An encoder in a GGUF file: sequences of tokens in, one row of numbers out for each.

Used through the low-level calls of llama-cpp-python: its `Llama.embed` cuts long texts in silence,
and has nothing for rerankers.
"""

import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from localrag_models.backends.llama_cpp.native import Model, runtime
from localrag_models.errors import ModelDamaged, ModelError, OutOfMemory
from localrag_models.gguf import Header
from localrag_models.normalisation import nmt_nfkc
from localrag_models.windows import LONGEST_WINDOW

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Attention costs the square of all tokens evaluated together, whichever sequence they belong to:
# more short sequences at once than this and a processor gets slower, where a GPU gets faster.
_TOKENS_ON_PROCESSOR = 128


class Encoder:
    """A model that reads a sequence as a whole.

    Args:
        path: the GGUF file.
        kind: what it has to be; a reranker gives labels, an embedder what its file says.
        threads: to compute with; 0 for as many as there are physical cores.
        gpu_layers: layers to keep on a GPU, where there is one; -1 for all.

    Attributes:
        header: what the file says.
        max_tokens: of one sequence.
        width: numbers in a row.

    Raises:
        BackendMissing, ModelMissing, ModelDamaged, WrongKind, OutOfMemory: as `Model` says.
    """

    def __init__(
        self, path: Path, kind: Literal["embedder", "reranker"], *, threads: int, gpu_layers: int
    ) -> None:
        self._model = Model(path, kind, gpu_layers=gpu_layers)
        self._llama = llama = runtime()
        self.header = self._model.header
        self.max_tokens = _max_tokens(self.header)
        self._sequences = min(self.max_tokens, llama.llama_max_parallel_sequences())
        most = self.max_tokens if self._model.offloads else _TOKENS_ON_PROCESSOR
        self._tokens_at_once = min(self.max_tokens, most)
        ranks = kind == "reranker"
        pooling = llama.LLAMA_POOLING_TYPE_RANK if ranks else llama.LLAMA_POOLING_TYPE_UNSPECIFIED
        self._context = self._model.context(
            self.max_tokens,
            threads=threads,
            n_batch=self.max_tokens,
            n_ubatch=self.max_tokens,
            n_seq_max=self._sequences,
            kv_unified=True,
            embeddings=True,
            pooling_type=pooling,
            # It rounds to 16 bits, differently with each size of the batch.
            flash_attn_type=llama.LLAMA_FLASH_ATTN_TYPE_DISABLED,
        )
        self._memory = llama.llama_get_memory(self._context.handle)
        self._batch = llama.llama_batch_init(self.max_tokens, 0, 1)
        self._free_batch = weakref.finalize(self, llama.llama_batch_free, self._batch)
        width = llama.llama_model_n_cls_out if ranks else llama.llama_model_n_embd_out
        self.width: int = width(self._model.handle)
        self._normalises = self.header.metadata.get("tokenizer.ggml.model") == "t5"
        self.begin, self.end = self._frame()

    def tokenize(self, text: str) -> list[int]:
        """Tokens of a text, none added; nothing in it acts as a control token."""
        return self._model.tokenize(nmt_nfkc(text) if self._normalises else text)

    def run(self, sequences: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        """Rows of numbers, shape ``(n, width)``, for sequences of at most `max_tokens`.

        Raises:
            OutOfMemory: there is no room for what is computed in between.
            ModelDamaged: no numbers came out.
        """
        import numpy as np

        rows = np.empty((len(sequences), self.width), np.float32)
        for start, stop in self._packs(sequences):
            self._fill(sequences[start:stop])
            self._evaluate()
            for number in range(stop - start):
                row = self._llama.llama_get_embeddings_seq(self._context.handle, number)
                if not row:
                    raise ModelDamaged(f"{self.header.path} gave no vector for a text.")
                rows[start + number] = np.ctypeslib.as_array(row, (self.width,))
        return rows

    def close(self) -> None:
        """Let go of memory."""
        self._free_batch()
        self._context.close()
        self._model.close()

    def _frame(self) -> tuple[list[int], list[int]]:
        """The tokens that begin and end a sequence of this vocabulary."""
        llama, vocabulary = self._llama, self._model.vocabulary
        begin, end = [], []
        if llama.llama_vocab_get_add_bos(vocabulary):
            begin = [llama.llama_vocab_bos(vocabulary)]
        if llama.llama_vocab_get_add_eos(vocabulary):
            end = [llama.llama_vocab_eos(vocabulary)]
        elif llama.llama_vocab_get_add_sep(vocabulary):
            end = [llama.llama_vocab_sep(vocabulary)]
        return begin, end

    def _packs(self, sequences: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Ranges of sequences that are evaluated together."""
        start = tokens = 0
        for at, sequence in enumerate(sequences):
            full = tokens + len(sequence) > self._tokens_at_once or at - start == self._sequences
            if full and at > start:
                yield start, at
                start, tokens = at, 0
            tokens += len(sequence)
        if sequences:
            yield start, len(sequences)

    def _fill(self, sequences: Sequence[Sequence[int]]) -> None:
        batch, at = self._batch, 0
        for number, sequence in enumerate(sequences):
            for position, token in enumerate(sequence):
                batch.token[at] = token
                batch.pos[at] = position
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = number
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at

    def _evaluate(self) -> None:
        if self._memory:
            self._llama.llama_memory_clear(self._memory, True)
            code = self._llama.llama_decode(self._context.handle, self._batch)
        else:
            code = self._llama.llama_encode(self._context.handle, self._batch)
        if code == -2:
            raise OutOfMemory(f"There is no memory left to run {self.header.path}.")
        if code:
            raise ModelError(f"llama.cpp cannot run {self.header.path} (its code: {code}).")


def _max_tokens(header: Header) -> int:
    """Past the positions it was trained with, llama.cpp ends the process."""
    positions = [t.shape[-1] for t in header.tensors if t.name == "position_embd.weight"]
    return min(n for n in [LONGEST_WINDOW, header.context, *positions] if n > 0)
