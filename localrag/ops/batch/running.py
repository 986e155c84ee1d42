"""Runs a batch, or estimates it.

A run asks every open row and writes the answer. An estimate checks all rows, answers a few and
writes nothing.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from localrag.methods.answering import answering_method, open_answers
from localrag.ops.batch.asking import at_once, outcomes, settled
from localrag.ops.batch.folder import BatchFolder
from localrag.ops.batch.origin import origin_of, searches
from localrag.ops.batch.registry import KnownBatch, noted, now
from localrag.ops.batch.rows import AnswerFile, Ledger
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
from localrag.search.types import Query
from localrag.search.units import IndexState, index_state
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress, ignore


@dataclass(slots=True)
class BatchCost:
    """The cost of one run: tokens, also of failed questions if known.

    Attributes:
        asked: rows.
        noted: rows with an omission in their trace.
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
        statuses, failed: rows by status or error, including earlier runs.
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

    After any end, even a kill, the next run continues and repeats no written row. `on_event` is
    called in this thread.

    Args:
        workspace: with the corpus.
        corpus: its name.
        config: settings.
        questions: the table (see `QuestionTable`), a file or a stream of bytes.
        out: the file of answers, new or from an earlier run: JSON Lines, or an Office file made at
            the end from JSON Lines beside it.
        limit: ask only the first rows; 0 for all.
        concurrency: parallel questions; 0 for the settings. A model in this process takes one.
        retry_failed: ask the failed rows of earlier runs again.
        restart: delete the answers of earlier runs.
        on_event: gets every event.
        opener: opens the answering method; by default as `localrag ask` does.
        note: whether `known` lists this batch.

    Raises:
        InputError: the table is unreadable, or an id occurs twice.
        UsageError: the file has answers to other questions or from other settings, or
            ``retrieval.where`` names an unknown facet.
        BusyError: another process writes the same file.
        StorageError: the disk is full; written answers are kept.
        NotFoundError, WorkspaceError, ModelUnusable: no row can be answered.
    """
    started = perf_counter()
    folder = BatchFolder.of(out, questions)
    config = _with_concurrency(config, concurrency)
    with (
        open_table(questions, workspace.home) as table,
        _refusing(workspace, corpus, config) as refused,
    ):
        checked = _first_pass(table, refused, on_event)
        _tell_if_behind(workspace, corpus, config, on_event)
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
                        folder.document.write(written, checked, workspace, corpus)
                except BaseException:
                    on_event(work.stopped())
                    raise
    return work.report(perf_counter() - started)


def _first_pass(
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


def _tell_if_behind(workspace: Workspace, corpus: str, config: Config, on_event: Listener) -> None:
    """Report `INDEX_BEHIND` if the method searches; raises as `index_state`."""
    if searches(config) and index_state(workspace, corpus) is IndexState.BEHIND:
        on_event(Fact(FactKind.INDEX_BEHIND, corpus=corpus))


def _with_concurrency(config: Config, concurrency: int) -> Config:
    """Set the number of parallel requests; 0 changes nothing."""
    if not concurrency:
        return config
    chat = config.chat.model_copy(update={"parallel": concurrency})
    return config.model_copy(update={"chat": chat})


@contextmanager
def _refusing(workspace: Workspace, corpus: str, config: Config) -> Iterator[Callable[[Row], Row]]:
    """Give a function to refuse rows with documents missing from the corpus."""
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
        N_("List its documents: localrag list {corpus}"),
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
        tally = self._ledger.tally
        return BatchReport(
            rows=len(self._ledger),
            statuses={status: tally[status] for status in Status},
            failed={name: n for name, n in tally.items() if n and name not in set(Status)},
            earlier=self._earlier,
            spent=self._spent,
            seconds=seconds,
            asking=self._asking,
        )

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


# Rows answered for an estimate at most, and seconds after which it ends.
_SAMPLE, _PATIENCE = 20, 30.0


@dataclass(frozen=True, slots=True)
class BatchEstimate:
    """The estimated cost of a batch, from a sample of answered rows.

    The time is the sample's time multiplied by the rows to ask. It is valid for this machine, this
    model and this number of parallel questions. The first answer also loads the model and is not
    counted.

    Attributes:
        unreadable: rows impossible to ask.
        left: rows still to ask, without unreadable and unanswerable ones.
        sampled, failed: rows answered for the estimate, and the failed ones of these.
        seconds: estimated wall time.
        prompt, completion: estimated tokens; 0 without a model.
        unanswerable: rows with no options, or too many, for a method of choice; each fails at once.
    """

    rows: int
    unreadable: int
    left: int
    sampled: int = 0
    failed: int = 0
    seconds: float = 0.0
    prompt: int = 0
    completion: int = 0
    unanswerable: int = 0


def estimate(
    workspace: Workspace,
    corpus: str,
    config: Config,
    questions: Path | IO[bytes],
    out: Path | None = None,
    *,
    concurrency: int = 0,
    retry_failed: bool = False,
    restart: bool = False,
    on_event: Listener = ignore,
    opener: Opener = open_answers,
) -> BatchEstimate:
    """Check every row and estimate the cost of `run`, with its arguments and errors.

    Unreadable rows are reported before any question is asked. Rows already answered in `out` are
    not counted.
    """
    config = _with_concurrency(config, concurrency)
    with (
        open_table(questions, workspace.home) as table,
        _refusing(workspace, corpus, config) as refused,
    ):
        checked = _first_pass(table, refused, on_event)
        _tell_if_behind(workspace, corpus, config, on_event)
        ledger = Ledger(len(checked))
        folder = BatchFolder.of(out, questions) if out is not None and not restart else None
        if folder is not None and folder.begun:
            folder.require_same(origin_of(workspace, corpus, config))
            ledger = AnswerFile(folder.out, checked).ledger
        rows = map(refused, checked.rows())
        open_rows = _open(rows, ledger, on_event, retry_failed=retry_failed)
        sample, left, unanswerable = _sample(open_rows, answering_method(config).takes)
        if not sample:
            return BatchEstimate(len(checked), checked.unreadable, left, unanswerable=unanswerable)
        with opener(workspace, corpus, config) as answers:
            measured = _measure(sample, answers, concurrency, on_event)
    times = left / measured.spent.asked
    return BatchEstimate(
        len(checked),
        checked.unreadable,
        left,
        sampled=measured.spent.asked,
        failed=measured.failed,
        seconds=measured.seconds * times,
        prompt=round(measured.spent.prompt * times),
        completion=round(measured.spent.completion * times),
        unanswerable=unanswerable,
    )


def _open(
    rows: Iterable[Row], ledger: Ledger, on_event: Listener, *, retry_failed: bool
) -> Iterator[QuestionRow]:
    """Yield the questions still to ask, and report unreadable rows."""
    for row in rows:
        if not ledger.open(row.row, retry_failed=retry_failed):
            continue
        if isinstance(row, QuestionRow):
            yield row
        else:
            on_event(RowFailed.of(row, row.problem))


def _sample(
    rows: Iterable[QuestionRow], takes: Callable[[Query], bool]
) -> tuple[list[QuestionRow], int, int]:
    """Return a random sample of the rows, the number to ask, and the number unanswerable.

    Source: J. S. Vitter, Random Sampling with a Reservoir, ACM TOMS 11 (1985), algorithm R.
    """
    chance = random.Random(0)  # noqa: S311 - the same sample every time
    sample: list[QuestionRow] = []
    askable = unanswerable = 0
    for row in rows:
        if not takes(row.query):
            unanswerable += 1
            continue
        askable += 1
        place = chance.randrange(askable)
        if len(sample) < _SAMPLE:
            sample.append(row)
        elif place < _SAMPLE:
            sample[place] = row
    return sample, askable, unanswerable


@dataclass(slots=True)
class _Measured:
    spent: BatchCost
    failed: int = 0
    seconds: float = 0.0

    def progress(self, total: int) -> Progress:
        """Return the progress through `total` rows."""
        return Progress(
            ANSWERING,
            self.spent.asked,
            total,
            self.seconds,
            failed=self.failed,
            limit=_PATIENCE,
        )


def _measure(
    sample: list[QuestionRow], answers: AnswerSource, concurrency: int, on_event: Listener
) -> _Measured:
    """Answer one question to warm up, then others for a limited time."""
    list(settled(outcomes(sample[:1], answers, 1)))
    measured = _Measured(BatchCost())
    others = sample[1:] or sample
    started = perf_counter()
    with closing(outcomes(others, answers, at_once(answers, concurrency))) as found:
        for outcome in settled(found):
            measured.spent.add(outcome)
            measured.failed += outcome.error is not None
            measured.seconds = perf_counter() - started
            on_event(measured.progress(len(others)))
            if measured.seconds > _PATIENCE:
                break
    return measured
