"""Stage `rerank`: a model rereads the best units together with the question."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from localrag.config import Config
from localrag.corpus.lookups import Lookups
from localrag.errors import UsageError
from localrag.facts import Fact, FactKind
from localrag.inference.opening import named, open_reranker
from localrag.language import N_
from localrag.retrieval.query import full_text
from localrag.retrieval.types import Query
from localrag.retrieval.units import Scores
from localrag.workspace import Workspace
from localrag_models.errors import ContextExceeded

if TYPE_CHECKING:
    from localrag_models.embedding import Reranker

STAGE = "rerank"


class Rerank:
    """Reranking; the model is loaded when the first question comes."""

    def __init__(self, load: "Callable[[], Reranker | None]") -> None:
        self._load = load

    def rerank(
        self, store: Lookups, query: Query, scores: Scores, depth: int
    ) -> tuple[dict[str, float], list[Fact]]:
        """Score the best units anew.

        Args:
            store: where their texts are.
            query: the question.
            scores: what earlier stages found.
            depth: how many units to read.

        Returns:
            The units read with the model's scores (0 to 1), the others below them in their old
            order; and an event where nothing could be read.

        Raises:
            ModelUnusable: the model fails.
        """
        order = sorted(scores, key=lambda unit: -scores[unit])
        texts = {
            unit: f"{passage.header}\n{passage.text}"
            for unit, passage in store.by_ids(order[:depth]).items()
        }
        if not texts:
            return dict(scores), []
        read = self.read(full_text(query), list(texts.values()))
        if isinstance(read, Fact):
            return dict(scores), [read]
        reranked = dict(zip(texts, read, strict=True))
        least = min(reranked.values())
        for unit in order:
            if unit not in reranked:
                reranked[unit] = least * scores[unit] / scores[order[0]]
        return reranked, []

    def read(self, question: str, texts: Sequence[str]) -> list[float] | Fact:
        """Score texts for a question, 0 to 1 each; or say why they could not be read.

        Raises:
            ModelUnusable: the model fails.
        """
        with named():
            try:
                return [float(score) for score in self._reranker.scores(question, texts)]
            except ContextExceeded as error:
                needed, available = error.needed, error.available
                return Fact(FactKind.NOT_RERANKED, needed=needed, available=available)

    def close(self) -> None:
        """Let go of the model."""
        if "_reranker" in self.__dict__:
            self._reranker.close()

    @cached_property
    def _reranker(self) -> "Reranker":
        reranker = self._load()
        assert reranker is not None, "reranking takes part where the settings name a model"
        return reranker


def open_rerank(workspace: Workspace, config: Config) -> Rerank | None:
    """The reranker of the settings; None where it takes no part.

    Raises:
        UsageError: it is switched on, but the settings name no model.
    """
    switch, model = config.retrieval.rerank, config.reranking.model
    if switch == "off" or (switch == "auto" and not model):
        return None
    if not model:
        raise UsageError(
            N_("Reranking is switched on, but no model is set for it."),
            N_("Set reranking.model; see what there is: localrag models list"),
        )
    return Rerank(partial(open_reranker, workspace, config))
