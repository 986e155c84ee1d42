"""The index of the derived layers of a corpus: their texts, found by words and by meaning.

::

    layers/words/g-…/     an index of words, and ``texts.jsonl`` with every text of the layers
    layers/vectors/g-…/   an index of vectors over the texts of one index of words

The key of an entry is the byte at which its line begins in ``texts.jsonl``. Vectors of other texts
are ignored.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self, cast

from localrag.corpus.config import Config
from localrag.corpus.durable import locked
from localrag.corpus.inference.opening import embedder_id, named, open_embedder
from localrag.corpus.ingest.events import Listener
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import BusyError, IndexUnusable, NoWorkers, StorageError, UsageError
from localrag.language import N_
from localrag.prepare.layers import (
    LAYERS,
    QUESTIONS,
    SEARCHED,
    SYNTHETIC_QA,
    WORD,
    DerivedLayer,
    FoundText,
    LayerReading,
    LayerText,
    as_text,
    lines_of,
)
from localrag.prepare.summaries import Summary, summaries
from localrag.search.indexing.embedding import PlannedEntry, Window, embed_planned, windows_of
from localrag.search.query import analyzer
from localrag.search.types import Filters
from localrag.search.units import ATTRIBUTES, IndexState, between, where
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Phase, Stopwatch
from localrag_indexes.bm25 import BM25Index, TextEntry, build
from localrag_indexes.errors import IndexingError, IndexVersionError, WorkerNotStarted
from localrag_indexes.fusion import Scored
from localrag_indexes.manifest import IndexManifest, current, new_generation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_indexes.vectors import VectorIndex
    from localrag_models.embedding import Embedder

INDEXING = Phase(N_("indexing layers"), N_("sentences"))

_TEXTS = "texts.jsonl"
_ATTRIBUTES = (*ATTRIBUTES, WORD)


class LayerIndex:
    """The texts of the layers of one corpus, open for searching; one thread at a time.

    `is_behind`: layers or corpus have changed since it was made.
    """

    def __init__(
        self,
        place: CorpusPaths,
        words: BM25Index,
        vectors: "VectorIndex | None",
        load: "Callable[[], Embedder | None]",
        *,
        is_behind: bool,
    ) -> None:
        self.is_behind = is_behind
        self._place = place
        self._words = words
        self._vectors = vectors
        self._load = load

    @classmethod
    def open(cls, workspace: Workspace, corpus: str, config: Config, store: CorpusStore) -> Self:
        """Open the result of `index_layers`; the embedder is loaded when it is first needed."""
        place = workspace.corpus(corpus)
        folder = current(place.layer_words)
        if folder is None:
            raise _nothing_indexed(place)
        with _damage_named(place), ExitStack() as opened:
            words = opened.enter_context(BM25Index.open(folder, analyzer=analyzer().id))
            vectors = None
            model = "" if config.retrieval.dense == "off" else embedder_id(workspace, config)
            if model:
                vectors = _vectors_of(place, folder, model)
            behind = _is_of_another_time(words.manifest, place, store)
            opened.pop_all()
        load = partial(open_embedder, workspace, config)
        return cls(place, words, vectors, load, is_behind=behind)

    @property
    def has_vectors(self) -> bool:
        """Whether texts can be searched by meaning."""
        return self._vectors is not None

    def require(self, *layers: str) -> None:
        """Make sure that these layers have texts. Raises `UsageError` if a layer is missing."""
        _require(self._place, self._words.manifest, layers)

    def vector_of(self, text: str, layer: str) -> "NDArray[np.float32]":
        """The vector to search for a text in a layer, shape ``(d,)``, of length 1."""
        with named():
            if layer in (QUESTIONS, SYNTHETIC_QA):
                vectors = self._embedder.embed_passages(self._embedder.windows(text)[:1])
            else:
                vectors = self._embedder.embed_queries([text])
        return cast("NDArray[np.float32]", vectors[0])

    def nearest(
        self, store: CorpusStore, text: str, k: int, layer: str, filters: Filters, word: str = ""
    ) -> list[FoundText]:
        """The texts of a layer nearest in meaning, best first, with cosines; none without vectors.

        A question is embedded like the prepared questions, so that the cosine of the same question
        is 1. For sentences it is a query. An empty `word` allows any interrogative.
        """
        if self._vectors is None:
            return []
        search = partial(
            self._vectors.search,
            self.vector_of(text, layer),
            where=_allowed(filters, store, layer, word),
            between=between(filters, store),
            exact=True,
        )
        return self._found(store, search, k, filters)

    def by_words(
        self, store: CorpusStore, text: str, k: int, layer: str, filters: Filters, word: str = ""
    ) -> list[FoundText]:
        """The texts of a layer with words of a text, best first; arguments as `nearest`."""
        search = partial(
            self._words.search,
            self._words.most_informative(analyzer().terms(text), _TERMS),
            where=_allowed(filters, store, layer, word),
            between=between(filters, store),
        )
        return self._found(store, search, k, filters)

    def vectors(self, layer: str) -> "NDArray[np.float32] | None":
        """The vectors of the texts of a layer, shape ``(n, d)``; None without vectors."""
        if self._vectors is None:
            return None
        with _damage_named(self._place):
            return self._vectors.of(where={"layer": (layer,)})

    def texts(self, layer: str) -> Iterator[LayerText]:
        """Every text of a layer, in the order of the corpus."""
        with _damage_named(self._place):
            yield from (text for _, text in lines_of(self._path) if text.layer == layer)

    @cached_property
    def summaries(self) -> Sequence[Summary]:
        """The summaries of documents with shared metadata."""
        return summaries(self._place)

    def close(self) -> None:
        """Close the files and the model."""
        self._words.close()
        if self._vectors is not None:
            self._vectors.close()
        for name in ("_texts", "_embedder"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _found(
        self, store: CorpusStore, search: "_Search", k: int, filters: Filters
    ) -> list[FoundText]:
        """The best texts under the headings wanted, which the index does not know."""
        under = store.facets.spans(filters.where) if filters.where else None
        wanted = k
        while True:
            with _damage_named(self._place):
                hits = search(k=wanted)
                found = [one for one in self._read(hits) if _is_under(one.found, under)]
            if len(found) >= k or len(hits) < wanted:
                return found[:k]
            wanted *= 2

    def _read(self, hits: Sequence[Scored]) -> Iterator[FoundText]:
        for key, score in hits:
            self._texts.seek(key)
            yield FoundText(as_text(self._texts.readline()), score)

    @property
    def _path(self) -> Path:
        return self._words.folder / _TEXTS

    @cached_property
    def _texts(self) -> IO[bytes]:
        return self._path.open("rb")

    @cached_property
    def _embedder(self) -> "Embedder":
        embedder = self._load()
        assert embedder is not None, "vectors are opened where there is an embedder"
        return embedder


# Terms of a text that are looked up.
_TERMS = 40


def index_layers(
    workspace: Workspace, corpus: str, config: Config, store: CorpusStore, on_event: Listener
) -> None:
    """Make the texts of all layers searchable, unless nothing has changed."""
    place = workspace.corpus(corpus)
    if not _searched(place):
        return
    made_of = _made_of(place, store)
    busy = BusyError(
        N_("Another process indexes the layers of corpus {corpus!r}."),
        N_("Wait until it has finished."),
        corpus=corpus,
    )
    with _failures_named(place), locked(place.layers / "index.lock", busy):
        folder = current(place.layer_words)
        if folder is None or _state_of(folder, made_of) is not IndexState.FRESH:
            folder = _index_words(place, store, made_of, on_event)
        model = embedder_id(workspace, config)
        if model and not _has_vectors(place, folder, model):
            with named(), cast("Embedder", open_embedder(workspace, config)) as embedder:
                _index_vectors(place, store, folder, embedder, on_event)
    place.settle()


def _index_words(
    place: CorpusPaths, store: CorpusStore, made_of: Sequence[object], on_event: Listener
) -> Path:
    there = _searched(place)
    layers = [DerivedLayer(place, name) for name in there]
    with new_generation(place.layer_words) as folder, (folder / _TEXTS).open("wb") as file:
        build(
            folder,
            _entries(store, layers, file, on_event),
            analyzer=analyzer(),
            attributes=_ATTRIBUTES,
            extra={"made_of": made_of, "layers": there},
        )
    return cast("Path", current(place.layer_words))


def _entries(
    store: CorpusStore, layers: Sequence[DerivedLayer], file: IO[bytes], on_event: Listener
) -> Iterator[TextEntry]:
    """The entries of the index of words. Every text is written as it comes."""
    reading = LayerReading(store)
    watch = Stopwatch(on_event)
    total = sum(len(layer.digests()) for layer in layers)
    done = 0
    for layer in layers:
        for row in layer.standing():
            done += 1
            watch(INDEXING, done, total)
            for text in reading.texts(layer.name, row):
                key = file.tell()
                file.write(json.dumps(text).encode() + b"\n")
                yield TextEntry(key, reading.header(text), text.text, reading.attributes(text))
    file.flush()


def _index_vectors(
    place: CorpusPaths, store: CorpusStore, words: Path, embedder: "Embedder", on_event: Listener
) -> None:
    reading = LayerReading(store)

    def read(keys: Sequence[int], wanted: Collection[bytes]) -> Iterator[Window]:
        left = set(wanted)
        with (words / _TEXTS).open("rb") as file:
            for key in keys:
                file.seek(key)
                for window in windows_of(embedder, as_text(file.readline()).text):
                    if window.digest in left:
                        left.remove(window.digest)
                        yield window

    plan = [
        PlannedEntry(
            key,
            tuple(window.digest for window in windows_of(embedder, text.text)),
            reading.attributes(text),
        )
        for key, text in lines_of(words / _TEXTS)
    ]
    embed_planned(
        place.layer_vectors,
        plan,
        read,
        embedder,
        on_event,
        attributes=_ATTRIBUTES,
        extra=_texts_of(words),
    )


def require_layers(place: CorpusPaths, layers: Collection[str]) -> None:
    """Make sure that layers can be searched, without opening them. A `UsageError` if not."""
    if not layers:
        return
    folder = current(place.layer_words)
    if folder is None:
        raise _nothing_prepared(place.name, tuple(layers))
    with _damage_named(place):
        _require(place, IndexManifest.read(folder), layers)


def layers_begun(place: CorpusPaths) -> tuple[str, ...]:
    """The layers of a corpus with at least one row."""
    return tuple(name for name in LAYERS if DerivedLayer(place, name).is_there)


def _searched(place: CorpusPaths) -> list[str]:
    return [name for name in layers_begun(place) if name in SEARCHED]


def layers_behind(place: CorpusPaths, store: CorpusStore) -> bool:
    """Whether layers or corpus changed since they were indexed: after a stop, or a dry run."""
    if not _searched(place):
        return False
    folder = current(place.layer_words)
    if folder is None:
        return True
    with _damage_named(place):
        return _is_of_another_time(IndexManifest.read(folder), place, store)


def layers_state(place: CorpusPaths, store: CorpusStore, model: str = "") -> IndexState:
    """The state of the index of the layers; compares every byte. No vectors with the model ""."""
    for name in layers_begun(place):
        DerivedLayer(place, name).digests()
    folder = current(place.layer_words)
    if folder is None:
        return IndexState.MISSING if _searched(place) else IndexState.FRESH
    state = _state_of(folder, _made_of(place, store))
    if state is not IndexState.FRESH or not model or _has_vectors(place, folder, model):
        return state
    return IndexState.OUTDATED


def layers_embedder(place: CorpusPaths) -> str:
    """The id of the model of the vectors of the layers; "" without vectors."""
    words, vectors = current(place.layer_words), current(place.layer_vectors)
    if words is None or vectors is None:
        return ""
    try:
        told = IndexManifest.read(vectors).extra
        return str(told["model"]) if told.items() >= _texts_of(words).items() else ""
    except IndexingError:
        return ""


def layers_stamp(place: CorpusPaths, layers: Sequence[str]) -> str:
    """A digest of the content of some layers; "" without any."""
    return " ".join(filter(None, (DerivedLayer(place, name).stamp for name in layers)))


def _vectors_of(
    place: CorpusPaths, words: Path, model: str, *, deep: bool = False
) -> "VectorIndex | None":
    from localrag_indexes.vectors import VectorIndex

    folder = current(place.layer_vectors)
    if folder is None:
        return None
    try:
        vectors = VectorIndex.open(folder, model=model, deep=deep)
    except IndexingError:
        return None
    if vectors.manifest.extra.items() >= _texts_of(words).items():
        return vectors
    vectors.close()
    return None


def _texts_of(words: Path) -> dict[str, object]:
    manifest = IndexManifest.read(words)
    return {"texts": manifest.files[_TEXTS].sha256, "made_of": manifest.extra["made_of"]}


def _has_vectors(place: CorpusPaths, words: Path, model: str) -> bool:
    """Whether these texts have whole vectors by this model."""
    vectors = _vectors_of(place, words, model, deep=True)
    if vectors is None:
        return False
    vectors.close()
    return True


def _made_of(place: CorpusPaths, store: CorpusStore) -> list[object]:
    return [
        store.stamp,
        store.generation,
        *(DerivedLayer(place, name).stamp for name in SEARCHED),
    ]


def _is_of_another_time(manifest: IndexManifest, place: CorpusPaths, store: CorpusStore) -> bool:
    return bool(manifest.extra["made_of"] != _made_of(place, store))


def _state_of(words: Path, made_of: Sequence[object]) -> IndexState:
    try:
        manifest = IndexManifest.read(words)
        manifest.verify(words, deep=True)
    except IndexVersionError:
        return IndexState.OUTDATED
    except IndexingError:
        return IndexState.DAMAGED
    if manifest.analyzer != analyzer().id:
        return IndexState.OUTDATED
    is_fresh = manifest.extra.get("made_of") == made_of
    return IndexState.FRESH if is_fresh else IndexState.BEHIND


_Search = Callable[..., Sequence[Scored]]


def _is_under(text: LayerText, under: Mapping[str, Sequence[tuple[int, int]]] | None) -> bool:
    return under is None or any(
        start <= text.start < end for start, end in under.get(text.document, ())
    )


def _allowed(
    filters: Filters, store: CorpusStore, layer: str, word: str
) -> dict[str, Collection[str]]:
    allowed = where(filters, store) | {"layer": (layer,)}
    return allowed | {WORD: (word,)} if word else allowed


def _require(place: CorpusPaths, manifest: IndexManifest, layers: Collection[str]) -> None:
    there = {
        *manifest.extra["layers"],
        *(one for one in layers_begun(place) if one not in SEARCHED),
    }
    if missing := [layer for layer in layers if layer not in there]:
        raise _nothing_prepared(place.name, missing)


def _nothing_prepared(corpus: str, layers: Sequence[str]) -> UsageError:
    return UsageError(
        N_("Of the corpus {corpus!r}, these layers are not prepared: {layers}."),
        Fact(FactKind.TO_PREPARE, corpus=corpus, layers=",".join(layers)),
        corpus=corpus,
        layers=", ".join(layers),
    )


def _nothing_indexed(place: CorpusPaths) -> UsageError:
    if not (begun := _searched(place)):
        return _nothing_prepared(place.name, LAYERS)
    return UsageError(
        N_("Of the corpus {corpus!r}, these layers are made in part and not indexed: {layers}."),
        Fact(FactKind.TO_PREPARE, corpus=place.name, layers=",".join(begun)),
        corpus=place.name,
        layers=", ".join(begun),
    )


@contextmanager
def _damage_named(place: CorpusPaths) -> Iterator[None]:
    try:
        yield
    # A line that is cut or no text is damage too.
    except (IndexingError, OSError, ValueError, LookupError, TypeError) as error:
        raise IndexUnusable(
            N_("The index of the layers of corpus {corpus!r} cannot be used ({error})."),
            Fact(FactKind.TO_PREPARE, corpus=place.name, layers=",".join(layers_begun(place))),
            corpus=place.name,
            error=error,
        ) from error


@contextmanager
def _failures_named(place: CorpusPaths) -> Iterator[None]:
    try:
        yield
    except WorkerNotStarted as error:
        raise NoWorkers(error) from error
    except (IndexingError, OSError) as error:
        raise StorageError(
            N_("The layers of corpus {corpus!r} cannot be indexed ({problem})."),
            N_(
                "Free space on the disk or memory, then run the same command again: finished "
                "work is kept."
            ),
            corpus=place.name,
            problem=error,
        ) from error
