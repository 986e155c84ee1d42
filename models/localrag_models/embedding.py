"""Embedding models: what every back end takes and gives, what it promises, and the common part."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from localrag_models.errors import N_, Cure, ModelDamaged
from localrag_models.windows import Closing, divide, shorten_front, split, well_formed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """Shape ``(n, d)``: one row per text, each of length 1."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model was trained to see before a query and before a passage."""

    query: str = ""
    passage: str = ""


E5 = Prefixes("query: ", "passage: ")
"""Of the E5 family (Wang et al. 2024, Multilingual E5 Text Embeddings, section 4)."""


class Embedder(Protocol):
    """A model that turns texts into vectors.

    Promises of every back end:

    - Vectors are float32, of length 1 (L2), shape ``(n, dimension)``, in the order of the texts;
      no text, shape ``(0, dimension)``. None is zero, none holds a NaN: a failure is an error.
    - Queries and passages are told apart: the prefixes the model was trained with are added here,
      never by the caller.
    - A vector does not depend on the other texts of its call (to 1e-5), nor on their order.
    - Text longer than `max_tokens` is never cut: it is embedded window by window, and its vector
      is the mean of theirs, weighted by tokens and normalised.
    - Text that cannot be written as UTF-8 (lone surrogates) is embedded with U+FFFD in their place.
    - It may be used from several threads, which wait for each other.
    - Failures are `ModelError`; the process survives them.
    """

    @property
    def id(self) -> str:
        """Names model and weights: vectors of embedders with the same id may be compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens one window may have, prefix included."""
        ...

    def windows(self, text: str, header: str = "") -> list[str]:
        """Split a text into windows that fit, at ends of sentences where there are any.

        Args:
            text: the text of a passage.
            header: put before each window, on a line of its own; shortened from its front if it
                would take more than half a window.

        Returns:
            At least one window, each ready for `embed_passages`; without their headers they
            join to `text`.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Embed questions."""
        ...

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        """Embed passages; `on_progress` is called with the number done, batch by batch."""
        ...

    def close(self) -> None:
        """Let go of memory and connections; calling it twice does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class WindowedEmbedder(Closing):
    """The part all back ends share: prefixes, windows, means and checks of the vectors.

    A back end says how many tokens a window has, and encodes windows that fit.

    Attributes:
        id: names model and weights.
        dimension: length of a vector.
        max_tokens: of one window, prefix included.
        prefixes: what is put before queries and passages.
    """

    _TEXTS_AT_ONCE = 256

    def __init__(self, id: str, dimension: int, max_tokens: int, prefixes: Prefixes) -> None:  # noqa: A002
        super().__init__(id)
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.prefixes = prefixes

    @abstractmethod
    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, special tokens included; on the high side where estimated."""

    @abstractmethod
    def _encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        """One vector of any length per window; `tokens` is what `_counts` says of them."""

    def windows(self, text: str, header: str = "") -> list[str]:
        """Split a text into windows that fit (see `Embedder.windows`)."""
        with self._lock:
            self._demand_open()
            head = shorten_front(
                header, lambda head: self._count(f"{head}\n"), self.max_tokens // 2
            )
            head = f"{head}\n" if head else ""
            parts = split(text, lambda part: self._count(head + part), self.max_tokens)
        return [head + part for part in parts]

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Embed questions (see `Embedder`)."""
        return self._embed(self.prefixes.query, texts, None)

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        """Embed passages (see `Embedder.embed_passages`)."""
        return self._embed(self.prefixes.passage, texts, on_progress)

    def _count(self, passage: str) -> int:
        return self._counts([self.prefixes.passage + well_formed(passage)])[0]

    def _embed(
        self, prefix: str, texts: Sequence[str], on_progress: Callable[[int], None] | None
    ) -> "Vectors":
        import numpy as np

        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), self._TEXTS_AT_ONCE):
            some = texts[start : start + self._TEXTS_AT_ONCE]
            with self._lock:
                self._demand_open()
                vectors[start : start + len(some)] = self._means(prefix, some)
            if on_progress:
                on_progress(start + len(some))
        return vectors

    def _means(self, prefix: str, texts: Sequence[str]) -> "Vectors":
        """For each text, the mean of the vectors of its windows, weighted by tokens."""
        import numpy as np

        def counts(texts: Sequence[str]) -> Sequence[int]:
            return self._counts([prefix + text for text in texts])

        parts = divide([well_formed(text) for text in texts], counts, self.max_tokens)
        encoded = self._encode([prefix + part for part in parts.texts], parts.tokens)
        weights = np.asarray(parts.tokens, np.float32)[:, np.newaxis]
        sums = np.zeros((len(texts), self.dimension), np.float32)
        np.add.at(sums, parts.owners, weights * self._unit(encoded))
        return self._unit(sums)

    def _unit(self, vectors: "Vectors") -> "Vectors":
        import numpy as np

        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            cause = N_("{model} gave a vector of zeros, or of no numbers at all.")
            raise ModelDamaged(cause, Cure.CHECK_FILES, model=self.id)
        unit: Vectors = vectors / lengths
        return unit
