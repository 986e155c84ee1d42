"""Measures of AVeriTeC: verdicts, and their evidence.

Source: Schlichtkrull, Guo and Vlachos, "AVeriTeC: A Dataset for Real-world Claim Verification with
Evidence from the Web" (NeurIPS 2023), section 4; eval.py of MichSchli/AVeriTeC. The first ten
questions of the evidence count. They are assigned to the dataset's with the highest sum of METEOR
(Hungarian method), divided by the number of the dataset's. At level λ a verdict is right only if
the score of questions and answers is above λ.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from localrag.corpus.types import Triple
from localrag.evaluation.measures.meteor import EXTRA, Meteor
from localrag.evaluation.types import Measure, Question
from localrag.facts import Fact, FactKind
from localrag.reading.types import FactCheck

LEVELS = (0.1, 0.2, 0.25)
"""The levels λ of evidence at which verdicts are counted."""

_MOST = 10
_NO_ANSWER = "No answer could be found."


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure; without METEOR only of verdicts."""
    del synonyms
    meteor = Meteor.open()
    notes = meteor.notes if meteor else [Fact(FactKind.METEOR_LEFT_OUT, extra=EXTRA)]
    return Measure("accuracy", _of_text, notes=tuple(notes), of_checks=partial(measure, meteor))


def measure(
    meteor: Meteor | None, checked: FactCheck | None, question: Question
) -> Mapping[str, float]:
    """Figures of one verdict, 0 to 1 each.

    Args:
        meteor: compares evidence; None if it is missing.
        checked: result for the claim; None without a verdict.
        question: the claim.

    Returns:
        ``accuracy`` of the label. With METEOR also ``Q`` (questions), ``Q+A`` (with evidence) and
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
    """METEOR of given texts assigned one to one to the wanted ones, 0 to 1."""
    from scipy.optimize import linear_sum_assignment

    counted = given[:_MOST]
    if not counted or not wanted:
        return 0.0
    scores = [[meteor(one, other) for other in wanted] for one in counted]
    rows, columns = linear_sum_assignment(scores, maximize=True)
    best = sum(scores[row][column] for row, column in zip(rows, columns, strict=True))
    return float(best / len(wanted))


def _given(checked: FactCheck | None) -> list[str]:
    """Questions, each with a sentence shown to the model; also questions without one."""
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
    del answer, derivation, question
    return {"accuracy": 0.0}
