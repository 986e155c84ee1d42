"""Summarizes a corpus: its documents by facet, its layers, its questions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

from localrag.corpus.facets import CHAPTER
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.prepare.index import LayerIndex, layers_begun, layers_behind
from localrag.prepare.layers import SYNTHETIC_QA, DerivedLayer
from localrag.prepare.measuring import Redundancy, redundancy
from localrag.prepare.summaries import Summary, summaries

if TYPE_CHECKING:
    from localrag.corpus.config import Config

STARTING = 5
"""Default number of starting questions."""

# Shorter terms (法, 局) are abbreviations; nobody asks for their meaning.
_SHORTEST_TERM = 3


@dataclass(frozen=True, slots=True)
class PreparedLayer:
    """The size of a derived layer.

    Attributes:
        rows: sentences, documents, parts or summaries processed.
        texts: texts made; 0 for the layer of metadata.
        refused: texts of a model refused by code.
    """

    name: str
    rows: int
    texts: int
    refused: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The contents of a corpus on one day.

    Attributes:
        documents, passages, characters: their numbers.
        kinds: documents of each kind (``law``, ``markdown`` …).
        facets: documents of each value, by facet, the most frequent first; without headings, as
            most laws have their own.
        headings: number of different headings.
        states: laws with several states.
        by_model: facets with values from a model (`localrag prepare --layers metadata`).
        sorted_before: whether documents changed after a model sorted them.
        layers: the prepared layers.
        summaries: of the questions by metadata, fewer labels first.
        questions: number of synthetic questions.
        starting: examples; see `starting_questions`.
        redundancy: duplicates among the questions; None without vectors.
        layers_behind: whether layers or documents changed since indexing; then `redundancy` is
            None.
    """

    documents: int
    passages: int
    characters: int
    kinds: Mapping[str, int]
    facets: Mapping[str, Mapping[str, int]]
    headings: int
    states: int
    by_model: frozenset[str]
    sorted_before: bool
    layers: tuple[PreparedLayer, ...]
    summaries: tuple[Summary, ...]
    questions: int
    starting: tuple[str, ...]
    redundancy: Redundancy | None
    layers_behind: bool


def overview(
    workspace: Workspace, corpus: str, config: "Config", store: CorpusStore, n: int = STARTING
) -> Overview:
    """Summarize a corpus without loading a model, with `n` starting questions.

    Raises StoreError, IndexUnusable, ModelUnusable.
    """
    place = workspace.corpus(corpus)
    facets = store.facets
    by_value = {key: dict(facets.counts(key).most_common()) for key in facets.documents}
    prepared = tuple(_prepared(place, name) for name in layers_begun(place))
    told_for = facets.told_for
    behind = layers_behind(place, store)
    return Overview(
        *store.extent(),
        kinds=store.kinds(),
        facets=by_value,
        headings=len(facets.counts(CHAPTER)),
        states=store.works_in_states,
        by_model=facets.by_model,
        sorted_before=told_for is not None and told_for != store.stamp,
        layers=prepared,
        summaries=tuple(summaries(place)),
        questions=next((one.texts for one in prepared if one.name == SYNTHETIC_QA), 0),
        starting=starting_questions(place, store, n),
        # An older figure would not match the current number of questions.
        redundancy=None if behind else _redundancy(workspace, corpus, config, store),
        layers_behind=behind,
    )


def starting_questions(
    place: CorpusPaths, store: CorpusStore, n: int = STARTING
) -> tuple[str, ...]:
    """Return up to `n` questions the corpus can answer, from many documents.

    Synthetic questions come first, else the meaning of defined terms. The choice changes only with
    the documents or the questions.

    Raises:
        StorageError, StoreError: the layer cannot be read.
    """
    stamp = DerivedLayer(place, SYNTHETIC_QA).stamp
    return _of_synthetic(place, stamp, n) or tuple(islice(_of_terms(store), n))


@lru_cache(maxsize=4)
def _of_synthetic(place: CorpusPaths, _stamp: str, n: int) -> tuple[str, ...]:
    """Choose synthetic questions from many documents; cached, as it reads all of them."""
    by_document: dict[str, list[str]] = {}
    for row in DerivedLayer(place, SYNTHETIC_QA).standing():
        by_document.setdefault(row.document, []).extend(made.text for made in row.texts)
    answering = [questions for _, questions in sorted(by_document.items()) if questions]
    _shuffle(answering)
    found: dict[str, None] = {}
    for turn in range(max(map(len, answering), default=0)):
        for questions in answering:
            if len(found) < n and turn < len(questions):
                found.setdefault(questions[turn])
        if len(found) >= n:
            break
    return tuple(found)


def _of_terms(store: CorpusStore) -> Iterator[str]:
    """Ask for the first term each law defines for its whole text."""
    laws = store.laws()
    _shuffle(laws)
    for law in laws:
        terms = (one.term for one in store.definitions_in(law.law_id) if not one.scope)
        if term := next((one for one in terms if len(one) >= _SHORTEST_TERM), ""):
            yield f"{law.title}で「{term}」とは何か。"


def _shuffle(items: list[Any]) -> None:
    Random(len(items)).shuffle(items)  # noqa: S311 - nothing is to be kept secret


def _prepared(place: CorpusPaths, name: str) -> PreparedLayer:
    rows = texts = refused = 0
    for row in DerivedLayer(place, name).standing():
        rows += 1
        texts += len(row.texts)
        refused += row.refusals
    return PreparedLayer(name, rows, texts, refused)


def _redundancy(
    workspace: Workspace, corpus: str, config: "Config", store: CorpusStore
) -> Redundancy | None:
    if not DerivedLayer(workspace.corpus(corpus), SYNTHETIC_QA).is_there:
        return None
    with LayerIndex.open(workspace, corpus, config, store) as index:
        vectors = index.vectors(SYNTHETIC_QA)
    return None if vectors is None else redundancy(vectors)
