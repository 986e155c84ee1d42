"""How long tests wait for what must come, on the slowest machine: one limit for all of them."""

import time
from collections.abc import Callable

from anyio import fail_after, sleep

PATIENCE = 120.0
"""Seconds after which what is waited for will not come; less than a test may take."""


def wait_for(condition: Callable[[], object], told: Callable[[], object] = lambda: "") -> None:
    """Wait until a condition holds, outside an event loop.

    Args:
        condition: a file that it looks for may not be there yet.
        told: what is said where it does not come to pass.
    """
    deadline = time.monotonic() + PATIENCE
    while not _holds(condition):
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not come to pass: {told()}")
        time.sleep(0.01)


async def comes(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, inside an event loop; `wait_for` waits outside one."""
    with fail_after(PATIENCE):
        while not _holds(condition):
            await sleep(0.01)


def _holds(condition: Callable[[], object]) -> bool:
    try:
        return bool(condition())
    except FileNotFoundError:
        return False
