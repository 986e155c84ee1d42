"""Having a model judge answers, after all of them are there: each once, whatever runs need it."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from time import perf_counter

from localrag.config import ChatConfig
from localrag.evaluation import places, rows, verdicts
from localrag.evaluation.events import Judging, Listener, Unjudged
from localrag.evaluation.measures.judging import judge
from localrag.evaluation.model import DETERMINISTIC, JUDGE, Question, Result, Spent
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.rows import Answered
from localrag.evaluation.verdicts import Journal, Judge, Verdict, digest
from localrag.inference.opening import open_chat
from localrag.language import N_
from localrag.progress import Progress, Stage
from localrag_models.chat import ChatModel

_STAGE = Stage(N_("judging"), N_("answers"))
_STOPPED = "the judge was stopped before it came to this answer"

_ToJudge = dict[str, tuple[Question, Answered]]


def judged(plan: Plan, setups: Sequence[Setup], *, retry_failed: bool, on_event: Listener) -> int:
    """Ask the judge of a plan for the verdicts that are not there yet.

    What it could give no verdict on is asked again only with `retry_failed`.

    Returns:
        How many answers were judged.

    Raises:
        ModelUnusable: the judge cannot be used; its verdicts so far are kept.
        BusyError: another process judges the same answers.
        WorkspaceError, StorageError: answers or verdicts cannot be read or written.
    """
    left = pending(plan, setups, retry_failed=retry_failed)
    if plan.judge is None or not left:
        return 0
    model = open_chat(plan.workspace, plan.judge.config)
    assert model is not None, "a judge has a name"
    with model:
        for place, (setup, found) in enumerate(left, 1):
            on_event(Judging(setup.name, plan.judge.name, place, len(left)))
            _judge(plan.judge, model, setup, found, on_event)
    return sum(len(found) for _, found in left)


def pending(
    plan: Plan, setups: Iterable[Setup], *, retry_failed: bool
) -> list[tuple[Setup, _ToJudge]]:
    """The entries with answers that the judge of a plan has given no verdict on yet, and these.

    Opens no model; of a plan without a judge there are none.

    Raises:
        WorkspaceError, StorageError: answers or verdicts cannot be read.
    """
    if plan.judge is None:
        return []
    left = [(one, _to_judge(plan, plan.judge, one, retry_failed=retry_failed)) for one in setups]
    return [(setup, found) for setup, found in left if found]


def _to_judge(plan: Plan, judge: Judge, setup: Setup, *, retry_failed: bool) -> _ToJudge:
    """By digest."""
    given = verdicts.read(judge.journal(setup.folder))
    return {
        content: (question, answer)
        for order in range(plan.orders)
        for _, question, answer in _answers(plan, setup, order)
        if answer.text
        for content in (digest(question, answer),)
        if content not in given or (retry_failed and not given[content].verdict)
    }


def with_verdicts(
    plan: Plan, setup: Setup, order: int, results: dict[int, Result]
) -> dict[int, Result]:
    """The results of an order with what the judge of the plan said of them.

    Where there is no answer there is nothing to judge: code and judge agree.
    """
    if plan.judge is None:
        return results
    given = verdicts.read(plan.judge.journal(setup.folder))
    found = dict(results)
    for row, question, answer in _answers(plan, setup, order):
        result = results[row]
        if not answer.text:
            said = Verdict("", result.verdicts[DETERMINISTIC], "", Spent())
        else:
            said = given.get(digest(question, answer), Verdict("", "", _STOPPED, Spent()))
        found[row] = replace(
            result,
            verdicts={**result.verdicts, **({JUDGE: said.verdict} if said.verdict else {})},
            unjudged=said.problem,
            judging=said.spent,
        )
    return found


def _answers(plan: Plan, setup: Setup, order: int) -> Iterator[tuple[int, Question, Answered]]:
    path = places.order_file(setup.folder, order)
    for row, answer in rows.read(path, Answered.of, plan.n).items():
        yield row, plan.asked[row - 1], answer


def _judge(
    judge: Judge, model: ChatModel, setup: Setup, found: _ToJudge, on_event: Listener
) -> None:
    begun = perf_counter()
    failed = 0
    with (
        Journal.opened(judge.journal(setup.folder)) as journal,
        ThreadPoolExecutor(model.parallel) as pool,
    ):
        try:
            asked = [
                pool.submit(_asked, model, judge.config.chat, content, question, answer)
                for content, (question, answer) in found.items()
            ]
            for done, one in enumerate(as_completed(asked), 1):
                verdict = one.result()
                journal.add(verdict)
                if verdict.problem:
                    failed += 1
                    on_event(Unjudged(setup.name, found[verdict.answer][0].id, verdict.problem))
                seconds = perf_counter() - begun
                on_event(Progress(_STAGE, done, len(found), seconds, failed=failed))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _asked(
    model: ChatModel, settings: ChatConfig, content: str, question: Question, answer: Answered
) -> Verdict:
    begun = perf_counter()
    said = judge(model, settings, question, answer.text, answer.derivation.triples)
    spent = Spent(
        calls=len(said.calls),
        retries=sum(bool(call.problem) for call in said.calls),
        prompt=sum(call.prompt for call in said.calls),
        cached=sum(call.cached or 0 for call in said.calls),
        completion=sum(call.completion for call in said.calls),
        seconds=round(perf_counter() - begun, 6),
    )
    return Verdict(content, said.verdict or "", said.problem, spent)
