"""A program in a terminal of our own, which notes when each part of its output arrives."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

# Cursor movements and colours; the rest is read.
_CONTROL = re.compile(rb"\x1b(?:\[[0-9;?<>=:]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_PIECE = 1 << 20


@dataclass(frozen=True)
class Painted:
    """What arrived at once, and when (seconds of `time.perf_counter`)."""

    at: float
    output: bytes


def own_environment() -> dict[str, str]:
    """The environment of this process, with Python's cache allowed, as installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Terminal:
    """A pseudo-terminal with a program in it."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        self.started = time.perf_counter()
        self._pid, self._file = pty.fork()
        if not self._pid:
            size = struct.pack("HHHH", rows, columns, 0, 0)
            fcntl.ioctl(1, termios.TIOCSWINSZ, size)
            os.execvpe(command[0], list(command), {**own_environment(), **environment})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.close(self._file)
        os.waitpid(self._pid, 0)

    def press(self, keys: str) -> float:
        """Press keys; gives back when."""
        at = time.perf_counter()
        os.write(self._file, keys.encode())
        return at

    def until(self, *texts: str, seconds: float = 30) -> float:
        """When the last of some texts was painted, each of them from now on; see `when`."""
        return max(self.when(*texts, seconds=seconds))

    def when(self, *texts: str, seconds: float = 30) -> list[float]:
        """Times at which each of some texts is painted, from now on.

        Exits if a text does not appear in time.
        """
        found: dict[str, float] = {}
        seen = b""
        deadline = time.perf_counter() + seconds
        while missing := [text for text in texts if text not in found]:
            painted = self._next(deadline - time.perf_counter())
            if painted is None:
                sys.exit(f"{missing} were not painted in {seconds:.0f} s")
            seen += painted.output
            plain = _CONTROL.sub(b"", seen).decode(errors="ignore")
            found |= {text: painted.at for text in missing if text in plain}
        return [found[text] for text in texts]

    def settle(self, quiet: float = 0.15, most: float = 5) -> list[Painted]:
        """Everything painted until nothing comes for `quiet` seconds, longer than any blinking."""
        parts: list[Painted] = []
        deadline = time.perf_counter() + most
        while time.perf_counter() < deadline and (painted := self._next(quiet)):
            parts.append(painted)
        return parts

    def _next(self, seconds: float) -> Painted | None:
        if not select.select([self._file], [], [], max(0.0, seconds))[0]:
            return None
        try:
            output = os.read(self._file, _PIECE)
        except OSError:
            sys.exit("the program has ended")
        return Painted(time.perf_counter(), output)
