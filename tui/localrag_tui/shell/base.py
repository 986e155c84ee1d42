"""What the application and its screens stand on: early keys, errors, sizes, signals, garbage."""

import asyncio
import gc
import io
import os
import signal
import sys
import termios
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Timer
from time import monotonic
from types import FrameType
from typing import Any

from rich.console import Console
from textual import on
from textual.app import App, ScreenError
from textual.css.query import QueryError
from textual.dom import DOMNode, NoScreen
from textual.events import Event, Key, Paste, Resize
from textual.notifications import Notification, Notify, SeverityLevel
from textual.screen import Screen, ScreenResultType
from textual.widget import MountError
from textual.worker import Worker, WorkerCancelled, WorkerFailed
from textual.worker_manager import WorkerManager

from localrag.errors import LocalragError
from localrag.text.harmless import NARROWEST, Layout
from localrag_tui.shown import cut, harmless
from localrag_tui.wording import cure_of

_LONGEST = 400
"""Cells of a message; a longer one would cover the screen."""
_SECONDS = 12.0
TOAST_WIDTH = 60
"""Cells of a message with its padding, where the terminal has as many."""
_GONE_AFTER = 0.2
"""Seconds after its time in which a message is taken down, by far."""
_AROUND_MESSAGE = 3
"""Cells of its padding and its border."""
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

_GARBAGE_PACE = 1.0
"""Seconds between two looks for garbage."""
# Seconds after a key in which the next one is expected.
_TYPING = 0.7
# New objects that are worth a look, and so many that they are not left lying while somebody types:
# some megabytes, and some hundreds.
_WORTH, _MOST = 20_000, 1_000_000


async def finish(removal: Awaitable[None]) -> None:
    """Wait until widgets are gone, which they will be though the worker that waits is cancelled.

    Textual would cancel what takes their messages, too: they would stay, deaf, and leaving the
    application would fail.
    """
    await asyncio.shield(removal)


class SettledScreen(Screen[ScreenResultType]):
    """A screen that is laid out for the size that the terminal has now.

    A layout tells its screen of the new size, and each such message makes a layout of that size:
    two sizes on their way would bring forth one another for ever.
    """

    @on(Resize)
    def _leave_out_old_size(self, event: Resize) -> None:
        if event.size != self.app.size:
            event.prevent_default()


class BaseScreen(SettledScreen[ScreenResultType]):
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
        if isinstance(self.app, BaseApp):
            self.app.get_ready()
        await self.get_ready()
        self.ready.set()
        self.app.call_later(self._take_early)

    async def _take_early(self) -> None:
        early, self.early = self.early, None
        for event in early or ():
            await self.app.on_event(event)


