"""Which option was chosen by where it stood: position bias, and what it would score by itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from localrag.evaluation.model import Question
from localrag.evaluation.orders import in_dataset_order
from localrag.evaluation.report.answers import Answers
from localrag.evaluation.statistics import Estimate, score, share
from localrag.methods.choices import LABELS


@dataclass(frozen=True, slots=True)
class Position:
    """One place among the options, over all answers of an entry that chose one.

    Attributes:
        label: what the option there is labelled.
        chosen: answers that chose it.
        right: the same questions in the same orders, if each were answered right.
    """

    label: str
    chosen: int
    right: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a way to answer that reads no question scores on these questions."""

    name: str
    score: Estimate


def positions(answers: Answers) -> list[Position]:
    """How often each position was chosen, and how often it was right, in the answers there are."""
    chosen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question in answers.questions:
        for result in answers.by_question[question.id]:
            if result.shown:
                chosen[result.shown] += 1
                right[right_position(question, result.order)] += 1
    return [Position(label, chosen[label], right[label]) for label in sorted({*chosen, *right})]


def same_choice(answers: Answers) -> Estimate | None:
    """The share of questions with the same option chosen in all orders.

    A question with an answer missing counts as not the same. None where there is one order, or
    no option was ever chosen.
    """
    choices = [
        [result.chosen for result in answers.by_question[question.id]]
        for question in answers.questions
    ]
    if not any(map(any, choices)) or len(choices[0]) < 2:
        return None
    return share(sum(bool(one[0]) and len(set(one)) == 1 for one in choices), len(choices))


def baselines(questions: Sequence[Question], orders: int) -> list[Baseline]:
    """Always the same position, and chance; none where questions are not answered by a choice."""
    if not questions or not all(question.query.options for question in questions):
        return []
    places = [
        [right_position(question, order) for order in range(orders)] for question in questions
    ]
    widest = max(len(question.query.options) for question in questions)
    always = [
        Baseline(f"always {label}", found)
        for label in LABELS[:widest]
        if (found := score([[float(place == label) for place in one] for one in places]))
    ]
    chance = fmean(1 / len(question.query.options) for question in questions)
    return [*always, Baseline("chance", Estimate(chance, chance, chance, len(questions)))]


def right_position(question: Question, order: int) -> str:
    """The label under which the right option is shown in this order."""
    size = len(question.query.options)
    labels = LABELS[:size]
    return next(one for one in labels if in_dataset_order(one, order, size) == question.answer)
