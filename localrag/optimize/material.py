"""What an optimisation works on: questions in two halves, and the instruction it starts from."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from localrag.errors import UsageError
from localrag.evaluation.datasets import loading
from localrag.evaluation.types import Question, Questions
from localrag.language import N_
from localrag.methods.lawqa_study.querying import built_in
from localrag.optimize.task import scorable
from localrag.optimize.types import Objective, Plan
from localrag.prompts import Language, language_of
from localrag.workspace import Workspace

FEWEST = 4
"""Questions that an optimisation needs: two to learn from, two to choose by."""


@dataclass(frozen=True, slots=True)
class Material:
    """The questions of a run, and the instruction it starts from.

    Attributes:
        questions: as they were read.
        train: what is learned from.
        validation: what is chosen by.
        unusable: how many lack what the objective compares with.
        language: of the questions, and so of the instruction.
        seed: the built-in instruction.
    """

    questions: Questions
    train: list[Question]
    validation: list[Question]
    unusable: int
    language: Language
    seed: str

    @classmethod
    def read(cls, workspace: Workspace, plan: Plan, corpus: str) -> "Material":
        """Read and divide the questions of a plan; the laws that they name are those of a corpus.

        Raises:
            UsageError: too few can be used, or the calls do not reach for them.
            NotFoundError, InputError: as `localrag.evaluation.datasets.loading.load` says.
        """
        questions = loading.load(workspace, plan.dataset, plan.split, plan.questions, corpus=corpus)
        usable = [one for one in questions.questions if scorable(one, plan.objective)]
        train, validation = split(usable, plan.seed, plan.limit)
        if len(train) + len(validation) < FEWEST:
            raise UsageError(
                N_(
                    "Only {n} questions can be used; {fewest} are needed. {lacking} of the dataset "
                    "have no gold place."
                )
                if plan.objective is Objective.RECALL
                else N_(
                    "Only {n} questions can be used; {fewest} are needed. {lacking} of the dataset "
                    "have no gold context."
                ),
                N_("Choose another dataset, split or --objective, or a higher --limit."),
                n=len(train) + len(validation),
                fewest=FEWEST,
                lacking=len(questions.questions) - len(usable),
            )
        if plan.calls <= len(validation):
            # Half of the questions, rounded up, are for validation.
            limit = 2 * (plan.calls - 1)
            raise UsageError(
                N_(
                    "The calls ({calls:,}) do not even score the built-in instruction on the {n:,} "
                    "validation questions."
                ),
                N_("Set --calls to {enough:,} at least; a good prompt takes some times as many.")
                if limit < FEWEST
                else N_(
                    "Set --calls to {enough:,} at least; a good prompt takes some times as many. "
                    "Or use fewer questions: --limit {limit:,}."
                ),
                calls=plan.calls,
                n=len(validation),
                enough=len(validation) + 1,
                limit=limit,
            )
        language = language_of("".join(one.query.text for one in train))
        unusable = len(questions.questions) - len(usable)
        return cls(questions, train, validation, unusable, language, built_in(language))


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
