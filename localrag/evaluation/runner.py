"""Run an evaluation: a batch for each method and order of options, then the report.

Runs share answers (`places`). A question is asked once under the same settings.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from localrag.corpus.inference.opening import check_models
from localrag.errors import BusyError, LocalragError, ModelUnusable
from localrag.evaluation import places, rating, record, report, statistics
from localrag.evaluation.answers import forget, results
from localrag.evaluation.judging import judged, pending, with_verdicts
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.searching import with_searches, with_sentences
from localrag.evaluation.types import (
    Asking,
    Entry,
    Evaluation,
    Listener,
    NotMeasured,
    Question,
    Result,
    rotated,
)
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import labelled
from localrag.ops import batch
from localrag.ops.batch.folder import BatchFolder
from localrag.search.types import Query
from localrag.text.progress import ignore

Results = dict[int, Result]
"""What has become of the questions in one order, by row from 1."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Result of a run."""

    evaluation: Evaluation
    folder: Path
    asked: int  # questions asked by this call; each order counts
    stopped: Mapping[str, LocalragError]  # by entry, why it has no results


def evaluate(
    plan: Plan, *, run: str = "", retry_failed: bool = False, on_event: Listener = ignore
) -> Finished:
    """Ask unanswered questions, and write the report.

    After any stop, even a kill, the same plan continues. A failed question stops no other;
    transient failures are asked again by the next call. A failed model or a busy file stops its
    entry only. It is an error if no entry could be completed.
    """
    statistics.require()
    found = {
        (setup.name, order): known(plan, setup, order)
        for setup in plan.setups
        for order in range(plan.orders)
    }
    to_ask = [
        (setup, order)
        for setup in plan.setups
        for order in range(plan.orders)
        if left(plan, found[setup.name, order], retry_failed=retry_failed)
    ]
    asks = bool(
        to_ask
        or pending(plan, plan.setups, retry_failed=retry_failed)
        or rating.pending(plan, plan.setups, retry_failed=retry_failed)
    )
    _require_models(plan, [setup for setup, _ in to_ask])
    if asks:
        _require_judge(plan)
    folder, recorded = record.begin(plan.workspace, record.planned(plan), run, asks=asks)
    asking = _Asking(plan, retry_failed, len(to_ask), on_event)
    asking.all(to_ask)
    for setup, order in to_ask:
        found[setup.name, order] = known(plan, setup, order)
    complete = [setup for setup in plan.setups if setup.name not in asking.stopped]
    if not complete:
        raise next(iter(asking.stopped.values()))
    asking.judge(complete)
    found = {
        (setup.name, order): _examined(plan, setup, order, found[setup.name, order])
        for setup in complete
        for order in range(plan.orders)
    }
    # If nothing was asked, the report keeps its date.
    date = recorded.finished or record.now()
    evaluation = Evaluation(
        id=folder.name,
        questions=replace(plan.questions, questions=plan.asked),
        orders=plan.orders,
        entries=tuple(_entry(plan, setup, found) for setup in complete),
        machine=recorded.machine,
        date=date,
        not_measured=(
            *plan.left_out,
            *(NotMeasured(name, one.cause, one.cure) for name, one in asking.stopped.items()),
        ),
        lacking=plan.lacking,
        judge=plan.judge.made_with if plan.judge else {},
        measured_with=plan.measure.notes,
        ratings=rating.ratings(plan, complete),
    )
    report.write(evaluation, folder)
    record.write(folder, _ended(recorded, date, asking.stopped))
    return Finished(evaluation, folder, asking.asked, asking.stopped)


def known(plan: Plan, setup: Setup, order: int) -> Results:
    """Results of earlier runs for one setup and order."""
    path = places.order_file(setup.folder, order)
    return results(path, plan.asked, order, setup.method, plan.lacking, plan.measure)


def left(plan: Plan, found: Results, *, retry_failed: bool) -> int:
    """Number of questions to ask."""
    return plan.n - sum(not again(result, retry_failed=retry_failed) for result in found.values())


def again(result: Result, *, retry_failed: bool) -> bool:
    """Whether a question with a result is asked again."""
    return result.transient or (retry_failed and bool(result.failure))


def _examined(plan: Plan, setup: Setup, order: int, found: Results) -> Results:
    found = with_searches(plan, setup, order, with_verdicts(plan, setup, order, found))
    return with_sentences(plan, setup, order, found)


def _entry(plan: Plan, setup: Setup, found: Mapping[tuple[str, int], Results]) -> Entry:
    orders = [found[setup.name, order] for order in range(plan.orders)]
    in_order = tuple(rows[row] for rows in orders for row in sorted(rows))
    return Entry(setup.name, setup.method.name, setup.made_with, in_order)


def _ended(run: record.Run, date: str, stopped: Mapping[str, LocalragError]) -> record.Run:
    entries = tuple(
        replace(entry, stopped=str(stopped[entry.name])) if entry.name in stopped else entry
        for entry in run.entries
    )
    return replace(run, entries=entries, finished="" if stopped else date)


def _require_models(plan: Plan, setups: Iterable[Setup]) -> None:
    """Check all models first: a missing one would end a long run halfway."""
    checked: set[tuple[str, str]] = set()
    for setup in setups:
        for setting, model, cause, cure in check_models(plan.workspace, setup.config):
            search = not setting.startswith("chat.")
            if (setting, model) in checked or (search and not setup.method.searches):
                continue
            checked.add((setting, model))
            if cause:
                raise ModelUnusable(cause, cure, kind="ModelMissing", transient=False)


def _require_judge(plan: Plan) -> None:
    for setting, _, cause, cure in (
        check_models(plan.workspace, plan.judge.config) if plan.judge else ()
    ):
        if cause and setting.startswith("chat."):
            raise ModelUnusable(cause, cure, kind="ModelMissing", transient=False)


