"""Orders of runs, their work in a process of its own, and the list of runs."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self

from localrag.corpus.config import Config, load
from localrag.corpus.workspace import Workspace
from localrag.language import N_, _
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress
from localrag_tui.work.jobs import JobOutcome, Steps

if TYPE_CHECKING:
    from localrag.evaluation.planning import Plan
    from localrag.evaluation.record import Run
    from localrag.evaluation.runner import Forecast
    from localrag.evaluation.types import Questions
    from localrag.ops.batch import BatchEstimate, BatchReport, KnownBatch
    from localrag.ops.batch.rows import WrittenRows

Tell = Callable[[object], None]


@dataclass(frozen=True)
class BatchOrder:
    """A batch."""

    home: Path
    corpus: str
    overrides: Mapping[str, object]
    questions: Path
    out: Path
    concurrency: int = 0  # questions at the same time; 0 for the setting
    retry_failed: bool = False

    @property
    def key(self) -> str:
        from localrag.ops.batch.document import rows_beside

        return str(rows_beside(self.out))


@dataclass(frozen=True)
class EvaluationOrder:
    """An evaluation."""

    home: Path
    overrides: Mapping[str, object]
    dataset: str  # a name, or the path of a file of questions
    methods: tuple[str, ...]
    split: str = ""  # "" for the first one at hand
    corpus: str = ""  # "" for the corpus of the dataset, else of the overrides
    models: tuple[str, ...] = ()  # chat models; empty for the setting
    stages: tuple[str, ...] = ()  # orders of stages; empty for the setting
    judge: str = ""
    orders: int = 1
    limit: int = 0  # questions, from the first; 0 for all
    run: str = ""  # its name; "" for the run with the same questions, else the time
    folder: str = ""
    retry_failed: bool = False

    @property
    def key(self) -> str:
        return self.folder


# Own events: the screen need not import the code that runs a batch.


@dataclass(frozen=True, slots=True)
class FolderMade:
    """An evaluation has its folder."""

    folder: str


@dataclass(frozen=True, slots=True)
class EntryStep:
    """A part of an evaluation begins."""

    name: str
    order: int  # of the options, from 0
    judge: str  # the judging model; "" while questions are asked
    place: int  # place, of: number of the part, and of all parts
    of: int


@dataclass(frozen=True, slots=True)
class EntryHalted:
    """An entry cannot go on; the others do."""

    name: str
    cause: str
    cure: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A log message of our packages, such as a repeated request to a server."""

    message: str


def batch(tell: Tell, order: BatchOrder) -> JobOutcome:
    """Run or resume a batch; errors as in `localrag.ops.batch.run`."""
    from localrag.ops.batch import run

    workspace, config = _place(order)
    with _RunLog(tell) as told:
        report: BatchReport = run(
            workspace,
            order.corpus,
            config,
            order.questions,
            order.out,
            concurrency=order.concurrency,
            retry_failed=order.retry_failed,
            on_event=told,
        )
    outcome = _("{answered} answered, {failed} failed").format(
        answered=f"{report.answered:,}", failed=f"{sum(report.failed.values()):,}"
    )
    return JobOutcome(outcome)


def estimate(tell: Tell, order: BatchOrder) -> "BatchEstimate":
    """Estimate a batch; errors as in `localrag.ops.batch.estimate`."""
    from localrag.ops.batch import estimate

    workspace, config = _place(order)
    with _RunLog(tell) as told:
        return estimate(
            workspace,
            order.corpus,
            config,
            order.questions,
            order.out,
            concurrency=order.concurrency,
            on_event=told,
        )


def evaluation(tell: Tell, order: EvaluationOrder) -> JobOutcome:
    """Run or resume an evaluation; errors as in `plan` and `evaluate`."""
    from localrag.evaluation.record import planned, recorded
    from localrag.evaluation.runner import evaluate

    asks = plan(order, load_questions(order))
    begun = False

    def listen(event: object) -> None:
        nonlocal begun
        if not begun:
            begun, asked = True, planned(asks)
            same = (folder for folder, run in recorded(asks.workspace) if run.asks_as(asked))
            folders = (one for one in same if order.run in ("", one.name))
            tell(FolderMade(str(next(folders))))
        told(event)

    with _RunLog(tell) as told:
        finished = evaluate(asks, run=order.run, retry_failed=order.retry_failed, on_event=listen)
    tell(FolderMade(str(finished.folder)))
    asked = _("{n} asked now; the report is written").format(n=f"{finished.asked:,}")
    lines = (asked, *(f"{name}: {error}" for name, error in finished.stopped.items()))
    return JobOutcome("\n".join(lines), lines)


def forecast(tell: Tell, order: EvaluationOrder) -> "Sequence[Forecast]":
    """Estimate an evaluation; errors as in `plan`."""
    from localrag.evaluation.runner import forecast

    del tell
    return list(forecast(plan(order, load_questions(order))))


def load_questions(order: EvaluationOrder) -> "Questions":
    """The questions of an evaluation; errors as in `loading.load`."""
    from localrag.evaluation.datasets import loading

    workspace = Workspace.locate(order.home)
    corpus = _corpus(workspace, order)
    return loading.load(workspace, order.dataset, order.split, corpus=corpus)


