"""What answers cost: calls of a model, tokens, time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from localrag.evaluation.model import Spent


@dataclass(frozen=True, slots=True)
class Costs:
    """What one answer costs.

    Attributes:
        n: answers.
        calls, prompt, cached, completion: means; calls include retries, the others are tokens.
        retries: of all answers together.
        median_seconds, p95_seconds: wall time; the 95th percentile by nearest rank.
    """

    n: int
    calls: float
    retries: int
    prompt: float
    cached: float
    completion: float
    median_seconds: float
    p95_seconds: float


def costs(spent: Sequence[Spent]) -> Costs | None:
    """Sum up what answers cost; None where there is none."""
    if not spent:
        return None
    seconds = sorted(one.seconds for one in spent)
    return Costs(
        n=len(spent),
        calls=fmean(one.calls for one in spent),
        retries=sum(one.retries for one in spent),
        prompt=fmean(one.prompt for one in spent),
        cached=fmean(one.cached for one in spent),
        completion=fmean(one.completion for one in spent),
        median_seconds=median(seconds),
        p95_seconds=seconds[math.ceil(0.95 * len(seconds)) - 1],
    )
