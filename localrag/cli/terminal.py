"""What reaches the terminal: results on standard output, everything else on standard error.

Texts of documents, questions and file names are data. They pass through `harmless` and are printed
as plain text, so that neither Rich markup nor a terminal escape inside them can act.
"""

import functools
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, Self

from localrag.errors import StorageError, UsageError
from localrag.harmless import harmless, json_text, one_line
from localrag.language import N_, _
from localrag.progress import BYTES, Phase, Progress

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.progress import Progress as Bar
    from rich.table import Table

    from localrag.reading.types import Watch

PIPE_CLOSED = 141
"""Exit code when the reader of standard output went away (128 + SIGPIPE), as a shell expects."""

# Without a terminal there is no edge to wrap at: a line of a file stays one line.
_NO_EDGE = 100_000
# So many rows tell how wide the columns of a long list are.
_MEASURED = 1_000
# A message that names a value stays readable whatever is passed for it.
_LONGEST_MESSAGE = 2_000
_FURTHER = " " * 4

# In a table with columns that stay whole, the others leave words up to so many cells in one piece.
_LONG_WORD = 10

type_part = str | tuple[str, str]


def say(*parts: type_part, indent: int = 0) -> None:
    """Print one line of a result; a part is text, or text with a Rich style.

    A line break in a part is shown, and begins no line: names may hold some.
    """
    _print(_console(stderr=False), _in_one_line(parts), indent)


def say_text(*parts: type_part, indent: int = 0) -> None:
    """Print a text of a result, whose line breaks stay; otherwise as `say`."""
    _print(_console(stderr=False), parts, indent)


def tell_warnings() -> None:
    """Show what our packages write to the log (a server asked again, say) as notes."""

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            from localrag.inference.opening import noted

            tell_note(noted(record))

    for package in ("localrag", "localrag_models", "localrag_indexes"):
        logger = logging.getLogger(package)
        logger.handlers = [Notes()]
        logger.propagate = False


def tell(*parts: type_part) -> None:
    """Print one line for the user which is no part of the result."""
    _print(_console(stderr=True), _in_one_line(parts), 0)


def say_tokens(prompt: int, cached: int, completion: int) -> None:
    """Print what models have read and written; nothing where none has read."""
    if prompt:
        words = _(
            "tokens: {prompt:,} of prompts, {cached:,} of them not evaluated again; "
            "{completion:,} written"
        )
        say(words.format(prompt=prompt, cached=cached, completion=completion))


def tell_note(words: str) -> None:
    """Print a note for the user."""
    tell((_("note: "), "yellow"), words)


def tell_failed(cause: str, cure: str = "") -> None:
    """Print that one part of the work failed, and what to do."""
    tell((_("failed: "), "bold red"), cause)
    if cure:
        tell("  ", (cure, "bold"))


def _in_one_line(parts: Iterable[type_part]) -> list[type_part]:
    # A name may hold line breaks; what follows one must not pass for a line of ours.
    return [
        (one_line(part[0]), part[1]) if isinstance(part, tuple) else one_line(part)
        for part in parts
    ]


def tell_lines(mark: tuple[str, str], message: str, style: str = "") -> None:
    """Print a message that may have several lines, behind a mark such as ``note: ``.

    Its further lines are indented deeper than any line of ours: a line break in a value that the
    message names can begin none that passes for one.
    """
    first, *more = message.split("\n")
    tell(mark, (first, style))
    for line in more:
        tell(_FURTHER, (line, style))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, folding: Sequence[str] | None = None
) -> None:
    """Print a table with columns as wide as their text is on screen (full-width characters).

    Args:
        columns: their headings.
        rows: a text for each column.
        folding: the columns that may be folded to fit the screen; None for all. The others stay
            whole, even if lines then pass the edge.
    """
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    lines = [[Text(one_line(cell)) for cell in row] for row in rows]
    for place, column in enumerate(columns):
        texts = [Text(column), *(line[place] for line in lines)]
        if folding is None:
            grid.add_column(column, overflow="fold")
        elif column in folding:
            longest = max(word.cell_len for text in texts for word in text.split())
            grid.add_column(column, overflow="fold", min_width=min(longest, _LONG_WORD))
        else:
            widest = max(text.cell_len for text in texts)
            grid.add_column(column, no_wrap=True, min_width=widest)
    for line in lines:
        grid.add_row(*line)
    _guarded_print(_console(stderr=False), _Uncropped(grid), crop=False)


