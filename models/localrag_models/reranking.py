"""Reranking models: what every back end takes and gives, what it promises, and the common part."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self

from localrag_models.errors import N_, ContextExceeded, Cure, ModelDamaged
from localrag_models.windows import Closing, divide, well_formed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reranker(Protocol):
    """A model that reads a query together with a passage and scores how well they fit.

    Promises of every back end:

    - Scores are float32 between 0 and 1 (the sigmoid of the model's logit), shape ``(n,)``, in the
      order of the passages.
    - A score does not depend on the other passages of the call (to 1e-5).
    - A passage too long for one window is scored window by window and gets the best of its scores;
      nothing is cut. A query that takes more than half a window raises `ContextExceeded`.
    - Text that cannot be written as UTF-8 (lone surrogates) is read with U+FFFD in their place.
    - It may be used from several threads, which wait for each other.
    - Failures are `ModelError`; the process survives them.
    """

    @property
    def id(self) -> str:
        """Names model and weights."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens that query and passage may have together, special tokens included."""
        ...

    def scores(self, query: str, passages: Sequence[str]) -> "NDArray[np.float32]":
        """Score each passage for the query."""
        ...

    def close(self) -> None:
        """Let go of memory; calling it twice does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class WindowedReranker(Closing):
    """The part all back ends share: windows, best scores, the sigmoid and checks.

    A back end says how many tokens a text has, and scores pairs that fit.

    Attributes:
        id: names model and weights.
        max_tokens: of query and passage together, special tokens included.
    """

    def __init__(self, id: str, max_tokens: int, special_tokens: int) -> None:  # noqa: A002
        super().__init__(id)
        self.max_tokens = max_tokens
        self._special_tokens = special_tokens

    @abstractmethod
    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text alone, without special tokens."""

    @abstractmethod
    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        """One logit per window; `tokens` is how many each takes together with the query."""

    def scores(self, query: str, passages: Sequence[str]) -> "NDArray[np.float32]":
        """Score each passage for the query (see `Reranker`).

        Raises:
            ContextExceeded: the query takes more than half a window.
        """
        import numpy as np

        with self._lock:
            self._demand_open()
            query = well_formed(query)
            taken = self._taken_by(query)
            parts = divide(
                [well_formed(passage) for passage in passages],
                self._counts,
                self.max_tokens - taken,
            )
            logits = self._logits(query, parts.texts, [taken + n for n in parts.tokens])
        best = np.full(len(passages), -np.inf)
        np.maximum.at(best, parts.owners, logits)
        if not np.isfinite(best).all():
            cause = N_("{model} gave a score that is no number.")
            raise ModelDamaged(cause, Cure.CHECK_FILES, model=self.id)
        # The sigmoid in the form that cannot overflow.
        scores: NDArray[np.float32] = (0.5 * (1 + np.tanh(best / 2))).astype(np.float32)
        return scores

    def _taken_by(self, query: str) -> int:
        """Tokens of a pair that are no tokens of the passage."""
        taken = self._counts([query])[0] + self._special_tokens
        if taken > self.max_tokens // 2:
            raise ContextExceeded(
                N_(
                    "The question takes {needed:,} tokens; {model} has room for {available:,} "
                    "beside a passage."
                ),
                N_("Shorten the question."),
                needed=taken,
                available=self.max_tokens // 2,
                model=self.id,
            )
        return taken
