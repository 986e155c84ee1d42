"""Work done by a process of its own, which may die of it: how that ended, or what it gave back.

A process is forked, so that nothing is imported anew for each of hundreds of rounds. Whoever calls
has no store or index open meanwhile.
"""

import json
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LOOKS = 0.005


class Died(Exception):  # noqa: N818 - what became of the process
    """The process gave nothing back; says why: a signal, no end, an exception."""


def result_of(work: Callable[[], Any], goes_on: Callable[[], bool]) -> Any:
    """What some work gives back, as JSON knows it.

    Args:
        work: done by a process of its own.
        goes_on: asked again and again; once it says no, the process is killed.

    Raises:
        Died: there is no result.
    """
    with tempfile.TemporaryFile("w+") as result:

        def told() -> None:
            try:
                value = {"gives": work()}
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                value = {"raises": f"{type(error).__name__}: {error}"[:300]}
            json.dump(value, result)
            result.flush()

        process = _forked(told)
        while (ended := os.waitpid(process, os.WNOHANG)) == (0, 0):
            if not goes_on():
                _kill(process)
                raise Died("no end")
            time.sleep(_LOOKS)
        code = os.waitstatus_to_exitcode(ended[1])
        if code < 0:
            raise Died(f"ended by {signal.Signals(-code).name}")
        if code:
            raise Died("ended by an exception")
        result.seek(0)
        value = json.load(result)
    if "raises" in value:
        raise Died(value["raises"])
    return value["gives"]


def killed_after(seconds: float, work: Callable[[], object]) -> None:
    """Begin some work, and kill its process and all that it started after so many seconds."""
    process = _forked(work)
    time.sleep(seconds)
    _kill(process)


def carry_out(work: Callable[[], object]) -> None:
    """Have a process of its own do some work, to its end.

    Raises:
        Died: it ended by an exception.
    """
    killed_once(lambda: False, 0.0, work)


def told(log: Path) -> list[Any]:
    """What a process has noted in a file, a line of JSON each; the last may be cut off."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]]


def noting(log: Path) -> Callable[[object], None]:
    """What notes a value in such a file: once it returns no kill can lose it."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(value: object) -> None:
        os.write(file, json.dumps(value).encode() + b"\n")

    return note


def killed_once(ready: Callable[[], bool], seconds: float, work: Callable[[], object]) -> bool:
    """Begin some work, and kill its process and all that it started once something is the case.

    Args:
        ready: asked again and again, whether it is.
        seconds: that it is killed after that.
        work: done by a process of its own.

    Returns:
        Whether it was killed; it may have ended before.

    Raises:
        Died: it ended by an exception.
    """
    process, until = _forked(work), None
    while (ended := os.waitpid(process, os.WNOHANG)) == (0, 0):
        if until is None and ready():
            until = time.monotonic() + seconds
        if until is not None and time.monotonic() >= until:
            _kill(process)
            return True
        time.sleep(_LOOKS)
    if ended[1]:
        raise Died("ended by an exception")
    return False


def processor_seconds() -> float:
    """Seconds of the processor of the processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _forked(work: Callable[[], object]) -> int:
    with warnings.catch_warnings():
        # Python warns where other threads may hold a lock: here none works meanwhile.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if not process:
        code = 1
        try:
            os.setsid()
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - nothing may get back into what was forked
            traceback.print_exc()
        finally:
            os._exit(code)
    return process


def _kill(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        # It was killed before it led a group, or has ended.
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
