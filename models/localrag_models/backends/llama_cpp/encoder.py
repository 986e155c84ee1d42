"""Embedders and cross-encoders in GGUF files.

They use the low-level calls of llama-cpp-python: its `Llama.embed` cuts long texts silently, and it
cannot rerank.
"""

import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from localrag_models.backends.llama_cpp.native import Model, runtime
from localrag_models.embedding import (
    E5,
    LONGEST_WINDOW,
    Prefixes,
    WindowedEmbedder,
    WindowedReranker,
    nmt_nfkc,
)
from localrag_models.errors import N_, ModelDamaged, ModelError, OutOfMemory, WrongKind
from localrag_models.files import fingerprint
from localrag_models.gguf import Header

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_models.embedding import Vectors

_POOLING_NONE = 0
_TEMPLATE = "tokenizer.chat_template.rerank"
_LABELS = "classifier.output_labels"
_LEAST = 1e-9

# Attention costs the square of all tokens evaluated together, of all sequences. With more
# short sequences at once a processor gets slower; a GPU gets faster.
_TOKENS_ON_PROCESSOR = 128


class Encoder:
    """A model that reads a sequence as a whole and returns one row of numbers for it.

    `threads` 0 takes the number of physical cores; `gpu_layers` -1 puts all layers on a GPU.

    Attributes:
        header: of the file.
        max_tokens: of one sequence.
        width: numbers in a row; labels of a reranker.
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
            # Flash attention rounds to 16 bits, differently with each size of the batch.
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
        """Tokens of a text, none added; text never acts as a control token."""
        return self._model.tokenize(nmt_nfkc(text) if self._normalises else text)

    def control(self, text: str) -> list[int]:
        """Tokens of a piece of a template, with its control tokens."""
        return self._model.tokenize(text, control=True)

    def run(self, sequences: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        """Rows of numbers, shape ``(n, width)``, for sequences of at most `max_tokens`.

        Raises:
            OutOfMemory: intermediate results do not fit.
            ModelDamaged: there were no numbers.
        """
        import numpy as np

        rows = np.empty((len(sequences), self.width), np.float32)
        for start, stop in self._packs(sequences):
            self._fill(sequences[start:stop])
            self._evaluate()
            for number in range(stop - start):
                row = self._llama.llama_get_embeddings_seq(self._context.handle, number)
                if not row:
                    raise ModelDamaged(
                        N_("{path} gave no vector for a text."), path=self.header.path
                    )
                rows[start + number] = np.ctypeslib.as_array(row, (self.width,))
        return rows

    def close(self) -> None:
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
        """Ranges of sequences to evaluate together."""
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
            raise OutOfMemory(N_("There is no memory left to run {path}."), path=self.header.path)
        if code:
            raise ModelError(
                N_("llama.cpp cannot run {path} (its code: {code})."),
                path=self.header.path,
                code=code,
            )


class LlamaCppEmbedder(WindowedEmbedder):
    """An embedder run by llama.cpp; the file sets pooling and positions.

    The arguments are fields of `ModelSpec`.

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
                N_("{path} does not say how to pool the vectors of its tokens."),
                N_("Get a newer conversion of the model."),
                path=path,
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


class LlamaCppReranker(WindowedReranker):
    """A reranker run by llama.cpp: a cross-encoder with one label, or one with yes and no.

    The second kind (Qwen3-Reranker) has its template in the file. The arguments and errors are as
    in `LlamaCppEmbedder`.

    Raises:
        WrongKind: it holds no reranker, or one with other labels.
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
        self._frame = _template(self._encoder)
        try:
            if self._frame is None:
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
        rows = self._encoder.run(pairs)
        return rows[:, 0] if self._frame is None else _difference(rows)

    def _pair(self, query: list[int], window: list[int]) -> list[int]:
        if self._frame is not None:
            before, between, after = self._frame
            return [*before, *query, *between, *window, *after]
        return [*self._encoder.begin, *query, *self._between, *window, *self._encoder.end]

    def _release(self) -> None:
        self._encoder.close()


def _template(encoder: Encoder) -> tuple[list[int], list[int], list[int]] | None:
    """The tokens before the query, between query and passage, and after; None without a template.

    llama.cpp gives the probabilities of yes and no for such models.
    """
    template = str(encoder.header.metadata.get(_TEMPLATE, ""))
    labels = encoder.header.metadata.get(f"{encoder.header.architecture}.{_LABELS}")
    before, query, rest = template.partition("{query}")
    between, passage, after = rest.partition("{document}")
    if not (query and passage) or labels != ("yes", "no"):
        return None
    return encoder.control(before), encoder.control(between), encoder.control(after)


def _difference(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """The logits of rows of two probabilities."""
    import numpy as np

    logarithms = np.log(np.maximum(rows, _LEAST))
    logits: NDArray[np.float32] = logarithms[:, 0] - logarithms[:, 1]
    return logits


def _separators(header: Header) -> int:
    """The number of tokens between the texts of a pair.

    ``query </s></s> passage </s>`` in XLM-R and RoBERTa, ``query [SEP] passage [SEP]`` in BERT.
    """
    metadata = header.metadata
    doubled = metadata.get("tokenizer.ggml.model") == "t5"
    return 2 if doubled or "roberta" in str(metadata.get("tokenizer.ggml.pre")) else 1


def _demand_one_score(encoder: Encoder) -> None:
    path = encoder.header.path
    if encoder.width != 1:
        raise WrongKind(
            N_("{path} gives a pair {labels} labels, not one score."),
            path=path,
            labels=encoder.width,
        )
    for tensor in encoder.header.tensors:
        if tensor.name == "token_types.weight" and tensor.shape[-1] > 1:
            raise WrongKind(
                N_(
                    "{path} marks query and passage by token types, but llama.cpp leaves these out."
                ),
                N_("Use the model in its sentence-transformers format."),
                path=path,
            )


def _max_tokens(header: Header) -> int:
    # Beyond the positions of its training, llama.cpp ends the process.
    positions = [t.shape[-1] for t in header.tensors if t.name == "position_embd.weight"]
    return min(n for n in [LONGEST_WINDOW, header.context, *positions] if n > 0)