def plan(order: EvaluationOrder, questions: "Questions") -> "Plan":
    """The plan of an evaluation; errors as in `localrag.evaluation.planning.plan`."""
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
    """The chosen corpus, else the corpus of the dataset, else of the settings."""
    from localrag.evaluation.datasets import loading

    dataset = loading.find(workspace, order.dataset).dataset
    usual = load(workspace, order.overrides).corpus
    return order.corpus or loading.corpus_name(dataset) or usual


def _place(order: BatchOrder) -> tuple[Workspace, Config]:
    workspace = Workspace.locate(order.home)
    return workspace, load(workspace, order.overrides, workspace.corpus(order.corpus))


_PACKAGES = "localrag", "localrag_models", "localrag_indexes"


class _RunLog(logging.Handler):
    """Passes events and warnings of a run to the screen, no more than can be read."""

    def __init__(self, tell: Tell) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._follow = Steps(tell)

    def __enter__(self) -> Self:
        for package in _PACKAGES:
            logging.getLogger(package).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for package in _PACKAGES:
            logging.getLogger(package).removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(Warned(record.getMessage()))

    def __call__(self, event: object) -> None:
        from localrag.evaluation.types import Asking, Judging, NotMeasured

        match event:
            case Progress():
                self._follow(event)
            case Fact() if event.kind is not FactKind.STOPPED:
                self._tell(event)
            case Asking(name, order, _orders, place, batches):
                self._tell(EntryStep(name, order, "", place, batches))
            case Judging(name, judge, place, entries):
                self._tell(EntryStep(name, 0, judge, place, entries))
            case NotMeasured(name, cause, cure):
                self._tell(EntryHalted(name, cause, cure))
            case _:
                pass


class RunState(StrEnum):
    """The states of a run; each is a message."""

    RUNNING = N_("running")
    ELSEWHERE = N_("elsewhere")
    STOPPED = N_("stopped")
    FINISHED = N_("finished")
    FAILED = N_("failed")
    MISSING = N_("missing")
    DAMAGED = N_("damaged")


_STYLES = {
    RunState.RUNNING: "$text-accent",
    RunState.ELSEWHERE: "$text-accent",
    RunState.STOPPED: "$text-warning",
    RunState.FINISHED: "$text-success",
    RunState.FAILED: "$text-error",
    RunState.MISSING: "$text-error",
    RunState.DAMAGED: "$text-error",
}


