"""Progress of work over two seconds: a bar for a person, a line now and then for a log."""

import time
from typing import TYPE_CHECKING, Self

from localrag.cli.terminal import console_for_progress, on_terminal, tell
from localrag.cli.wording import duration

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 2.0
"""Seconds that pass without a word."""
_EVERY = 5.0
"""Seconds between two lines where nobody watches."""


class Meter:
    """Shows how far work has come, how fast it goes, and how long it will still take."""

    def __init__(self) -> None:
        self._started = self._spoke = time.monotonic()
        self._bar: Progress | None = None
        self._step = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def update(self, step: str, unit: str, done: int, total: int) -> None:
        """Note how far a step is; `unit` says in the plural what is counted ("files")."""
        if step != self._step:
            self._stop()
            self._step, self._started = step, time.monotonic()
        now = time.monotonic()
        if now - self._started < _PATIENCE:
            return
        if on_terminal():
            self._draw(unit, done, total)
        elif now - self._spoke >= _EVERY:
            self._spoke = now
            tell(_line(step, unit, done, total, now - self._started))

    def _draw(self, unit: str, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.add_task(self._step, rate="")
            self._bar.start()
        rate = done / (time.monotonic() - self._started)
        self._bar.update(
            self._bar.task_ids[0],
            completed=done,
            total=total,
            rate=f"{done:,} of {total:,} {unit}, {rate:,.0f}/s",
        )

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _line(step: str, unit: str, done: int, total: int, seconds: float) -> str:
    rate = done / seconds
    pace = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
    left = f", about {duration((total - done) / rate)} left" if rate else ""
    return f"{step}: {done:,} of {total:,} {unit}, {pace}{left}"


def _new_bar() -> "Progress":
    from rich import progress

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[rate]}", markup=False),
        progress.TimeRemainingColumn(),
        console=console_for_progress(),
        transient=True,
    )
