"""The process that does the work: ``python -m localrag_tui.work.child``.

It reads the function and its arguments from standard input, and tells on standard output what the
function tells. It never outlives the process that started it.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import sleep
from typing import BinaryIO, cast

from localrag.errors import LocalragError
from localrag_tui.work.messages import LENGTH, Interrupted, Raised, Returned, packed, unpacked

NICENESS = 5
"""The interface goes before: whoever types must not wait for a model or an index."""

# Seconds that work under way is given to end by itself.
_FAREWELL = 3.0


class Channel:
    """The child's end of the line.

    Attributes:
        inbox: what the other end sent, in order.
        on_message: called in the thread that listens, before a message goes into the inbox.
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self.inbox: SimpleQueue[object] = SimpleQueue()
        self.on_message: Callable[[object], None] = lambda _: None
        self._incoming = incoming
        self._outgoing = outgoing
        self._writing = Lock()

    def tell(self, message: object) -> None:
        """Send a message; may be called from any thread."""
        data = packed(message)
        # An interrupt in the middle of a write would leave half a message in the pipe.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with self._writing:
                self._outgoing.write(data)
                self._outgoing.flush()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def receive(self) -> object:
        """Wait for a message of the other end.

        Raises:
            EOFError: there is no other end any more.
        """
        head = self._incoming.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise EOFError
        return unpacked(self._incoming.read(*LENGTH.unpack(head)))

    def listen(self) -> None:
        """Fill the inbox until the other end is gone, then end this process."""
        with suppress(EOFError, OSError):
            while True:
                message = self.receive()
                self.on_message(message)
                self.inbox.put(message)
        os.kill(os.getpid(), signal.SIGINT)
        sleep(_FAREWELL)
        os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the function that is named on standard input."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.nice(NICENESS)
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    # What a library prints must not get between the messages.
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    function, arguments = cast(
        "tuple[Callable[..., object], tuple[object, ...]]", channel.receive()
    )
    Thread(target=channel.listen, daemon=True).start()
    try:
        end: object = Returned(function(channel, *arguments))
    except KeyboardInterrupt:
        end = Interrupted()
    except LocalragError as error:
        end = Raised(type(error).__name__, error.cause, error.cure)
    except Exception as error:  # noqa: BLE001 - the last line of defence of a whole process
        end = Raised(type(error).__name__, f"{type(error).__name__}: {error}")
    try:
        channel.tell(end)
    except OSError:
        # Nobody is there any more; what this process has started must not stay either.
        os.killpg(0, signal.SIGKILL)
    # Threads of a native library must not hold up the end.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
