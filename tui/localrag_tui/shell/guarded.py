"""An application that leaves nothing behind, whatever ends it."""

import asyncio
import os
import signal
from contextlib import suppress
from threading import Timer
from types import FrameType
from typing import Any

from textual.app import App, ScreenError
from textual.css.query import QueryError
from textual.dom import NoScreen
from textual.notifications import Notify
from textual.widget import MountError
from textual.worker import NoActiveWorker, WorkerFailed, get_current_worker

from localrag.errors import LocalragError
from localrag_tui.shown import cut, harmless

_LONGEST = 400
"""Cells of a message; a longer one would cover the screen."""
_SECONDS = 12.0
# Seconds that an end by a signal may take until it is made short.
_FAREWELL = 8.0
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
# What is still under way when the screens are taken down finds nothing there any more.
_GONE = (QueryError, ScreenError, NoScreen, MountError)
# Pastes, focus and sizes untold, no mouse, the keyboard as it was, lines wrapped, the other screen
# left, the cursor shown.
_PLAIN = (
    b"\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
    b"\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
)


class GuardedApp(App[None]):
    """Ends without a traceback on the screen, with its terminal as it was.

    A known error of a worker is told; the application goes on.

    Attributes:
        failure: the error nobody foresaw that has ended it.
    """

    failure: Exception | None = None

    def tell(self, error: LocalragError) -> None:
        """Show an error: what went wrong, and what to do about it; may be called from a thread."""
        message = f"{abridged(error.cause)}\n{abridged(error.cure)}".strip()
        self.notify(message, severity="error", markup=False, timeout=_SECONDS)

    def on_load(self) -> None:
        """Leave by the front door, too, where the system ends it."""
        # Tests have a loop and signals of their own.
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(self._on_forgotten)
            asked = False

            def leave(number: int, _: FrameType | None) -> None:
                nonlocal asked
                if asked or loop.is_closed():
                    self._leave_at_once(number)
                asked = True
                # A terminal that is gone may keep it for ever: Textual waits to write to it.
                last = Timer(_FAREWELL, self._leave_at_once, [number])
                last.daemon = True
                last.start()
                loop.call_soon_threadsafe(self.exit)

            for number in _SIGNALS:
                signal.signal(number, leave)

    def on_notify(self, event: Notify) -> None:
        """Let a message take the place of the same one that is still shown."""
        new = event.notification
        for shown in list(self._notifications):
            if (shown.title, shown.message) == (new.title, new.message):
                del self._notifications[shown]

    async def on_unmount(self) -> None:
        """Let go of everything."""
        await self.shut_down()

    async def shut_down(self) -> None:
        """Let go of everything that is open; called once, at the end."""

    def _leave_at_once(self, number: int) -> None:
        """End without the loop, which may be the one that hangs; children end by themselves."""
        # Only a terminal has such a driver, and only POSIX has terminals.
        import termios

        attributes = getattr(self._driver, "attrs_before", None)
        with suppress(OSError, termios.error):
            if attributes is not None:
                termios.tcsetattr(0, termios.TCSANOW, attributes)
            os.write(2, _PLAIN)
        os._exit(128 + number)

    def _on_forgotten(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What failed in a task that nobody waits for is no more silent than the rest."""
        if isinstance(error := context.get("exception"), Exception):
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(error, WorkerFailed) and isinstance(cause, LocalragError):
            self.tell(cause)
            return
        if isinstance(cause, _GONE) and self._is_taking_down():
            return
        if self.failure is None and isinstance(cause, Exception):
            self.failure = cause
        super()._handle_exception(error)

    def _is_taking_down(self) -> bool:
        """Whether the application is left, or what a worker works for is being removed."""
        if self._exit or not self.is_running:
            return True
        try:
            # Its parts go first, and it is told to stop only after them.
            return get_current_worker().node._pruning
        except NoActiveWorker:
            return False

    def _fatal_error(self) -> None:
        # Whoever ran the application tells of its failure, once the terminal is as it was.
        self._close_messages_no_wait()


def abridged(text: str) -> str:
    """A text as a notification can hold it, and harmless; what is left out is marked."""
    return cut(harmless(text), _LONGEST)
