"""Steps that score the units: `lexical`, `dense` and `rerank`.

By words: BM25, weighted by captions, titles and predicted questions.

By meaning: the vectors nearest to the question's. An embedder puts 家賃が上がる near talk of rent,
not near 借賃増減請求権. If provisions are sought, a matrix turns the question's vector.
``scripts/fit_query_adapter.py`` fits it on questions with known provisions. It applies only to the
embedder it was fitted with.

A reranker reads the best units again.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localrag.corpus.config import OFF, Config, embedder_name
from localrag.corpus.inference.opening import embedder_id, named, open_embedder, open_reranker
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import caption_of
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import IndexUnusable, UsageError, to_install
from localrag.language import N_
from localrag.law.names import LawNames
from localrag.search.query import analyzer, full_text, terms_of
from localrag.search.question.everyday import EverydayWord
from localrag.search.types import Query
from localrag.search.units import Admission, Scores, conditions, on_the_day
from localrag.text.facts import Fact, FactKind
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.errors import IndexingError, IndexVersionError, PackageMissing
from localrag_indexes.manifest import current
from localrag_models.errors import ContextExceeded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_indexes.vectors import VectorIndex
    from localrag_models.embedding import Embedder, Reranker

WORDS, MEANING, RERANK = "lexical", "dense", "rerank"
"""The steps, by name."""

# Units kept for later steps.
_DEPTH = 200
# Terms of a question that are looked up; limits the cost of long questions.
_TERMS = 40
# Weight of statutory words searched for everyday ones; the user's own words count 1.
_STANDING_IN = 0.5
# Weight of matching predicted questions.
_PREDICTED = 2.5

# Factor for a caption （存続期間） or title made of words of the question.
_TITLED = 1.4
# Units whose titles are read; lower ones cannot reach the first ten.
_TITLES_READ = 40


class LexicalMatch(NamedTuple):
    """A unit and its agreement with the words of the question."""

    score: float
    header: str


def lexical(
    store: Lookups,
    index: BM25Index,
    query: Query,
    wordings: Sequence[EverydayWord] = (),
    questions: BM25Index | None = None,
) -> dict[str, LexicalMatch]:
    """The units with terms of the question in header or text, best first.

    Args:
        store: the corpus store.
        index: BM25 index of the units.
        query: the question.
        wordings: its everyday words, also looked up as statutory words.
        questions: BM25 index of predicted questions, by the same keys.
    """
    admission = Admission(store, query.filters)
    wanted = conditions(query.filters, store)
    among = wanted.among
    if query.filters.phrases:
        held = index.holding([t for one in query.filters.phrases for t in analyzer().terms(one)])
        among = held if among is None else among & held
    scores: dict[int, float] = {}
    asked = full_text(query)
    searches = [(index, asked, 1.0), (index, in_law(wordings), _STANDING_IN)]
    if questions is not None:
        searches.append((questions, asked, _PREDICTED))
    for searched, text, weight in searches:
        terms = searched.most_informative(analyzer().terms(text), _TERMS)
        search = partial(
            searched.search, terms, where=wanted.where, between=wanted.between, among=among
        )
        for key, score in on_the_day(store, search, _DEPTH):
            scores[key] = scores.get(key, 0.0) + weight * score
    best = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:_DEPTH]
    headings = store.headings([key for key, _ in best])
    found = {}
    for key, score in best:
        # Skip passages removed since the index was built.
        if key in headings:
            unit, header = headings[key]
            if admission.admits(unit.rpartition("#")[0]):
                found[unit] = LexicalMatch(score, header)
    return found


def in_law(wordings: Sequence[EverydayWord]) -> str:
    """Statutory words for everyday ones, a line for each phrase."""
    return "\n".join(phrase for wording in wordings for phrase in wording.phrases)


def weigh(
    found: Mapping[str, LexicalMatch],
    query: Query,
    names: LawNames,
    wordings: Sequence[EverydayWord] = (),
) -> dict[str, float]:
    """Raise units whose caption or title has only words of the question.

    Args:
        found: units to weigh.
        query: the question.
        names: of the laws.
        wordings: the everyday words of the question.
    """
    weighed = {unit: match.score for unit, match in found.items()}
    asked = set(analyzer().terms(f"{query.text}\n{in_law(wordings)}"))
    for unit in sorted(weighed, key=weighed.__getitem__, reverse=True)[:_TITLES_READ]:
        header = found[unit].header
        is_article = unit.partition("#")[0] in names.rows
        title = caption_of(header) if is_article else header.rpartition(" > ")[2]
        # Compare without 等: 債権等の消滅時効 is about 債権 and others.
        if (terms := terms_of(title) - {"等"}) and terms <= asked:
            weighed[unit] *= _TITLED
    return weighed


def open_index(place: CorpusPaths) -> BM25Index:
    """Open the BM25 index of a corpus.

    Raises:
        IndexUnusable: it is missing or cannot be used; the error names the cure.
    """
    index = _open(place, place.bm25)
    if index is None:
        raise IndexUnusable(
            N_("The corpus {corpus!r} has no usable index."),
            Fact(FactKind.TO_INDEX, corpus=place.name),
            corpus=place.name,
        )
    return index


def open_questions(place: CorpusPaths) -> BM25Index | None:
    """Open the index of predicted questions; None if the corpus has none.

    Raises:
        IndexUnusable: it cannot be used; the error names the cure.
    """
    index = _open(place, place.questions)
    return index if index is not None and index.count else None


def _open(place: CorpusPaths, root: Path) -> BM25Index | None:
    folder = current(root)
    if folder is None:
        return None
    try:
        return BM25Index.open(folder, analyzer=analyzer().id)
    except IndexingError as error:
        raise IndexUnusable(
            N_("The index of corpus {corpus!r} cannot be used ({error})."),
            Fact(FactKind.TO_REBUILD, corpus=place.name),
            corpus=place.name,
            error=error,
        ) from error


# Up to this many questions are compared with every vector: loading the graph costs as much.
_FEW = 20
PROBE = "法律の条文を探すための質問。"
"""A question whose vector identifies the embedder of the matrix."""
ADAPTER = "query_adapter.npz"
"""File of the matrix, shape ``(d, d)``, and of the probe's vector, shape ``(d,)``."""
# Cosine of the probe's vectors: above for other weights of one embedder, below for others.
_SAME_EMBEDDER = 0.95

