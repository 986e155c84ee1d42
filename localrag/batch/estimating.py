"""Estimates a batch: checks all rows, answers a few, writes nothing."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import IO

from localrag.batch.asking import at_once, outcomes, settled
from localrag.batch.folder import BatchFolder
from localrag.batch.ledger import AnswerFile, Ledger
from localrag.batch.origin import origin_of
from localrag.batch.running import BatchCost, first_pass, refusing, tell_if_behind, with_concurrency
from localrag.batch.table import open_table
from localrag.batch.types import (
    ANSWERING,
    AnswerSource,
    Listener,
    Opener,
    QuestionRow,
    Row,
    RowFailed,
)
from localrag.config import Config
from localrag.methods.answering import answering_method, open_answers
from localrag.progress import Progress, ignore
from localrag.retrieval.types import Query
from localrag.workspace import Workspace

_SAMPLE = 20
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class BatchEstimate:
    """The estimated cost of a batch, from a sample of answered rows.

    The time is the sample's time multiplied by the rows to ask. It is valid for this machine, this
    model and this number of parallel questions. The first answer also loads the model and is not
    counted.

    Attributes:
        rows: of the table.
        unreadable: rows impossible to ask.
        left: rows still to ask, without unreadable and unanswerable ones.
        sampled: rows answered for the estimate.
        failed: of these.
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
    config = with_concurrency(config, concurrency)
    with (
        open_table(questions, workspace.home) as table,
        refusing(workspace, corpus, config) as refused,
    ):
        checked = first_pass(table, refused, on_event)
        tell_if_behind(workspace, corpus, config, on_event)
        ledger = Ledger(len(checked))
        folder = BatchFolder.of(out, questions) if out is not None and not restart else None
        if folder is not None and folder.begun:
            folder.require_same(origin_of(workspace, corpus, config))
            ledger = AnswerFile(folder.out, checked).ledger
        rows = map(refused, checked.rows())
        open_rows = _open(rows, ledger, on_event, retry_failed=retry_failed)
        sample, left, unanswerable = _sample(open_rows, _takes(config))
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


def _takes(config: Config) -> Callable[[Query], bool]:
    """Tell whether a question has as many options as what answers needs."""
    return answering_method(config).takes


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
