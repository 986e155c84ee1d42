"""Reranking on a server: its ``/rerank``, else the answers of its chat model.

The request has two spellings. llama-server, vLLM, Infinity, LocalAI and Jina know ``documents``.
Text Embeddings Inference knows ``texts``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localrag_models.backends.openai.server import OpenAIServer
from localrag_models.backends.servers.embedder import LARGEST_INPUT
from localrag_models.backends.servers.estimates import upper_bound
from localrag_models.backends.servers.http import (
    BadRequest,
    Json,
    Retry,
    Unserved,
    retrying,
    warn,
)
from localrag_models.embedding import WindowedReranker, split
from localrag_models.errors import N_, ContextExceeded, WrongKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_RERANKER = N_(
    "Start it with a reranker, for example: llama-server --rerank. Or name a chat model of a "
    "server with probabilities of tokens."
)
_PATH = "/rerank"
_INPUT_IF_UNTOLD = 512
_SPECIAL_TOKENS = 4
_AT_ONCE = 32
"""Passages of a request: Text Embeddings Inference takes no more by default."""
_SAMPLE = "渡し舟の定員"
_LEAST = 1e-7
"""Probabilities nearer to 0 and 1 count as this near: their logits are finite."""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The spelling of a request to rerank."""

    passages: str
    more: Json

    def body(self, model: str, query: str, passages: Sequence[str]) -> Json:
        return {"model": model, "query": query, self.passages: list(passages), **self.more}


_SPELLINGS = (
    _Spelling("documents", {"return_documents": False}),
    _Spelling("texts", {"raw_scores": True, "truncate": False}),
)


class OpenAIReranker(WindowedReranker):
    """A reranker behind llama-server, vLLM, Text Embeddings Inference, Infinity or the like.

    Some servers give logits, others probabilities. One score outside 0 to 1 makes all of them
    logits. A pair too long for the server is split, never cut. The arguments are
    as in `OpenAIEmbedder`.

    Raises:
        ServerUnreachable: no server answers.
        ModelMissing: the server has no such model.
        WrongKind: it does not rerank.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str,
        timeout: float = 300.0,
        id: str = "",  # noqa: A002 - the name of the contract
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._model = model
        self._on_retry = on_retry
        self._logits_given = False
        self._server = OpenAIServer(server, timeout=timeout)
        try:
            told = self._server.card_of(model).context
            self._spelling = self._found_spelling()
        except BaseException:
            self._server.close()
            raise
        limit = min(told or _INPUT_IF_UNTOLD, LARGEST_INPUT)
        super().__init__(id or f"{model} (Model server)", limit * 3 // 4, _SPECIAL_TOKENS)

    def _found_spelling(self) -> _Spelling:
        """The first spelling understood by the server."""
        first, second = _SPELLINGS
        try:
            self._asked(first, _SAMPLE, [_SAMPLE])
        except (BadRequest, Unserved):
            try:
                self._asked(second, _SAMPLE, [_SAMPLE])
            except (BadRequest, Unserved) as refusal:
                raise WrongKind(refusal.args[0], NO_RERANKER, **refusal.fields) from refusal
            return second
        return first

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [upper_bound(text) for text in texts]

    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        import numpy as np

        del tokens
        scores: list[float] = []
        for start in range(0, len(windows), _AT_ONCE):
            scores += self._scored(query, windows[start : start + _AT_ONCE])
        given = np.asarray(scores, np.float32)
        self._logits_given |= bool(((given < 0) | (given > 1)).any())
        if self._logits_given:
            return given
        sure = np.clip(given, _LEAST, 1 - _LEAST)
        logits: NDArray[np.float32] = np.log(sure / (1 - sure))
        return logits

    def _scored(self, query: str, windows: Sequence[str]) -> list[float]:
        try:
            return self._asked(self._spelling, query, windows)
        except ContextExceeded:
            if len(windows) > 1:
                return [score for window in windows for score in self._scored(query, [window])]
            parts = split(windows[0], len, max(len(windows[0]) // 2, 1))
            if len(parts) == 1:
                raise
            return [max(self._scored(query, parts))]

    def _asked(self, spelling: _Spelling, query: str, windows: Sequence[str]) -> list[float]:
        body = spelling.body(self._model, query, windows)
        answer = retrying(
            lambda: self._server.post_anywhere(_PATH, body),
            allowed=lambda: True,
            on_retry=self._on_retry,
        )
        scores = _scores_in(answer, len(windows))
        if scores is None:
            raise self._server.broke(N_("{server} sent no scores for the passages."))
        return scores

    def _release(self) -> None:
        self._server.close()


def _scores_in(answer: Json | list[Any], count: int) -> list[float] | None:
    """The scores of an answer in the order of the passages; None if any is missing."""
    listed = answer if isinstance(answer, list) else answer.get("results")
    try:
        by_index = {
            int(each["index"]): float(each.get("relevance_score", each.get("score")))
            for each in listed or ()
        }
        return [by_index[number] for number in range(count)]
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
