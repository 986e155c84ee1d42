"""Share of gold places found by an entry, and shown to its model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from localrag.evaluation.report.measured import Answers
from localrag.evaluation.statistics import Estimate, score
from localrag.evaluation.types import Result
from localrag.methods.extractive import EVIDENCE

DEPTHS = (5, 10)
"""Hits looked at."""

_Found = Callable[[Iterable[bool]], bool]


@dataclass(frozen=True, slots=True)
class Recall:
    """Questions with any or all gold places among the first hits, to the longest list."""

    any_found: Mapping[int, Estimate]
    all_found: Mapping[int, Estimate]


def recall(answers: Answers) -> dict[str, Recall]:
    """Recall of every stage over questions with gold places; one not reached found nothing."""
    asked = [answers.by_question[question.id] for question in answers.questions if question.gold]
    stages = dict.fromkeys(
        stage for results in asked for result in results for stage in result.recall
    )
    return {stage: Recall(_at(asked, stage, any), _at(asked, stage, all)) for stage in stages}


def _at(asked: Sequence[Sequence[Result]], stage: str, found: _Found) -> dict[int, Estimate]:
    # Older reports have no lengths.
    longest = max(r.lengths.get(stage, DEPTHS[-1]) for rs in asked for r in rs if stage in r.recall)
    return {
        depth: estimate
        for before, depth in pairwise((0, *DEPTHS))
        if before == 0 or longest > before
        if (estimate := score([[_hit(r, stage, found, depth) for r in rs] for rs in asked]))
    }


def _hit(result: Result, stage: str, found: _Found, depth: int) -> float:
    ranks = result.recall.get(stage, ())
    return float(bool(ranks) and found(0 < rank <= depth for rank in ranks))


@dataclass(frozen=True, slots=True)
class GoldShown:
    """Share of gold places shown to a model, over all searches of a question."""

    # any_found, all_found: share of questions with any or all of their gold places
    any_found: Estimate
    all_found: Estimate
    recall: Estimate  # mean share of a question's gold places


def shown(answers: Answers) -> GoldShown | None:
    """Gold places in the evidence; None if nothing is known, none shown without evidence."""
    asked = [answers.by_question[question.id] for question in answers.questions if question.gold]
    if not any(EVIDENCE in result.recall for results in asked for result in results):
        return None
    return _shown(asked, lambda one: [rank > 0 for rank in one.recall.get(EVIDENCE, ())])


def sentences_shown(answers: Answers) -> GoldShown | None:
    """Gold sentences among the chosen ones; None if unknown."""
    asked = [
        answers.by_question[question.id] for question in answers.questions if question.sentences
    ]
    if not any(result.sentences for results in asked for result in results):
        return None
    return _shown(asked, lambda one: one.sentences)


def _shown(
    asked: Sequence[Sequence[Result]], held: Callable[[Result], Sequence[bool]]
) -> GoldShown | None:
    def share(of: Callable[[Sequence[bool]], float]) -> Estimate | None:
        return score([[float(of(held(one) or (False,))) for one in results] for results in asked])

    some, every, recalled = share(any), share(all), share(fmean)
    return GoldShown(some, every, recalled) if some and every and recalled else None
