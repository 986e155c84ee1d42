"""Step `rerank`: a model rescores the best units."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from localrag.corpus.config import Config
from localrag.corpus.inference.opening import named, open_reranker
from localrag.corpus.lookups import Lookups
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError
from localrag.language import N_
from localrag.search.query import full_text
from localrag.search.types import Query
from localrag.search.units import Scores
from localrag.text.facts import Fact, FactKind
from localrag_models.errors import ContextExceeded

if TYPE_CHECKING:
    from localrag_models.embedding import Reranker

STAGE = "rerank"


class Rerank:
    """Reranking. The model is loaded with the first question."""

    def __init__(self, load: "Callable[[], Reranker | None]") -> None:
        self._load = load

    def rerank(
        self, store: Lookups, query: Query, scores: Scores, depth: int
    ) -> tuple[dict[str, float], list[Fact]]:
        """Rescore the best units.

        Args:
            store: the corpus store.
            query: the question.
            scores: of the earlier steps.
            depth: number of units to read.

        Returns:
            The units read, scored 0 to 1, then the others in their old order; and a note if none
            was read.

        Raises:
            ModelUnusable: the model failed.
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
        """Score texts for a question, 0 to 1 each, or return why none could be read.

        Raises:
            ModelUnusable: the model failed.
        """
        with named():
            try:
                return [float(score) for score in self._reranker.scores(question, texts)]
            except ContextExceeded as error:
                needed, available = error.needed, error.available
                return Fact(FactKind.NOT_RERANKED, needed=needed, available=available)

    def close(self) -> None:
        """Release the model."""
        if "_reranker" in self.__dict__:
            self._reranker.close()

    @cached_property
    def _reranker(self) -> "Reranker":
        reranker = self._load()
        assert reranker is not None, "reranking takes part where the settings name a model"
        return reranker


def open_rerank(workspace: Workspace, config: Config) -> Rerank | None:
    """The reranker of the settings, or None if off.

    Raises:
        UsageError: it is switched on without a model.
    """
    switch, model = config.retrieval.rerank, config.reranking.model
    if switch == "off" or (switch == "auto" and not model):
        return None
    if not model:
        raise UsageError(
            N_("Reranking is switched on, but no model is set for it."),
            N_("Set reranking.model to a model of this list: localrag models list"),
        )
    return Rerank(partial(open_reranker, workspace, config))
