"""What an evaluation would take, told without asking anything."""

from collections.abc import Iterator
from dataclasses import dataclass

from localrag.evaluation.judging import pending
from localrag.evaluation.model import Result
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.runner import again, known, left


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one entry would take.

    Attributes:
        name: of the entry.
        done, left: questions that are answered, and to be asked; each order counts.
        calls, most_calls: of a model for those left, at least and at most, if no reply has to be
            asked for again.
        prompt, completion: tokens for those left, judged by those answered; 0 where none is.
        seconds: judged alike.
        verdicts: that the judge has still to give, on answers there are and on those to come; 0
            without a judge.
    """

    name: str
    done: int
    left: int
    calls: int
    most_calls: int
    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0
    verdicts: int = 0


def forecast(plan: Plan, *, retry_failed: bool = False) -> Iterator[Forecast]:
    """Tell for each entry what is left to ask; opens no model and writes nothing."""
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
    found = pending(plan, [setup], retry_failed=retry_failed)
    return to_ask + sum(len(answers) for _, answers in found)
