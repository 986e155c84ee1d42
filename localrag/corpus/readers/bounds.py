"""Untrusted input within limits: memory, XML, JSON, lines, a separate process.

A parser makes objects of some hundred bytes from each mark of its grammar: ``<a/>`` becomes a node,
``[],`` a list. So marks are counted first; their weights are measured
(``scripts/bench/archives.py``). PDFium may crash, stay busy or fill the memory, so it runs in a
process of its own.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import ceil
from multiprocessing.connection import Connection
from threading import Lock
from typing import IO, Any, TypeVar

from lxml import etree

from localrag.corpus.readers.text import empty_file
from localrag.corpus.readers.types import Limits, NumberedLine
from localrag.errors import InputError
from localrag.language import N_

TEXT: Mapping[bytes, int] = {b"\n": 60}
MARKUP: Mapping[bytes, int] = {b"<": 350, b"=": 100}
MARKDOWN: Mapping[bytes, int] = {b"\n": 1_600}
JSON: Mapping[bytes, int] = {b"{": 250, b"[": 80, b",": 60}
# Memory per byte of text: bytes, characters, passages, rows.
_BYTE = 6
_SMALL = 1_000_000


def check_memory(data: bytes, marks: Mapping[bytes, int], limits: Limits) -> None:
    """Refuse data taking too much memory; `marks` has bytes by mark of the grammar."""
    if len(data) < _SMALL and len(data) * max(marks.values()) < limits.memory_bytes:
        return
    taken = _BYTE * len(data) + sum(data.count(mark) * size for mark, size in marks.items())
    if taken > limits.memory_bytes:
        raise InputError(
            N_("Reading it would take about {taken:,} MB of memory, more than {most:,}."),
            N_("Split it; lines of JSON (.jsonl) are read one by one."),
            taken=taken // 1_000_000,
            most=limits.memory_bytes // 1_000_000,
        )


def parsed_xml(
    data: bytes, if_damaged: str, if_declaring: str, *, without_comments: bool = False
) -> etree._Element:
    """Parse untrusted XML, with a cure for damage and one for entities or external DTDs."""
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=without_comments,
        remove_pis=without_comments,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(
            N_("The XML is damaged ({problem})."), if_damaged, problem=error.msg
        ) from error
    dtd: Any = root.getroottree().docinfo.internalDTD
    if dtd is not None and (dtd.system_url or any(True for _ in dtd.iterentities())):
        raise InputError(
            N_("The XML declares entities or an external DTD, which are never resolved."),
            if_declaring,
        )
    return root


Result = TypeVar("Result")

_IDLE_SECONDS = 2
# Memory of Python and its libraries.
_ITSELF = 256_000_000
# Ratio of wall-clock time to processor time, because others use the processor.
_PATIENCE = 5
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from localrag.corpus.readers.bounds import serve; serve()"
)


def apart(work: Callable[..., Result], *given: Any, seconds: int, memory_bytes: int) -> Result:
    """Call a function in the other process; ending or reaching a limit is an InputError."""
    with _LOCK:
        while True:
            other = _running()
            was_used = other.is_used
            try:
                return other.call((work, given, seconds, memory_bytes), seconds)  # type: ignore[no-any-return]
            except _Ended as ended:
                _stop()
                # It ended when idle, or still held memory of earlier files.
                if not ended.status or (was_used and ended.signal != signal.SIGXCPU):
                    continue
                raise _why(ended, seconds, memory_bytes) from ended


class _Ended(Exception):  # noqa: N818 - never leaves this file
    """The process is gone. `status`: as in `subprocess`: negative for a signal."""

    def __init__(self, status: int) -> None:
        self.status = status

    @property
    def signal(self) -> int:
        return -self.status if self.status < 0 else 0


def _why(ended: _Ended, seconds: int, memory_bytes: int) -> InputError:
    if ended.signal == signal.SIGXCPU:
        return InputError(
            N_("Reading it takes more than {n} seconds; it was stopped."),
            N_("Save it again with another program (print to PDF), or split it."),
            n=seconds,
        )
    if not ended.signal:
        return InputError(
            N_("The process that reads it ended with exit status {status}."),
            N_("Check how localrag is installed: localrag doctor."),
            status=ended.status,
        )
    return InputError(
        N_(
            "The program that reads it crashed ({signal}): the file is damaged, or needs more than "
            "{n:,} MB of memory."
        ),
        N_("Save it again with another program (print to PDF), or split it."),
        signal=signal.Signals(ended.signal).name,
        n=memory_bytes // 1_000_000,
    )


class _Process:
    def __init__(self) -> None:
        path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is this folder
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-I", "-c", _PROGRAM, json.dumps(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C must reach only the parent process.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._out = Connection(os.dup(self._process.stdin.fileno()), readable=False)
        self._in = Connection(os.dup(self._process.stdout.fileno()), writable=False)
        self._process.stdin.close()
        self._process.stdout.close()
        self.path, self.owner, self.is_used = list(sys.path), os.getpid(), False

    def call(self, task: object, seconds: int) -> Any:
        try:
            self._out.send(task)
            if not self._in.poll(seconds * _PATIENCE):
                raise _Ended(-signal.SIGXCPU)
            is_result, value = self._in.recv()
        except (EOFError, OSError) as error:
            raise _Ended(self._process.wait()) from error
        self.is_used = True
        if is_result:
            return value
        raise value

    def stop(self) -> None:
        self._out.close()
        self._in.close()
        self._process.kill()
        self._process.wait()


_LOCK = Lock()
_process: _Process | None = None


def _running() -> _Process:
    """The process; started if missing, inherited by a fork, or on another path."""
    global _process
    if _process is not None and _process.owner != os.getpid():
        _process = None
    if _process is not None and _process.path != sys.path:
        _stop()
    if _process is None:
        _process = _Process()
    return _process


@atexit.register
def _stop() -> None:
    global _process
    if _process is not None and _process.owner == os.getpid():
        _process.stop()
    _process = None


def serve() -> None:
    """Run tasks from standard input until it closes or stays idle."""
    given, done = Connection(os.dup(0), writable=False), Connection(os.dup(1), readable=False)
    # Output of libraries must not mix with the results.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    with contextlib.suppress(EOFError, OSError):
        while given.poll(_IDLE_SECONDS):
            work, arguments, seconds, memory_bytes = given.recv()
            _limit(seconds, memory_bytes)
            done.send(_outcome(work, arguments, memory_bytes))
            del work, arguments


def _outcome(work: Callable[..., Any], arguments: Any, memory_bytes: int) -> tuple[bool, Any]:
    """Whether the work succeeded, with its result or exception."""
    try:
        return True, work(*arguments)
    except MemoryError:
        return False, InputError(
            N_("Reading it takes more than {n:,} MB of memory."),
            N_("Save it again with another program (print to PDF), or split it."),
            n=memory_bytes // 1_000_000,
        )
    except Exception as error:  # noqa: BLE001 - it is raised where the work was asked for
        return False, error


def _limit(seconds: int, memory_bytes: int) -> None:
    """Let the system end this process at its limits; Windows has none."""
    if sys.platform == "win32":
        return
    import resource

    upto = ceil(time.process_time()) + seconds
    for what, most in (
        (resource.RLIMIT_CPU, upto),
        (resource.RLIMIT_DATA, _ITSELF + memory_bytes),
        # A core dump would leave the text on the disk.
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (soft, hard))


_CHUNK = 1 << 20
# Bytes of an empty line with its end.
_EMPTY_LINE = 2
# Lines examined to recognise a file.
_HEAD = 20


class Lines:
    """The unread lines of a file, after a given one.

    `first` shows the content: the first readable line of `head`, in UTF-8 and JSON if it begins an
    object.
    """

    def __init__(self, stream: IO[bytes], limits: Limits, after: int = 0) -> None:
        self._stream, self._limits, self._after = stream, limits, after
        if next(self.whole(), None) is None:
            raise empty_file()
        # Even an unreadable line shows its format.
        fallback = next(self.head(), b"")[:_CHUNK]
        self.first = next((line for line in self.head() if _can_be_read(line, limits)), fallback)

    def __iter__(self) -> Iterator[NumberedLine]:
        return (line for line in self.whole() if line[0] > self._after)

    def head(self) -> Iterator[bytes]:
        """The first lines with content, skipped or not; to be used before iteration."""
        return (line for _, line in islice(self.whole(), _HEAD) if line and element(line))

    def whole(self) -> Iterator[NumberedLine]:
        """Every line from the start; to be used before iteration."""
        self._stream.seek(0)
        return numbered_lines(self._stream, self._limits)


def json_object(line: bytes) -> dict[str, Any]:
    """Parse a line holding one JSON object in UTF-8; others are InputErrors."""

    def damaged(error: json.JSONDecodeError) -> InputError:
        return InputError(
            N_("The line is not JSON: it goes wrong at character {character}."),
            N_("Write one complete JSON object a line."),
            character=error.colno,
        )

    value = parsed_json(utf8_line(line), damaged)
    if not isinstance(value, dict):
        raise InputError(N_("The line is not a JSON object."), N_("Write one JSON object a line."))
    return value


def utf8_line(line: bytes) -> str:
    """Decode a line of UTF-8."""
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The line is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error


def parsed_json(data: str | bytes, damaged: Callable[[json.JSONDecodeError], InputError]) -> Any:
    """Parse JSON; `damaged` makes the error for a wrong character."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise damaged(error) from error
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The JSON is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error
    except ValueError as error:
        raise InputError(
            N_("The JSON holds a number that is too long."), N_("Check where it came from.")
        ) from error
    except RecursionError as error:
        raise InputError(
            N_("The JSON is nested too deeply."), N_("Check where it came from.")
        ) from error


