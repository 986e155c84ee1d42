"""Scores with intervals, and tests between two methods on the same questions.

The question is the unit: answers in several orders of options count once, by their mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from statistics import fmean
from typing import Any

from localrag.errors import UsageError, to_install
from localrag.language import N_

RESAMPLES = 1_999
"""How often questions are drawn again for a bootstrap interval."""

LEVEL = 0.95
"""How often such an interval covers the true score."""

FEW = 10
"""Below this number of questions a bootstrap has too few values to draw from."""

_SEED = 0
_NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its 95 % interval."""

    value: float  # 0 to 1 for a score, -1 to 1 for a difference
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class McNemar:
    """A test of whether two methods are right equally often."""

    first: int  # first, second: questions that only one of them has right (b and c)
    second: int
    p: float  # exact, two-sided (McNemar 1947, binomial)


def require() -> None:
    """Check that scipy is installed. Raises `UsageError` if it is missing."""
    _stats()


def score(questions: Sequence[Sequence[float]]) -> Estimate | None:
    """Mean score of questions, 0 to 1, each asked in one or several orders; None without any.

    The interval is Wilson's (1927) if each question is right or wrong as a whole. Otherwise it is a
    percentile bootstrap over questions (Efron and Tibshirani 1993, chapter 13). Below `FEW`
    questions it is Hoeffding's (1963, theorem 2).
    """
    means = sorted(fmean(scores) for scores in questions)
    if not means:
        return None
    if all(mean in (0, 1) for mean in means):
        return share(round(sum(means)), len(means))
    return _mean(means, 0.0, 1.0)


def share(hits: int, n: int) -> Estimate:
    """A rate with its Wilson interval; `n` is at least 1."""
    interval = _stats().binomtest(hits, n).proportion_ci(LEVEL, method="wilson")
    # By rounding, an end can lie inside the rate if that is 0 or 1.
    value = hits / n
    return Estimate(value, min(float(interval.low), value), max(float(interval.high), value), n)


def difference(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """Mean difference on the same questions, first minus second; None without questions.

    Args are mean scores by question. The interval is a paired bootstrap, below `FEW` questions
    Hoeffding's.
    """
    gaps = sorted(a - b for a, b in zip(first, second, strict=True))
    return _mean(gaps, -1.0, 1.0) if gaps else None


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Test whether both are right equally often, question by question."""
    pairs = list(zip(first, second, strict=True))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    differing = only_first + only_second
    p = _stats().binomtest(only_first, differing).pvalue if differing else 1.0
    return McNemar(only_first, only_second, min(float(p), 1.0))


def holm(values: Sequence[float]) -> list[float]:
    """P-values adjusted for multiple tests, in their order (Holm 1979)."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for done, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        highest = max(highest, min(1.0, (len(values) - done) * values[place]))
        adjusted[place] = highest
    return adjusted


def _mean(values: Sequence[float], least: float, most: float) -> Estimate:
    mean, n = fmean(values), len(values)
    if n >= FEW:
        return Estimate(mean, *_bootstrap(tuple(values)), n)
    reach = (most - least) * sqrt(log(2 / (1 - LEVEL)) / (2 * n))
    return Estimate(mean, max(least, mean - reach), min(most, mean + reach), n)


# Values are sorted: the interval does not depend on the order of questions.
@lru_cache(maxsize=4096)
def _bootstrap(values: tuple[float, ...]) -> tuple[float, float]:
    import numpy as np

    interval = (
        _stats()
        .bootstrap(
            (np.array(values),),
            np.mean,
            confidence_level=LEVEL,
            n_resamples=RESAMPLES,
            batch=max(1, _NUMBERS_AT_ONCE // len(values)),
            method="percentile",
            rng=_SEED,
        )
        .confidence_interval
    )
    return float(interval.low), float(interval.high)


def _stats() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise UsageError(
            N_("The statistics of an evaluation need scipy."), to_install("eval")
        ) from error
    return stats