# Text vectors kept in memory: at most 30 MB with 384 numbers each.
_KEPT = 20_000


class Dense:
    """Search by meaning in one corpus. The model is loaded with the first question."""

    def __init__(self, vectors: "VectorIndex", load: "Callable[[], Embedder | None]") -> None:
        self._vectors = vectors
        self._load = load
        self._asked = 0
        self._embedded: dict[str, NDArray[np.float32]] = {}

    def search(self, store: Lookups, query: Query, *, provisions: bool = False) -> dict[str, float]:
        """The nearest units with their cosine to the question, best first.

        Args:
            store: the corpus store.
            query: the question.
            provisions: whether provisions of statutes are sought.

        Raises:
            ModelUnusable: the model failed.
            IndexUnusable: the vectors are damaged.
        """
        with named():
            vector = self._embedder.embed_queries([full_text(query)])[0]
        if len(vector) != self._vectors.dimension:
            raise IndexUnusable(
                N_(
                    "The vectors of the corpus have {m:,} numbers, the vectors of {model} have "
                    "{n:,}."
                ),
                "localrag index --rebuild",
                m=self._vectors.dimension,
                model=self._embedder.id,
                n=len(vector),
            )
        if provisions and self._adapter is not None:
            vector = self._adapter @ vector
            vector /= (vector @ vector) ** 0.5
        self._asked += 1
        wanted = conditions(query.filters, store)
        try:
            search = partial(
                self._vectors.search,
                vector,
                where=wanted.where,
                between=wanted.between,
                among=wanted.among,
                exact=self._asked <= _FEW,
            )
            hits = on_the_day(store, search, _DEPTH)
        except IndexingError as error:
            raise IndexUnusable(
                N_("The vectors turned out to be damaged ({error})."),
                "localrag index --rebuild",
                error=error,
            ) from error
        headings = store.headings([hit.key for hit in hits])
        admission = Admission(store, query.filters)
        # Skip passages removed since the vectors were made.
        found = {headings[key][0]: score for key, score in hits if key in headings}
        return {
            unit: score
            for unit, score in found.items()
            if admission.admits(unit.rpartition("#")[0])
        }

    def likeness(self, questions: Sequence[str], texts: Sequence[str]) -> "NDArray[np.float32]":
        """Cosines of questions to texts outside any index, of shape (questions, texts).

        Raises:
            ModelUnusable: the model failed.
        """
        import numpy as np

        # The next question has many of the same texts, and embedding them takes seconds.
        known = {text: self._embedded[text] for text in texts if text in self._embedded}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        with named():
            asked = self._embedder.embed_queries(questions)
            known |= zip(new, self._embedder.embed_passages(new), strict=True)
        for text in new:
            self._embedded[text] = known[text]
        while len(self._embedded) > _KEPT:
            del self._embedded[next(iter(self._embedded))]
        return asked @ np.stack([known[text] for text in texts]).T

    def close(self) -> None:
        """Release the vectors and the model."""
        self._vectors.close()
        if "_embedder" in self.__dict__:
            self._embedder.close()

    @cached_property
    def _adapter(self) -> "NDArray[np.float32] | None":
        """The matrix for question vectors, or None for an embedder it does not fit."""
        import numpy as np

        with as_file(files(__package__).joinpath(ADAPTER)) as path, np.load(path) as stored:
            matrix, probe = stored["matrix"].astype(np.float32), stored["probe"]
        with named():
            (own,) = self._embedder.embed_queries([PROBE])
        return matrix if own.shape == probe.shape and own @ probe > _SAME_EMBEDDER else None

    @cached_property
    def _embedder(self) -> "Embedder":
        embedder = self._load()
        assert embedder is not None, "the vectors are opened where there is an embedder"
        return embedder


