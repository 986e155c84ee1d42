"""Making derived layers: every sentence once, whatever ends the work, and nothing else anew."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from random import Random
from time import perf_counter
from typing import Literal

from localrag.config import Config
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document
from localrag.errors import UsageError
from localrag.facts import Fact, FactKind
from localrag.inference.opening import open_chat
from localrag.ingest.events import Event
from localrag.language import N_
from localrag.prepare.decontextualized import Rewriter, sentence_jobs, statute_jobs
from localrag.prepare.index import index_layers
from localrag.prepare.layers import (
    DECONTEXTUALIZED,
    QUESTIONS,
    SENTENCES,
    DerivedLayer,
    DerivedRow,
    Job,
    Made,
    Outcome,
    require,
)
from localrag.prepare.questions import Questioner
from localrag.progress import Phase, Progress, ignore
from localrag.workspace import CorpusPaths, Workspace
from localrag_indexes.parallel import map_threads
from localrag_models.chat import ChatModel

By = Literal["auto", "model", "statutes"]
"""What rewrites sentences: a model all of them, the resolver those of statutes and nothing else,
or each what it can do better."""

PHASES = {
    SENTENCES: Phase(N_("splitting"), N_("sentences")),
    DECONTEXTUALIZED: Phase(N_("rewriting"), N_("sentences")),
    QUESTIONS: Phase(N_("asking"), N_("sentences")),
}
# Sentences that are made to tell how long the others take, and documents that they are of.
_SAMPLE, _DOCUMENTS = 20, 5
# Malformed replies that are named; all are counted.
_NAMED = 100

_Jobs = Callable[[Document], Iterator[Job]]
Listener = Callable[[Progress], None]
Opener = Callable[[Workspace, Config], ChatModel | None]


@dataclass(slots=True)
class LayerReport:
    """What was done for a layer.

    Attributes:
        layer: its name.
        sentences: of which something is to be made, those of earlier runs included.
        earlier: of these, what earlier runs made.
        made: in this run.
        outcomes: of this run.
        malformed: where they are, by document and first character; the first hundred.
        gone: rows dropped, whose sentences or recipes are others now.
        prompt, cached, completion: tokens of this run.
        seconds: that this run took to make them.
    """

    layer: str
    sentences: int = 0
    earlier: int = 0
    made: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    malformed: list[tuple[str, int]] = field(default_factory=list)
    gone: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0

    # Of sentences that were to be made when the run began, and of those that it made.
    _characters: int = 0
    _made_characters: int = 0

    @property
    def left(self) -> int:
        """Sentences of which a later run is to make something."""
        return self.sentences - self.earlier - self.made

    @property
    def forecast(self) -> float:
        """Seconds for what is left, by its characters; 0 where nothing was made that could tell."""
        left = self._characters - self._made_characters
        return left * self.seconds / self._made_characters if self._made_characters else 0.0

    def look(self, job: Job, *, is_made: bool) -> None:
        """Take a sentence into account before anything is made."""
        self.sentences += 1
        self.earlier += is_made
        if not is_made:
            self._characters += job.span.end - job.span.start

    def count(self, row: DerivedRow, seconds: float) -> None:
        """Take one more row into account, and the seconds that all have taken."""
        self.made += 1
        self.seconds = seconds
        self.outcomes[row.outcome] += 1
        self._made_characters += row.end - row.start
        if row.outcome is Outcome.MALFORMED and len(self.malformed) < _NAMED:
            self.malformed.append(row.place)
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
    dry_run: bool = False,
    on_event: Listener = ignore,
    opener: Opener = open_chat,
) -> list[LayerReport]:
    """Make layers of a corpus and index them; what is made of the same text and recipe stays.

    Whatever ends it, a kill included, the next run goes on where it stopped.

    Args:
        workspace: where the corpus lies.
        corpus: its name.
        config: settings.
        layers: their names.
        by: what rewrites sentences.
        dry_run: make only some sentences, spread over the corpus, to tell how long all take. They
            are kept.
        on_event: told the progress, in this thread.
        opener: opens the model.

    Raises:
        NotFoundError: there is no such corpus.
        UsageError: there is no such layer, it needs a model and the settings name none, or the
            layer that it is made of is not there.
        BusyError: another process makes the same layer.
        ModelUnusable: the model fails; what was made is kept.
        StorageError: the disk is full; likewise.
    """
    place = workspace.corpus(corpus)
    place.require()
    reports = []
    with CorpusStore.open(place.store, read_only=True) as store:
        model = _LazyModel(workspace, config, opener)
        for name in require(layers):
            layer = DerivedLayer(place, name)
            with layer.opened():
                jobs = _jobs_of(name, store, place, model, by)
                reports.append(_Work(store, layer, jobs, model, on_event).run(dry_run=dry_run))
        if not dry_run:
            index_layers(workspace, corpus, config, store, partial(_tell, on_event))
    return reports


def _tell(listener: Listener, event: Event) -> None:
    if isinstance(event, Progress):
        listener(event)


class _LazyModel:
    """The chat model, opened when the first sentence needs it."""

    def __init__(self, workspace: Workspace, config: Config, opener: Opener) -> None:
        self.settings = config.chat
        self._workspace = workspace
        self._config = config
        self._opener = opener

    @property
    def threads(self) -> int:
        """Sentences that may be made at the same time; 1 where no model was needed."""
        return self.model.parallel if "model" in self.__dict__ else 1

    @cached_property
    def model(self) -> ChatModel:
        """The model.

        Raises:
            UsageError: the settings name none.
            ModelUnusable: it cannot be used.
        """
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


def _jobs_of(name: str, store: CorpusStore, place: CorpusPaths, model: _LazyModel, by: By) -> _Jobs:
    """What makes one layer of a document."""
    if name == SENTENCES:
        return partial(sentence_jobs, store)
    if name == DECONTEXTUALIZED:
        return _Rewriting(store, model, by)
    rewritten = _rewritten(place)
    return Questioner(model.model, model.settings, rewritten).jobs


class _Rewriting:
    """Rewrites each document by what is chosen for it."""

    def __init__(self, store: CorpusStore, model: _LazyModel, by: By) -> None:
        self._store = store
        self._model = model
        self._by = by

    def __call__(self, document: Document) -> Iterator[Job]:
        if document.kind == "law" and self._by != "model":
            return statute_jobs(self._store, document)
        if self._by == "statutes":
            return iter(())
        return self._rewriter.jobs(document)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self._model.model, self._model.settings)


def _rewritten(place: CorpusPaths) -> Mapping[str, list[DerivedRow]]:
    """The sentences that were rewritten, by document, in reading order.

    Raises:
        UsageError: none was.
    """
    found: dict[str, list[DerivedRow]] = defaultdict(list)
    for row in sorted(DerivedLayer(place, DECONTEXTUALIZED).standing(), key=lambda row: row.place):
        if row.texts:
            found[row.document].append(row)
    if not found:
        raise UsageError(
            N_("Questions are made of rewritten sentences, and there are none."),
            N_("Make them first: localrag prepare --layers {layers}"),
            layers=f"{DECONTEXTUALIZED},{QUESTIONS}",
        )
    return found


class _Work:
    """One run over one layer."""

    def __init__(
        self,
        store: CorpusStore,
        layer: DerivedLayer,
        jobs: _Jobs,
        model: _LazyModel,
        on_event: Listener,
    ) -> None:
        self._store = store
        self._layer = layer
        self._jobs = jobs
        self._model = model
        self._tell = on_event
        self._made_of = layer.digests()
        self._current = set[str]()
        self._report = LayerReport(layer.name)

    def run(self, *, dry_run: bool) -> LayerReport:
        """Make what is missing; in a dry run a sample of it."""
        report = self._report
        missing = self._look()
        if dry_run:
            # Spread over the corpus, and the same ones whenever nothing has changed.
            Random(report.sentences).shuffle(missing)  # noqa: S311 - a sample
        started = perf_counter()
        sampled = set[str]()
        jobs = self._open(missing)
        for job, (made, seconds) in map_threads(_timed, jobs, self._model.threads):
            if dry_run and len(sampled | {job.document}) > _DOCUMENTS and report.made >= _SAMPLE:
                break
            sampled.add(job.document)
            row = job.row(made, seconds)
            self._layer.append(row)
            report.count(row, perf_counter() - started)
            self._tell(
                Progress(
                    PHASES[report.layer],
                    report.earlier + report.made,
                    report.sentences,
                    report.seconds,
                    report.earlier,
                    report.outcomes[Outcome.MALFORMED],
                )
            )
        if not dry_run:
            report.gone = self._layer.keep(self._current)
        return report

    def _look(self) -> list[str]:
        """Count the sentences; returns the documents that something is to be made of."""
        missing = []
        for info in self._store.documents():
            document = self._store.read(info.key)
            is_missing = False
            for job in self._jobs(document):
                self._current.add(job.made_of)
                is_made = self._is_made(job)
                self._report.look(job, is_made=is_made)
                is_missing |= not is_made
            if is_missing:
                missing.append(info.id)
        return missing

    def _open(self, documents: Iterable[str]) -> Iterator[Job]:
        for id_ in documents:
            for job in self._jobs(self._store.read(id_)):
                if not self._is_made(job):
                    yield job

    def _is_made(self, job: Job) -> bool:
        return self._made_of.get((job.document, job.span.start)) == job.made_of


def _timed(job: Job) -> tuple[Made, float]:
    started = perf_counter()
    return job.make(), perf_counter() - started
