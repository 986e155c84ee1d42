"""What a run does in its process: the batch or the evaluation, and what it tells the screen."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.config import Config, load
from localrag.facts import Fact, FactKind
from localrag.language import _
from localrag.progress import Progress
from localrag.workspace import Workspace
from localrag_tui.jobs.step import Steps
from localrag_tui.runs.events import (
    Begun,
    Halted,
    Step,
    Warned,
)
from localrag_tui.runs.orders import BatchOrder, EvaluationOrder

if TYPE_CHECKING:
    from localrag.batch import BatchEstimate, BatchReport
    from localrag.evaluation.planning import Plan
    from localrag.evaluation.runner import Forecast

Tell = Callable[[object], None]


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
    """Run a batch, or go on with it; errors are those of `localrag.batch.run`."""
    from localrag.batch import run

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
    """What a batch would take; errors are those of `localrag.batch.estimate`."""
    from localrag.batch import estimate

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

    plan = _plan(order)
    told = _Told(tell)
    begun = False

    def listen(event: object) -> None:
        nonlocal begun
        if not begun:
            begun, asked = True, planned(plan)
            same = (folder for folder, run in recorded(plan.workspace) if run.asks_as(asked))
            folders = (one for one in same if order.run in ("", one.name))
            tell(Begun(str(next(folders))))
        told(event)

    finished = evaluate(plan, run=order.run, retry_failed=order.retry_failed, on_event=listen)
    tell(Begun(str(finished.folder)))
    stopped = (f"{name}: {error}" for name, error in finished.stopped.items())
    return EvaluationEnded(finished.asked, tuple(stopped))


def forecast(tell: Tell, order: EvaluationOrder) -> "Sequence[Forecast]":
    """What an evaluation would take; errors are those of `plan`."""
    from localrag.evaluation.runner import forecast

    del tell
    return list(forecast(_plan(order)))


def _plan(order: EvaluationOrder) -> "Plan":
    from localrag.evaluation.datasets import loading
    from localrag.evaluation.planning import plan

    workspace = Workspace.locate(order.home)
    found = loading.find(workspace, order.dataset)
    usual = load(workspace, order.overrides).corpus
    corpus = order.corpus or loading.corpus_name(found.dataset) or usual
    return plan(
        workspace,
        loading.load(workspace, order.dataset, order.split, corpus=corpus),
        corpus,
        load(workspace, order.overrides, workspace.corpus(corpus)),
        order.methods,
        models=order.models,
        stages=order.stages,
        judge=order.judge,
        synonyms=loading.synonyms_at_hand(found),
        orders=order.orders,
        limit=order.limit,
    )


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
        from localrag.evaluation import events as of_evaluation

        match event:
            case Progress():
                self._follow(event)
            case Fact() if event.kind is not FactKind.STOPPED:
                self._tell(event)
            case of_evaluation.Asking(name, order, _orders, place, batches):
                self._tell(Step(name, order, "", place, batches))
            case of_evaluation.Judging(name, judge, place, entries):
                self._tell(Step(name, 0, judge, place, entries))
            case of_evaluation.Halted(name, cause, cure):
                self._tell(Halted(name, cause, cure))
            case _:
                pass
