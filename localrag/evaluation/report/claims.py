"""Verdicts on claims: a confusion matrix, and figures of each label.

Source: section 4 of the paper of AVeriTeC, and eval.py (accuracy, F1 of each label and their
mean). A claim without a verdict was given no label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from localrag.answer.types import Veracity
from localrag.answer.wording import VERACITIES
from localrag.evaluation.report.document import DASH, Block, ReportText, Table, estimate, percent
from localrag.evaluation.report.measured import Answers, Baseline
from localrag.evaluation.statistics import Estimate, score, share
from localrag.evaluation.types import Question
from localrag.language import _

NONE = ""
"""For a claim without a verdict."""


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """Figures of one label."""

    claims: int
    given: int
    recall: Estimate | None  # share of its claims with this verdict; None without a claim
    precision: Estimate | None  # share of verdicts that are right; None without a verdict
    f1: float  # harmonic mean of both; 0 if undefined


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of an entry against the right ones."""

    counts: Mapping[str, Mapping[str, int]]  # claims by right label and given one (`NONE` for none)
    labels: Mapping[str, LabelFigures]

    @property
    def macro_f1(self) -> float:
        """Mean F1 of all labels, even of unused ones."""
        return fmean(one.f1 for one in self.labels.values())


def are_claims(questions: Sequence[Question]) -> bool:
    """Whether questions are claims."""
    return bool(questions) and all(
        one.answer in set(Veracity) and not one.query.options for one in questions
    )


def verdicts(answers: Answers) -> Verdicts | None:
    """Count the verdicts of an entry; None for other questions."""
    if not are_claims(answers.questions):
        return None
    pairs = [(one.answer, answers.by_question[one.id][0].chosen) for one in answers.questions]
    counts = {
        right.value: {given: pairs.count((right, given)) for given in (*_values(), NONE)}
        for right in Veracity
    }
    return Verdicts(counts, {label: _figures(pairs, label) for label in _values()})


def always(questions: Sequence[Question]) -> list[Baseline]:
    """Scores of constant verdicts; empty for other questions."""
    if not are_claims(questions):
        return []
    return [
        Baseline(f"always {label}", label, found)
        for label in _values()
        if (found := score([[float(one.answer == label)] for one in questions]))
    ]


def commonest(questions: Sequence[Question]) -> tuple[str, list[float]] | None:
    """The best constant verdict, and its score on each claim."""
    best = max(always(questions), key=lambda one: one.score.value, default=None)
    if best is None:
        return None
    return best.name, [float(one.answer == best.position) for one in questions]


def blocks(found: Mapping[str, Verdicts | None]) -> list[Block]:
    """Tables: figures of each label, and the confusion matrix."""
    known = {name: one for name, one in found.items() if one}
    if not known:
        return []
    labels = Table(
        [
            *(_("entry"), _("label"), _("claims"), _("given")),
            *(_("recall"), _("precision"), _("F1")),
        ],
        [row for name, one in known.items() for row in _rows(name, one)],
    )
    given = [*(_(VERACITIES[label]) for label in Veracity), _("none")]
    pairs = Table(
        [_("entry"), _("right, and given:"), *given],
        [
            [name, _(VERACITIES[right]), *map(str, one.counts[right].values())]
            for name, one in known.items()
            for right in Veracity
        ],
    )
    return [labels, ReportText(_("Claims by the right and the given verdict:")), pairs]


def _rows(name: str, found: Verdicts) -> list[list[str]]:
    rows = [
        [
            *(name, _(VERACITIES[Veracity(label)]), str(one.claims), str(one.given)),
            *(estimate(one.recall), estimate(one.precision), percent(one.f1)),
        ]
        for label, one in found.labels.items()
    ]
    total = sum(one.claims for one in found.labels.values())
    given = sum(one.given for one in found.labels.values())
    return [*rows, [name, _("mean"), str(total), str(given), DASH, DASH, percent(found.macro_f1)]]


def _figures(pairs: Sequence[tuple[str, str]], label: str) -> LabelFigures:
    claims = sum(right == label for right, _given in pairs)
    given = sum(one == label for _right, one in pairs)
    both = pairs.count((label, label))
    return LabelFigures(
        claims,
        given,
        share(both, claims) if claims else None,
        share(both, given) if given else None,
        2 * both / (claims + given) if both else 0.0,
    )


def _values() -> list[str]:
    return [one.value for one in Veracity]
