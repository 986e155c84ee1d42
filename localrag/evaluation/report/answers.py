"""The results of an entry, laid out question by question and made sure to be complete."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from localrag.errors import InputError
from localrag.evaluation.model import Entry, Evaluation, Question, Result

AGAIN = "Give the command of the evaluation again: answers that are there are kept."


@dataclass(frozen=True, slots=True)
class Answers:
    """Every answer of one entry.

    Attributes:
        questions: in the order of the dataset.
        by_question: for each the results in all orders of its options, from order 0.
    """

    entry: Entry
    questions: tuple[Question, ...]
    by_question: Mapping[str, tuple[Result, ...]]

    def all(self) -> list[Result]:
        """All results, order by order within each question."""
        return [result for question in self.questions for result in self.by_question[question.id]]

    def scores(self, question: Question) -> list[float]:
        """The scores of a question, order by order."""
        return [result.score for result in self.by_question[question.id]]

    def first_scores(self) -> list[float]:
        """The score of each question in the order of the dataset."""
        return [self.scores(question)[0] for question in self.questions]

    def means(self) -> list[float]:
        """The mean score of each question."""
        return [fmean(self.scores(question)) for question in self.questions]


def answers_of(evaluation: Evaluation) -> list[Answers]:
    """Lay out the results of every entry.

    Raises:
        InputError: entries share a name, or the results of one are not complete: figures over part
            of the questions would not be comparable.
    """
    names = Counter(entry.name for entry in evaluation.entries)
    for name, times in names.items():
        if times > 1:
            raise InputError(f"{times} entries of {evaluation.id} are named {name!r}.", AGAIN)
    return [_answers(evaluation, entry) for entry in evaluation.entries]


def _answers(evaluation: Evaluation, entry: Entry) -> Answers:
    questions = evaluation.questions.questions
    cells = [(question.id, order) for question in questions for order in range(evaluation.orders)]
    counts = Counter((result.question, result.order) for result in entry.results)
    missing = [cell for cell in cells if cell not in counts]
    if missing:
        question, order = missing[0]
        raise InputError(
            f"{len(missing)} of {len(cells)} results of {entry.name!r} are missing, "
            f"such as {question!r} in order {order}.",
            AGAIN,
        )
    if len(entry.results) > len(cells):
        question, order = next(cell for cell in counts if counts[cell] > 1 or cell not in cells)
        raise InputError(
            f"{entry.name!r} has a result too many: {question!r} in order {order}.", AGAIN
        )
    for result in entry.results:
        if not (math.isfinite(result.score) and 0 <= result.score <= 1):
            raise InputError(
                f"{entry.name!r} scores {result.score} on {result.question!r}, "
                "which does not lie between 0 and 1.",
                AGAIN,
            )
    placed = {(result.question, result.order): result for result in entry.results}
    by_question = {
        question.id: tuple(placed[question.id, order] for order in range(evaluation.orders))
        for question in questions
    }
    return Answers(entry, questions, by_question)
