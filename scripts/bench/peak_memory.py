"""The memory of this process and all it started, sampled (Linux)."""

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECONDS = 0.1
"""Between two looks."""


class PeakMemory:
    """Measures while the block runs.

    Attributes:
        bytes: highest sum of resident memory over all processes. Shared pages count once for each,
            so the truth is a little lower.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.bytes = max(self.bytes, sum(map(_resident, _family())))
            if self._stop.wait(_SECONDS):
                return


def _family() -> set[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in brackets, may hold anything; after it come state and parent.
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
        except (OSError, IndexError):
            continue
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return family


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
