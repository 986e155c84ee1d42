"""Progress of a batch: questions a minute, failures, time left."""

import time
from typing import TYPE_CHECKING, Self

from localrag.batch.events import Progress
from localrag.cli.terminal import console_for_progress, on_terminal, tell
from localrag.cli.wording import duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 2.0
"""Seconds that pass without a word."""
_EVERY = 30.0
"""Seconds between two lines where nobody watches; a batch may take a night."""


class Pace:
    """Shows how far a batch is: a bar for a person, a line now and then for a log.

    Args:
        step: what is being done, in front of the figures.
    """

    def __init__(self, step: str = "answering") -> None:
        self._step = step
        self._spoke = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, progress: Progress) -> None:
        """Note how far it is."""
        if progress.seconds < _PATIENCE:
            return
        if on_terminal():
            self._draw(progress)
        elif time.monotonic() - self._spoke >= _EVERY:
            self._spoke = time.monotonic()
            tell(f"{self._step}: {_in_words(progress)}")

    def _draw(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.add_task(self._step, words="")
            self._bar.start()
        self._bar.update(
            self._bar.task_ids[0],
            completed=progress.done,
            total=progress.total,
            words=_in_words(progress),
        )


def a_minute(rate: float) -> str:
    """A number of questions a minute, in words."""
    return f"{rate:,.0f} a minute" if rate >= 100 else f"{rate:.1f} a minute"


def _in_words(progress: Progress) -> str:
    return (
        f"{progress.done:,} of {progress.total:,} questions, "
        f"{a_minute(60 * progress.asked / progress.seconds)}, {progress.failed:,} failed, "
        f"about {duration(progress.left)} left"
    )


def _new_bar() -> "Bar":
    from rich import progress

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[words]}", markup=False),
        console=console_for_progress(),
        transient=True,
    )
