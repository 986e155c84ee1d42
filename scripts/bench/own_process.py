"""Work in a process of its own, which may be killed: how it ended, or what it returned.

Processes are forked, so hundreds of rounds import modules once. The caller may have no store or
index open meanwhile.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from bench.rates import rate

Note = Callable[[object], None]
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
            except Exception as error:  # noqa: BLE001 - any error is reported
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


def noted(log: Path, wanted: int) -> bool:
    """Whether so many lines are noted."""
    return len(told(log)) >= wanted


def last_stage(lines: list[Any]) -> str:
    """The last stage noted."""
    return next((line["at"] for line in reversed(lines) if "at" in line), "start")


def noting(log: Path) -> Note:
    """What notes a value in such a file: once it returns no kill can lose it."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(value: object) -> None:
        os.write(file, json.dumps(value).encode() + b"\n")

    return note


def killed_once(ready: Callable[[], bool], seconds: float, work: Callable[[], object]) -> bool:
    """Start some work, and kill its process group so many seconds after `ready` says so.

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
    """Processor seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class KilledCase:
    """Work on a workspace to be killed (`kill.py`).

    Attributes:
        size: of the data, without ``--size``.
    """

    size: ClassVar[int] = 0

    def __init__(self, chosen: argparse.Namespace, folder: Path) -> None:
        self.chosen, self.folder, self.base = chosen, folder, folder / "base"
        self.chance = random.Random(chosen.seed)
        self.count: int = self.size if chosen.size is None else chosen.size

    def prepare(self) -> None:
        """Make the base."""
        raise NotImplementedError

    def work(self, home: Path, note: Note) -> None:
        """Do the work in its own process; `note` takes acknowledged results."""
        raise NotImplementedError

    def copy(self, name: str) -> Path:
        """A copy of the base."""
        return Path(shutil.copytree(self.base, self.folder / name))

    def act(self, home: Path, log: Path) -> Callable[[], None]:
        """The work, noting in a log."""
        return lambda: self.work(home, noting(log))


class EachRound(KilledCase):
    """Work that is killed once in each round, in a new copy of the base."""

    seconds: float | None = None
    """Time within which it is killed; None for the undisturbed time."""

    def undisturbed(self, home: Path, lines: list[Any]) -> None:
        """Keep the result of work that nobody killed."""

    def meanwhile(self, home: Path) -> None:
        """Look at the workspace while the work is done."""

    def moment(self, seconds: float) -> tuple[Callable[[list[Any]], bool], float]:
        """When it is killed: after what it told satisfies a condition, and so many seconds."""
        return (lambda _: True), self.chance.uniform(0.0, seconds)

    def left(self, home: Path, lines: list[Any]) -> str:
        """Check what a kill has left, and name its state."""
        raise NotImplementedError

    def complete(self, home: Path, log: Path) -> None:
        """Do the work again, to its end."""
        carry_out(self.act(home, log))

    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        """Check the result of both runs, by what they told."""

    def run(self) -> None:
        """Run all rounds and print the outcome."""
        self.prepare()
        seconds = self.seconds or self._timed()
        found: Counter[str] = Counter()
        logs = [self.folder / "killed.log", self.folder / "whole.log"]
        while found.total() < self.chosen.rounds:
            home = self.copy("round")
            killed = self._killed(home, logs[0], seconds)
            state = self.left(home, told(logs[0]))
            self.complete(home, logs[1])
            self.completed(home, *map(told, logs))
            shutil.rmtree(home)
            for log in logs:
                log.unlink(missing_ok=True)
            if killed:
                found[state] += 1
            else:
                # It was faster than the first time, and there was nothing left to kill.
                seconds *= 0.9
        n = self.chosen.rounds
        print(f"n = {n}, lost, mixed or done twice: {rate(0, n)}; found {dict(found)}")

    def _timed(self) -> float:
        home, log, began = self.copy("undisturbed"), self.folder / "log", time.perf_counter()
        self.complete(home, log)
        seconds = time.perf_counter() - began
        self.undisturbed(home, told(log))
        print(f"undisturbed {seconds:.1f} s", flush=True)
        return seconds

    def _killed(self, home: Path, log: Path, seconds: float) -> bool:
        ready, wait = self.moment(seconds)
        until: float | None = None

        def due() -> bool:
            nonlocal until
            self.meanwhile(home)
            if until is None and ready(told(log)):
                until = time.monotonic() + wait
            return until is not None and time.monotonic() >= until

        return killed_once(due, 0.0, self.act(home, log))


class OneRun(KilledCase):
    """One run that is killed again and again, each time after some notes more."""

    wait: ClassVar[float]
    """Seconds after a note within which it is killed."""

    def killed(self, home: Path, before: list[Any], since: list[Any]) -> None:
        """Check the state after a kill, by notes before and since the last one."""

    def compare(self, whole: Path, broken: Path, lines: list[Any], kills: int) -> str:
        """Check that both runs end alike; returns a sentence."""
        raise NotImplementedError

    def run(self) -> None:
        """Run once undisturbed and once with kills, and compare."""
        # In a process of its own, because the next ones are forked: nothing may be open here.
        carry_out(self.prepare)
        whole, broken = self.copy("whole"), self.copy("broken")
        log, began = self.folder / "whole.log", time.perf_counter()
        carry_out(self.act(whole, log))
        most = len(told(log))
        print(f"{most:,} notes undisturbed, {time.perf_counter() - began:.1f} s", flush=True)
        log, kills = self.folder / "broken.log", 0
        for number in range(self.chosen.rounds):
            before = told(log)
            more = 2 * (most - len(before)) // (self.chosen.rounds - number + 1)
            wanted = len(before) + self.chance.randrange(max(1, more))
            ready = partial(noted, log, wanted)
            if not killed_once(ready, self.chance.uniform(0, self.wait), self.act(broken, log)):
                break
            kills += 1
            self.killed(broken, before, told(log)[len(before) :])
        carry_out(self.act(broken, log))
        print(f"killed {kills} times: {self.compare(whole, broken, told(log), kills)}")
        print(f"n = {kills} kills after which it did not go on as it was: {rate(0, kills)}")


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
