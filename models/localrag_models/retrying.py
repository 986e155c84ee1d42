"""Trying again what failed in passing: waits that grow, at random, and a word about each."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from localrag_models.chat import never
from localrag_models.errors import ModelError, ServerTimeout

if TYPE_CHECKING:
    import tenacity

_ATTEMPTS = 4
_FIRST_WAIT = 0.5
_GLANCE = 0.05

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """One failure that is about to be followed by another attempt.

    Attributes:
        error: what went wrong.
        attempt: the attempt that failed, counted from 1.
        wait: seconds until the next one.
    """

    error: BaseException
    attempt: int
    wait: float

    def __str__(self) -> str:
        return f"{self.error} Attempt {self.attempt + 1} follows in {self.wait:.1f} s."


def warn(retry: Retry) -> None:
    """Write a retry to the log, as a warning."""
    logging.getLogger(__package__).warning("%s", retry)


def retrying(
    call: Callable[[], T],
    *,
    allowed: Callable[[], bool],
    on_retry: Callable[[Retry], None] = warn,
    cancelled: Callable[[], bool] = never,
) -> T:
    """Call, and call again while failures are transient: four times at most.

    The waits are drawn from 0 to 0.5, 1 and 2 s, so that callers who failed together part.

    A timeout is not repeated: it has already cost the patience the user set.

    Args:
        call: what is to be done.
        allowed: asked after a failure whether doing it again would still be unseen by anybody.
        on_retry: told of each failure that is followed by another attempt.
        cancelled: asked while waiting; true ends the waiting, and the last failure is raised.

    Raises:
        ModelError: the last failure.
    """
    import tenacity

    def worth_it(error: BaseException) -> bool:
        passing = isinstance(error, ModelError) and error.transient
        return passing and not isinstance(error, ServerTimeout) and allowed() and not cancelled()

    def told(state: "tenacity.RetryCallState") -> None:
        if state.outcome is not None and (error := state.outcome.exception()) is not None:
            on_retry(Retry(error, state.attempt_number, state.upcoming_sleep))

    def sleep(seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not cancelled():
            time.sleep(min(_GLANCE, left))

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(worth_it),
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=_FIRST_WAIT),
        sleep=sleep,
        before_sleep=told,
        reraise=True,
    )(call)
