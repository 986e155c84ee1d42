"""What a corpus holds: its documents by what they are told apart by, its layers, its questions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

from localrag.corpus.facets import CHAPTER
from localrag.corpus.store import CorpusStore
from localrag.prepare.index import LayerIndex, layers_begun, layers_behind
from localrag.prepare.layers import SYNTHETIC_QA, DerivedLayer
from localrag.prepare.measuring import Redundancy, redundancy
from localrag.prepare.summaries import Summary, summaries
from localrag.workspace import CorpusPaths, Workspace

if TYPE_CHECKING:
    from localrag.config import Config

STARTING = 5
"""Questions to begin with that are offered, where nothing else is said."""

# 法, 局: what is so short is defined for the sake of brevity, and nobody asks what it means.
_SHORTEST_TERM = 3


@dataclass(frozen=True, slots=True)
class PreparedLayer:
    """What there is of a derived layer.

    Attributes:
        name: of the layer.
        rows: sentences, documents, parts or summaries that were worked on.
        texts: that were made of them; none in the layer of metadata, which the facets show.
        refused: texts of a model that code refused.
    """

    name: str
    rows: int
    texts: int
    refused: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What a corpus holds on one day.

    Attributes:
        documents, passages, characters: how many.
        kinds: documents of each kind (``law``, ``markdown`` …).
        facets: by facet, documents of each value, the most frequent first. Headings are left out:
            most laws have their own.
        headings: how many different ones there are.
        states: laws of which it has several states.
        by_model: facets of which a model has told values (`localrag prepare --layers metadata`).
        sorted_before: whether a model has sorted the documents, and they have changed since then.
        layers: what was prepared.
        summaries: of the questions by metadata, those of fewer labels first.
        questions: how many synthetic questions there are.
        starting: some questions to begin with; see `starting_questions`.
        redundancy: how many of them ask the same; None where they have no vectors.
        layers_behind: whether layers or documents are others now than those indexed, after a
            preparation that ended early for example; redundancy is None then.
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
    """Look what a corpus holds; loads no model.

    Args:
        workspace: where it lies.
        corpus: its name.
        config: names the embedder whose vectors are looked at.
        store: of the corpus.
        n: questions to begin with.

    Raises:
        StoreError: a layer is damaged.
        IndexUnusable: the index of the layers is, or SciPy is not installed.
        ModelUnusable: the settings name an embedder that is not installed.
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
        # Of an earlier time it would stand beside the number of questions of now.
        redundancy=None if behind else _redundancy(workspace, corpus, config, store),
        layers_behind=behind,
    )


def starting_questions(
    place: CorpusPaths, store: CorpusStore, n: int = STARTING
) -> tuple[str, ...]:
    """Some questions that a corpus answers, of as many documents as there can be.

    Synthetic ones where they are prepared; else what terms mean that laws define, which needs no
    model. Of other documents there are none: headings are no questions. The same ones until the
    documents, or the synthetic questions, change.

    Args:
        place: where the corpus lies.
        store: of the corpus.
        n: how many at most.

    Raises:
        StorageError, StoreError: the layer cannot be read.
    """
    stamp = DerivedLayer(place, SYNTHETIC_QA).stamp
    return _of_synthetic(place, stamp, n) or tuple(islice(_of_terms(store), n))


@lru_cache(maxsize=4)
def _of_synthetic(place: CorpusPaths, _stamp: str, n: int) -> tuple[str, ...]:
    """Synthetic questions of as many documents as there can be; none where none are prepared.

    All are read for a few, which are asked for whenever an empty conversation is shown.
    """
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
    """What the first term means that a law defines for all that follows; a question a law."""
    laws = store.laws()
    _shuffle(laws)
    for law in laws:
        terms = (one.term for one in store.definitions_in(law.law_id) if not one.scope)
        if term := next((one for one in terms if len(one) >= _SHORTEST_TERM), ""):
            yield f"{law.title}で「{term}」とは何か。"


def _shuffle(items: list[Any]) -> None:
    """Mix a list, the same way each time."""
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
    """How many of the synthetic questions ask the same; None where they have no vectors."""
    if not DerivedLayer(workspace.corpus(corpus), SYNTHETIC_QA).is_there:
        return None
    with LayerIndex.open(workspace, corpus, config, store) as index:
        vectors = index.vectors(SYNTHETIC_QA)
    return None if vectors is None else redundancy(vectors)
