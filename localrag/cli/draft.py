"""What a model is writing, shown on the terminal while it writes and gone when it has finished."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from localrag.cli.terminal import console_for_progress, harmless, on_terminal

if TYPE_CHECKING:
    from localrag.reading.generative import DraftListener


@contextmanager
def shown_draft() -> "Iterator[DraftListener | None]":
    """Show claims as they are written; None where nobody watches.

    A draft is unchecked, so it stays on the screen only until the checked answer is printed.
    """
    if not on_terminal():
        yield None
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=console_for_progress(), transient=True, refresh_per_second=12) as live:

        def show(claims: Sequence[str]) -> None:
            live.update(Text("\n".join(map(harmless, claims)), style="dim"))

        yield show
