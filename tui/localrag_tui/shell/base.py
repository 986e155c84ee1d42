"""The base of application and screens: early keys, errors, notices, signals, garbage."""

import asyncio
import gc
import io
import os
import signal
import sys
import termios
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Timer
from time import monotonic
from types import FrameType
from typing import Any, Generic, TypeVar

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
from localrag.text.harmless import NARROWEST, Layout, cut, harmless
from localrag_tui.shown import cure_of

_LONGEST = 400
"""Most characters of a notice; a longer one would cover the screen."""
_SECONDS = 12.0
TOAST_WIDTH = 60
"""Cells of a notice with its padding, in a wide terminal."""
_GONE_AFTER = 0.2
"""Seconds after the end of a notice, enough to remove it."""
_AROUND_MESSAGE = 3
"""Cells of its padding and border."""
# Seconds to end after a signal, before a hard end.
_FAREWELL = 8.0
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
# Errors of work on removed screens.
_GONE = (QueryError, ScreenError, NoScreen, MountError)
# No reports of pastes, focus, sizes or mouse; plain keyboard, wrapped lines, main screen, cursor.
_PLAIN = (
    b"\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
    b"\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
)

_GARBAGE_PACE = 1.0
"""Seconds between two looks for garbage."""
# Seconds after a key in which another one is expected.
_TYPING = 0.7
# New objects worth a collection (some megabytes), and enough even while typing (some hundred).
_WORTH, _MOST = 20_000, 1_000_000


async def finish(removal: Awaitable[None]) -> None:
    """Wait until widgets are removed, even if the waiting worker is cancelled.

    Textual would cancel their message queues, too: dead widgets would stay, and leaving would fail.
    """
    await asyncio.shield(removal)


class SettledScreen(Screen[ScreenResultType]):
    """A screen laid out for the current size; two resizes in turn would lay out without end."""

    @on(Resize)
    def _leave_out_old_size(self, event: Resize) -> None:
        if event.size != self.app.size:
            event.prevent_default()