def element(line: bytes) -> bytes:
    """A line without the brackets and commas of an array."""
    return line.strip(b"[], \t\r\n")


def complete(line: bytes | None, limits: Limits) -> bytes:
    """Return a line from `numbered_lines`."""
    if line is None:
        raise InputError(
            N_("The line is longer than {most:,} bytes."),
            N_("Check whether line breaks are missing, or split what it holds."),
            most=limits.line_bytes,
        )
    check_memory(line, JSON, limits)
    return line


def numbered_lines(stream: IO[bytes], limits: Limits) -> Iterator[NumberedLine]:
    """Yield lines with numbers from 1, without a byte order mark; None for one over the limit.

    An oversized stream, or one of mostly empty lines, is an InputError.
    """
    total, number, empty = 0, 0, 0
    while line := stream.readline(limits.line_bytes + 1):
        number += 1
        total += len(line)
        empty += len(line) <= _EMPTY_LINE
        if empty > limits.empty_lines + number // 2:
            raise InputError(
                N_("More than {n:,} lines of the file are empty."),
                N_("Check how it was made."),
                n=limits.empty_lines,
            )
        too_long = len(line) > limits.line_bytes
        rest = line
        while too_long and rest and not rest.endswith(b"\n"):
            rest = stream.readline(_CHUNK)
            total += len(rest)
            if total > limits.unpacked_bytes:
                break
        if total > limits.unpacked_bytes:
            raise InputError(
                N_("The file unpacks to more than {most:,} bytes."),
                N_("Split it into several files."),
                most=limits.unpacked_bytes,
            )
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        yield number, None if too_long else line


def _can_be_read(line: bytes, limits: Limits) -> bool:
    bare = element(line)
    try:
        check_memory(bare, JSON, limits)
        if bare.startswith(b"{"):
            json_object(bare)
        else:
            bare.decode()
    except (InputError, UnicodeDecodeError):
        return False
    return True
