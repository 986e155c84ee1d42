"""What every screen of the workbench has: the bar of screens above, the keys below."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Input, TextArea

from localrag.language import N_, _
from localrag_tui.owner import bench_of
from localrag_tui.shell.base import BaseScreen
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shell.top_bar import TopBar
from localrag_tui.spot import OpenSpot, Spot

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


@dataclass
class Kept:
    """What a screen held when it was made anew.

    Attributes:
        typed: text by the id of its field.
        spot: the place that was read.
    """

    typed: dict[str, str] = field(default_factory=dict)
    spot: Spot | None = None


class _Ours(BaseScreen[ScreenResultType]):
    """Knows the application; the descriptions of its keys are marked with `N_`."""

    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012 - Textual's own
        (0, "-narrow"),
        (100, "-normal"),
        (160, "-wide"),
    ]

    @property
    def bench(self) -> "Workbench":
        """The application."""
        return bench_of(self)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that can be pressed now, described in the language of the interface."""
        return {
            key: active._replace(
                binding=replace(active.binding, description=_(active.binding.description))
            )
            for key, active in self.active_bindings_in_english.items()
        }

    @property
    def active_bindings_in_english(self) -> dict[str, ActiveBinding]:
        """The same, described as in the code."""
        return super().active_bindings


class WorkbenchScreen(_Ours[None]):
    """A screen; its body is what `body` yields."""

    MODE: ClassVar[str] = ""
    """The name under which `Workbench` knows the screen."""

    _awaited: Kept | None = None
    """What it is to hold as soon as everything is there."""

    def compose(self) -> ComposeResult:
        """The bar of screens, the body, the keys."""
        yield TopBar(self.MODE)
        yield from self.body()
        yield KeyBar()

    def body(self) -> ComposeResult:
        """What stands between the two bars."""
        yield from ()

    def kept(self) -> Kept:
        """What is typed and read, so that it is there when the screen is made anew."""
        if self._awaited is not None:
            return self._awaited
        fields = {field.id: field.value for field in self.query(Input) if field.id}
        areas = {area.id: area.text for area in self.query(TextArea) if area.id}
        spots = [getattr(pane, "spot", None) for pane in self.query("SourcePane")]
        return Kept({**fields, **areas}, next(filter(None, spots), None))

    def restore_soon(self, kept: Kept) -> None:
        """Hold what another one held, as soon as everything is there."""
        self._awaited = kept
        self.run_worker(self._restore(kept))

    async def _restore(self, kept: Kept) -> None:
        await self.ready.wait()
        self._awaited = None
        for field_ in self.query(Input):
            field_.value = kept.typed.get(field_.id or "", field_.value)
            field_.cursor_position = len(field_.value)
        for area in self.query(TextArea):
            area.text = kept.typed.get(area.id or "", area.text)
            area.move_cursor(area.document.end)
        if kept.spot is not None:
            self.post_message(OpenSpot(kept.spot))


class Dialogue(ModalScreen[object], _Ours[object]):
    """A modal: it asks one thing, and gives back what was chosen, None where it was left."""

    # ModalScreen comes first: Textual takes the styles of the first base alone.
    DEFAULT_CSS: ClassVar[str] = """
    Dialogue {
        align: center middle;
        background: $background;
        & > .box { background: $surface; }
        .heading { text-style: bold; color: $text-primary; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", N_("Close"), id="dialogue.leave"),
    ]

    def action_leave(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
