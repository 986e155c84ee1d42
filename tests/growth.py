"""How much longer work takes on more: a ratio says the same on every machine."""

import gc
import time
from collections.abc import Callable

_TRIES = 5
_LINEAR = 8.0
"""Half-way, in powers of two, between what is linear (4) and what is quadratic (16)."""


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Assert that four times the size does not take much more than four times as long.

    The least of up to five tries counts at either size: other processes only make them longer.

    Args:
        work: does the work at a size; what it remembers of a size must not save it the work.
        size: the smaller one; work at it should take a millisecond or more.
    """
    small = large = float("inf")
    for _ in range(_TRIES):
        small = min(small, _spent(work, size))
        large = min(large, _spent(work, 4 * size))
        if large < _LINEAR * small:
            return
    raise AssertionError(f"{large:.3f} s at size {4 * size:,}, {small:.3f} s at {size:,}")


def _spent(work: Callable[[int], object], size: int) -> float:
    """Seconds of the processor that the work took.

    Without the garbage collector: it looks at all that the tests before have left.
    """
    gc.disable()
    try:
        before = time.process_time()
        work(size)
        return time.process_time() - before
    finally:
        gc.enable()
