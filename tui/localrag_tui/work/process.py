"""A function that runs in a process of its own, as the event loop sees it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, suppress
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, TYPE_CHECKING, Concatenate, ParamSpec, Self

from localrag import language
from localrag.errors import LocalragError
from localrag.language import _
from localrag_indexes.outcome import Failure
from localrag_tui.work.child import Channel, Interrupted, Returned

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

P = ParamSpec("P")
# Characters of what a process printed last that are shown where it died.
_LAST_WORDS = 400
_CHILD = "from localrag_tui.work.child import main; main()"


class ProcessDied(LocalragError):  # noqa: N818 - the name says what happened
    """A process ended without a word: it was killed, or a library brought it down."""


class WorkFailed(LocalragError):  # noqa: N818 - the name says what happened
    """The function failed; cause and cure are those of its error."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause, failure.cure)
        self.type = failure.type


class Stopped(Exception):  # noqa: N818 - the name says what happened
    """The function was interrupted; what it had finished is kept."""


class Process:
    """A running function.

    Attributes:
        value: what the function returned, once `messages` has ended.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        line: "Connection[object, object]",
        printed: IO[bytes],
    ) -> None:
        self.value: object = None
        self._process = process
        self._line = line
        self._printed = printed
        self._heard: asyncio.Queue[object] = asyncio.Queue()
        # A task of its own: whoever waits for a message may give up in the middle of one.
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, function: Callable[Concatenate[Channel, P], object], *args: P.args, **kwargs: P.kwargs
    ) -> Self:
        """Start a function of a module; it and its arguments are pickled.

        Args:
            function: its first argument is the channel on which it tells and is told.
            args: the further ones.
            kwargs: none; functions here take their arguments by position.

        Raises:
            ProcessDied: it cannot be started.
        """
        # The first paint waits for this module.
        from multiprocessing import Pipe

        del kwargs
        with ExitStack() as opened:
            try:
                printed = opened.enter_context(TemporaryFile())
                ours, theirs = Pipe()
                opened.enter_context(ours)
                with theirs:
                    process = await asyncio.create_subprocess_exec(
                        *(sys.executable, "-c", _CHILD, str(theirs.fileno())),
                        stdin=asyncio.subprocess.DEVNULL,
                        stdout=printed,
                        stderr=printed,
                        pass_fds=[theirs.fileno()],
                        start_new_session=True,
                    )
            except OSError as error:
                raise ProcessDied(
                    _("No process can be started for this work ({reason}).").format(
                        reason=error.strerror or error
                    ),
                    _("End other programs or free some space, then try it again."),
                ) from error
            opened.pop_all()  # Both are closed when the process has ended.
        started = cls(process, ours, printed)
        started.send((language.in_use(), function, args))
        return started

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    def send(self, message: object) -> None:
        """Send a message to the function; one that has ended does not hear it."""
        with suppress(OSError):
            self._line.send(message)

    async def messages(self) -> AsyncIterator[object]:
        """What the function tells, until it ends.

        Raises:
            WorkFailed: it failed.
            Stopped: it was interrupted.
            ProcessDied: it ended without a word.
        """
        while True:
            match message := await self._heard.get():
                case Returned(value):
                    self.value = value
                    return
                case Failure():
                    raise WorkFailed(message)
                case Interrupted():
                    raise Stopped
                case ProcessDied():
                    raise message
                case _:
                    yield message

    def interrupt(self) -> None:
        """Ask the function to end; it keeps what it has finished."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    async def kill(self) -> None:
        """End the process and all that it has started, at once."""
        # What it has started may live on and hold its pipes when it has ended itself.
        if not self._listening.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        # Whoever gives up waiting for the end must not end the listening.
        await asyncio.shield(self._listening)

    async def _listen(self) -> None:
        """Take in what the process tells, until it has ended and let go of the line."""
        loop, silent = asyncio.get_running_loop(), asyncio.Event()

        def hear() -> None:
            # In a thread: what a value is made of may have to be imported first. A loop that is
            # closed hears nothing any more.
            with suppress(RuntimeError):
                with suppress(EOFError, OSError):
                    while True:
                        loop.call_soon_threadsafe(self._heard.put_nowait, self._line.recv())
                loop.call_soon_threadsafe(silent.set)

        Thread(target=hear, daemon=True).start()
        await silent.wait()
        self._line.close()
        await self._process.wait()
        self._heard.put_nowait(self._died())
        self._printed.close()

    def _died(self) -> ProcessDied:
        code = self._process.returncode or 0
        reason = signal.Signals(-code).name if code < 0 else _("exit code {n}").format(n=code)
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - _LAST_WORDS))
        words = self._printed.read().decode(errors="replace").strip()
        told = _("The process that worked has ended by itself ({reason}).").format(reason=reason)
        return ProcessDied(
            f"{told}\n{words}".strip(),
            _("If memory was short, take a smaller model. What it had finished is kept.")
            if code == -signal.SIGKILL
            else _("What it had finished is kept: try it again."),
        )
