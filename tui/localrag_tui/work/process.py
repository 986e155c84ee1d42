"""A function in a process of its own: `main` on its side, `Process` on the side of the loop.

The child receives a function with its arguments. It sends events and the end, in the language
of the interface. It never outlives its parent.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Lock, Thread
from time import sleep
from typing import IO, TYPE_CHECKING, Concatenate, ParamSpec, Self

from localrag import language
from localrag.errors import LocalragError
from localrag.language import _
from localrag_indexes.parallel import CarriedError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

NICENESS = 5
"""The interface goes first: no key waits for a model or an index."""

# Seconds for running work to end by itself.
_FAREWELL = 3.0


@dataclass(frozen=True, slots=True)
class Returned:
    """The function has ended."""

    value: object


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The function was stopped; its results are kept."""


class Channel:
    """The child's end; `on_message` is called in the listening thread, ahead of the inbox."""

    def __init__(self, line: "Connection[object, object]") -> None:
        self.inbox: SimpleQueue[object] = SimpleQueue()
        self.on_message: Callable[[object], None] = lambda _: None
        self._line = line
        self._sending = Lock()

    def tell(self, message: object) -> None:
        """Send a message; may be called from any thread."""
        # An interrupt would leave half a message on the line.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with self._sending:
                self._line.send(message)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def listen(self) -> None:
        """Fill the inbox until the parent is gone, then end this process."""
        with suppress(EOFError, OSError):
            while True:
                message = self._line.recv()
                self.on_message(message)
                self.inbox.put(message)
        os.kill(os.getpid(), signal.SIGINT)
        sleep(_FAREWELL)
        os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the received function."""
    from multiprocessing.connection import Connection

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.nice(NICENESS)
    handle = int(sys.argv[1])
    # Children of this process do not inherit the connection.
    os.set_inheritable(handle, False)
    line = Connection(handle)
    spoken, function, arguments = line.recv()
    language.use(spoken)
    channel = Channel(line)
    Thread(target=channel.listen, daemon=True).start()
    try:
        end: object = Returned(function(channel, *arguments))
    except KeyboardInterrupt:
        end = Interrupted()
    except Exception as error:  # noqa: BLE001 - the last line of defence of a whole process
        end = CarriedError.of(error)
    try:
        channel.tell(end)
    except OSError:
        # The parent is gone: end the children, too.
        os.killpg(0, signal.SIGKILL)
    # Threads of a native library must not delay the end.
    sys.stderr.flush()
    os._exit(0)


P = ParamSpec("P")
# Characters of the last output shown after a crash.
_LAST_WORDS = 400
_CHILD = "from localrag_tui.work.process import main; main()"


class ProcessDied(LocalragError):  # noqa: N818 - the name says what happened
    """A process ended without a message: it was killed, or a library crashed."""


class FunctionFailed(LocalragError):  # noqa: N818 - the name says what happened
    """The function failed; cause and cure come from its error."""

    def __init__(self, failure: CarriedError) -> None:
        super().__init__(failure.cause, failure.cure)
        self.type = failure.type


class Stopped(Exception):  # noqa: N818 - the name says what happened
    """The function was interrupted; its results are kept."""


class Process:
    """A running function. `value`: its result, after `messages` has ended."""

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
        # Its own task: a waiting caller may be cancelled.
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, function: Callable[Concatenate[Channel, P], object], *args: P.args, **kwargs: P.kwargs
    ) -> Self:
        """Start a function of a module; it and its arguments are pickled. Raises `ProcessDied`."""
        # Imported late for the first paint.
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
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    def send(self, message: object) -> None:
        """Send a message; after its end, nothing happens."""
        with suppress(OSError):
            self._line.send(message)

    async def messages(self) -> AsyncIterator[object]:
        """The function's events until its end; `FunctionFailed`, `Stopped` or `ProcessDied`."""
        while True:
            match message := await self._heard.get():
                case Returned(value):
                    self.value = value
                    return
                case CarriedError():
                    raise FunctionFailed(message)
                case Interrupted():
                    raise Stopped
                case ProcessDied():
                    raise message
                case _:
                    yield message

    def interrupt(self) -> None:
        """Ask the function to end; its results are kept."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    async def kill(self) -> None:
        # Its children may outlive it and hold its pipes.
        if not self._listening.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        # A cancelled caller must not end the listening.
        await asyncio.shield(self._listening)

    async def _listen(self) -> None:
        loop, silent = asyncio.get_running_loop(), asyncio.Event()

        def hear() -> None:
            # In a thread: values may have to be imported first. A closed loop hears nothing.
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
        told = _("The working process ended unexpectedly ({reason}).").format(reason=reason)
        return ProcessDied(
            f"{told}\n{words}".strip(),
            _("If memory was short, use a smaller model. Finished results are kept.")
            if code == -signal.SIGKILL
            else _("Finished results are kept: try it again."),
        )
