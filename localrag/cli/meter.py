"""How far work is, shown on the terminal while it is done and gone afterwards."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Self

from localrag.cli.terminal import colon, console_for_progress, duration, on_terminal, tell
from localrag.harmless import harmless
from localrag.language import _
from localrag.progress import BYTES, Phase, Progress

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar

    from localrag.reading.watching import Watch


_PATIENCE = 2.0
"""Seconds that pass without a word."""
_UNSEEN = 0.3
"""Seconds in which most answers without a model are there: nothing is shown of them."""


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
        self.stop()

    def update(self, progress: Progress) -> None:
        """Note how far it is."""
        if progress.phase != self._phase:
            self.stop()
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

    def stop(self) -> None:
        """End the bar, so that something else can be shown; more progress begins another."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def speed(rate: float) -> str:
    """A rate, in things a second, in words; a slow one is told by the minute."""
    if rate >= 10:
        return _("{n:,.0f}/s").format(n=rate)
    return a_minute(60 * rate)


def a_minute(rate: float) -> str:
    """A rate, in things a minute, in words."""
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


@contextmanager
def shown_draft(model: str = "") -> "Iterator[Watch]":
    """Show what is done: loading, searching, tokens read, claims as a model writes them, the clock.

    Nothing is shown where nobody watches. A draft is unchecked, so it stays on the screen only
    until the checked answer is printed.

    Args:
        model: the id of the one that answers; "" where none takes part, or is not known yet.
    """
    from localrag.reading.watching import UNWATCHED, Watch

    if not on_terminal():
        yield UNWATCHED
        return
    from rich.console import Group
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    from localrag_models.files import gigabytes

    class Shown(Watch):
        """Drawn anew several times a second, so that the clock goes on whatever happens."""

        def __init__(self) -> None:
            self._began = self._since = monotonic()
            self._model = model
            self._kind = "searching"
            self._doing = _("searching")
            self._claims: Sequence[str] = ()
            self._tokens = 0
            self._spinner = Spinner("dots")

        def __rich__(self) -> "RenderableType":
            now = monotonic()
            if now - self._began < _UNSEEN:
                return Text()
            doing = f"{harmless(self._doing)}{_(', ')}{duration(now - self._since)}"
            self._spinner.update(text=Text(doing, style="dim"))
            written = [Text(harmless(claim), style="dim") for claim in self._claims]
            return Group(*written, self._spinner)

        def loading(self, model: str, done: int, total: int) -> None:
            self._model = model
            doing = _("{model} is being loaded: {share:.0%} of {size}")
            if not total:
                doing = _("{model} is being loaded")
            share = done / total if total else 0.0
            self._do("loading", doing.format(model=model, share=share, size=gigabytes(total)))

        def reading(self, done: int, total: int) -> None:
            self._claims, self._tokens = (), 0
            doing = _("{model} reads: {done:,} of {total:,} tokens")
            if not total:
                doing = _("{model} reads the passages")
            self._do("reading", doing.format(model=self._model, done=done, total=total))

        def wrote(self, piece: str) -> None:
            del piece
            self._tokens += 1
            doing = _("{model} writes: {n:,} tokens")
            self._do("writing", doing.format(model=self._model, n=self._tokens))

        def draft(self, claims: Sequence[str]) -> None:
            self._claims = claims

        def _do(self, kind: str, doing: str) -> None:
            if kind != self._kind:
                self._kind, self._since = kind, monotonic()
            self._doing = doing

    shown = Shown()
    with Live(shown, console=console_for_progress(), transient=True, refresh_per_second=8):
        yield shown
