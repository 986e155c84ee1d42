"""What the processes of the tests do; a process finds it by name."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from localrag.errors import InputError

# Longer than any test waits: whoever is still there then was not ended.
_LONG = 300


def count(tell, upto):
    for number in range(upto):
        tell(number)
    return upto


def fail(tell, kind):
    if kind == "known":
        raise InputError("The file is empty.", "Take another.")
    if kind == "unforeseen":
        raise ZeroDivisionError("by [red]nothing[/red]")
    if kind == "noisy":
        os.write(1, b"noise of a library on standard output\n")
        os.write(2, b"and on standard error\n")
        tell("said")
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "quits":
        os._exit(7)
    raise AssertionError(kind)


def work(tell, mark):
    """Tell its number, then work until it is interrupted; what it has finished is kept."""
    try:
        # Who is told may interrupt at once.
        tell(os.getpid())
        time.sleep(_LONG)
    except KeyboardInterrupt:
        Path(mark).write_text("kept", encoding="utf-8")
        raise


def endless(tell, *_arguments):
    """Tell its number, whatever it is to do, and never end by itself."""
    tell(os.getpid())
    time.sleep(_LONG)


def deaf(tell):
    """Interrupts do not end it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tell(os.getpid())
    time.sleep(_LONG)


def deaf_channel(channel):
    """The same, at the channel itself."""
    deaf(channel.tell)


def with_child(tell):
    """Start a process of its own, which holds the pipes."""
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({_LONG})"])
    tell(child.pid)
    time.sleep(_LONG)


def talk(tell):
    """Tell without end, large messages."""
    while True:
        tell("x" * 300_000)