class _Asking:
    """Asks model by model. `stopped`: by entry or judge, why it cannot continue."""

    def __init__(self, plan: Plan, retry_failed: bool, batches: int, on_event: Listener) -> None:
        self.asked = 0
        self.stopped: dict[str, LocalragError] = {}
        self._plan = plan
        self._retry_failed = retry_failed
        self._batches = batches
        self._begun = 0
        self._tell = on_event

    def all(self, to_ask: Sequence[tuple[Setup, int]]) -> None:
        """Ask every batch. Only one model is open at a time."""
        plan = self._plan
        needed = (setup.config.chat.model for setup, _ in to_ask)
        models = list(dict.fromkeys(filter(None, needed))) or [""]
        for model in models:
            chat = plan.config.chat.model_copy(update={"model": model})
            config = plan.config.model_copy(update={"chat": chat})
            with MethodResources(plan.workspace, plan.corpus, config) as resources:
                for setup, order in to_ask:
                    # Methods without a model run with the first one, to open the corpus once.
                    if (setup.config.chat.model or models[0]) == model:
                        self._batch(setup, order, resources)

    def judge(self, setups: Sequence[Setup]) -> None:
        """Judge the answers. A failed judge leaves them unchanged."""
        judge = rating.rate if self._plan.measure.rated else judged
        try:
            judge(self._plan, setups, retry_failed=self._retry_failed, on_event=self._tell)
        except (ModelUnusable, BusyError) as error:
            assert self._plan.judge
            name = f"judge {self._plan.judge.name}"
            self.stopped[name] = error
            self._tell(NotMeasured(name, error.cause, error.cure))

    def _batch(self, setup: Setup, order: int, resources: MethodResources) -> None:
        plan = self._plan
        self._begun += 1
        if setup.name in self.stopped:
            return
        self._tell(Asking(setup.name, order, plan.orders, self._begun, self._batches))
        contexts = {
            rotated(question.query, order): question.context
            for question in plan.asked
            if question.context
        }

        @contextmanager
        def opener(*_: object) -> Iterator[Answerer]:
            yield Answerer(setup.method, resources, contexts, setup.config.method)

        places.make(setup.folder)
        try:
            self._forget_transient(setup, order)
            done = batch.run(
                plan.workspace,
                plan.corpus,
                setup.config,
                BytesIO(table(plan.questions.questions, order)),
                places.order_file(setup.folder, order),
                limit=plan.n,
                retry_failed=self._retry_failed,
                on_event=self._tell,
                opener=opener,
                note=False,
            )
        except (ModelUnusable, BusyError) as error:
            self.stopped[setup.name] = error
            self._tell(NotMeasured(setup.name, error.cause, error.cure))
        else:
            self.asked += done.spent.asked

    def _forget_transient(self, setup: Setup, order: int) -> None:
        path = places.order_file(setup.folder, order)
        with BatchFolder.of(path, BytesIO()).held():
            found = known(self._plan, setup, order)
            if rows := {row for row, result in found.items() if result.transient}:
                forget(path, rows)


def table(questions: Iterable[Question], order: int) -> bytes:
    """Questions in one order of options, as a table for a batch."""
    return b"".join(_row(question.id, rotated(question.query, order)) for question in questions)


def _row(id_: str, query: Query) -> bytes:
    # With labels, so that a text beginning like a label stays a text.
    options = dict(labelled(query.options))
    row: dict[str, object] = {"id": id_, "question": query.text, "options": options}
    if query.filters.documents:
        row["documents"] = query.filters.documents
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected cost of one entry."""

    name: str
    done: int  # done, left: questions answered and open; each order counts
    left: int
    calls: int  # calls, most_calls: of a model for open questions, without retries
    most_calls: int
    # prompt, completion: tokens for open questions, estimated from answered ones; 0 if there are
    # none
    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0
    verdicts: int = 0  # still to be given; 0 without a judge


def forecast(plan: Plan, *, retry_failed: bool = False) -> Iterator[Forecast]:
    """Forecast each entry; opens no model and writes nothing."""
    for setup in plan.setups:
        yield _of(plan, setup, retry_failed=retry_failed)


def _of(plan: Plan, setup: Setup, *, retry_failed: bool) -> Forecast:
    answered: list[Result] = []
    to_ask = calls = most_calls = 0
    for order in range(plan.orders):
        found = known(plan, setup, order)
        answered += found.values()
        to_ask += left(plan, found, retry_failed=retry_failed)
        for row, question in enumerate(plan.asked, 1):
            if row not in found or again(found[row], retry_failed=retry_failed):
                options = len(question.query.options)
                calls += setup.method.calls.of(options)
                most_calls += setup.method.calls.most(options)
    times = to_ask / len(answered) if answered else 0.0
    return Forecast(
        name=setup.name,
        done=plan.n * plan.orders - to_ask,
        left=to_ask,
        calls=calls,
        most_calls=most_calls,
        prompt=round(times * sum(one.spent.prompt for one in answered)),
        completion=round(times * sum(one.spent.completion for one in answered)),
        seconds=times * sum(one.spent.seconds for one in answered),
        verdicts=_verdicts(plan, setup, to_ask, retry_failed=retry_failed),
    )


def _verdicts(plan: Plan, setup: Setup, to_ask: int, *, retry_failed: bool) -> int:
    if plan.judge is None:
        return 0
    if plan.measure.rated:
        return rating.expected(plan, setup)
    found = pending(plan, [setup], retry_failed=retry_failed)
    return to_ask + sum(len(answers) for _, answers in found)
