"""Every run of the tests ends, and with a report: whatever waits for ever is ended and named.

Three limits, each for what the one before cannot end. The figure is in pyproject.toml.

1. A coroutine is cancelled in its event loop after half of `faulthandler_timeout`. An error
   raised by a signal would leave it waiting there, and the fixtures torn down after it would wait
   for it in turn.
2. faulthandler writes down where every thread is after `faulthandler_timeout`, and ends the
   process; pytest-xdist reports its test as failed and goes on with another process.
3. `make test` interrupts a run that does not end.

Processes that a test has started and left behind are ended when all tests are done, and named.
"""

import asyncio
import functools
import inspect
import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psutil
import pytest

# In the environment of every process of a run, and of what they start.
_MARK = "PYTEST_RUN_OF_LOCALRAG"
# Seconds in which a process that is about to end does so, on a busy machine.
_FAREWELL = 10.0
_LEFT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Mark the processes of this run; those of pytest-xdist inherit it."""
    if not hasattr(config, "workerinput"):
        os.environ[_MARK] = uuid4().hex


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a coroutine the limit that its event loop keeps."""
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
        item.obj = _limited(item.obj, 0.5 * _limit(item.config))


def _limit(config: pytest.Config) -> float:
    return float(config.getini("faulthandler_timeout"))


def _limited(test: Any, seconds: float) -> Any:
    @functools.wraps(test)
    async def run(*arguments: Any, **named: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*arguments, **named)

    return run


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End what was left behind, once pytest-xdist has ended its processes."""
    if hasattr(session.config, "workerinput"):
        return
    _, left = psutil.wait_procs(list(_others()), min(_FAREWELL, 0.5 * _limit(session.config)))
    session.config.stash[_LEFT] = [_described(process) for process in left]
    for process in left:
        process.kill()
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what was left behind."""
    for process in config.stash.get(_LEFT, []):
        terminalreporter.write_line(f"LEFT BEHIND by a test, and ended: {process}", red=True)


def _others() -> Iterator[psutil.Process]:
    """The other processes of this run, but for the one that Python ends when it ends itself."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) != os.environ[_MARK] or process.pid == os.getpid():
                continue
            if not any("multiprocessing.resource_tracker" in part for part in process.cmdline()):
                yield process
        except psutil.Error:
            continue  # It has ended, or belongs to somebody else.


def _described(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())}"
    except psutil.Error:
        return str(process.pid)