@dataclass(frozen=True, slots=True)
class RunPart:
    """A file of answers: of a batch, or of one order of an entry of an evaluation."""

    name: str  # of the entry; "" for a batch
    order: int  # of the options, from 0
    path: Path
    total: int
    done: int  # done, failed: questions with an answer, and with an error
    failed: int
    tally: Mapping[str, int]  # rows by status or type of error
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run."""

    key: str  # file of answers, folder of an evaluation, or note
    name: str
    about: str
    state: RunState
    started: str = ""  # started, finished: ISO date and time (UTC); "" if unknown
    finished: str = ""
    parts: tuple[RunPart, ...] = ()
    order: BatchOrder | EvaluationOrder | None = None  # to resume it; None if unknown
    cause: str = ""
    cure: str = ""
    known: "KnownBatch | None" = None
    folder: Path | None = None

    @property
    def done(self) -> int:
        return sum(part.done for part in self.parts)

    @property
    def total(self) -> int:
        return sum(part.total for part in self.parts)

    @property
    def failed(self) -> int:
        return sum(part.failed for part in self.parts)

    @property
    def tally(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for part in self.parts:
            for outcome, n in part.tally.items():
                found[outcome] = found.get(outcome, 0) + n
        return dict(sorted(found.items(), key=lambda item: -item[1]))


@dataclass
class Runs:
    """Reads the runs of a workspace, in a thread; unchanged files are not read again."""

    workspace: Workspace
    overrides: Mapping[str, object]  # settings of the command line, for started runs, too
    _books: dict[Path, "WrittenRows"] = field(default_factory=dict)

    def lines(self) -> list[RunLine]:
        found = [*self._batches(), *self._evaluations()]
        return sorted(found, key=lambda line: line.started, reverse=True)

    def forget(self, batch: "KnownBatch") -> None:
        """Remove a batch from the list; errors as in `localrag.ops.batch.forget`."""
        from localrag.ops.batch import forget

        forget(self.workspace, batch)

    def book(self, path: Path) -> "WrittenRows":
        """A file of answers as it is now. Raises `OSError` if it cannot be read."""
        from localrag.ops.batch.rows import WrittenRows

        book = self._books.setdefault(path, WrittenRows(path))
        book.refresh()
        return book

    def _batches(self) -> Iterator[RunLine]:
        from localrag.ops.batch import known, registry

        yield from map(self._batch, known(self.workspace))
        yield from map(_damaged, registry.damaged(self.workspace))

    def _batch(self, batch: "KnownBatch") -> RunLine:
        from localrag.ops.batch.folder import BatchFolder
        from localrag.ops.batch.origin import read

        folder = BatchFolder(batch.out)
        missing = batch.missing()
        origin = read(folder.origin) or {}
        part = self._part("", 0, batch.out, batch.rows)
        state, cause, cure = RunState.STOPPED, batch.cause, batch.cure
        if folder.busy:
            state, cause, cure = RunState.ELSEWHERE, "", ""
        elif missing:
            state, cause = RunState.MISSING, ", ".join(map(str, missing))
        elif cause:
            state = RunState.FAILED
        elif batch.finished:
            state = RunState.FINISHED
        words = (batch.questions.name if batch.questions else "-", batch.corpus, _made(origin))
        return RunLine(
            key=str(batch.out),
            name=batch.out.name,
            about=" · ".join(filter(None, words)),
            state=state,
            started=batch.started,
            finished=batch.finished,
            parts=(part,),
            order=self._batch_order(batch, origin) if origin else None,
            cause=cause,
            cure=cure,
            known=batch,
        )

    def _batch_order(self, batch: "KnownBatch", origin: Mapping[str, object]) -> BatchOrder | None:
        from localrag.ops.batch.origin import settings_of

        if batch.questions is None:
            return None
        overrides = {**self.overrides, **settings_of(origin)}
        return BatchOrder(
            self.workspace.home,
            batch.corpus,
            overrides,
            batch.questions,
            batch.document or batch.out,
            batch.concurrency,
        )

    def _evaluations(self) -> Iterator[RunLine]:
        from localrag.evaluation import record

        for folder, run in record.recorded(self.workspace):
            yield self._evaluation(folder, run)
        yield from map(_damaged, record.damaged(self.workspace))

    def _evaluation(self, folder: Path, run: "Run") -> RunLine:
        from localrag.ops.batch.folder import BatchFolder

        parts = tuple(
            self._part(entry.name, order, self.workspace.home / path, run.n, entry.stopped)
            for entry in run.entries
            for order, path in enumerate(entry.answers)
        )
        stopped = [f"{entry.name}: {entry.stopped}" for entry in run.entries if entry.stopped]
        state = RunState.FINISHED if run.finished else RunState.STOPPED
        if not run.finished:
            if any(BatchFolder(part.path).busy for part in parts):
                state = RunState.ELSEWHERE
            elif stopped:
                state = RunState.FAILED
        return RunLine(
            key=str(folder),
            name=f"{run.dataset}/{folder.name}",
            about=" · ".join((run.split, ", ".join(entry.name for entry in run.entries))),
            state=state,
            started=run.started,
            finished=run.finished,
            parts=parts,
            order=self._evaluation_order(folder, run),
            cause="\n".join(stopped) if state is RunState.FAILED else "",
            folder=folder,
        )

    def _evaluation_order(self, folder: Path, run: "Run") -> EvaluationOrder:
        from localrag.ops.batch.origin import settings_of

        overrides = dict(self.overrides)
        for entry in run.entries:
            overrides |= settings_of(entry.made_with)
        made = [entry.made_with for entry in run.entries]
        return EvaluationOrder(
            home=self.workspace.home,
            overrides=overrides,
            dataset=run.dataset,
            methods=tuple(dict.fromkeys(entry.method for entry in run.entries)),
            split=run.split,
            corpus=run.corpus,
            models=_distinct(made, "chat.model"),
            stages=_distinct(made, "method.stages"),
            judge=str(run.judge.get("judge.model", "")),
            orders=run.orders,
            limit=run.n,
            run=folder.name,
            folder=str(folder),
        )

    def _part(self, name: str, order: int, path: Path, total: int, stopped: str = "") -> RunPart:
        try:
            book = self.book(path)
        except OSError as error:
            return RunPart(name, order, path, total, 0, 0, {}, error.strerror or str(error))
        # Another run may have asked more of the same questions.
        tally = book.tally(total)
        failed = len(book.numbers(failed=True, up_to=total))
        return RunPart(name, order, path, total, tally.total(), failed, tally, stopped)


def _made(origin: Mapping[str, object]) -> str:
    return " ".join(str(origin[key]) for key in ("method", "chat.model") if origin.get(key))


def _distinct(made: list[dict[str, object]], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one[key]) for one in made if one.get(key)))


def _damaged(path: Path) -> RunLine:
    return RunLine(str(path), path.name, "", RunState.DAMAGED, cause=str(path))


def state(line: RunLine) -> tuple[str, str]:
    """The state of a run, with its style."""
    return _(line.state.value), _STYLES[line.state]


def problem(line: RunLine) -> tuple[str, str]:
    """The problem of a run, and its cure."""
    match line.state:
        case RunState.MISSING:
            return (
                _("Moved or removed: {files}").format(files=line.cause),
                _("Put them back, or take the run off this list: nothing else is lost."),
            )
        case RunState.DAMAGED:
            return (
                _("The record of this run cannot be read: {file}").format(file=line.cause),
                _("Restore it from a copy, or start the run again: answers are kept."),
            )
        case _:
            return line.cause, line.cure