def columns(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows without end in columns as they come, one line each.

    The columns are as wide as the first rows need; what is wider later is not cut.
    """
    from rich.cells import cell_len

    lines = iter(rows)
    first = [headings, *islice(lines, _MEASURED)]
    widths = [
        max(cell_len(one_line(cell)) for cell in column) for column in zip(*first, strict=True)
    ]
    widths[-1] = 0
    with _output_failures():
        for line in chain(first, lines):
            cells = [one_line(cell) for cell in line]
            padded = (
                cell + " " * (width - cell_len(cell))
                for cell, width in zip(cells, widths, strict=True)
            )
            sys.stdout.write("  ".join(padded) + "\n")
        sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class _Uncropped:
    """A table that passes the edge of the screen rather than lose a column."""

    grid: "Table"

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.measure import Measurement

        least = Measurement.get(console, options.update(width=_NO_EDGE), self.grid).minimum
        yield from console.render(self.grid, options.update(width=max(options.max_width, least)))


def emit(value: Any) -> None:
    """Print `value` as JSON on standard output."""
    with _output_failures():
        sys.stdout.write(json_text(value, indent=2) + "\n")
        sys.stdout.flush()


def emit_all(values: Iterable[Any]) -> None:
    """Print values as one JSON array on standard output, each as it comes."""
    with _output_failures():
        sys.stdout.write("[")
        for number, value in enumerate(values):
            sys.stdout.write(
                ("," if number else "") + "\n  " + json_text(value, indent=2).replace("\n", "\n  ")
            )
        sys.stdout.write("\n]\n")
        sys.stdout.flush()


def failure(cause: str, cure: str = "") -> None:
    """Show an error: its cause, a line or several, in red and, below it, what to do."""
    if len(cause) > _LONGEST_MESSAGE:
        half = _LONGEST_MESSAGE // 2
        cause = f"{cause[:half]} … {cause[-half:]}"
    tell_lines((_("error: "), "bold red"), cause, "red")
    if cure:
        tell("  ", (cure, "bold"))


def colon() -> str:
    """What stands between a name and what is said of it, in the language in use."""
    return _(": ")


def aside(words: str) -> str:
    """Words in the brackets of the language in use, with the blank that it wants before them."""
    return _(" ({words})").format(words=words)


def duration(seconds: float) -> str:
    """Seconds in the units a person would choose: 40 s, 25 min, 3 h 20 min."""
    if seconds < 10:
        return _("{n:.1f} s").format(n=seconds)
    if seconds < 100:
        return _("{n:.0f} s").format(n=seconds)
    minutes = round(seconds / 60)
    if minutes < 100:
        return _("{n} min").format(n=minutes)
    return _("{h:,} h {n} min").format(h=minutes // 60, n=minutes % 60)


def on_terminal() -> bool:
    """Whether standard error is watched by a person."""
    return _console(stderr=True).is_terminal


def console_for_progress() -> "Console":
    """Give the console that progress is drawn on."""
    return _console(stderr=True)


def pipe_closed() -> NoReturn:
    """Leave quietly: nobody reads standard output any more."""
    _abandon_output()
    raise SystemExit(PIPE_CLOSED)


@contextmanager
def _output_failures() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        pipe_closed()
    except OSError as error:
        _abandon_output()
        raise StorageError(
            N_("The output cannot be written ({reason})."),
            N_("Free some space, or send it to another place."),
            reason=error,
        ) from error


def _abandon_output() -> None:
    # Python flushes standard output once more on its way out, which would fail aloud.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@functools.cache
def _console(*, stderr: bool) -> "Console":
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _NO_EDGE
    return console


def _print(console: "Console", parts: Sequence[type_part], indent: int) -> None:
    from rich.text import Text

    line = Text()
    for part in parts:
        text, style = part if isinstance(part, tuple) else (part, "")
        line.append(harmless(text), style=style)
    if not indent:
        _guarded_print(console, line)
        return
    # Rich's own padding fills lines up with blanks, which get into what a reader copies.
    for row in line.wrap(console, max(1, console.width - indent)):
        row.rstrip()
        _guarded_print(console, Text(" " * indent).append_text(row))


def _guarded_print(console: "Console", renderable: Any, **options: Any) -> None:
    # Rich itself answers a broken pipe with SystemExit(1), which would read as a bug.
    with _output_failures():
        try:
            console.print(renderable, **options)
        except SystemExit:
            pipe_closed()


def confirm(question: str, *, yes: bool, refused: str) -> None:
    """Ask before something that cannot be undone.

    Args:
        question: what is going to be done.
        yes: whether the user has said so already.
        refused: what is told who says no, a message marked with `N_`.

    Raises:
        UsageError: the user says no, or nobody is there to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(N_("Nobody is there to confirm it."), N_("Add --yes to go ahead."))
    # Only who asks pays for the import.
    import typer

    if not typer.confirm(harmless(question), err=True):
        raise UsageError(refused)


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
    from localrag.reading.types import UNWATCHED, Watch

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
