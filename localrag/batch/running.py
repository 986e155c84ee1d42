"""Running a batch: every row that has no answer yet is asked, and its answer written down."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from time import perf_counter
from typing import IO

from localrag.batch.checking import Checked, check
from localrag.batch.events import (
    ANSWERING,
    IndexBehind,
    Listener,
    Resumed,
    RowAnswered,
    RowFailed,
    Stopped,
    TableChecked,
    ignore,
)
from localrag.batch.failures import cause_and_cure
from localrag.batch.folder import RunFolder
from localrag.batch.ledger import AnswerFile
from localrag.batch.model import Answers, Opener, Outcome, Row
from localrag.batch.origin import origin_of, searches
from localrag.batch.registry import KnownBatch, noted, now
from localrag.batch.report import BatchReport, Spent
from localrag.batch.streak import settled
from localrag.batch.table import Table, open_table
from localrag.batch.workers import at_once, outcomes
from localrag.config import Config
from localrag.ingest.state import IndexState, index_state
from localrag.methods.answering import open_answers
from localrag.progress import Progress
from localrag.workspace import Workspace


def run(
    workspace: Workspace,
    corpus: str,
    config: Config,
    questions: Path | IO[bytes],
    out: Path,
    *,
    limit: int = 0,
    concurrency: int = 0,
    retry_failed: bool = False,
    restart: bool = False,
    on_event: Listener = ignore,
    opener: Opener = open_answers,
    note: bool = True,
) -> BatchReport:
    """Answer every question of a table, and write the answers to a file.

    Whatever ends a run, a kill included, the next one goes on where it stopped, and asks no row
    again that has its line in the file.

    Args:
        workspace: where the corpus lies.
        corpus: its name.
        config: settings.
        questions: the table (see `Table`), a file or a stream of bytes.
        out: the file of answers, JSON Lines; it may hold those of an earlier run.
        limit: ask only so many rows, from the beginning; 0 for all.
        concurrency: questions at the same time; 0 for as many as the settings say. A model in
            this process takes one at a time.
        retry_failed: ask the rows again that failed in an earlier run.
        restart: drop the answers of an earlier run.
        on_event: called in this thread.
        opener: opens what answers, in the place of what `localrag ask` uses.
        note: whether `known` is to tell of this batch.

    Raises:
        InputError: the table cannot be read as one, or an id occurs twice.
        UsageError: the file holds answers to other questions, or made with other settings.
        BusyError: another process writes the same file.
        StorageError: the disk is full; what was answered is kept.
        NotFoundError, WorkspaceError, ModelUnusable: no row can be answered; what was is kept.
    """
    started = perf_counter()
    folder = RunFolder.of(out, questions)
    config = with_concurrency(config, concurrency)
    with open_table(questions) as table:
        checked = first_pass(table, on_event)
        tell_if_behind(workspace, corpus, config, on_event)
        origin = origin_of(workspace, corpus, config)
        with folder.held():
            anew = restart or not folder.begun
            folder.begin(origin, restart=restart)
            batch = _described(folder, questions, corpus, concurrency, checked)
            kept: AbstractContextManager[None] = (
                noted(workspace, batch, anew=anew) if note else nullcontext()
            )
            with kept:
                written = AnswerFile(folder.out, checked)
                work = _Work(table, checked, written, limit, retry_failed, on_event)
                try:
                    if work.left:
                        with opener(workspace, corpus, config) as answers, written.opened():
                            work.ask(answers, concurrency)
                    written.put_in_order(folder.aside)
                except BaseException:
                    on_event(work.stopped())
                    raise
    return work.report(perf_counter() - started)


def first_pass(table: Table, on_event: Listener) -> Checked:
    """Check the whole table before anything is asked; see `check` for the errors."""
    checked = check(table)
    on_event(TableChecked(checked.rows, checked.unreadable, tuple(sorted(table.unused))))
    return checked


def tell_if_behind(workspace: Workspace, corpus: str, config: Config, on_event: Listener) -> None:
    """Send `IndexBehind` where that is so and matters; see `index_state` for the errors."""
    if searches(config) and index_state(workspace, corpus) is IndexState.BEHIND:
        on_event(IndexBehind(corpus))


def with_concurrency(config: Config, concurrency: int) -> Config:
    """The settings with so many requests at a time; 0 leaves them as they are."""
    if not concurrency:
        return config
    chat = config.chat.model_copy(update={"parallel": concurrency})
    return config.model_copy(update={"chat": chat})


def _described(
    folder: RunFolder, questions: Path | IO[bytes], corpus: str, concurrency: int, checked: Checked
) -> KnownBatch:
    return KnownBatch(
        out=folder.out,
        questions=questions.expanduser().resolve() if isinstance(questions, Path) else None,
        corpus=corpus,
        concurrency=concurrency,
        rows=checked.rows,
        started=now(),
    )


class _Work:
    """The rows of one run that are still to be asked."""

    def __init__(
        self,
        table: Table,
        checked: Checked,
        written: AnswerFile,
        limit: int,
        retry_failed: bool,
        on_event: Listener,
    ) -> None:
        self._table = table
        self._checked = checked
        self._written = written
        self._ledger = written.ledger
        self._retry_failed = retry_failed
        self._tell = on_event
        self._spent = Spent()
        self._asking = 0.0
        self._total = min(limit or checked.rows, checked.rows)
        self._earlier = sum(not self._open(row) for row in range(1, self._total + 1))
        if self._ledger.done or written.torn:
            on_event(Resumed(self._earlier, written.torn))

    @property
    def left(self) -> int:
        """How many rows there are to ask."""
        return self._total - self._earlier

    def ask(self, answers: Answers, concurrency: int) -> None:
        """Ask them; see `settled` for what ends it early."""
        started = perf_counter()
        threads = at_once(answers, concurrency)
        with closing(outcomes(self._rows(), answers, threads)) as found:
            for outcome in settled(found):
                self._write(outcome)
                self._asking = perf_counter() - started
                self._tell(self._progress())

    def stopped(self) -> Stopped:
        """How far it is where it ends early."""
        done = sum(bool(self._ledger.outcome(row)) for row in range(1, self._total + 1))
        return Stopped(done, self._total)

    def report(self, seconds: float) -> BatchReport:
        """What has come of it."""
        return BatchReport.of(self._ledger, self._earlier, self._spent, seconds, self._asking)

    def _rows(self) -> Iterator[Row]:
        # A table that grows while it is read again would be endless work: it is refused instead.
        for row in self._checked.again(self._table):
            if row.row > self._total:
                return
            if self._open(row.row):
                yield row

    def _open(self, row: int) -> bool:
        return self._ledger.open(row, retry_failed=self._retry_failed)

    def _write(self, outcome: Outcome) -> None:
        row = outcome.row
        self._written.append(outcome)
        self._spent.add(outcome)
        if outcome.error is None:
            self._tell(RowAnswered(row.row, row.line, outcome.name))
        else:
            cause, cure = cause_and_cure(outcome.error)
            self._tell(RowFailed(row.row, row.line, outcome.name, cause, cure))

    def _progress(self) -> Progress:
        return Progress(
            ANSWERING,
            done=self._earlier + self._spent.asked,
            total=self._total,
            seconds=self._asking,
            earlier=self._earlier,
            failed=self._ledger.failed,
        )
