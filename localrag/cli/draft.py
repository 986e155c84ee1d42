"""What a model is writing, shown on the terminal while it writes and gone when it has finished."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from localrag.cli.terminal import console_for_progress, on_terminal
from localrag.harmless import harmless

if TYPE_CHECKING:
    from localrag.reading.watching import Watch


@contextmanager
def shown_draft(model: str) -> "Iterator[Watch]":
    """Show that a model reads, then its claims as it writes them; nothing where nobody watches.

    A draft is unchecked, so it stays on the screen only until the checked answer is printed.

    Args:
        model: its id; "" where none takes part.
    """
    from localrag.reading.watching import UNWATCHED, Watch

    if not model or not on_terminal():
        yield UNWATCHED
        return
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    reading = Spinner("dots", Text(f"{harmless(model)} reads the passages", style="dim"))
    with Live(reading, console=console_for_progress(), transient=True) as live:

        class Shown(Watch):
            def draft(self, claims: Sequence[str]) -> None:
                live.update(Text("\n".join(map(harmless, claims)), style="dim"))

        yield Shown()
