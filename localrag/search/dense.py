"""Step `dense`: the units with vectors nearest to the question's.

An embedder puts 家賃が上がると言われた near talk of rent, not near 借賃増減請求権. If
provisions are sought, a matrix turns the question's vector. ``scripts/fit_query_adapter.py`` fits
it on questions with known provisions. It applies only to the embedder it was fitted with.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from localrag.corpus.config import Config
from localrag.corpus.inference.opening import OFF, embedder_id, embedder_name, named, open_embedder
from localrag.corpus.lookups import Lookups
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import IndexUnusable, UsageError, to_install
from localrag.language import N_
from localrag.search.query import full_text
from localrag.search.types import Query
from localrag.search.units import Admission, conditions, on_the_day
from localrag.text.facts import Fact, FactKind
from localrag_indexes.errors import IndexingError, IndexVersionError, PackageMissing
from localrag_indexes.manifest import current

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_indexes.vectors import VectorIndex
    from localrag_models.embedding import Embedder

STAGE = "dense"

_DEPTH = 200
"""Units kept for later steps."""
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
