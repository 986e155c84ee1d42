"""Runs a batch: asks every open row and writes the answer."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import IO

from localrag.batch.asking import at_once, outcomes, settled
from localrag.batch.folder import BatchFolder
from localrag.batch.ledger import AnswerFile, Ledger
from localrag.batch.origin import origin_of, searches
from localrag.batch.registry import KnownBatch, noted, now
from localrag.batch.table import CheckedTable, QuestionTable, open_table
from localrag.batch.types import (
    ANSWERING,
    AnswerSource,
    Listener,
    Opener,
    QuestionRow,
    Row,
    RowAnswered,
    RowFailed,
    RowOutcome,
    UnreadableRow,
)
from localrag.config import Config
from localrag.corpus.facets import read_labels
from localrag.corpus.store import CorpusStore
from localrag.errors import InputError, NotFoundError, UsageError
from localrag.facts import Fact, FactKind
from localrag.ingest.state import IndexState, index_state
from localrag.language import N_
from localrag.methods.answering import open_answers
from localrag.progress import Progress, ignore
from localrag.reading.types import Status
from localrag.workspace import Workspace


@dataclass(slots=True)
class BatchCost:
    """The cost of one run.

    Attributes:
        asked: rows.
        noted: rows with an omission in their trace.
        prompt, cached, completion: tokens, also of failed questions if known.
    """

    asked: int = 0
    noted: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def add(self, outcome: RowOutcome) -> None:
        """Add a row."""
        self.asked += 1
        trace = outcome.trace
        if trace is None:
            return
        self.noted += bool(trace.events)
        for call in trace.calls:
            self.prompt += call.prompt
            self.cached += call.cached or 0
            self.completion += call.completion


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The result of a batch.

    Attributes:
        rows: of the table.
        statuses: answered rows by status, including earlier runs.
        failed: failed rows by error, including earlier runs.
        earlier: rows finished by earlier runs.
        spent: the cost of this run.
        seconds: wall time of this run.
        asking: seconds from its first question to its last answer.
    """

    rows: int
    statuses: Mapping[Status, int]
    failed: Mapping[str, int]
    earlier: int
    spent: BatchCost = field(default_factory=BatchCost)
    seconds: float = 0.0
    asking: float = 0.0

    @property
    def answered(self) -> int:
        """The number of answered rows."""
        return sum(self.statuses.values())

    @property
    def per_minute(self) -> float:
        """Questions a minute in this run; 0 without any."""
        return 60 * self.spent.asked / self.asking if self.asking else 0.0

    @classmethod
    def of(
        cls, ledger: Ledger, earlier: int, spent: BatchCost, seconds: float, asking: float
    ) -> "BatchReport":
        """Make a report from the ledger."""
        return cls(
            rows=len(ledger),
            statuses={status: ledger.tally[status] for status in Status},
            failed={name: n for name, n in ledger.tally.items() if n and name not in set(Status)},
            earlier=earlier,
            spent=spent,
            seconds=seconds,
            asking=asking,
        )


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
    """Answer every question of a table and write the answers to a file.

    After any end, even a kill, the next run continues and repeats no written row.

    Args:
        workspace: the workspace.
        corpus: name of the corpus.
        config: settings.
        questions: the table (see `QuestionTable`), a file or a stream of bytes.
        out: the file of answers, new or from an earlier run: JSON Lines, or an Office file made at
            the end from JSON Lines beside it.
        limit: ask only the first rows, this many; 0 for all.
        concurrency: parallel questions; 0 for the settings. A model in this process takes one.
        retry_failed: ask the failed rows of earlier runs again.
        restart: delete the answers of earlier runs.
        on_event: called in this thread.
        opener: opens the answering method; by default that of `localrag ask`.
        note: whether `known` lists this batch.

    Raises:
        InputError: the table is unreadable, or an id occurs twice.
        UsageError: the file has answers to other questions or from other settings, or
            ``retrieval.where`` names an unknown facet.
        BusyError: another process writes the same file.
        StorageError: the disk is full; written answers are kept.
        NotFoundError, WorkspaceError, ModelUnusable: no row can be answered; written answers are
            kept.
    """
    started = perf_counter()
    folder = BatchFolder.of(out, questions)
    config = with_concurrency(config, concurrency)
    with (
        open_table(questions, workspace.home) as table,
        refusing(workspace, corpus, config) as refused,
    ):
        checked = first_pass(table, refused, on_event)
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
                work = _Work(checked, written, limit, retry_failed, on_event)
                try:
                    if work.left:
                        with opener(workspace, corpus, config) as answers, written.opened():
                            work.ask(answers, concurrency, refused)
                    written.put_in_order(folder.aside)
                    if folder.document is not None:
                        folder.document.write(written, workspace, corpus)
                except BaseException:
                    on_event(work.stopped())
                    raise
    return work.report(perf_counter() - started)


def first_pass(
    table: QuestionTable, refused: Callable[[Row], Row], on_event: Listener
) -> CheckedTable:
    """Check the whole table before the first question; raises as `QuestionTable.check`."""
    checked = table.check(refused)
    for fact in sorted(table.told, key=lambda fact: fact.kind.code):
        on_event(fact)
    if table.unused:
        on_event(Fact(FactKind.FIELDS_UNREAD, names=tuple(sorted(table.unused))))
    on_event(Fact(FactKind.TABLE_CHECKED, rows=len(checked), unreadable=checked.unreadable))
    return checked


