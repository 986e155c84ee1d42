"""What a prompt is judged by: the query it makes of a question, and what that query finds.

How well a hit covers the gold context is the score of the published study:
s = min(1, 0.4 legal + 0.4 keyword + 0.2 text), the best over the hits. The study names the three
parts; where it leaves a measure open, what is taken here is said at `Overlap`.
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
    """The parts of the score, each from 0 to 1.

    Attributes:
        legal: agreement of law names and of 第〇条, 第〇項, 第〇号 between context and hit: twice
            what both hold over what each holds (Dice), as sets. Unlike a plain share of the
            context it does not rise with a hit that names many provisions.
        keyword: the share of the terms of the context that the hit holds; terms as our analyzer
            cuts them, of two or more kanji or kana.
        text: the share of the pieces of `PIECE` characters of the context, cut line by line, that
            stand in the hit letter by letter, blanks and widths apart.
    """

    legal: float = 0.0
    keyword: float = 0.0
    text: float = 0.0

    @property
    def score(self) -> float:
        """What the parts come to, from 0 to 1."""
        return min(1.0, 0.4 * self.legal + 0.4 * self.keyword + 0.2 * self.text)


class Coverage:
    """What a text holds of everything the score compares.

    Args:
        text: a gold context under Markdown headings, or a hit with its header.
        names: the names of the laws of the corpus.
    """

    def __init__(self, text: str, names: LawNames) -> None:
        self._text = text
        self._names = names

    def by(self, hit: "Coverage") -> Overlap:
        """How well a hit covers this gold context."""
        pieces = self._pieces
        return Overlap(
            legal=_dice(self._legal, hit._legal),
            keyword=_share(self._terms, hit._terms),
            text=sum(piece in hit._plain for piece in pieces) / len(pieces) if pieces else 0.0,
        )

    @cached_property
    def _legal(self) -> frozenset[str]:
        """Law ids, and places with their numbers in one spelling: 第二十七条の三十六 is 条27_36."""
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
    """Pieces of full length that cover the line; the last may overlap the one before it."""
    last = max(len(line) - PIECE, 0)
    return [line[start : start + PIECE] for start in (*range(0, last, PIECE), last)]


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0


@dataclass
class Shared:
    """Fulfils `localrag.methods.toolkit.Resources` with what is open already."""

    settings: ChatConfig
    retriever: Retriever
    model: ChatModel
    reading: RLock
    opened: MethodResources
    query_prompt: OptimisedPrompt | None = None
    # The journal of the run keeps what was paid for.
    remembered: None = None

    @classmethod
    def of(cls, resources: MethodResources, retriever: Retriever) -> Self:
        """The model of `resources`, beside a corpus."""
        return cls(resources.settings, retriever, resources.model, resources.reading, resources)

    @property
    def layers(self) -> LayerIndex:
        """The derived layers of the corpus of the run."""
        return self.opened.layers


def with_model(config: Config, model: str) -> Config:
    """The settings with another chat model."""
    return config.model_copy(update={"chat": config.chat.model_copy(update={"model": model})})


def weight(workspace: Workspace, *models: str) -> int:
    """Bytes of the weights that are loaded for these models; a server has its own memory."""
    store = ModelStore(workspace.models)
    installed = [name for name in models if not named_runtime(name)]
    return sum(store.find(name).size for name in installed)


FOUND = {Objective.OVERLAP: 5, Objective.RECALL: 10}
"""Hits that count."""


@dataclass(frozen=True, slots=True)
class QueryTask:
    """Writes searches for a question under a prompt, searches, and scores the hits.

    `Objective.OVERLAP` searches by meaning, as the published method does; `Objective.RECALL` as
    `ask` does.

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
        by_rank = self.objective is Objective.RECALL
        written: Sequence[WrittenSearch] = ()
        try:
            if by_rank:
                written = write_searches(toolkit, question.query)
                query = as_query(written)
            else:
                query = write_query(toolkit, question.query)
        except ModelUnusable as error:
            # What the prompt itself brings about is its score, not the end of the run.
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
        """Act, CabinetOrder …, as the corpus knows the law; "" for what is no law of it."""
        return self._names.law_type(gold.document)

    @property
    def _names(self) -> LawNames:
        with self.resources.reading:
            return self.resources.retriever.names


def gain(places: Sequence[int]) -> float:
    """The normalised discounted cumulative gain of gold places by their ranks (nDCG).

    Args:
        places: the rank of each, from 1; 0 where it was not found.

    Returns:
        1 where they are the first hits, in whatever order, less the later they come, 0 for none.
    """
    best = sum(_discount(rank) for rank in range(1, len(places) + 1))
    return sum(map(_discount, places)) / best


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1) if rank else 0.0


def as_written(error: LocalragError) -> str:
    """The cause of an error in English, for a model that is told the same in every language."""
    cause = str(error.args[0])
    return cause.format_map(error.fields) if error.fields else cause


def scorable(question: Question, objective: Objective) -> bool:
    """Whether the question knows what the objective compares with."""
    return bool(question.gold if objective is Objective.RECALL else question.context.strip())
