"""A model judges answers after all are there, each answer once for all runs.

It judges the answer and, in a second call, the derivation. Comparison by code decides equal
answers, YES against NO, equal triples in another order, and empty derivations.

A line of ``verdicts-<fingerprint>.jsonl`` beside the answers holds a verdict, or a problem. The
fingerprint depends on the model, its settings, the prompts and the code.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import BaseModel, Field, TypeAdapter
from pydantic_core import to_jsonable_python

from localrag.answer.asking import ask
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt
from localrag.corpus.config import ChatConfig
from localrag.corpus.durable import locked
from localrag.corpus.inference.opening import open_chat
from localrag.corpus.journal import Journal, Row
from localrag.corpus.types import Triple
from localrag.errors import BusyError, ModelUnusable, WorkspaceError
from localrag.evaluation import places
from localrag.evaluation.answers import Answered, read_rows
from localrag.evaluation.measures.answers import folded
from localrag.evaluation.measures.jemhopqa import singles
from localrag.evaluation.planning import Judge, Plan, Setup
from localrag.evaluation.types import (
    DETERMINISTIC,
    JUDGE,
    AnswerVerdict,
    Judging,
    Listener,
    Question,
    Result,
    Spent,
    Unjudged,
)
from localrag.language import N_, _
from localrag.methods.catalogue import LONGEST_REASON
from localrag.search.types import ModelCall
from localrag.text.progress import Phase, Progress
from localrag_models.chat import ChatModel

_PHASE = Phase(N_("judging"), N_("answers"))
_STOPPED = N_("the judge was stopped before it came to this answer")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict of a judge."""

    answer: str  # digest of question, answer and derivation (`digest`)
    verdict: str  # "" if there is none
    problem: str
    spent: Spent


_JUDGEMENTS = TypeAdapter(Judgement)

_ToJudge = dict[str, tuple[Question, Answered]]


def judged(plan: Plan, setups: Sequence[Setup], *, retry_failed: bool, on_event: Listener) -> int:
    """Ask the judge of a plan for missing verdicts, and return how many it gave.

    Problems are asked again only with `retry_failed`.
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
    """Entries with answers without a verdict, and these answers; opens no model.

    The result is empty without a judge, or if it rates answers in pairs.
    """
    if plan.judge is None or plan.measure.rated:
        return []
    left = [(one, _to_judge(plan, plan.judge, one, retry_failed=retry_failed)) for one in setups]
    return [(setup, found) for setup, found in left if found]


def _to_judge(plan: Plan, judge: Judge, setup: Setup, *, retry_failed: bool) -> _ToJudge:
    given = read_verdicts(judge.journal(setup.folder))
    return {
        content: (question, answer)
        for order in range(plan.orders)
        for _row, question, answer in _answers(plan, setup, order)
        if answer.text
        for content in (digest(question, answer),)
        if content not in given or (retry_failed and not given[content].verdict)
    }


def with_verdicts(
    plan: Plan, setup: Setup, order: int, results: dict[int, Result]
) -> dict[int, Result]:
    """Add the judge's verdicts to the results of an order; both agree on no answer."""
    if plan.judge is None or plan.measure.rated:
        return results
    given = read_verdicts(plan.judge.journal(setup.folder))
    found = dict(results)
    for row, question, answer in _answers(plan, setup, order):
        result = results[row]
        if not answer.text:
            said = Judgement("", result.verdicts[DETERMINISTIC], "", Spent())
        else:
            said = given.get(digest(question, answer), Judgement("", "", _(_STOPPED), Spent()))
        found[row] = replace(
            result,
            verdicts={**result.verdicts, **({JUDGE: said.verdict} if said.verdict else {})},
            unjudged=said.problem,
            judging=said.spent,
        )
    return found


def _answers(plan: Plan, setup: Setup, order: int) -> Iterator[tuple[int, Question, Answered]]:
    path = places.order_file(setup.folder, order)
    for row, answer in read_rows(path, Answered.of, plan.n).items():
        yield row, plan.asked[row - 1], answer


def _judge(
    judge: Judge, model: ChatModel, setup: Setup, found: _ToJudge, on_event: Listener
) -> None:
    asked = [
        (question.id, partial(_asked, model, judge.config.chat, content, question, answer))
        for content, (question, answer) in found.items()
    ]
    with opened(_journal(judge.journal(setup.folder))) as journal:
        keep_each(asked, journal, model.parallel, _PHASE, setup.name, on_event)


class _KeptReply(Protocol):
    @property
    def problem(self) -> str: ...


_Said = TypeVar("_Said", bound=_KeptReply)


