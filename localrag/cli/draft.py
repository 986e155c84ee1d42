"""What is being done for an answer, shown on the terminal while it is made and gone afterwards."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from localrag.cli.terminal import console_for_progress, on_terminal
from localrag.harmless import harmless
from localrag.language import _

if TYPE_CHECKING:
    from rich.console import RenderableType

    from localrag.reading.watching import Watch

_PATIENCE = 0.3
"""Seconds in which most answers without a model are there: nothing is shown of them."""


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

    from localrag.cli.wording import duration
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
            if now - self._began < _PATIENCE:
                return Text()
            doing = f"{harmless(self._doing)}, {duration(now - self._since)}"
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
