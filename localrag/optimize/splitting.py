"""Which questions a prompt is made with, and which ones it is chosen by."""

import random
from collections.abc import Sequence

from localrag.evaluation.model import Question


def split(
    questions: Sequence[Question], seed: int, limit: int = 0
) -> tuple[list[Question], list[Question]]:
    """Divide questions in two halves that share none: for training and for validation.

    Each group of questions (the first of `Question.groups`, by law say) is divided in two as
    nearly as can be. The same questions and seed give the same halves.

    Args:
        questions: each id once.
        seed: of the chance.
        limit: use so many of them; 0 for all.
    """
    chosen = sorted(questions, key=lambda question: question.id)
    random.Random(seed).shuffle(chosen)  # noqa: S311 - chance, no secret
    chosen = chosen[: limit or None]
    chosen.sort(key=_group)
    return chosen[1::2], chosen[::2]


def _group(question: Question) -> str:
    return next(iter(question.groups.values()), "")