def keep_each(
    asked: Sequence[tuple[str, Callable[[], _Said]]],
    journal: Journal[_Said],
    parallel: int,
    phase: Phase,
    name: str,
    on_event: Listener,
) -> None:
    """Ask a judge each question, and keep each reply at once."""
    begun = perf_counter()
    failed = 0
    with ThreadPoolExecutor(parallel) as pool:
        try:
            coming = {pool.submit(ask_judge): id_ for id_, ask_judge in asked}
            for done, one in enumerate(as_completed(coming), 1):
                said = one.result()
                journal.append(said)
                if said.problem:
                    failed += 1
                    on_event(Unjudged(name, coming[one], said.problem))
                on_event(Progress(phase, done, len(asked), perf_counter() - begun, failed=failed))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _asked(
    model: ChatModel, settings: ChatConfig, content: str, question: Question, answer: Answered
) -> Judgement:
    begun = perf_counter()
    said = judge(model, settings, question, answer.text, answer.derivation.triples)
    spent = Spent.of(said.calls, perf_counter() - begun)
    return Judgement(content, said.verdict or "", said.problem, spent)


_YES_NO = {folded("YES"), folded("NO")}


class _JudgeReply(BaseModel):
    # The reason comes first: the verdict is then written with it in view.
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    verdict: Literal["right", "wrong"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and its cost."""

    verdict: AnswerVerdict | None  # None if there is none
    calls: tuple[ModelCall, ...] = ()  # of the model, retries included; empty if comparison decided
    problem: str = ""


def judge(
    model: ChatModel,
    settings: ChatConfig,
    question: Question,
    answer: str,  # its text. If it is empty, the model is not called
    derivation: Sequence[Triple],
) -> Judged:
    """A model judges an answer and, in a second call, its triples.

    There is no verdict if a reply stayed malformed, or the prompt does not fit the context.
    """
    if not folded(answer):
        return Judged(AnswerVerdict.NA)
    calls: list[ModelCall] = []

    def right(name: str, **values: str | Sequence[str]) -> bool:
        texts = [
            text
            for value in values.values()
            for text in ((value,) if isinstance(value, str) else value)
        ]
        asked = question.query.text
        tag = element("text", (asked, *texts))
        shown = {"question": asked, "longest": LONGEST_REASON, "tag": tag, **values}
        messages = prompt(name, language_of(asked), **shown)
        return ask(model, settings, messages, _JudgeReply, calls.append, name).verdict == "right"

    gold, facts = ([one.text for one in some] for some in (question.derivation, derivation))
    try:
        answered = _compared(answer, question.answer)
        if answered is None:
            answered = right("judge_answer", gold=question.answer, answer=answer)
        derived = _derived(derivation, question.derivation)
        if derived is None:
            derived = right("judge_derivation", answer=question.answer, gold=gold, facts=facts)
    except ModelUnusable as error:
        if not error.of_one_request:
            raise
        return Judged(None, tuple(calls), error.cause)
    return Judged(AnswerVerdict.of(answer=answered, derivation=derived), tuple(calls))


def _compared(answer: str, gold: str) -> bool | None:
    """Whether an answer is right, if comparison decides it."""
    both = {folded(answer), folded(gold)}
    if len(both) == 1:
        return True
    return False if both <= _YES_NO else None


def _derived(derivation: Sequence[Triple], gold: Sequence[Triple]) -> bool | None:
    """Whether a derivation is right, if comparison decides it."""
    given, wanted = (
        Counter(tuple(map(folded, one)) for one in singles(some)) for some in (derivation, gold)
    )
    if given == wanted:
        return True
    return None if given else False


def digest(question: Question, answer: Answered) -> str:
    """Identifies a question, an answer and its triples."""
    judged = [
        question.id,
        question.query.text,
        question.answer,
        to_jsonable_python(question.derivation),
        answer.text,
        to_jsonable_python(answer.derivation.triples),
    ]
    return sha256(json.dumps(judged).encode()).hexdigest()[:32]


def read_verdicts(path: Path) -> dict[str, Judgement]:
    """Read a journal of verdicts by digest. The newest counts; the journal may be missing."""
    return {line.row.answer: line.row for line in _journal(path).lines()}


@contextmanager
def opened(journal: Journal[Row]) -> Iterator[Journal[Row]]:
    """Open a journal for writing; drop a line cut off by a kill."""
    busy = BusyError(
        N_("Another process is writing {path}."),
        N_("Wait until it has finished, then go on."),
        path=journal.path,
    )
    goes_on = N_("Free some space or mend its permissions; the same command goes on.")
    with locked(journal.path.with_suffix(".lock"), busy, goes_on), journal as held:
        yield held


def _journal(path: Path) -> Journal[Judgement]:
    return Journal(path, _JUDGEMENTS, partial(_damaged, path))


def _damaged(path: Path, number: int) -> WorkspaceError:
    return WorkspaceError(
        N_("{path}, line {n} is no verdict."),
        N_("Delete that line: the answer is judged again."),
        path=path,
        n=number,
    )
