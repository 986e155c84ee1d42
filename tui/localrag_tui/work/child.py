"""The process that does the work: `main`, given the number of its end of the line.

It receives a function with its arguments, and sends what the function tells and how it ended, in
the language of the interface. It never outlives the process that started it.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING

from localrag import language
from localrag_indexes.outcome import Failure

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

NICENESS = 5
"""The interface goes before: whoever types must not wait for a model or an index."""

# Seconds that work under way is given to end by itself.
_FAREWELL = 3.0


@dataclass(frozen=True, slots=True)
class Returned:
    """The function has ended."""

    value: object


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The function was stopped from outside; what it had finished is kept."""


class Channel:
    """The child's end of the line.

    Attributes:
        inbox: what the other end sent, in order.
        on_message: called in the thread that listens, before a message goes into the inbox.
    """

    def __init__(self, line: "Connection[object, object]") -> None:
        self.inbox: SimpleQueue[object] = SimpleQueue()
        self.on_message: Callable[[object], None] = lambda _: None
        self._line = line
        self._sending = Lock()

    def tell(self, message: object) -> None:
        """Send a message; may be called from any thread."""
        # An interrupt in the middle of it would leave half a message on the line.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with self._sending:
                self._line.send(message)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def listen(self) -> None:
        """Fill the inbox until the other end is gone, then end this process."""
        with suppress(EOFError, OSError):
            while True:
                message = self._line.recv()
                self.on_message(message)
                self.inbox.put(message)
        os.kill(os.getpid(), signal.SIGINT)
        sleep(_FAREWELL)
        os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the function that is received first; what it prints goes where it was told to."""
    from multiprocessing.connection import Connection

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.nice(NICENESS)
    handle = int(sys.argv[1])
    # What is started from here has no part in the conversation.
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
        end = Failure.of(error)
    try:
        channel.tell(end)
    except OSError:
        # Nobody is there any more; what this process has started must not stay either.
        os.killpg(0, signal.SIGKILL)
    # Threads of a native library must not hold up the end.
    sys.stderr.flush()
    os._exit(0)
