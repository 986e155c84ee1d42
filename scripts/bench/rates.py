"""Rates with their uncertainty, and latencies, as the benchmarks print them."""

import statistics
from collections.abc import Sequence


def rate(successes: int, n: int) -> str:
    """A rate with its 95 % Wilson interval, ``0.970 [0.915, 0.990]``; a dash where n is 0."""
    if not n:
        return "–"
    # Imported here, because it takes a second in each process that a benchmark starts.
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    return f"{successes / n:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def latency(seconds: Sequence[float]) -> str:
    """Their number, median and 95th percentile, in milliseconds."""
    p95 = statistics.quantiles(seconds, n=20)[18] if len(seconds) > 1 else seconds[0]
    median = statistics.median(seconds)
    return f"n = {len(seconds):,}, median {median * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms"
