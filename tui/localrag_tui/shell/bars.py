"""The bar of screens above, and the keys below.

The keys are not Textual's own Footer, which mounts a widget for each key whenever the focus moves:
with it the first paint takes 1.9 to 2.3 times as long as that of an application of one line, with
this one 1.6 to 1.8 (``scripts/bench/tui.py first``, 140 x 40, three times 4 starts on a busy
machine).
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

from localrag.language import _, ngettext
from localrag_tui.screens import SCREENS

if TYPE_CHECKING:
    from localrag_tui.app import Workbench
    from localrag_tui.work.jobs import Job


class TopBar(Horizontal):
    """Names the screens; a click goes there."""

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
        """Say that the law of a day (ISO) is shown; "" for that of today, of which nothing is said.

        On every screen: nobody takes the text of another day for that of today.
        """
        if day != self._day:
            self._day = day
            self._show_work()

    def on_mount(self) -> None:
        self._leave = self._bench.jobs.listen(self._on_job)
        self._show_work()

    def on_unmount(self) -> None:
        self._leave()

    def on_click(self, event: Click) -> None:
        """Go to the screen whose name was clicked, or to what is being worked on."""
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
        # As wide as it was: the screen is not laid out, and painted, anew twice a second.
        self.query_one("#working", Static).update(Content(" · ").join(told), layout=False)


_HELP, _COMMANDS = "show_help", "command_palette"


class KeyShown(NamedTuple):
    """A key as it stands in the bar.

    Attributes:
        key: as Textual names it.
        label: its cells: the key as it stands on a keyboard, and what it does.
        enabled: whether it does that now.
        start: the first of its cells.
    """

    key: str
    label: Content
    enabled: bool
    start: int

    @property
    def end(self) -> int:
        """The cell behind it."""
        return self.start + self.label.cell_length


class KeyBar(Widget):
    """The keys of what has the focus; a click presses one.

    The last ones give way where there is no room for all; the one that shows the help with all of
    them stays.

    Args:
        show_commands: whether the commands can be called where it stands.

    Attributes:
        shown: from left to right.
    """

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
        """The keys for which there is room, each at its place."""
        # An action may have several keys, of which the first is shown.
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
        # Where the terminal has lost the focus the keys stay as they were.
        if screen.app.app_focus:
            self._active = None
            self.refresh()
