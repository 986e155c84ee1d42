"""The base of screens and dialogues: bar of screens above, keys below."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Button, Input, TextArea

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.shell.bars import KeyBar, TopBar
from localrag_tui.shell.base import BaseScreen
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, cure_of
from localrag_tui.spot import OpenSpot, Spot

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


def bench_of(part: MessagePump) -> "Workbench":
    """The workbench of a screen or widget."""
    return cast("Workbench", part.app)


@dataclass
class KeptState:
    """The contents of a screen, for its successor in another language."""

    typed: dict[str, str] = field(default_factory=dict)  # text by the id of its field
    spot: Spot | None = None
    more: object = None


# A description in Textual's lists, for the catalogue.
N_("Dismiss menu")


class _Ours(BaseScreen[ScreenResultType]):
    """Knows the application; descriptions of its keys are marked with `N_`."""

    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012 - Textual's own
        (0, "-narrow"),
        (100, "-normal"),
        (160, "-wide"),
    ]

    @property
    def bench(self) -> "Workbench":
        return bench_of(self)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The active keys, described in the language of the interface."""
        return {
            key: active._replace(
                binding=replace(active.binding, description=_(active.binding.description))
            )
            for key, active in self.active_bindings_in_english.items()
        }

    @property
    def active_bindings_in_english(self) -> dict[str, ActiveBinding]:
        return super().active_bindings


class WorkbenchScreen(_Ours[None]):
    """A screen; subclasses yield its parts in `body`."""

    MODE: ClassVar[str] = ""
    """The name of the screen in `Workbench`."""

    _awaited: KeptState | None = None
    """Contents to restore once all parts are there."""

    def compose(self) -> ComposeResult:
        yield TopBar(self.MODE)
        yield from self.body()
        yield KeyBar()

    def body(self) -> ComposeResult:
        yield from ()

    def on_screen_resume(self) -> None:
        # The first paint does not wait for the settings.
        if self.ready.is_set():
            self.show_day()

    def show_day(self) -> None:
        """Show the day of the law, if the settings name one."""
        bench = self.bench
        self.query_one(TopBar).show_day(bench.settings.of(bench.corpus).retrieval.as_of)

    def kept(self) -> KeptState:
        """Typed text and open place, for the next screen."""
        if self._awaited is not None:
            return self._awaited
        fields = {field.id: field.value for field in self.query(Input) if field.id}
        areas = {area.id: area.text for area in self.query(TextArea) if area.id}
        spots = [getattr(pane, "spot", None) for pane in self.query("SourcePane")]
        return KeptState({**fields, **areas}, next(filter(None, spots), None))

    async def regain(self, more: object) -> None:
        """Restore `KeptState.more` of an earlier screen."""

    async def settle(self) -> None:
        """Wait until the work of the last keys is stored; called before leaving."""

    def restore_soon(self, kept: KeptState) -> None:
        """Restore the contents of an earlier screen once all parts are there."""
        self._awaited = kept
        self.run_worker(self._restore(kept))

    async def _restore(self, kept: KeptState) -> None:
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
        await self.regain(kept.more)


class Dialogue(ModalScreen[object], _Ours[object]):
    """A modal with one question and the parts of `body`; returns the choice, or None if closed."""

    CSS_PATH = sheets("parts", "dialogues")
    # ModalScreen first: Textual takes the styles of the first base only.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", N_("Close"), id="dialogue.leave"),
        # Before the keys that scroll around the buttons.
        Binding(
            "right,down",
            "go_to_button(1)",
            N_("Next button"),
            id="dialogue.next",
            show=False,
            priority=True,
        ),
        Binding(
            "left,up",
            "go_to_button(-1)",
            N_("Button before"),
            id="dialogue.before",
            show=False,
            priority=True,
        ),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield from self.body()
        yield KeyBar()

    def body(self) -> ComposeResult:
        yield from ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "go_to_button":
            return isinstance(self.focused, Button)
        return super().check_action(action, parameters)

    def complain(self, error: LocalragError) -> None:
        problem = self.query_one(".problem", Paragraph)
        problem.show(content(f"{error.cause}\n{cure_of(error)}".strip()))
        problem.add_class("-told")

    def action_go_to_button(self, step: int) -> None:
        buttons = [button for button in self.query(Button) if button.focusable]
        here = next(at for at, button in enumerate(buttons) if button.has_focus)
        buttons[(here + step) % len(buttons)].focus()

    def action_leave(self) -> None:
        self.dismiss(None)
