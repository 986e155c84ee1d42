"""Progress of work over two seconds: a bar for a person, a line now and then for a log."""

from time import monotonic
from typing import TYPE_CHECKING, Self

from localrag.cli.terminal import console_for_progress, on_terminal, tell
from localrag.cli.wording import colon, duration
from localrag.language import _
from localrag.progress import BYTES, Phase, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 2.0
"""Seconds that pass without a word."""


class Meter:
    """Shows how far work is, how fast it goes, and how long it will still take.

    Args:
        every: seconds between two lines where nobody watches.
        name: of what is done, in the place of the names of its stages.
    """

    def __init__(self, every: float = 5.0, name: str = "") -> None:
        self._every = every
        self._name = name
        self._spoke = monotonic()
        self._phase: Phase | None = None
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def update(self, progress: Progress) -> None:
        """Note how far it is."""
        if progress.phase != self._phase:
            self._stop()
            self._phase = progress.phase
        if progress.seconds < _PATIENCE:
            return
        if on_terminal():
            self._draw(progress)
        elif monotonic() - self._spoke >= self._every:
            self._spoke = monotonic()
            tell(f"{self._called(progress)}{colon()}{_in_words(progress)}")

    def _draw(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.add_task(self._called(progress), words="")
            self._bar.start()
        self._bar.update(
            self._bar.task_ids[0],
            completed=progress.done,
            total=progress.total or None,
            words=_in_words(progress),
        )

    def _called(self, progress: Progress) -> str:
        return self._name or " ".join(filter(None, (_(progress.phase.name), progress.phase.about)))

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def speed(rate: float) -> str:
    """So many a second in words; what is slow is told by the minute."""
    if rate >= 10:
        return _("{n:,.0f}/s").format(n=rate)
    return a_minute(60 * rate)


def a_minute(rate: float) -> str:
    """So many a minute in words."""
    if rate >= 100:
        return _("{n:,.0f} a minute").format(n=rate)
    return _("{n:.1f} a minute").format(n=rate)


def _in_words(progress: Progress) -> str:
    done, total, unit = progress.done, progress.total, _(progress.phase.unit)
    rate = speed(progress.rate)
    if progress.phase.unit == BYTES:
        size, unit = (1_000_000, "MB") if total >= 10_000_000 else (1_000, "kB")
        done, total = done // size, max(total // size, 1)
        rate = f"{progress.rate / size:,.1f} {unit}/s"
    words = [_("{done:,} of {total:,} {unit}").format(done=done, total=total, unit=unit)]
    if progress.rate:
        words.append(rate)
    if progress.failed:
        words.append(_("{n:,} failed").format(n=progress.failed))
    if progress.left is not None:
        words.append(_("about {time} left").format(time=duration(progress.left)))
    return _(", ").join(words)


def _new_bar() -> "Bar":
    from rich import progress

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[words]}", markup=False),
        console=console_for_progress(),
        transient=True,
    )
