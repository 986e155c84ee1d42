"""Running a batch: every row that has no answer yet is asked, and its answer written down."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import IO

from localrag.answer.types import Status
from localrag.corpus.config import Config
from localrag.corpus.facets import read_labels
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, NotFoundError, UsageError
from localrag.language import N_
from localrag.methods.answering import open_answers
from localrag.ops.batch.asking import at_once, outcomes, settled
from localrag.ops.batch.folder import BatchFolder
from localrag.ops.batch.ledger import AnswerFile, Ledger
from localrag.ops.batch.origin import origin_of, searches
from localrag.ops.batch.registry import KnownBatch, noted, now
from localrag.ops.batch.table import CheckedTable, QuestionTable, open_table
from localrag.ops.batch.types import (
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
from localrag.search.indexing.state import IndexState, index_state
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress, ignore


@dataclass(slots=True)
class BatchCost:
    """What the rows asked in one run cost.

    Attributes:
        asked: rows.
        noted: rows whose trace says that something was left out or switched off.
        prompt, cached, completion: tokens; of a question that failed, as far as they are known.
    """

    asked: int = 0
    noted: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def add(self, outcome: RowOutcome) -> None:
        """Take one more row into account."""
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
    """What a batch did.

    Attributes:
        rows: of the table.
        statuses: answered rows by status, those of earlier runs included.
        failed: rows without an answer by the type of their error, those of earlier runs included.
        earlier: rows that an earlier run had finished and this one left alone.
        spent: what the rows of this run cost.
        seconds: wall time of this run.
        asking: seconds of it from the first question to the last answer.
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
        """Rows that have an answer."""
        return sum(self.statuses.values())

    @property
    def per_minute(self) -> float:
        """Questions of this run a minute; 0 where none was asked."""
        return 60 * self.spent.asked / self.asking if self.asking else 0.0

    @classmethod
    def of(
        cls, ledger: Ledger, earlier: int, spent: BatchCost, seconds: float, asking: float
    ) -> "BatchReport":
        """Put a report together from what is written."""
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
    """Answer every question of a table, and write the answers to a file.

    Whatever ends a run, a kill included, the next one goes on where it stopped, and asks no row
    again that has its line in the file.

    Args:
        workspace: where the corpus lies.
        corpus: its name.
        config: settings.
        questions: the table (see `QuestionTable`), a file or a stream of bytes.
        out: the file of answers; it may hold those of an earlier run. It is JSON Lines, unless
            its name ends as the file of an office program does: that is made when all is done, of
            the JSON Lines beside it.
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
        UsageError: the file holds answers to other questions, or made with other settings; or the
            documents are not told apart by what ``retrieval.where`` names.
        BusyError: another process writes the same file.
        StorageError: the disk is full; what was answered is kept.
        NotFoundError, WorkspaceError, ModelUnusable: no row can be answered; what was is kept.
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
    """Check the whole table before anything is asked; see `QuestionTable.check` for the errors."""
    checked = table.check(refused)
    for fact in sorted(table.told, key=lambda fact: fact.kind.code):
        on_event(fact)
    if table.unused:
        on_event(Fact(FactKind.FIELDS_UNREAD, names=tuple(sorted(table.unused))))
    on_event(Fact(FactKind.TABLE_CHECKED, rows=len(checked), unreadable=checked.unreadable))
    return checked


def tell_if_behind(workspace: Workspace, corpus: str, config: Config, on_event: Listener) -> None:
    """Tell `INDEX_BEHIND` where that is so and matters; see `index_state` for the errors."""
    if searches(config) and index_state(workspace, corpus) is IndexState.BEHIND:
        on_event(Fact(FactKind.INDEX_BEHIND, corpus=corpus))


def with_concurrency(config: Config, concurrency: int) -> Config:
    """The settings with so many requests at a time; 0 leaves them as they are."""
    if not concurrency:
        return config
    chat = config.chat.model_copy(update={"parallel": concurrency})
    return config.model_copy(update={"chat": chat})


@contextmanager
def refusing(workspace: Workspace, corpus: str, config: Config) -> Iterator[Callable[[Row], Row]]:
    """Gives what refuses a row that wants documents the corpus lacks: it would find nothing.

    Raises:
        UsageError, NotFoundError: the setting ``retrieval.where`` wants such for every row.
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
                    # Of this row alone: another one may ask for what is there.
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
    """The rows of one run that are still to be asked."""

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
        """How many rows there are to ask."""
        return self._total - self._earlier

    def ask(self, answers: AnswerSource, concurrency: int, refused: Callable[[Row], Row]) -> None:
        """Ask them as `refused` gives them back; see `settled` for what ends it early."""
        started = perf_counter()
        threads = at_once(answers, concurrency)
        with closing(outcomes(map(refused, self._rows()), answers, threads)) as found:
            for outcome in settled(found):
                self._write(outcome)
                self._asking = perf_counter() - started
                self._tell(self._progress())

    def stopped(self) -> Fact:
        """How far it is where it ends early."""
        done = sum(bool(self._ledger.outcome(row)) for row in range(1, self._total + 1))
        return Fact(FactKind.STOPPED, done=done, total=self._total)

    def report(self, seconds: float) -> BatchReport:
        """What has come of it."""
        return BatchReport.of(self._ledger, self._earlier, self._spent, seconds, self._asking)

    def _rows(self) -> Iterator[Row]:
        # A table that grows while it is read again would be endless work: it is refused instead.
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
