"""A server for reranking, in the protocols of the known ones."""

import math
from typing import Any, Literal

from localrag_models.embedding import Reranker
from localrag_models.errors import ContextExceeded
from tiny_models.servers.http import Answer, Double, Json

Reranking = Literal["llama-server", "vllm", "tei", "infinity", "jina"]

_PATHS = {
    "llama-server": ("/v1/rerank", "/rerank"),
    "vllm": ("/v1/rerank", "/rerank"),
    "tei": ("/rerank",),
    "infinity": ("/rerank",),
    "jina": ("/v1/rerank",),
}
_MOST_OF_TEI = 32


class RerankDouble(Double):
    """A server for a reranker of this process, in the protocol of one server.

    Args:
        reranker: scores.
        protocol: the imitated server. ``llama-server`` gives logits, the others probabilities in
            descending order. ``tei`` gives logits on request, in a bare list. It knows only
            ``texts``, at most 32 of them. ``infinity`` knows only the root.
        context: its declared tokens; a longer passage is refused.
    """

    def __init__(self, reranker: Reranker, protocol: Reranking, *, context: int = 512) -> None:
        self._reranker = reranker
        self._protocol = protocol
        self._context = context
        super().__init__()

    def answer(self, path: str, body: Json) -> Answer:
        """What the server answers when it behaves."""
        if path in _PATHS[self._protocol]:
            return self._ranked(body)
        if path == "/v1/models" and self._protocol in ("llama-server", "vllm", "jina"):
            more = {"max_model_len": self._context} if self._protocol == "vllm" else {}
            return Answer.json({"data": [{"id": "tiny", **more}]})
        if path == "/props" and self._protocol == "llama-server":
            return Answer.json({"default_generation_settings": {"n_ctx": self._context}})
        if path == "/info" and self._protocol == "tei":
            kind = {"reranker": {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}}
            told = {"model_id": "tiny", "max_input_length": self._context, "model_type": kind}
            return Answer.json(told)
        return Answer.error("Not Found", 404)

    def _ranked(self, body: Json) -> Answer:
        spelling = "texts" if self._protocol == "tei" else "documents"
        if spelling not in body:
            return Answer.error(f"missing field `{spelling}`", 422)
        passages = body[spelling]
        if self._protocol == "tei" and len(passages) > _MOST_OF_TEI:
            told = f"batch size {len(passages)} > maximum allowed batch size {_MOST_OF_TEI}"
            return Answer.error(told, 422)
        try:
            scores = [float(one) for one in self._reranker.scores(body["query"], passages)]
        except ContextExceeded:
            return Answer.error("inputs must have less than 512 tokens", 413)
        logits = self._protocol == "llama-server" or body.get("raw_scores")
        name = "score" if self._protocol == "tei" else "relevance_score"
        listed: list[dict[str, Any]] = [
            {"index": number, name: _logit(score) if logits else score}
            for number, score in enumerate(scores)
        ]
        if self._protocol != "llama-server":
            listed.sort(key=lambda each: -each[name])
        return Answer.json(listed if self._protocol == "tei" else {"results": listed})


def _logit(score: float) -> float:
    return math.log(score) - math.log1p(-score)
