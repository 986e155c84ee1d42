"""The score of a prompt: by its query, and the hits of this query.

The overlap of a hit with the gold context is min(1, 0.4 legal + 0.4 keyword + 0.2 text), the best
over the hits. `Overlap` defines the parts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from threading import RLock
from time import perf_counter
from typing import Self

from localrag.answer.prompts import OptimisedPrompt
from localrag.corpus.config import ChatConfig, Config
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError, ModelUnusable, UsageError
from localrag.evaluation.optimize.types import Objective, Rollout
from localrag.evaluation.recall import ranks
from localrag.evaluation.types import Gold, Question
from localrag.law.names import LawNames
from localrag.methods.answering import MethodResources
from localrag.methods.searches import STAGE, as_query, write_query, write_searches
from localrag.methods.toolkit import Toolkit
from localrag.prepare.index import LayerIndex
from localrag.search.pipeline import Retriever
from localrag.search.types import Hit, WrittenSearch
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    normalize,
    parse_numeral,
    without_blanks,
)
from localrag_models.chat import ChatModel
from localrag_models.runtimes import named_runtime
from localrag_models.store import ModelStore

PIECE = 20
"""Characters of a piece of text."""

_NUMBER = rf"[0-9{NUMERAL_CHARACTERS}]+"
_PLACE = re.compile(rf"第(?P<number>{_NUMBER})(?P<kind>[条項号])(?P<branches>(?:の{_NUMBER})*)")
_JAPANESE_TERM = re.compile(r"[ぁ-ゖァ-ヺー一-鿿々]{2,}")
_HEADING = re.compile("(?m)^#+ .*$")


@dataclass(frozen=True, slots=True)
class Overlap:
    """Parts of the score, 0 to 1 each."""

    # Dice coefficient of the law names and 第〇条, 第〇項, 第〇号 of context and hit, as sets. A
    # hit with many provisions does not raise it
    legal: float = 0.0
    # share of the context's terms in the hit; terms of our analyzer with at least two kanji or kana
    keyword: float = 0.0
    # share of pieces of `PIECE` characters of the context's lines in the hit, without blanks and
    # widths
    text: float = 0.0

    @property
    def score(self) -> float:
        """The weighted sum, 0 to 1."""
        return min(1.0, 0.4 * self.legal + 0.4 * self.keyword + 0.2 * self.text)


class Coverage:
    """Everything in a text compared by the score."""

    def __init__(self, text: str, names: LawNames) -> None:
        self._text = text
        self._names = names

    def by(self, hit: "Coverage") -> Overlap:
        """The overlap of a hit with this gold context."""
        pieces = self._pieces
        return Overlap(
            legal=_dice(self._legal, hit._legal),
            keyword=_share(self._terms, hit._terms),
            text=sum(piece in hit._plain for piece in pieces) / len(pieces) if pieces else 0.0,
        )

    @cached_property
    def _legal(self) -> frozenset[str]:
        """Law ids, and places in one spelling: 第二十七条の三十六 is 条27_36."""
        laws = {law for match in self._names.find_names(self._text) for law in match.law_ids}
        places = {_place(match) for match in _PLACE.finditer(normalize(self._text))}
        return frozenset(laws | places - {""})

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(filter(_JAPANESE_TERM.fullmatch, Analyzer().terms(self._text)))

    @cached_property
    def _plain(self) -> str:
        return without_blanks(self._text)

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        lines = map(without_blanks, _HEADING.sub("", self._text).splitlines())
        return tuple(piece for line in lines if line for piece in _cut(line))


def _place(match: re.Match[str]) -> str:
    numbers = [match["number"], *match["branches"].split("の")[1:]]
    try:
        return match["kind"] + "_".join(str(parse_numeral(number)) for number in numbers)
    except ValueError:
        return ""


def _cut(line: str) -> list[str]:
    """Pieces of full length covering the line; the last two may overlap."""
    last = max(len(line) - PIECE, 0)
    return [line[start : start + PIECE] for start in (*range(0, last, PIECE), last)]


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0


@dataclass
class Shared:
    """`localrag.methods.toolkit.Resources` with open models and corpus."""

    settings: ChatConfig
    retriever: Retriever
    model: ChatModel
    reading: RLock
    opened: MethodResources
    query_prompt: OptimisedPrompt | None = None
    # The journal keeps outcomes that were paid for.
    remembered: None = None

    @classmethod
    def of(cls, resources: MethodResources, retriever: Retriever) -> Self:
        """The model of `resources`, with a corpus."""
        return cls(resources.settings, retriever, resources.model, resources.reading, resources)

    @property
    def layers(self) -> LayerIndex:
        """Derived layers of the corpus."""
        return self.opened.layers


def with_model(config: Config, model: str) -> Config:
    """Settings with another chat model."""
    return config.model_copy(update={"chat": config.chat.model_copy(update={"model": model})})


def weight(workspace: Workspace, *models: str) -> int:
    """Bytes of weights loaded for these models; servers have their own memory."""
    store = ModelStore(workspace.models)
    installed = [name for name in models if not named_runtime(name)]
    return sum(store.find(name).size for name in installed)


FOUND = {Objective.OVERLAP: 5, Objective.RECALL: 10}
"""Hits that count."""


@dataclass(frozen=True, slots=True)
class QueryTask:
    """Writes searches for a question with a prompt, searches, and scores the hits.

    `Objective.OVERLAP` searches by meaning; `Objective.RECALL` as `ask` does.
    """

    resources: Shared
    objective: Objective

    def run(self, instruction: str, question: Question) -> Rollout:
        """Try a prompt on a question. Raises `ModelUnusable` or `IndexUnusable`."""
        since = perf_counter()
        prompt = OptimisedPrompt("candidate", instruction)
        toolkit = Toolkit(replace(self.resources, query_prompt=prompt))
        made = self._tried(toolkit, question)
        return replace(
            made,
            notes=tuple(dict.fromkeys(toolkit.trace.events)),
            # A request refused before it began counts too; otherwise the run might not end.
            calls=max(1, len(toolkit.trace.calls)),
            seconds=perf_counter() - since,
        )

    def _tried(self, toolkit: Toolkit, question: Question) -> Rollout:
        by_rank = self.objective is Objective.RECALL
        written: Sequence[WrittenSearch] = ()
        try:
            if by_rank:
                written = write_searches(toolkit, question.query)
                query = as_query(written)
            else:
                query = write_query(toolkit, question.query)
        except ModelUnusable as error:
            # A failure caused by the prompt is its score, not the end of the run.
            if not error.of_one_request:
                raise
            toolkit.note(STAGE, [Fact(FactKind.MODEL_FAILED, cause=error.cause)])
            return Rollout("", 0.0, problem=as_written(error))
        try:
            count = FOUND[self.objective]
            if by_rank:
                hits = toolkit.retrieve(question.query, count, written=written).hits
            else:
                asked = replace(question.query, text=query, options=())
                hits = toolkit.search(asked, count, words=False, meaning=True)
        except UsageError as error:
            return Rollout(query, 0.0, problem=as_written(error))
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
            return gain(places), {}
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
        """Kind of law (Act, CabinetOrder …); "" for other documents."""
        return self._names.law_type(gold.document)

    @property
    def _names(self) -> LawNames:
        with self.resources.reading:
            return self.resources.retriever.names


def gain(places: Sequence[int]) -> float:
    """Normalised discounted cumulative gain (nDCG) of ranks from 1; 0 if not found."""
    best = sum(_discount(rank) for rank in range(1, len(places) + 1))
    return sum(map(_discount, places)) / best


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1) if rank else 0.0


def as_written(error: LocalragError) -> str:
    """Cause of an error in English, for a model."""
    cause = str(error.args[0])
    return cause.format_map(error.fields) if error.fields else cause


def scorable(question: Question, objective: Objective) -> bool:
    """Whether the question has what the objective needs."""
    return bool(question.gold if objective is Objective.RECALL else question.context.strip())
