"""How near questions come to each other under an embedder: what a threshold of cosines means.

The threshold T of DeconRAG was set for another embedder. E5 gives unrelated texts cosines of .7 and
more, others near 0: what is far and what is near has to be measured for each, on the texts at hand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from localrag.corpus.store import CorpusStore
from localrag.errors import IndexUnusable
from localrag.language import N_
from localrag.prepare.index import LayerIndex
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS
from localrag.prepare.texts import LayerText
from localrag.search.question.asked import interrogative_of
from localrag.search.types import Filters
from localrag.text.progress import Phase, Stopwatch

SAMPLE = 200
"""Prepared questions that are looked at, where no others are given."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
COMPARING = Phase(N_("comparing"), N_("questions"))
# The nearest prepared questions of one question, among them its own sentence's.
_LOOKED_AT = 20
UNRELATED = N_("an unrelated prepared question")
NEAREST = N_("the nearest prepared question")
SAME_WORD = N_("the nearest that asks with the same word")
SENTENCE = N_("the nearest sentence")


@dataclass(frozen=True, slots=True)
class Distribution:
    """The cosines of questions to something.

    Attributes:
        to: to what, a message marked with `N_`.
        cosines: of each question that has one, ascending.
    """

    to: str
    cosines: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """The cosine below which so many of them lie."""
        return self.cosines[min(int(share * len(self.cosines)), len(self.cosines) - 1)]

    def reaching(self, threshold: float) -> float:
        """The share of them that is as high as a threshold."""
        return sum(one >= threshold for one in self.cosines) / len(self.cosines)


def distributions(
    index: LayerIndex, store: CorpusStore, asked: Sequence[str] = (), watch: Stopwatch | None = None
) -> list[Distribution]:
    """Measure how near questions come to what is prepared.

    Args:
        index: of the layers, with vectors.
        store: of the corpus.
        asked: the questions; without any a sample of the prepared ones, each of which is held
            against those of other sentences.
        watch: told how far it is.

    Returns:
        Those for which there is a cosine at all; none where nothing was asked for in preparation.

    Raises:
        UsageError: the layers are not prepared.
        IndexUnusable: they have no vectors.
        ModelUnusable: the embedder fails.
    """
    index.require(DECONTEXTUALIZED, QUESTIONS)
    if not index.has_vectors:
        raise IndexUnusable(
            N_("The layers have no vectors: no embedder is installed, or it is switched off."),
            N_("Set embedding.model, then: localrag prepare"),
        )
    prepared = list(index.texts(QUESTIONS))
    chooser = Random(len(prepared))  # noqa: S311 - the same ones each time
    if not prepared:
        return []
    questions: list[tuple[str, LayerText | None]] = [(text, None) for text in asked]
    if not asked:
        sample = chooser.sample(prepared, min(SAMPLE, len(prepared)))
        questions = [(one.text, one) for one in sample]
    cosines: dict[str, list[float]] = {UNRELATED: [], NEAREST: [], SAME_WORD: [], SENTENCE: []}
    for done, (text, source) in enumerate(questions, 1):
        for to, cosine in _of_one(index, store, text, source, chooser.choice(prepared)):
            cosines[to].append(cosine)
        if watch is not None:
            watch(COMPARING, done, len(questions))
    return [Distribution(to, tuple(sorted(found))) for to, found in cosines.items() if found]


def _of_one(
    index: LayerIndex, store: CorpusStore, text: str, source: LayerText | None, other: LayerText
) -> Iterator[tuple[str, float]]:
    """The cosines of one question; what is of its own sentence does not count."""
    own = source.place if source else None
    yield (
        UNRELATED,
        float(index.vector_of(text, QUESTIONS) @ index.vector_of(other.text, QUESTIONS)),
    )
    word = interrogative_of(text).value
    for to, layer, asks_with in (
        (NEAREST, QUESTIONS, ""),
        (SAME_WORD, QUESTIONS, word),
        (SENTENCE, DECONTEXTUALIZED, ""),
    ):
        found = index.nearest(store, text, _LOOKED_AT, layer, Filters(), asks_with)
        if near := next((one for one in found if one.found.place != own), None):
            yield to, near.score