def open_dense(
    workspace: Workspace, place: CorpusPaths, config: Config
) -> tuple[Dense | None, Fact | None]:
    """Open the vectors of a corpus.

    Returns:
        The search, or None with the reason for the user.

    Raises:
        IndexUnusable: the vectors are damaged, from another model than the settings name, or
            missing although the settings require them.
        ModelUnusable: no such model is installed.
    """
    switch, model = config.retrieval.dense, embedder_name(workspace, config)
    folder = current(place.vectors)
    if switch == "off":
        return None, Fact(FactKind.DENSE_OFF, setting="retrieval.dense") if folder else None
    if config.embedding.model == OFF and switch == "auto":
        return None, Fact(FactKind.DENSE_OFF, setting="embedding.model") if folder else None
    if not model:
        if switch == "on":
            raise UsageError(
                N_("Search by meaning is switched on, but there is no model for it."),
                N_("Set embedding.model to a model of this list: localrag models list"),
            )
        return None, Fact(FactKind.NO_EMBEDDER) if folder else None
    wanted = embedder_id(workspace, config)
    if folder is None:
        if switch == "on":
            raise IndexUnusable(
                N_("The corpus {corpus!r} has no vectors to search by meaning."),
                Fact(FactKind.TO_INDEX, corpus=place.name),
                corpus=place.name,
            )
        return None, Fact(FactKind.NO_VECTORS, corpus=place.name)
    from localrag_indexes.vectors import VectorIndex

    try:
        vectors = VectorIndex.open(folder, model=wanted)
    except PackageMissing as error:
        raise IndexUnusable(
            N_("Search by meaning needs the package {package}."),
            to_install("dense"),
            package=error.package,
        ) from error
    except IndexVersionError as error:
        if not config.embedding.model and switch != "on":
            # Nobody named this model: a search that worked before continues without it.
            return None, Fact(FactKind.OTHER_VECTORS, model=model, corpus=place.name)
        raise IndexUnusable(
            N_(
                "The vectors of corpus {corpus!r} were made with another {what} ({found}; the "
                "settings name {expected})."
            ),
            Fact(FactKind.TO_INDEX, corpus=place.name),
            corpus=place.name,
            what=error.what,
            found=error.found,
            expected=error.expected,
        ) from error
    except IndexingError as error:
        raise IndexUnusable(
            N_("The vectors of corpus {corpus!r} cannot be used ({error})."),
            Fact(FactKind.TO_REBUILD, corpus=place.name),
            corpus=place.name,
            error=error,
        ) from error
    return Dense(vectors, partial(open_embedder, workspace, config)), None


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
