"""What is open on the Read screen: one document, or two places beside each other."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.events import DescendantFocus
from textual.message import Message
from textual.widgets import Static

from localrag.language import _
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import Spot


class Panes(Container):
    """One source pane or two, of which one is read; before anything is open, what to do."""

    DEFAULT_CSS: ClassVar[str] = """
    Panes {
        width: 1fr;
        height: 1fr;
        layout: horizontal;
        #hint { padding: 1 3; color: $foreground-muted; }
        SourcePane { width: 1fr; height: 1fr; }
        &.-split SourcePane:last-child { border-left: solid $panel; }
        &.-split SourcePane { border-top: solid $panel; }
        &.-split SourcePane.-read { border-top: solid $primary; }
    }
    """

    class Turned(Message):
        """Something else is open, or another of two panes is read."""

    def __init__(self) -> None:
        super().__init__()
        self._read: SourcePane | None = None
        # Held, not looked up: what is taken down is still what was read.
        self._opened: list[SourcePane] = []
        self._spare: SourcePane | None = None

    def compose(self) -> ComposeResult:
        """What to do first."""
        yield Static(
            _("Choose a law on the left, or type its name or a citation above it."),
            id="hint",
            markup=False,
        )

    @property
    def all(self) -> list[SourcePane]:
        """The panes, from the left."""
        return [*self._opened]

    @property
    def read(self) -> SourcePane | None:
        """The pane that has the focus, or had it last; None before anything is open."""
        return self._read

    @property
    def spots(self) -> list[Spot]:
        """The place in view of each pane."""
        return [pane.spot for pane in self.all if pane.spot is not None]

    async def prepare(self) -> None:
        """Make the first pane, which is shown once something is open."""
        spare = SourcePane()
        spare.display = False
        await self.mount(spare)
        self._spare = spare

    async def show(self, spots: Sequence[Spot]) -> None:
        """Have these open and nothing else, the first being read."""
        for pane in self.all:
            await self._close(pane)
        self._turn_to(None)
        for spot in spots:
            await (await self._add()).open(spot)
        if spots:
            self._turn_to(self.all[0])

    async def open(self, spot: Spot) -> None:
        """Open a place in the pane that is read."""
        pane = self._read or await self._add()
        self._turn_to(pane)
        await pane.open(spot)

    async def split(self) -> None:
        """Read the same place in a second pane; where there is one, close it."""
        if len(self.all) > 1:
            first, second = self.all
            await self._close(second)
            self._turn_to(first)
        elif self.spots:
            (spot,) = self.spots
            pane = await self._add()
            await pane.open(spot)
            self._turn_to(pane)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The pane that gets the focus is the one that is read."""
        pane = next((pane for pane in self.all if pane in event.widget.ancestors_with_self), None)
        if pane is not None and pane is not self._read:
            self._turn_to(pane)

    async def _add(self) -> SourcePane:
        pane, self._spare = self._spare or SourcePane(), None
        if not pane.is_attached:
            await self.mount(pane)
        pane.display = True
        self._opened.append(pane)
        return pane

    async def _close(self, pane: SourcePane) -> None:
        self._opened.remove(pane)
        await pane.remove()

    def _turn_to(self, read: SourcePane | None) -> None:
        self._read, panes = read, self.all
        for pane in panes:
            pane.set_class(pane is read and len(panes) > 1, "-read")
        self.set_class(len(panes) > 1, "-split")
        self.query_one("#hint").display = not panes
        self.post_message(self.Turned())
