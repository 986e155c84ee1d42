"""What a prompt is judged by: the query it makes of a question, and what that query finds."""

from collections import Counter
from dataclasses import dataclass, replace
from time import perf_counter

from localrag.errors import ModelUnusable, UsageError
from localrag.evaluation.model import Gold, Question
from localrag.evaluation.recall import ranks
from localrag.methods.lawqa_study.querying import STAGE, write_query
from localrag.methods.toolkit import Toolkit
from localrag.optimize.model import Objective, Rollout
from localrag.optimize.resources import Shared
from localrag.optimize.score import Coverage, Overlap
from localrag.prompts.optimised import OptimisedPrompt
from localrag.retrieval.model import Hit
from localrag.statutes.names import LawNames

FOUND = 5
"""Hits of a query that count."""

# What the prompt itself brings about is its score, not the end of the run.
_OF_THE_PROMPT = ("ReplyInvalid", "ContextExceeded")


@dataclass(frozen=True, slots=True)
class Task:
    """Writes a query for a question under a prompt, searches by meaning, and scores the hits.

    Attributes:
        resources: the model and the corpus.
        objective: what the hits are scored by.
    """

    resources: Shared
    objective: Objective

    def run(self, instruction: str, question: Question) -> Rollout:
        """Try a prompt on a question.

        Raises:
            ModelUnusable: the model failed, for no fault of the prompt.
            IndexUnusable: the index turned out to be damaged.
        """
        since = perf_counter()
        prompt = OptimisedPrompt("candidate", instruction)
        toolkit = Toolkit(replace(self.resources, query_prompt=prompt))
        made = self._tried(toolkit, question)
        return replace(
            made,
            notes=tuple(dict.fromkeys(toolkit.trace.events)),
            # One that was refused before it began counts too: else it would never end.
            calls=max(1, len(toolkit.trace.calls)),
            seconds=perf_counter() - since,
        )

    def _tried(self, toolkit: Toolkit, question: Question) -> Rollout:
        try:
            query = write_query(toolkit, question.query)
        except ModelUnusable as error:
            if error.kind not in _OF_THE_PROMPT:
                raise
            toolkit.note(STAGE, [error.cause])
            return Rollout("", 0.0, problem=error.cause)
        try:
            asked = replace(question.query, text=query, options=())
            hits = toolkit.search(asked, FOUND, words=False, meaning=True)
        except UsageError as error:
            return Rollout(query, 0.0, problem=error.cause)
        places = ranks(question.gold, [hit.passage.id for hit in hits])
        score, parts = self._score(question, hits, places)
        missed = Counter(
            self._kind(gold) for gold, rank in zip(question.gold, places, strict=True) if not rank
        )
        headers = tuple(hit.passage.header for hit in hits)
        return Rollout(query, score, parts, headers, dict(missed))

    def _score(
        self, question: Question, hits: tuple[Hit, ...], places: tuple[int, ...]
    ) -> tuple[float, dict[str, float]]:
        if self.objective is Objective.RECALL:
            return sum(rank > 0 for rank in places) / len(places), {}
        names = self._names
        context = Coverage(question.context, names)
        best = max(
            (
                context.by(Coverage(f"{hit.passage.header}\n{hit.passage.text}", names))
                for hit in hits
            ),
            key=lambda overlap: overlap.score,
            default=Overlap(),
        )
        parts = {"legal": best.legal, "keyword": best.keyword, "text": best.text}
        return best.score, parts

    def _kind(self, gold: Gold) -> str:
        """Act, CabinetOrder …, as the corpus knows the law; "" for what is no law of it."""
        return self._names.law_type(gold.document)

    @property
    def _names(self) -> LawNames:
        with self.resources.reading:
            return self.resources.retriever.names


def scorable(question: Question, objective: Objective) -> bool:
    """Whether the question knows what the objective compares with."""
    return bool(question.gold if objective is Objective.RECALL else question.context.strip())
