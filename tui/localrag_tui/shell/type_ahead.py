"""What is typed before a screen is there reaches it all the same."""

import asyncio

from textual.events import Event, Key, Paste
from textual.screen import ScreenResultType

from localrag_tui.shell.guarded import GuardedApp
from localrag_tui.shell.settled import SettledScreen


class PatientScreen(SettledScreen[ScreenResultType]):
    """Takes the keys that came while it was being made once it is ready for them.

    Attributes:
        early: those keys and pastes, in order; None once the screen takes them at once.
        ready: whether it has been painted, and all of it is there.
    """

    def __init__(
        self,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own
        classes: str | None = None,
    ) -> None:
        super().__init__(name, id, classes)
        self.early: list[Event] | None = []
        self.ready = asyncio.Event()
        self._resumed = False

    def on_screen_resume(self) -> None:
        """Get ready once it is painted, after what gives the focus to a part of the screen."""
        if not self._resumed:
            self._resumed = True
            # Nothing is painted before the application has begun, which then takes its first call.
            self.app.call_later(self.call_after_refresh, self._become_ready)

    async def get_ready(self) -> None:
        """Make what the first paint was not to wait for."""

    async def _become_ready(self) -> None:
        if isinstance(self.app, PatientApp):
            self.app.get_ready()
        await self.get_ready()
        self.ready.set()
        self.app.call_later(self._take_early)

    async def _take_early(self) -> None:
        early, self.early = self.early, None
        for event in early or ():
            await self.app.on_event(event)


class PatientApp(GuardedApp):
    """Keeps keys for a screen that is not there yet."""

    def get_ready(self) -> None:
        """Do what the first paint was not to wait for; called before a screen gets ready."""

    async def on_event(self, event: Event) -> None:
        """Pass an event on, or keep it until the screen in view can take it."""
        if isinstance(event, Key | Paste) and not event.is_forwarded and self._screen_stack:
            screen = self.screen
            if isinstance(screen, PatientScreen) and screen.early is not None:
                screen.early.append(event)
                return
        await super().on_event(event)
