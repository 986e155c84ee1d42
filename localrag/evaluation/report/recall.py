"""How often the retrieval found what answers a question, stage by stage."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from localrag.evaluation.model import Result
from localrag.evaluation.report.answers import Answers
from localrag.evaluation.statistics import Estimate, score

DEPTHS = (5, 10)
"""Hits looked at."""

_Found = Callable[[Iterable[bool]], bool]


@dataclass(frozen=True, slots=True)
class Recall:
    """Questions with any, with all of their gold places among the first hits, by how many hits.

    A depth is left out where no list of hits is longer than the depth before it.
    """

    any_found: Mapping[int, Estimate]
    all_found: Mapping[int, Estimate]


def recall(answers: Answers) -> dict[str, Recall]:
    """Recall of every stage, over all questions that have gold places.

    A stage that a question never came to has found nothing for it.
    """
    asked = [answers.by_question[question.id] for question in answers.questions if question.gold]
    stages = dict.fromkeys(
        stage for results in asked for result in results for stage in result.recall
    )
    return {stage: Recall(_at(asked, stage, any), _at(asked, stage, all)) for stage in stages}


def _at(asked: Sequence[Sequence[Result]], stage: str, found: _Found) -> dict[int, Estimate]:
    # Of reports from before lengths were written down it is not known.
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