class BaseScreen(SettledScreen[ScreenResultType]):
    """Keeps keys and pastes pressed before the first paint (`early`); takes them once ready."""

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
        """Get ready after the first paint, once a part has the focus."""
        if not self._resumed:
            self._resumed = True
            # Nothing is painted before the application runs its first call.
            self.app.call_later(self.call_after_refresh, self._become_ready)

    async def get_ready(self) -> None:
        """Make the parts not needed for the first paint."""

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
    """Loses no key, shows known errors of workers, and restores the terminal."""

    failure: Exception | None = None

    def __init__(self) -> None:
        super().__init__()
        # Textual's report of a fatal error, for `broken`.
        self._last_words = io.StringIO()
        self.error_console = Console(file=self._last_words, width=100)
        self._workers_told = _ToldWorkers(self, self._on_worker_failed)
        self._leaving = False
        self._told: list[Notification] = []
        self._terminal: list[Any] | None = None
        self.garbage = Garbage()

    @property
    def workers(self) -> WorkerManager:
        return self._workers_told

    @property
    def broken(self) -> Exception | None:
        """The error that ended it: `failure`, else the traceback of a handler."""
        text = self._last_words.getvalue().strip()
        if self.failure is not None or self._leaving or not text:
            return self.failure
        error = RuntimeError(text.rpartition("\n")[2])
        error.add_note(text)
        return error

    def tell(self, error: LocalragError) -> None:
        """Show an error and its cure; may be called from a thread."""
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
        """Show a message with breaks as in the source pane: no row begins with 、 or 」."""
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
        # Textual would paint one half of a wide character. The timer may end after the screens.
        if self.screen_stack:
            self.screen.refresh()

    def fail(self, error: Exception) -> None:
        """End because of an error, and keep it in `failure`."""
        self.failure = self.failure or error
        self.exit(return_code=1)

    def exit(self, *given: Any, **named: Any) -> None:
        """Leave; later errors of removed parts are ignored."""
        self._leaving = True
        super().exit(*given, **named)

    def get_ready(self) -> None:
        """Do work not needed for the first paint; called before a screen gets ready."""

    async def on_event(self, event: Event) -> None:
        """Pass an event on, or keep it until the screen is ready."""
        if isinstance(event, Key):
            self.garbage.on_key()
        if isinstance(event, Key | Paste) and not event.is_forwarded and self.screen_stack:
            screen = self.screen
            if isinstance(screen, BaseScreen) and screen.early is not None:
                screen.early.append(event)
                return
        await super().on_event(event)

    def on_load(self) -> None:
        # Tests have their own loop and signals.
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
                # Textual may wait for ever to write to a closed terminal.
                last = Timer(_FAREWELL, self._leave_at_once, [number])
                last.daemon = True
                last.start()
                loop.call_soon_threadsafe(self.exit)

            for number in _SIGNALS:
                signal.signal(number, leave)

    def on_mount(self) -> None:
        self.set_interval(_GARBAGE_PACE, self.garbage.collect)

    def on_notify(self, event: Notify) -> None:
        new = event.notification
        shown = [old for old in self._told if not old.has_expired]
        kept = [old for old in shown if not self.replaces(new, old)]
        self._told = [*shown, new]
        if len(kept) < len(shown):
            # Textual removes all or none: the others are shown again.
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
        self._told = []
        super().clear_notifications()

    def replaces(self, new: Notification, old: Notification) -> bool:
        return (new.title, new.message) == (old.title, old.message)

    async def on_unmount(self) -> None:
        try:
            await self.shut_down()
        except Exception as error:  # noqa: BLE001 - the caller reports it
            self.failure = self.failure or error

    async def shut_down(self) -> None:
        """Close everything; called once, at the end."""

    def _leave_at_once(self, number: int) -> None:
        """End without the loop, in case it hangs; child processes end by themselves."""
        with suppress(OSError, termios.error):
            if self._terminal is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)
            os.write(2, _PLAIN)
        os._exit(128 + number)

    def _on_forgotten(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if isinstance(error := context.get("exception"), Exception):
            self._on_worker_failed(self, error)

    def _on_worker_failed(self, node: DOMNode, error: Exception) -> None:
        if isinstance(error, LocalragError):
            self.tell(error)
        elif not (isinstance(error, _GONE) and self._is_taken_down(node)):
            self.fail(error)

    def _is_taken_down(self, node: DOMNode) -> bool:
        # Visible by style but not displayed: it is being removed.
        removed = node.styles.display != "none" and not node.display
        return self._leaving or not self.is_running or removed


class _ToldWorkers(WorkerManager):
    """Hands on the error of a worker; it does not end the application."""

    def __init__(self, app: App[Any], tell: Callable[[DOMNode, Exception], None]) -> None:
        super().__init__(app)
        self._tell = tell
        self._watching: set[asyncio.Task[None]] = set()

    def add_worker(self, worker: Worker[Any], start: bool = True, exclusive: bool = True) -> None:
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
    """Collects garbage between keys, if Python does not (``gc.disable``).

    Python collects after so many new objects, so while a screen is painted. With a long law this
    takes a tenth of a second and more.
    """

    def __init__(self) -> None:
        self._last_key = monotonic()
        self._begun = False

    def on_key(self) -> None:
        self._last_key = monotonic()

    def collect(self) -> None:
        """Collect, if there is enough garbage and nobody types."""
        typing = monotonic() - self._last_key < _TYPING
        if gc.isenabled() or gc.get_count()[0] < (_MOST if typing else _WORTH):
            return
        gc.collect()
        if not self._begun:
            # Objects existing now, mostly modules, stay to the end.
            self._begun = True
            gc.freeze()


def abridged(text: str) -> str:
    """A harmless text, cut for a notice."""
    return cut(harmless(text), _LONGEST)


T = TypeVar("T")


class Latest(Generic[T]):
    """Does work for the newest request; `overtaken` shows whether a newer one waits."""

    def __init__(self, work: Callable[[T], Awaitable[None]]) -> None:
        self._work = work
        self._waiting: deque[T] = deque(maxlen=1)
        self.busy = False

    @property
    def overtaken(self) -> bool:
        return bool(self._waiting)

    async def want(self, wanted: T) -> None:
        self._waiting.append(wanted)
        if self.busy:
            return
        self.busy = True
        try:
            while self._waiting:
                await self._work(self._waiting.popleft())
        finally:
            self.busy = False
