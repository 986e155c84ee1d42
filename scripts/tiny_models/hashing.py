"""An embedder without a model: hashed pairs of characters, for tests and benchmarks of indexing."""

import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from localrag_models.errors import ServerUnreachable

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors


class HashingEmbedder:
    """Vectors from hashed pairs of characters: similar for texts that share pairs, always equal.

    Args:
        id: name of the model.
        dimension: numbers in a vector.
        window: characters of a text in one window.
        fail_after: texts before it fails like a dead server; None: never.
    """

    def __init__(
        self,
        id: str = "hashing",  # noqa: A002 - the protocol calls it so
        *,
        dimension: int = 32,
        window: int = 80,
        fail_after: int | None = None,
    ) -> None:
        self.id = id
        self.dimension = dimension
        self.max_tokens = window
        self.embedded: list[str] = []
        self._fail_after = fail_after

    def windows(self, text: str, header: str = "") -> list[str]:
        """Cut a text into windows of equal length, each below the header."""
        starts = range(0, max(len(text), 1), self.max_tokens)
        return [f"{header}\n{text[start : start + self.max_tokens]}" for start in starts]

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Embed questions like passages."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(
            -1, self.dimension
        )

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        """Embed passages and note them."""
        if self._fail_after is not None and len(self.embedded) + len(texts) > self._fail_after:
            raise ServerUnreachable("Nobody answers.", "Start the server.")
        self.embedded += texts
        if on_progress is not None:
            on_progress(len(texts))
        return self.embed_queries(texts)

    def close(self) -> None:
        """There is nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _vector(self, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        vector = np.full(self.dimension, 1e-3, np.float32)
        for pair in pairwise(f"\n{text}\n"):
            code = zlib.crc32("".join(pair).encode("utf-8", "surrogatepass"))
            vector[code % self.dimension] += 1.0 if code & 0x8000 else -1.0
        return vector / np.linalg.norm(vector)
