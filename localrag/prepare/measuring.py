"""Measures of prepared questions: how near questions are to them, and how many ask the same.

`distributions` shows which cosine a threshold should have. DeconRAG set its T for another embedder:
E5 gives unrelated texts cosines of .7 and more, others near 0.

`redundancy` clusters synthetic questions (PR3), by single linkage at a threshold. Repeated
questions
are redundant. Embedders with high cosines need a higher threshold; see `localrag calibrate`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from localrag.corpus.store import CorpusStore
from localrag.errors import IndexUnusable, to_install
from localrag.language import N_
from localrag.prepare.index import LayerIndex
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS, LayerText
from localrag.search.question.asked import interrogative_of
from localrag.search.types import Filters
from localrag.text.progress import Phase, Stopwatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SAMPLE = 200
"""Compared prepared questions, if no others are given."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
COMPARING = Phase(N_("comparing"), N_("questions"))
# Nearest prepared questions of one question, with those of its own sentence.
_LOOKED_AT = 20
UNRELATED = N_("an unrelated prepared question")
NEAREST = N_("the nearest prepared question")
SAME_WORD = N_("the nearest that asks with the same word")
SENTENCE = N_("the nearest sentence")


@dataclass(frozen=True, slots=True)
class Distribution:
    """The cosines of questions to something."""

    to: str  # a message marked with `N_`
    cosines: tuple[float, ...]  # ascending, one for each question that has one

    def quantile(self, share: float) -> float:
        """The cosine below which this share lies."""
        return self.cosines[min(int(share * len(self.cosines)), len(self.cosines) - 1)]

    def reaching(self, threshold: float) -> float:
        """The share at or above a threshold."""
        return sum(one >= threshold for one in self.cosines) / len(self.cosines)


def distributions(
    index: LayerIndex, store: CorpusStore, asked: Sequence[str] = (), watch: Stopwatch | None = None
) -> list[Distribution]:
    """Measure how near questions are to prepared texts; only those with a cosine.

    Without `asked`, prepared questions are compared with others, a sample of each.
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
    """The cosines of one question, without those to its own sentence."""
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


ALIKE = 0.95
"""The default cosine from which questions ask the same."""
MOST = 10_000
"""Compared questions, each with each. Of more, a sample is drawn."""

# Rows of the matrix of cosines in memory at a time.
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Clusters of questions."""

    questions: int
    clusters: int  # of the questions
    largest: int  # questions of the largest cluster
    threshold: float  # the cosine from which two are one

    @property
    def share(self) -> float:
        """The share of the questions repeating another one."""
        return 1 - self.clusters / self.questions if self.questions else 0.0


def redundancy(vectors: "NDArray[np.float32]", threshold: float = ALIKE) -> Redundancy:
    """Cluster vectors of questions; from the cosine `threshold` two are one. Needs SciPy."""
    import numpy as np

    try:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components
    except ImportError as error:
        raise IndexUnusable(
            N_("To compare questions, {package} is needed."),
            to_install("dense"),
            package="scipy",
        ) from error
    if len(vectors) > MOST:
        vectors = vectors[np.random.default_rng(0).choice(len(vectors), MOST, replace=False)]
    count = len(vectors)
    ends: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    for start in range(0, count, _BLOCK):
        near = np.argwhere(vectors[start : start + _BLOCK] @ vectors.T >= threshold)
        near[:, 0] += start
        ends.append(near)
    one, other = np.concatenate(ends).T
    linked = coo_array((np.ones(len(one), np.bool_), (one, other)), shape=(count, count))
    clusters, of_question = connected_components(linked, directed=False)
    sizes = np.bincount(of_question, minlength=1)
    return Redundancy(count, int(clusters), int(sizes.max()) if count else 0, threshold)
