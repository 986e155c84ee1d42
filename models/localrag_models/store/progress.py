"""How work that passes many bytes tells how far it has come."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the step, the bytes done and the bytes there are in that step."""


def silent(step: str, done: int, total: int) -> None:
    """Tell nobody."""
    del step, done, total


class Tally:
    """Adds up the bytes of one step, and passes the sum on."""

    def __init__(self, step: str, total: int, on_progress: Progress) -> None:
        self._step = step
        self._total = total
        self._tell = on_progress
        self._done = 0

    def __call__(self, count: int) -> None:
        """Note that `count` more bytes are done."""
        self._done += count
        self._tell(self._step, self._done, self._total)
