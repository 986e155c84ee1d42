"""The runs there are: every batch and every evaluation, how each is, what is wrong with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.workspace import Workspace
from localrag.language import N_, _
from localrag_tui.runs.work import BatchOrder, EvaluationOrder

if TYPE_CHECKING:
    from localrag.evaluation.record import Run
    from localrag.ops.batch import KnownBatch
    from localrag.ops.batch.rows import WrittenRows


class RunState(StrEnum):
    """How a run is; each is a message."""

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
    """A file of answers of a run: that of a batch; of an evaluation, one order of one entry.

    Attributes:
        name: of the entry; "" of a batch.
        order: of the options, from 0.
        path: the file.
        total: rows of it that are asked.
        done, failed: of them, those that have an answer, and those with an error.
        tally: rows by status or type of error.
        stopped: why the entry cannot go on.
    """

    name: str
    order: int
    path: Path
    total: int
    done: int
    failed: int
    tally: Mapping[str, int]
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run.

    Attributes:
        key: what tells it from others: the file of answers, the folder of an evaluation, a note.
        name: what it is called.
        about: what is asked of what.
        started, finished: ISO date and time (UTC); "" where they are not.
        parts: its files of answers.
        order: what goes on with it; None where that cannot be told.
        cause, cure: what is wrong with it.
        known: the note of a batch.
        folder: of an evaluation.
    """

    key: str
    name: str
    about: str
    state: RunState
    started: str = ""
    finished: str = ""
    parts: tuple[RunPart, ...] = ()
    order: BatchOrder | EvaluationOrder | None = None
    cause: str = ""
    cure: str = ""
    known: "KnownBatch | None" = None
    folder: Path | None = None

    @property
    def done(self) -> int:
        """Questions that have an answer, or an error in its place; each order counts."""
        return sum(part.done for part in self.parts)

    @property
    def total(self) -> int:
        """Questions that are asked; each order counts."""
        return sum(part.total for part in self.parts)

    @property
    def failed(self) -> int:
        """Questions with an error."""
        return sum(part.failed for part in self.parts)

    @property
    def tally(self) -> dict[str, int]:
        """Questions by status or type of error, the most frequent first."""
        found: dict[str, int] = {}
        for part in self.parts:
            for outcome, n in part.tally.items():
                found[outcome] = found.get(outcome, 0) + n
        return dict(sorted(found.items(), key=lambda item: -item[1]))


@dataclass
class Runs:
    """Looks the runs of a workspace up, in a thread; what has not grown is not read again.

    Attributes:
        overrides: settings of the command line, which hold for what is started from here too.
    """

    workspace: Workspace
    overrides: Mapping[str, object]
    _books: dict[Path, "WrittenRows"] = field(default_factory=dict)

    def lines(self) -> list[RunLine]:
        """Every run, the newest first."""
        found = [*self._batches(), *self._evaluations()]
        return sorted(found, key=lambda line: line.started, reverse=True)

    def forget(self, batch: "KnownBatch") -> None:
        """Take a batch off the list; see `localrag.ops.batch.forget` for the errors."""
        from localrag.ops.batch import forget

        forget(self.workspace, batch)

    def book(self, path: Path) -> "WrittenRows":
        """A file of answers as it is now.

        Raises:
            OSError: it cannot be read.
        """
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
    """The method and the model that answers were made with."""
    return " ".join(str(origin[key]) for key in ("method", "chat.model") if origin.get(key))


def _distinct(made: list[dict[str, object]], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one[key]) for one in made if one.get(key)))


def _damaged(path: Path) -> RunLine:
    return RunLine(str(path), path.name, "", RunState.DAMAGED, cause=str(path))


def state(line: RunLine) -> tuple[str, str]:
    """How a run is, with its style."""
    return _(line.state.value), _STYLES[line.state]


def problem(line: RunLine) -> tuple[str, str]:
    """What is wrong with a run, and what to do about it."""
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
