"""What a run does in its process: what is ordered, what is done, what it tells the screen."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.config import Config, load
from localrag.corpus.workspace import Workspace
from localrag.language import _
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress
from localrag_tui.jobs.step import Steps

if TYPE_CHECKING:
    from localrag.evaluation.planning import Plan
    from localrag.evaluation.runner import Forecast
    from localrag.evaluation.types import Questions
    from localrag.ops.batch import BatchEstimate, BatchReport

Tell = Callable[[object], None]


@dataclass(frozen=True)
class BatchOrder:
    """A batch.

    Attributes:
        home: of the workspace.
        overrides: settings, by dotted key.
        questions, out: the tables, absolute.
        concurrency: questions at the same time; 0 for what the settings say.
        retry_failed: whether failed rows are asked again.
    """

    home: Path
    corpus: str
    overrides: Mapping[str, object]
    questions: Path
    out: Path
    concurrency: int = 0
    retry_failed: bool = False

    @property
    def key(self) -> str:
        """What tells it from other runs; see `RunLine`."""
        from localrag.ops.batch.document import rows_beside

        return str(rows_beside(self.out))


@dataclass(frozen=True)
class EvaluationOrder:
    """An evaluation.

    Attributes:
        home: of the workspace.
        overrides: settings, by dotted key.
        dataset: a name, or the path of a file of questions.
        split: "" for the first that is at hand.
        corpus: what is searched; "" for that of the dataset, else that of the overrides.
        methods: their names.
        models: chat models; none for that of the settings.
        stages: orders of stages; none for that of the settings.
        judge: "" for none.
        orders: of the options.
        limit: questions, from the first; 0 for all.
        run: its name; "" for that of the run that asks the same, else the time.
        folder: where it lies, of one that was begun.
        retry_failed: whether failed questions are asked again.
    """

    home: Path
    overrides: Mapping[str, object]
    dataset: str
    methods: tuple[str, ...]
    split: str = ""
    corpus: str = ""
    models: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    judge: str = ""
    orders: int = 1
    limit: int = 0
    run: str = ""
    folder: str = ""
    retry_failed: bool = False

    @property
    def key(self) -> str:
        """What tells it from other orders: its folder; "" where it has none yet."""
        return self.folder


# What is told of the events of localrag: values of their own, so that the screen need not import
# what runs a batch.


@dataclass(frozen=True, slots=True)
class FolderMade:
    """An evaluation has its folder."""

    folder: str


@dataclass(frozen=True, slots=True)
class EntryStep:
    """A part of an evaluation begins.

    Attributes:
        name: of the entry.
        order: of the options, from 0.
        judge: the model that judges its answers; "" where they are asked for.
        place, of: which part of how many.
    """

    name: str
    order: int
    judge: str
    place: int
    of: int


@dataclass(frozen=True, slots=True)
class EntryHalted:
    """An entry cannot go on; the others do."""

    name: str
    cause: str
    cure: str


@dataclass(frozen=True, slots=True)
class Warned:
    """What our packages write to the log: a server that was asked again, say."""

    message: str


@dataclass(frozen=True, slots=True)
class BatchEnded:
    """What a batch came to."""

    answered: int
    failed: int

    def told(self) -> str:
        """In a line."""
        return _("{answered} answered, {failed} failed").format(
            answered=f"{self.answered:,}", failed=f"{self.failed:,}"
        )

    def details(self) -> list[str]:
        """Line by line."""
        return [self.told()]


@dataclass(frozen=True, slots=True)
class EvaluationEnded:
    """What an evaluation came to.

    Attributes:
        asked: questions of this call.
        stopped: what could not go on, and why, a line each.
    """

    asked: int
    stopped: tuple[str, ...]

    def told(self) -> str:
        """In a line."""
        asked = _("{n} asked now; the report is written").format(n=f"{self.asked:,}")
        return "\n".join((asked, *self.stopped))

    def details(self) -> list[str]:
        """Line by line."""
        return self.told().splitlines()


def batch(tell: Tell, order: BatchOrder) -> BatchEnded:
    """Run a batch, or go on with it; errors are those of `localrag.ops.batch.run`."""
    from localrag.ops.batch import run

    workspace, config = _place(order)
    report: BatchReport = run(
        workspace,
        order.corpus,
        config,
        order.questions,
        order.out,
        concurrency=order.concurrency,
        retry_failed=order.retry_failed,
        on_event=_Told(tell),
    )
    return BatchEnded(report.answered, sum(report.failed.values()))


def estimate(tell: Tell, order: BatchOrder) -> "BatchEstimate":
    """What a batch would take; errors are those of `localrag.ops.batch.estimate`."""
    from localrag.ops.batch import estimate

    workspace, config = _place(order)
    return estimate(
        workspace,
        order.corpus,
        config,
        order.questions,
        order.out,
        concurrency=order.concurrency,
        on_event=_Told(tell),
    )


def evaluation(tell: Tell, order: EvaluationOrder) -> EvaluationEnded:
    """Run an evaluation, or go on with it; errors are those of `plan` and `evaluate`."""
    from localrag.evaluation.record import planned, recorded
    from localrag.evaluation.runner import evaluate

    asks = plan(order, load_questions(order))
    told = _Told(tell)
    begun = False

    def listen(event: object) -> None:
        nonlocal begun
        if not begun:
            begun, asked = True, planned(asks)
            same = (folder for folder, run in recorded(asks.workspace) if run.asks_as(asked))
            folders = (one for one in same if order.run in ("", one.name))
            tell(FolderMade(str(next(folders))))
        told(event)

    finished = evaluate(asks, run=order.run, retry_failed=order.retry_failed, on_event=listen)
    tell(FolderMade(str(finished.folder)))
    stopped = (f"{name}: {error}" for name, error in finished.stopped.items())
    return EvaluationEnded(finished.asked, tuple(stopped))


def forecast(tell: Tell, order: EvaluationOrder) -> "Sequence[Forecast]":
    """What an evaluation would take; errors are those of `plan`."""
    from localrag.evaluation.runner import forecast

    del tell
    return list(forecast(plan(order, load_questions(order))))


def load_questions(order: EvaluationOrder) -> "Questions":
    """The questions of an evaluation; errors are those of `load` of datasets."""
    from localrag.evaluation.datasets import loading

    workspace = Workspace.locate(order.home)
    corpus = _corpus(workspace, order)
    return loading.load(workspace, order.dataset, order.split, corpus=corpus)


def plan(order: EvaluationOrder, questions: "Questions") -> "Plan":
    """What an evaluation asks; errors are those of `localrag.evaluation.planning.plan`."""
    from localrag.evaluation.datasets import loading
    from localrag.evaluation.planning import plan

    workspace = Workspace.locate(order.home)
    corpus = _corpus(workspace, order)
    return plan(
        workspace,
        questions,
        corpus,
        load(workspace, order.overrides, workspace.corpus(corpus)),
        order.methods,
        models=order.models,
        stages=order.stages,
        judge=order.judge,
        synonyms=loading.synonyms_at_hand(loading.find(workspace, order.dataset)),
        orders=order.orders,
        limit=order.limit,
    )


def _corpus(workspace: Workspace, order: EvaluationOrder) -> str:
    """What is searched: what was chosen, that of the dataset, or that of the settings."""
    from localrag.evaluation.datasets import loading

    dataset = loading.find(workspace, order.dataset).dataset
    usual = load(workspace, order.overrides).corpus
    return order.corpus or loading.corpus_name(dataset) or usual


def _place(order: BatchOrder) -> tuple[Workspace, Config]:
    workspace = Workspace.locate(order.home)
    return workspace, load(workspace, order.overrides, workspace.corpus(order.corpus))


class _Told(logging.Handler):
    """Tells what the screen shows of the events, and no more of it than can be read.

    The rows themselves, failed ones too, are read from the file of answers.
    """

    def __init__(self, tell: Tell) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._follow = Steps(tell)
        for package in ("localrag", "localrag_models", "localrag_indexes"):
            logging.getLogger(package).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Tell what was written to the log."""
        self._tell(Warned(record.getMessage()))

    def __call__(self, event: object) -> None:
        """Tell an event of a batch or an evaluation."""
        from localrag.evaluation.types import Asking, Halted, Judging

        match event:
            case Progress():
                self._follow(event)
            case Fact() if event.kind is not FactKind.STOPPED:
                self._tell(event)
            case Asking(name, order, _orders, place, batches):
                self._tell(EntryStep(name, order, "", place, batches))
            case Judging(name, judge, place, entries):
                self._tell(EntryStep(name, 0, judge, place, entries))
            case Halted(name, cause, cure):
                self._tell(EntryHalted(name, cause, cure))
            case _:
                pass
