"""Makes derived layers. Every row is made once, even if a run is interrupted."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from random import Random
from time import perf_counter
from typing import Literal, Protocol, Self

from localrag.corpus.config import Config
from localrag.corpus.durable import replace_text, storing
from localrag.corpus.facets import as_told
from localrag.corpus.inference.opening import open_chat
from localrag.corpus.ingest.events import Event
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import UsageError
from localrag.language import N_
from localrag.prepare import layers as kinds
from localrag.prepare.decontextualized import Questioner, Rewriter, sentence_jobs, statute_jobs
from localrag.prepare.index import index_layers
from localrag.prepare.layers import (
    DECONTEXTUALIZED,
    METADATA,
    MK_SUMMARIES,
    QUESTIONS,
    SENTENCES,
    SYNTHETIC_QA,
    DerivedLayer,
    DerivedRow,
    LayerJob,
    Made,
    UnitOutcome,
    require,
)
from localrag.prepare.metadata import SHIPPED, Categories, Sorter, keep, kept, propose
from localrag.prepare.summaries import LEAST, Summariser
from localrag.prepare.synthetic import AnswerWriter
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Phase, Progress, ignore
from localrag_indexes.parallel import map_threads
from localrag_models.chat import ChatModel

By = Literal["auto", "model", "statutes"]
"""Who rewrites sentences: a model, the resolver (only of statutes), or each its best."""

PHASES = {
    SENTENCES: Phase(N_("splitting"), N_("sentences")),
    DECONTEXTUALIZED: Phase(N_("rewriting"), N_("sentences")),
    QUESTIONS: Phase(N_("asking"), N_("sentences")),
    METADATA: Phase(N_("sorting"), N_("documents")),
    SYNTHETIC_QA: Phase(N_("asking about documents"), N_("parts of documents")),
    MK_SUMMARIES: Phase(N_("summing up"), N_("summaries")),
}
# Jobs of a dry run, and their documents.
_SAMPLE, _DOCUMENTS = 20, 5
# Malformed replies that are named; all are counted.
_NAMED = 100


class _Maker(Protocol):
    def units(self) -> Iterator[str]:
        """The ids of documents, or the names of summaries."""

    def jobs(self, unit: str) -> Iterator[LayerJob]:
        """The jobs of one unit, in order."""


Listener = Callable[[Progress], None]
Opener = Callable[[Workspace, Config], ChatModel | None]


@dataclass(slots=True)
class LayerReport:
    """The report on a layer."""

    layer: str
    jobs: int = 0  # all rows to make, also of earlier runs
    earlier: int = 0  # made by earlier runs
    made: int = 0  # in this run
    outcomes: Counter[UnitOutcome] = field(default_factory=Counter)  # of this run
    # places of malformed replies, by document and first character; the first hundred
    malformed: list[tuple[str, int]] = field(default_factory=list)
    problems: Counter[Fact] = field(default_factory=Counter)  # the reasons, with counts
    refused: int = 0  # refused texts in this run
    gone: int = 0  # rows dropped, because their sources or recipes have changed
    prompt: int = 0  # prompt, cached, completion: tokens of this run
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0  # of this run

    # Of the jobs at the beginning of the run, and of those done.
    _characters: int = 0
    _made_characters: int = 0
    _first_characters: int = 0
    _first_seconds: float = 0.0

    @property
    def left(self) -> int:
        """Jobs for a later run."""
        return self.jobs - self.earlier - self.made

    @property
    def forecast(self) -> float:
        """Seconds for the rest, by its characters; 0 if nothing was made."""
        left = self._characters - self._made_characters
        characters, seconds = self._made_characters, self.seconds
        if self.made > 1:
            # The first job takes longer to start.
            characters, seconds = characters - self._first_characters, seconds - self._first_seconds
        return left * seconds / characters if characters else 0.0

    def look(self, job: LayerJob, *, is_made: bool) -> None:
        """Count a job before the work."""
        self.jobs += 1
        self.earlier += is_made
        if not is_made:
            self._characters += job.span.end - job.span.start

    def count(self, row: DerivedRow, problem: Fact | None, seconds: float) -> None:
        """Count a row, its problem, and the seconds of all rows so far."""
        self.made += 1
        self.seconds = seconds
        self.outcomes[row.outcome] += 1
        self.refused += row.refusals
        self._made_characters += row.end - row.start
        if self.made == 1:
            self._first_characters, self._first_seconds = self._made_characters, seconds
        if row.outcome is UnitOutcome.MALFORMED and len(self.malformed) < _NAMED:
            self.malformed.append(row.place)
        if problem is not None:
            self.problems[problem] += 1
        self.prompt += row.prompt
        self.cached += row.cached
        self.completion += row.completion


def prepare(
    workspace: Workspace,
    corpus: str,
    config: Config,
    layers: Sequence[str],
    *,
    by: By = "auto",
    categories: Categories | None = None,  # of documents; None for the last ones
    least: int = LEAST,
    dry_run: bool = False,
    on_event: Listener = ignore,
    opener: Opener = open_chat,
) -> Iterator[LayerReport]:
    """Make layers of a corpus and index them. Rows with the same text and recipe stay.

    Each layer is made when its report is asked for; the index follows the last one. After any
    interruption, the next run continues.
    """
    place = workspace.corpus(corpus)
    place.require()
    with (
        CorpusStore.open(place.store, read_only=True) as store,
        _LazyModel(workspace, config, opener) as model,
    ):
        for name in require(layers):
            layer = DerivedLayer(place, name)
            with layer.opened():
                maker = _maker(name, store, place, model, by=by, categories=categories, least=least)
                report = _LayerRun(layer, maker, model, on_event).run(dry_run=dry_run)
                if name == METADATA:
                    tell_apart(store, layer)
            yield report
        if not dry_run:
            index_layers(workspace, corpus, config, store, partial(_tell, on_event))


def propose_categories(
    workspace: Workspace, corpus: str, config: Config, opener: Opener = open_chat
) -> Categories:
    """Have a model propose categories for a corpus; nothing is written."""
    place = workspace.corpus(corpus)
    place.require()
    with (
        CorpusStore.open(place.store, read_only=True) as store,
        _LazyModel(workspace, config, opener) as opened,
    ):
        return propose(store, opened.model, config.chat)


def _tell(listener: Listener, event: Event) -> None:
    if isinstance(event, Progress):
        listener(event)


class _LazyModel:
    def __init__(self, workspace: Workspace, config: Config, opener: Opener) -> None:
        self.settings = config.chat
        self._workspace = workspace
        self._config = config
        self._opener = opener

    @property
    def threads(self) -> int:
        """Jobs at the same time; 1 without a model."""
        return self.model.parallel if "model" in self.__dict__ else 1

    @cached_property
    def model(self) -> ChatModel:
        model = self._opener(self._workspace, self._config)
        if model is None:
            raise UsageError(
                N_(
                    "This layer is made by a chat model, and none is named; of statutes, sentences "
                    "are rewritten without one (--by statutes)."
                ),
                Fact(FactKind.TO_SET_MODEL),
            )
        return model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "model" in self.__dict__:
            self.model.close()


def _maker(
    name: str,
    store: CorpusStore,
    place: CorpusPaths,
    model: _LazyModel,
    *,
    by: By,
    categories: Categories | None,
    least: int,
) -> _Maker:
    match name:
        case kinds.SENTENCES:
            return _ByDocument(store, partial(sentence_jobs, store))
        case kinds.DECONTEXTUALIZED:
            return _ByDocument(store, _rewriting(store, model, by))
        case kinds.METADATA:
            sorter = Sorter(model.model, model.settings, _categories(place, categories))
            return _ByDocument(store, sorter.jobs)
        case kinds.SYNTHETIC_QA:
            return _ByDocument(store, AnswerWriter(store, model.model, model.settings).jobs)
        case kinds.MK_SUMMARIES:
            return Summariser(place, store.facets, model.model, model.settings, least)
        case _:
            rewritten = _rewritten(place)
            return _ByDocument(store, Questioner(model.model, model.settings, rewritten).jobs)


def _categories(place: CorpusPaths, named: Categories | None) -> Categories:
    """The given categories, which are stored; else the last ones."""
    if named is not None:
        keep(place, named)
        return named
    before = kept(place)
    if before is None:
        raise UsageError(
            N_("No categories are named to sort the documents by."),
            N_("Name a file of categories, or one of {known}: --categories statutes"),
            known=", ".join(SHIPPED),
        )
    return before


def tell_apart(store: CorpusStore, layer: DerivedLayer) -> None:
    """Let searches filter documents by the labels of a model."""
    rows = ((row.document, row.labels) for row in layer.standing())
    with storing(store.facets_file.parent):
        replace_text(store.facets_file, as_told(rows, store.stamp))


class _ByDocument:
    def __init__(self, store: CorpusStore, jobs: Callable[[Document], Iterator[LayerJob]]) -> None:
        self._store = store
        self._jobs = jobs

    def units(self) -> Iterator[str]:
        return (info.id for info in self._store.documents())

    def jobs(self, unit: str) -> Iterator[LayerJob]:
        return self._jobs(self._store.read(unit))


def _rewriting(
    store: CorpusStore, model: _LazyModel, by: By
) -> Callable[[Document], Iterator[LayerJob]]:
    """Rewrites each document by model or resolver."""
    # Statutes alone need no model.
    rewriter = cache(lambda: Rewriter(model.model, model.settings))

    def jobs(document: Document) -> Iterator[LayerJob]:
        if document.kind == "law" and by != "model":
            return statute_jobs(store, document)
        return iter(()) if by == "statutes" else rewriter().jobs(document)

    return jobs


def _rewritten(place: CorpusPaths) -> Mapping[str, list[DerivedRow]]:
    layer, found = DerivedLayer(place, DECONTEXTUALIZED), defaultdict[str, list[DerivedRow]](list)
    for row in sorted(layer.standing(), key=lambda row: row.place):
        if row.texts:
            found[row.document].append(row)
    if not layer.is_there:
        raise UsageError(
            N_("Questions are made of rewritten sentences, and there are none."),
            N_("Make them first: localrag prepare --layers {layers}"),
            layers=f"{DECONTEXTUALIZED},{QUESTIONS}",
        )
    return found


class _LayerRun:
    def __init__(
        self,
        layer: DerivedLayer,
        maker: _Maker,
        model: _LazyModel,
        on_event: Listener,
    ) -> None:
        self._layer = layer
        self._maker = maker
        self._model = model
        self._tell = on_event
        self._made_of = layer.digests()
        self._current = set[str]()
        self._report = LayerReport(layer.name)

    def run(self, *, dry_run: bool) -> LayerReport:
        """Make the missing rows; in a dry run a sample of them."""
        report = self._report
        missing = self._look()
        if dry_run:
            # Spread over the corpus, the same ones every time.
            Random(report.jobs).shuffle(missing)  # noqa: S311 - a sample
        started = perf_counter()
        sampled = set[str]()
        jobs = self._open(missing)
        for job, (made, seconds) in map_threads(_timed, jobs, self._model.threads):
            if dry_run and len(sampled | {job.document}) > _DOCUMENTS and report.made >= _SAMPLE:
                break
            sampled.add(job.document)
            row = job.row(made, seconds)
            self._layer.append(row)
            report.count(row, made.problem, perf_counter() - started)
            self._tell(
                Progress(
                    PHASES[report.layer],
                    report.earlier + report.made,
                    report.jobs,
                    report.seconds,
                    report.earlier,
                    report.outcomes[UnitOutcome.MALFORMED],
                )
            )
        if not dry_run:
            report.gone = self._layer.keep(self._current)
        return report

    def _look(self) -> list[str]:
        """Count the jobs; returns the units with missing rows."""
        missing = []
        for unit in self._maker.units():
            is_missing = False
            for job in self._maker.jobs(unit):
                self._current.add(job.made_of)
                is_made = self._is_made(job)
                self._report.look(job, is_made=is_made)
                is_missing |= not is_made
            if is_missing:
                missing.append(unit)
        return missing

    def _open(self, units: Iterable[str]) -> Iterator[LayerJob]:
        for unit in units:
            for job in self._maker.jobs(unit):
                if not self._is_made(job):
                    yield job

    def _is_made(self, job: LayerJob) -> bool:
        return self._made_of.get((job.document, job.span.start)) == job.made_of


def _timed(job: LayerJob) -> tuple[Made, float]:
    started = perf_counter()
    return job.make(), perf_counter() - started
