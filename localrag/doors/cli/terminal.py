"""Output: results on standard output, everything else on standard error.

Words of documents, questions and file names are data. `harmless` cleans them, and they are printed
as plain text: neither Rich markup nor escapes act.
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
from localrag.language import N_, _, colon
from localrag.text.harmless import harmless, json_text, one_line
from localrag.text.progress import BYTES, Phase, Progress

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.progress import Progress as Bar
    from rich.table import Table

    from localrag.answer.types import Watch

PIPE_CLOSED = 141
"""Exit code when the reader of standard output went away (128 + SIGPIPE), as a shell expects."""

# Without a terminal nothing wraps.
_NO_EDGE = 100_000
# Rows for the widths of a long list.
_MEASURED = 1_000
# Longer messages are shortened.
_LONGEST_MESSAGE = 2_000
_FURTHER = " " * 4

# Words up to this width stay whole in other columns of such a table.
_LONG_WORD = 10

type_part = str | tuple[str, str]


def say(*parts: type_part, indent: int = 0) -> None:
    """Print one line of a result; a part is text, or text with a Rich style.

    A line break in a part is shown, and begins no line.
    """
    _print(_console(stderr=False), _in_one_line(parts), indent)


def say_text(*parts: type_part, indent: int = 0) -> None:
    """Print a text of a result with its line breaks."""
    _print(_console(stderr=False), parts, indent)


def tell_warnings() -> None:
    """Print warnings of our packages as notes."""

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            from localrag.corpus.inference.opening import noted

            tell_note(noted(record))

    for package in ("localrag", "localrag_models", "localrag_indexes"):
        logger = logging.getLogger(package)
        logger.handlers = [Notes()]
        logger.propagate = False


def tell(*parts: type_part) -> None:
    """Print one line for the user on standard error."""
    _print(_console(stderr=True), _in_one_line(parts), 0)


def say_tokens(prompt: int, cached: int, completion: int) -> None:
    """Print the tokens of models, if there are any."""
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
    """Print a failure of a part of the work, and its cure."""
    tell((_("failed: "), "bold red"), cause)
    if cure:
        tell("  ", (cure, "bold"))


def _in_one_line(parts: Iterable[type_part]) -> list[type_part]:
    # A line break in a name must not imitate a line of ours.
    return [
        (one_line(part[0]), part[1]) if isinstance(part, tuple) else one_line(part)
        for part in parts
    ]


def tell_lines(mark: tuple[str, str], message: str, style: str = "") -> None:
    """Print a message of one or more lines after a mark such as ``note: ``.

    Further lines are indented: a line break in a value cannot imitate a line of ours.
    """
    first, *more = message.split("\n")
    tell(mark, (first, style))
    for line in more:
        tell(_FURTHER, (line, style))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, folding: Sequence[str] | None = None
) -> None:
    """Print a table; columns are as wide as their text on screen (full-width characters).

    Args:
        columns: headings.
        rows: a text for each column.
        folding: columns that may fold to fit the screen; None for all. The others stay whole, even
            past the edge.
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
    """Print rows in columns as they come, one line each.

    The first rows decide the widths; wider cells later are not cut.
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
    """A table: it passes the edge of the screen rather than lose a column."""

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
    """Print an error: its cause in red, then its cure."""
    if len(cause) > _LONGEST_MESSAGE:
        half = _LONGEST_MESSAGE // 2
        cause = f"{cause[:half]} … {cause[-half:]}"
    tell_lines((_("error: "), "bold red"), cause, "red")
    if cure:
        tell("  ", (cure, "bold"))


def duration(seconds: float) -> str:
    """Seconds in readable units: 40 s, 25 min, 3 h 20 min."""
    if seconds < 10:
        return _("{n:.1f} s").format(n=seconds)
    if seconds < 100:
        return _("{n:.0f} s").format(n=seconds)
    minutes = round(seconds / 60)
    if minutes < 100:
        return _("{n} min").format(n=minutes)
    return _("{h:,} h {n} min").format(h=minutes // 60, n=minutes % 60)


def on_terminal() -> bool:
    """Whether standard error is a terminal."""
    return _console(stderr=True).is_terminal


def console_for_progress() -> "Console":
    """The console for progress."""
    return _console(stderr=True)


def pipe_closed() -> NoReturn:
    """Exit quietly: the reader of standard output has left."""
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
    # Python flushes standard output at exit, and would fail loudly.
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
    # Rich's padding adds blanks, and readers copy them.
    for row in line.wrap(console, max(1, console.width - indent)):
        row.rstrip()
        _guarded_print(console, Text(" " * indent).append_text(row))


def _guarded_print(console: "Console", renderable: Any, **options: Any) -> None:
    # Rich turns a broken pipe into SystemExit(1), like a bug.
    with _output_failures():
        try:
            console.print(renderable, **options)
        except SystemExit:
            pipe_closed()


def confirm(question: str, *, yes: bool, refused: str) -> None:
    """Ask before something that cannot be undone.

    Args:
        question: the coming action.
        yes: the user has agreed already.
        refused: the message after a no, marked with `N_`.

    Raises:
        UsageError: the answer is no, or nobody can answer.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(N_("Nobody is there to confirm it."), N_("Add --yes to go ahead."))
    # Imported only for a question.
    import typer

    if not typer.confirm(harmless(question), err=True):
        raise UsageError(refused)


_PATIENCE = 2.0
"""Seconds that pass without a word."""
_UNSEEN = 0.3
"""Seconds in which most answers without a model are there: nothing is shown of them."""


class Meter:
    """Shows progress, speed and remaining time.

    Args:
        every: seconds between two lines without a terminal.
        name: name of the work, in place of the names of its stages.
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
        """Take the progress."""
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
        """End the bar before other output; more progress begins another."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def speed(rate: float) -> str:
    """A rate per second in words; slow ones per minute."""
    if rate >= 10:
        return _("{n:,.0f}/s").format(n=rate)
    return a_minute(60 * rate)


def a_minute(rate: float) -> str:
    """A rate per minute in words."""
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
    """Show loading, searching, tokens, and claims as a model writes them.

    Only a terminal shows it. The draft is unchecked and disappears before the checked answer.

    Args:
        model: id of the answering model, or "".
    """
    from localrag.answer.types import UNWATCHED, Watch

    if not on_terminal():
        yield UNWATCHED
        return
    from rich.console import Group
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    from localrag_models.files import gigabytes

    class Shown(Watch):
        """Drawn several times a second: the clock moves."""

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
