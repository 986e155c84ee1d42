"""What is typed before a screen is there reaches it all the same."""

from textual.events import Event, Key, Paste
from textual.screen import ScreenResultType

from localrag_tui.shell.guarded import GuardedApp
from localrag_tui.shell.settled import SettledScreen


class PatientScreen(SettledScreen[ScreenResultType]):
    """Takes the keys that came while it was being mounted once a part of it has the focus.

    Attributes:
        early: those keys and pastes, in order; None once the screen takes them at once.
    """

    def __init__(
        self,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own
        classes: str | None = None,
    ) -> None:
        super().__init__(name, id, classes)
        self.early: list[Event] | None = []

    def on_screen_resume(self) -> None:
        """Take what came too early, after what gives the focus to a part of the screen."""
        if self.early is not None:
            self.app.call_later(self._take_early)

    async def _take_early(self) -> None:
        early, self.early = self.early, None
        for event in early or ():
            await self.app.on_event(event)


class PatientApp(GuardedApp):
    """Keeps keys for a screen that is not there yet."""

    async def on_event(self, event: Event) -> None:
        """Pass an event on, or keep it until the screen in view can take it."""
        if isinstance(event, Key | Paste) and not event.is_forwarded and self._screen_stack:
            screen = self.screen
            if isinstance(screen, PatientScreen) and screen.early is not None:
                screen.early.append(event)
                return
        await super().on_event(event)
