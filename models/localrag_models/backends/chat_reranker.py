"""Reranking by a chat model: its weights of "yes" and "no" after a query and a passage."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from localrag_models.backends.servers.embedder import LARGEST_INPUT
from localrag_models.backends.servers.estimates import upper_bound
from localrag_models.chat import ChatModel, Message
from localrag_models.embedding import WindowedReranker
from localrag_models.errors import N_, ProbabilitiesMissing
from localrag_models.families import SEARCH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SYSTEM = (
    "Judge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".'
)
"""Published with Qwen3-Reranker (Zhang et al. 2025, Qwen3 Embedding, section 2)."""
_YES, _NO = "yes", "no"
_LEAST = 1e-6
"""The probability of an answer missing in the list of a server."""
_AROUND = 128
"""Tokens of the prompt besides query and passage, and of the answer."""


CONTEXT = LARGEST_INPUT + _AROUND
"""Tokens of context for it: no pair is longer."""


class ChatReranker(WindowedReranker):
    """A chat model as a reranker; made for Qwen3-Reranker, usable with others.

    The logit is the difference of the log-probabilities of "yes" and "no". The model is closed with
    the reranker.
    """

    def __init__(self, model: ChatModel, id: str = "") -> None:  # noqa: A002
        room = min(model.context, CONTEXT)
        super().__init__(id or f"{model.id} (yes or no)", room, _AROUND)
        self._model = model

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [upper_bound(text) for text in texts]

    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        import numpy as np

        del tokens
        return np.asarray([self._logit(query, window) for window in windows], np.float32)

    def _logit(self, query: str, passage: str) -> float:
        asked = f"<Instruct>: {SEARCH}\n<Query>: {query}\n<Document>: {passage}"
        choice = self._model.choose(
            [Message("system", _SYSTEM), Message("user", asked)], [_YES, _NO]
        )
        if choice is None:  # Nobody cancels it.
            raise ProbabilitiesMissing(N_("{model} gives no probabilities."), model=self._model.id)
        yes, no = (max(choice.probabilities[word], _LEAST) for word in (_YES, _NO))
        return math.log(yes) - math.log(no)

    def _release(self) -> None:
        self._model.close()