class BaseApp(App[None]):
    """Loses no key, tells known errors of workers and goes on, ends with its terminal as it was.

    Attributes:
        failure: the error nobody foresaw that has ended it.
    """

    failure: Exception | None = None

    def __init__(self) -> None:
        super().__init__()
        # What Textual says of an error that it ends with; `broken` has it.
        self._last_words = io.StringIO()
        self.error_console = Console(file=self._last_words, width=100)
        self._workers_told = _ToldWorkers(self, self._on_worker_failed)
        self._leaving = False
        self._told: list[Notification] = []
        self._terminal: list[Any] | None = None
        self.garbage = Garbage()

    @property
    def workers(self) -> WorkerManager:
        """What works for screens and widgets; a known error of it is told."""
        return self._workers_told

    @property
    def broken(self) -> Exception | None:
        """What has ended it: `failure`, else an error of a handler, known by its traceback only."""
        text = self._last_words.getvalue().strip()
        if self.failure is not None or self._leaving or not text:
            return self.failure
        error = RuntimeError(text.rpartition("\n")[2])
        error.add_note(text)
        return error

    def tell(self, error: LocalragError) -> None:
        """Show an error: what went wrong, and what to do about it; may be called from a thread."""
        message = f"{abridged(error.cause)}\n{abridged(cure_of(error))}".strip()
        self.notify(message, severity="error", markup=False, timeout=_SECONDS)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a message, broken into rows as the source pane breaks its text.

        Textual would let a row begin with 、 or 」, and break before a word of Latin letters.
        """
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.set_timer(seconds + _GONE_AFTER, self._paint_anew)
        width = min(TOAST_WIDTH, self.size.width) - _AROUND_MESSAGE
        rows = Layout(message, max(width, NARROWEST))
        super().notify(
            "\n".join(message[row.start : row.end] for row in rows),
            title=title,
            severity=severity,
            timeout=timeout,
            markup=markup,
        )

    def _paint_anew(self) -> None:
        # Of a wide character that it covered by half Textual would paint the other half alone.
        # The timer may end when the screens are gone already.
        if self.screen_stack:
            self.screen.refresh()

    def fail(self, error: Exception) -> None:
        """End because of an error; whoever ran the application finds it in `failure`."""
        self.failure = self.failure or error
        self.exit(return_code=1)

    def exit(self, *given: Any, **named: Any) -> None:
        """Leave; what fails from now on, because it is taken down, is no failure."""
        self._leaving = True
        super().exit(*given, **named)

    def get_ready(self) -> None:
        """Do what the first paint was not to wait for; called before a screen gets ready."""

    async def on_event(self, event: Event) -> None:
        """Pass an event on, or keep it until the screen in view can take it."""
        if isinstance(event, Key):
            self.garbage.on_key()
        if isinstance(event, Key | Paste) and not event.is_forwarded and self.screen_stack:
            screen = self.screen
            if isinstance(screen, BaseScreen) and screen.early is not None:
                screen.early.append(event)
                return
        await super().on_event(event)

    def on_load(self) -> None:
        """Leave by the front door, too, where the system ends it."""
        # Tests have a loop and signals of their own.
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(self._on_forgotten)
            with suppress(OSError, ValueError, termios.error):
                self._terminal = termios.tcgetattr(sys.stdin.fileno())
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

    def on_mount(self) -> None:
        self.set_interval(_GARBAGE_PACE, self.garbage.collect)

    def on_notify(self, event: Notify) -> None:
        """Let a message take the place of one like it that is still shown."""
        new = event.notification
        shown = [old for old in self._told if not old.has_expired]
        kept = [old for old in shown if not self.replaces(new, old)]
        self._told = [*shown, new]
        if len(kept) < len(shown):
            # Textual removes all or none: the others are told once more, for the time they had.
            self.clear_notifications()
            self._told = [new]
            for old in kept:
                self.notify(
                    old.message,
                    title=old.title,
                    severity=old.severity,
                    timeout=old.time_left,
                    markup=old.markup,
                )

    def clear_notifications(self) -> None:
        """Show no message any more."""
        self._told = []
        super().clear_notifications()

    def replaces(self, new: Notification, old: Notification) -> bool:
        """Whether a message says the same as one before."""
        return (new.title, new.message) == (old.title, old.message)

    async def on_unmount(self) -> None:
        try:
            await self.shut_down()
        except Exception as error:  # noqa: BLE001 - whoever ran it tells of it
            self.failure = self.failure or error

    async def shut_down(self) -> None:
        """Let go of everything that is open; called once, at the end."""

    def _leave_at_once(self, number: int) -> None:
        """End without the loop, which may be the one that hangs; children end by themselves."""
        with suppress(OSError, termios.error):
            if self._terminal is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)
            os.write(2, _PLAIN)
        os._exit(128 + number)

    def _on_forgotten(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What failed in a task that nobody waits for is no more silent than the rest."""
        if isinstance(error := context.get("exception"), Exception):
            self._on_worker_failed(self, error)

    def _on_worker_failed(self, node: DOMNode, error: Exception) -> None:
        if isinstance(error, LocalragError):
            self.tell(error)
        elif not (isinstance(error, _GONE) and self._is_taken_down(node)):
            self.fail(error)

    def _is_taken_down(self, node: DOMNode) -> bool:
        """Whether the application is left, or what a worker works for is being removed."""
        # What its style shows is not displayed only while it is removed: its parts go first.
        removed = node.styles.display != "none" and not node.display
        return self._leaving or not self.is_running or removed


class _ToldWorkers(WorkerManager):
    """Ends nothing because of a worker: its error is handed on, with what it worked for."""

    def __init__(self, app: App[Any], tell: Callable[[DOMNode, Exception], None]) -> None:
        super().__init__(app)
        self._tell = tell
        self._watching: set[asyncio.Task[None]] = set()

    def add_worker(self, worker: Worker[Any], start: bool = True, exclusive: bool = True) -> None:
        """Start it, and wait for its end."""
        worker.exit_on_error = False
        super().add_worker(worker, start, exclusive)
        watching = asyncio.get_running_loop().create_task(self._watch(worker))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)

    async def _watch(self, worker: Worker[Any]) -> None:
        try:
            await worker.wait()
        except WorkerFailed as failed:
            if isinstance(failed.error, Exception):
                self._tell(worker.node, failed.error)
        except WorkerCancelled:
            pass


class Garbage:
    """Collects garbage between keys, where Python has been told not to (``gc.disable``).

    Python looks for it whenever so many objects were made, which is while a screen is painted; it
    then walks through everything that is open, for a tenth of a second and more with a long law.
    """

    def __init__(self) -> None:
        self._last_key = monotonic()
        self._begun = False

    def on_key(self) -> None:
        """Take note that somebody types."""
        self._last_key = monotonic()

    def collect(self) -> None:
        """Collect, if there is anything and this is the time."""
        typing = monotonic() - self._last_key < _TYPING
        if gc.isenabled() or gc.get_count()[0] < (_MOST if typing else _WORTH):
            return
        gc.collect()
        if not self._begun:
            # What is there by now, modules for the most part, is there to the end.
            self._begun = True
            gc.freeze()


def abridged(text: str) -> str:
    """A text as a notification can hold it, and harmless; what is left out is marked."""
    return cut(harmless(text), _LONGEST)
