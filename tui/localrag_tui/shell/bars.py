"""The bar of screens above, and the bar of keys below.

Textual's own Footer mounts a widget for each key at every move of the focus. The first paint took
1.9 to 2.3 times as long as an application of one line; with this bar it takes 1.6 to 1.8 times.
Measured with ``scripts/bench/tui.py first``: 140 x 40, three times 4 starts, on a busy machine.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from localrag.language import N_, _, ngettext

if TYPE_CHECKING:
    from localrag_tui.app import Workbench
    from localrag_tui.work.jobs import Job


class ScreenEntry(NamedTuple):
    """The key of a screen, and its title: a message marked with `N_`."""

    key: str
    title: str


SCREENS = {
    "ask": ScreenEntry("f2", N_("Ask")),
    "read": ScreenEntry("f3", N_("Read")),
    "search": ScreenEntry("f4", N_("Search")),
    "runs": ScreenEntry("f5", N_("Runs")),
    "models": ScreenEntry("f6", N_("Models")),
    "check": ScreenEntry("f7", N_("Check")),
}
"""The screens by mode, in the order of the bar."""


class TopBar(Horizontal):
    """The titles of the screens; a click goes there."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode, self._day = mode, ""

    def compose(self) -> ComposeResult:
        for mode, entry in SCREENS.items():
            tab = Static(Content(_(entry.title)), id=f"tab-{mode}", classes="tab")
            tab.set_class(mode == self._mode, "-here")
            yield tab
        yield Static(id="working")

    def show_day(self, day: str) -> None:
        """Show the day of the law (ISO) on every screen; "" for today."""
        if day != self._day:
            self._day = day
            self._show_work()

    def on_mount(self) -> None:
        self._leave = self._bench.jobs.listen(self._on_job)
        self._show_work()

    def on_unmount(self) -> None:
        self._leave()

    def on_click(self, event: Click) -> None:
        id_ = (event.widget.id if event.widget is not None else None) or ""
        if id_.startswith("tab-"):
            self._bench.go(id_.removeprefix("tab-"))
        elif id_ == "working":
            self._bench.action_jobs()

    @property
    def _bench(self) -> "Workbench":
        return cast("Workbench", self.app)

    def _on_job(self, job: "Job", event: object) -> None:
        del job
        if event is None:
            self._show_work()

    def _show_work(self) -> None:
        running = len(self._bench.jobs.running)
        text = ngettext("{n} job running", "{n} jobs running", running) if running else ""
        day = Content.styled(_("law as of {date}").format(date=self._day), "bold $warning")
        told = [day] * bool(self._day) + [Content(text.format(n=running))] * bool(running)
        # Same width: no new layout twice a second.
        self.query_one("#working", Static).update(Content(" · ").join(told), layout=False)


_HELP, _COMMANDS = "show_help", "command_palette"


class KeyShown(NamedTuple):
    """A key in the bar."""

    key: str
    label: Content  # its name on a keyboard, and its action
    enabled: bool
    start: int

    @property
    def end(self) -> int:
        return self.start + self.label.cell_length


class KeyBar(Widget):
    """The keys of the focused part; a click presses one. Without room the last go, help stays."""

    ALLOW_SELECT = False

    def __init__(self, *, show_commands: bool = True) -> None:
        super().__init__()
        self.shown: list[KeyShown] = []
        self._show_commands = show_commands
        self._active: list[ActiveBinding] | None = None
        self._mouse: int | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._change)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._point(event.x)

    def on_leave(self) -> None:
        self._point(None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = self._at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()

    def render(self) -> Content:
        if self._active is None:
            self._active = list(self.screen.active_bindings.values())
        self.shown = list(self._fit(self._active))
        under_mouse, bar = self._at(self._mouse), Content("")
        for key in self.shown:
            lit = key is under_mouse
            label = key.label.stylize("on $block-hover-background") if lit else key.label
            bar = bar.pad_right(key.start - bar.cell_length) + label
        return bar

    def _fit(self, active: list[ActiveBinding]) -> Iterator[KeyShown]:
        """The keys with room, each at its place."""
        # Of several keys of an action the first is shown.
        keys: dict[str, KeyShown] = {}
        for one in active:
            action = one.binding.action
            if one.binding.show or (action == _COMMANDS and self._show_commands):
                keys.setdefault(action, self._draw(one))
        commands, help_ = keys.pop(_COMMANDS, None), keys.get(_HELP)
        room = self.size.width - (help_.end if help_ else 0)
        start = 0
        for key in keys.values():
            room -= 0 if key is help_ else key.end
            if room >= 0 or key is help_:
                yield key._replace(start=start)
                start += key.end
        if commands is not None and room >= commands.end:
            yield commands._replace(start=self.size.width - commands.end)

    def _draw(self, active: ActiveBinding) -> KeyShown:
        binding = active.binding
        apart = binding.action == _COMMANDS
        label = Content.assemble(
            ("▏", "$foreground 20%") if apart else " ",
            (f"{self.app.get_key_display(binding)} ", "bold $footer-key-foreground"),
            (f"{binding.description} ", "$footer-description-foreground"),
        )
        label = label if active.enabled else label.stylize("dim")
        return KeyShown(binding.key, label, active.enabled, 0)

    def _at(self, x: int | None) -> KeyShown | None:
        shown = (key for key in self.shown if x is not None and key.start <= x < key.end)
        return next(shown, None)

    def _point(self, x: int | None) -> None:
        before, self._mouse = self._at(self._mouse), x
        if self._at(x) is not before:
            self.refresh()

    def _change(self, screen: Screen[object]) -> None:
        # Without focus on the terminal the keys stay.
        if screen.app.app_focus:
            self._active = None
            self.refresh()