def tell_if_behind(workspace: Workspace, corpus: str, config: Config, on_event: Listener) -> None:
    """Report `INDEX_BEHIND` if the method searches; raises as `index_state`."""
    if searches(config) and index_state(workspace, corpus) is IndexState.BEHIND:
        on_event(Fact(FactKind.INDEX_BEHIND, corpus=corpus))


def with_concurrency(config: Config, concurrency: int) -> Config:
    """Set the number of parallel requests; 0 changes nothing."""
    if not concurrency:
        return config
    chat = config.chat.model_copy(update={"parallel": concurrency})
    return config.model_copy(update={"chat": chat})


@contextmanager
def refusing(workspace: Workspace, corpus: str, config: Config) -> Iterator[Callable[[Row], Row]]:
    """Give a function to refuse rows with documents missing from the corpus.

    Raises:
        UsageError, NotFoundError: the setting ``retrieval.where`` matches nothing.
    """
    if not searches(config):
        yield lambda row: row
        return
    with CorpusStore.open(
        workspace.corpus(corpus).store, read_only=True, as_of=config.retrieval.day
    ) as store:
        store.facets.canonical(read_labels(config.retrieval.where))

        def refused(row: Row) -> Row:
            if not isinstance(row, QuestionRow):
                return row
            for id_ in row.query.filters.documents:
                try:
                    store.document(id_)
                except NotFoundError:
                    return _unasked(row, _lacking(corpus, id_))
            if where := row.query.filters.where:
                try:
                    store.facets.canonical(where)
                except (UsageError, NotFoundError) as error:
                    # Only this row fails; others may use other filters.
                    problem = InputError(
                        N_("{cause}"), N_("{cure}"), cause=error.cause, cure=error.cure
                    )
                    return _unasked(row, problem)
            return row

        yield refused


def _unasked(row: QuestionRow, problem: InputError) -> UnreadableRow:
    return UnreadableRow(row.row, row.line, problem, row.id, row.query.text)


def _lacking(corpus: str, document: str) -> InputError:
    return InputError(
        N_("The corpus {corpus!r} holds no document {document!r}."),
        N_("See what it holds: localrag list {corpus}"),
        corpus=corpus,
        document=document,
    )


def _described(
    folder: BatchFolder,
    questions: Path | IO[bytes],
    corpus: str,
    concurrency: int,
    checked: CheckedTable,
) -> KnownBatch:
    return KnownBatch(
        out=folder.out,
        questions=questions.expanduser().resolve() if isinstance(questions, Path) else None,
        corpus=corpus,
        concurrency=concurrency,
        rows=len(checked),
        started=now(),
        document=folder.document.path if folder.document else None,
    )


class _Work:
    def __init__(
        self,
        checked: CheckedTable,
        written: AnswerFile,
        limit: int,
        retry_failed: bool,
        on_event: Listener,
    ) -> None:
        self._checked = checked
        self._written = written
        self._ledger = written.ledger
        self._retry_failed = retry_failed
        self._tell = on_event
        self._spent = BatchCost()
        self._asking = 0.0
        self._total = min(limit or len(checked), len(checked))
        self._earlier = sum(not self._open(row) for row in range(1, self._total + 1))
        if self._ledger.done or written.torn:
            on_event(Fact(FactKind.GOES_ON, rows=self._earlier))
        if written.torn:
            on_event(Fact(FactKind.LINE_DROPPED))

    @property
    def left(self) -> int:
        """The number of rows to ask."""
        return self._total - self._earlier

    def ask(self, answers: AnswerSource, concurrency: int, refused: Callable[[Row], Row]) -> None:
        """Ask the rows after `refused`; raises as `settled`."""
        started = perf_counter()
        threads = at_once(answers, concurrency)
        with closing(outcomes(map(refused, self._rows()), answers, threads)) as found:
            for outcome in settled(found):
                self._write(outcome)
                self._asking = perf_counter() - started
                self._tell(self._progress())

    def stopped(self) -> Fact:
        """Return the progress at an early end."""
        done = sum(bool(self._ledger.outcome(row)) for row in range(1, self._total + 1))
        return Fact(FactKind.STOPPED, done=done, total=self._total)

    def report(self, seconds: float) -> BatchReport:
        """Return the report."""
        return BatchReport.of(self._ledger, self._earlier, self._spent, seconds, self._asking)

    def _rows(self) -> Iterator[Row]:
        # Stop at the checked length: a table growing during the run would never end.
        for row in self._checked.rows():
            if row.row > self._total:
                return
            if self._open(row.row):
                yield row

    def _open(self, row: int) -> bool:
        return self._ledger.open(row, retry_failed=self._retry_failed)

    def _write(self, outcome: RowOutcome) -> None:
        row = outcome.row
        self._written.append(outcome)
        self._spent.add(outcome)
        if outcome.error is None:
            self._tell(RowAnswered(row.row, row.line, outcome.name))
        else:
            self._tell(RowFailed.of(row, outcome.error))

    def _progress(self) -> Progress:
        return Progress(
            ANSWERING,
            done=self._earlier + self._spent.asked,
            total=self._total,
            seconds=self._asking,
            earlier=self._earlier,
            failed=self._ledger.failed,
        )
