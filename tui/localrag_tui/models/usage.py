"""The memory of the machine, and how much of it the loaded model takes."""

from typing import NamedTuple


class Usage(NamedTuple):
    """Bytes of memory.

    Attributes:
        loaded: what the process that answers takes, with all that it has started; 0 for none.
        total: of the machine.
        free: of the machine; what can be had without swapping.
    """

    loaded: int
    total: int
    free: int


def measure(pid: int) -> Usage:
    """Measure; a few milliseconds.

    Args:
        pid: of the process that answers; 0 for none.
    """
    import psutil

    machine = psutil.virtual_memory()
    loaded = 0
    if pid:
        try:
            process = psutil.Process(pid)
            for one in (process, *process.children(recursive=True)):
                loaded += one.memory_info().rss
        except psutil.Error:  # It ended meanwhile.
            loaded = 0
    return Usage(loaded, machine.total, machine.available)
