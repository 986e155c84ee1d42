"""What an evaluation would take, told without asking anything."""

from collections.abc import Iterator
from dataclasses import dataclass

from localrag.evaluation.model import Result
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.runner import again, known, left


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one entry would take.

    Attributes:
        name: of the entry.
        done, left: questions that are answered, and to be asked; each order counts.
        calls: of a model for those left, if no reply has to be asked for again.
        prompt, completion: tokens for those left, judged by those answered; 0 where none is.
        seconds: judged alike.
    """

    name: str
    done: int
    left: int
    calls: int
    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0


def forecast(plan: Plan, *, retry_failed: bool = False) -> Iterator[Forecast]:
    """Tell for each entry what is left to ask; opens no model and writes nothing."""
    for setup in plan.setups:
        yield _of(plan, setup, retry_failed=retry_failed)


def _of(plan: Plan, setup: Setup, *, retry_failed: bool) -> Forecast:
    answered: list[Result] = []
    to_ask = calls = 0
    for order in range(plan.orders):
        found = known(plan, setup, order)
        answered += found.values()
        to_ask += left(plan, found, retry_failed=retry_failed)
        for row, question in enumerate(plan.asked, 1):
            if row not in found or again(found[row], retry_failed=retry_failed):
                calls += setup.method.calls.of(len(question.query.options))
    times = to_ask / len(answered) if answered else 0.0
    return Forecast(
        name=setup.name,
        done=plan.n * plan.orders - to_ask,
        left=to_ask,
        calls=calls,
        prompt=round(times * sum(one.spent.prompt for one in answered)),
        completion=round(times * sum(one.spent.completion for one in answered)),
        seconds=times * sum(one.spent.seconds for one in answered),
    )
