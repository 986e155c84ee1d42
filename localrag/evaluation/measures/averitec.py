"""The measures of AVeriTeC: verdicts, and the evidence they rest on.

Source: Schlichtkrull, Guo and Vlachos, "AVeriTeC: A Dataset for Real-world Claim Verification with
Evidence from the Web" (NeurIPS 2023), section 4; the script eval.py of MichSchli/AVeriTeC, whose
rules are kept: of the evidence given only the first ten questions, or questions with answers,
count; it is assigned to that of the dataset so that the sum of METEOR is highest (the Hungarian
method), and the sum is divided by the number of those of the dataset, so that what is given besides
costs nothing; at a level λ a verdict is right only where this score of questions and answers is
above λ.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from localrag.answer.types import FactCheck
from localrag.corpus.types import Triple
from localrag.evaluation.measures.meteor import EXTRA, Meteor
from localrag.evaluation.types import Measure, Question
from localrag.text.facts import Fact, FactKind

LEVELS = (0.1, 0.2, 0.25)
"""The levels λ of evidence at which verdicts are counted."""

_MOST = 10
_NO_ANSWER = "No answer could be found."


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure with what is installed; without METEOR it is of verdicts alone."""
    del synonyms
    meteor = Meteor.open()
    notes = meteor.notes if meteor else [Fact(FactKind.METEOR_LEFT_OUT, extra=EXTRA)]
    return Measure("accuracy", _of_text, notes=tuple(notes), of_checks=partial(measure, meteor))


def measure(
    meteor: Meteor | None, checked: FactCheck | None, question: Question
) -> Mapping[str, float]:
    """The figures of one verdict, 0 to 1 each.

    Args:
        meteor: compares evidence; None where it cannot be made.
        checked: what became of the claim; None where no verdict was given.
        question: the claim.

    Returns:
        ``accuracy``: whether the label is right; with METEOR also ``Q`` and ``Q+A``, how far the
        questions, and the questions with their evidence, are those of the dataset, and
        ``accuracy@λ`` for each of `LEVELS`.
    """
    right = float(checked is not None and checked.veracity == question.answer)
    figures = {"accuracy": right}
    if meteor is None:
        return figures
    asked = checked.questions if checked else ()
    figures["Q"] = assigned(meteor, asked, [one.question for one in question.evidence])
    evidence = assigned(meteor, _given(checked), _wanted(question))
    figures["Q+A"] = evidence
    return figures | {f"accuracy@{level}": right * (evidence > level) for level in LEVELS}


def assigned(meteor: Meteor, given: Sequence[str], wanted: Sequence[str]) -> float:
    """The METEOR of what is given for what is wanted, each assigned to another one; 0 to 1.

    Args:
        meteor: compares two texts.
        given: of which the first ten count.
        wanted: what the dataset has.
    """
    from scipy.optimize import linear_sum_assignment

    counted = given[:_MOST]
    if not counted or not wanted:
        return 0.0
    scores = [[meteor(one, other) for other in wanted] for one in counted]
    rows, columns = linear_sum_assignment(scores, maximize=True)
    best = sum(scores[row][column] for row, column in zip(rows, columns, strict=True))
    return float(best / len(wanted))


def _given(checked: FactCheck | None) -> list[str]:
    """The questions with what was found for them, as a model was shown it; each sentence by itself.

    A question that nothing was found for is there as well.
    """
    if checked is None:
        return []
    found: dict[str, list[str]] = {question: [] for question in checked.questions}
    for one in checked.evidence:
        text = f"{one.supplement} {one.citation.quote}".strip()
        found.setdefault(one.question, []).append(text)
    return _paired(found.items())


def _wanted(question: Question) -> list[str]:
    return _paired((one.question, one.answers) for one in question.evidence)


def _paired(pairs: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    return [
        f"{question} {answer}"
        for question, answers in pairs
        for answer in (answers or (_NO_ANSWER,))
    ]


def _of_text(answer: str, derivation: Sequence[Triple], question: Question) -> Mapping[str, float]:
    """No text is a verdict."""
    del answer, derivation, question
    return {"accuracy": 0.0}
