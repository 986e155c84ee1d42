"""A journal: finished rows of long work, safe from any kill.

A file of JSON lines that only grows. A row counts once its whole line is in the file. A line cut
off by a kill is reported and dropped. The owner locks the file for one writer
(`localrag.corpus.durable`); any number may read.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO, Any, Generic, Self, TypeVar

from pydantic import TypeAdapter

from localrag.corpus.durable import flush_folder, open_file, replacing
from localrag.errors import LocalragError, StorageError
from localrag.language import N_
from localrag.text.harmless import json_text

Row = TypeVar("Row")

# A written line survives a kill at once, and a power cut once it is flushed. Flushing takes
# milliseconds on a slow disk, so rows within this many seconds are flushed together.
_FLUSH_EVERY = 0.1
_BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class JournalLine(Generic[Row]):
    """A line of a journal."""

    row: Row  # the row
    number: int  # of the line, from 1
    offset: int  # of its first byte


class Journal(Generic[Row]):
    """Rows of one type in a file; the file may be missing.

    `lines` reads them. After ``with``, several threads can append. `torn`: the last line was cut
    off when the file was read or opened. `end`: bytes written, 0 before ``with``. Every method
    raises `StorageError`.
    """

    def __init__(
        self,
        path: Path,
        rows: TypeAdapter[Row],
        damaged: Callable[[int], LocalragError],
    ) -> None:
        """Prepare; no file is opened."""
        self.path = path
        self.torn = False
        self._rows = rows
        self._damaged = damaged
        self._file: IO[bytes] | None = None
        self.end = 0
        self._flushed = 0.0
        # Two threads that write at once would mix their lines.
        self._writing = Lock()

    def lines(self) -> Iterator[JournalLine[Row]]:
        """Yield the whole lines from the first; none without a file. Raises `LocalragError`."""
        end = 0
        with self._failures(), suppress(FileNotFoundError), self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                self.torn = not line.endswith(b"\n")
                if self.torn:
                    return
                yield JournalLine(self._read(line, number), number, end)
                end += len(line)

    def append(self, row: Row) -> None:
        """Write a row; after the return no kill can lose it. Raises `StorageError`."""
        assert self._file is not None, "the journal is open"
        line = _as_line(self._rows.dump_python(row, mode="json"))
        with self._writing, self._failures():
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self.end)
                raise
            # Set before flushing: after an interrupt the line counts as written.
            self.end += len(line)
            if monotonic() - self._flushed >= _FLUSH_EVERY:
                os.fsync(self._file.fileno())
                self._flushed = monotonic()

    def keep(self, offsets: Iterable[int], aside: Path | None = None) -> None:
        """Keep only the lines at these offsets, in this order, in one step."""
        with self._failures(), ExitStack() as at_once, self.path.open("rb") as old:
            new = at_once.enter_context(replacing(self.path, aside, private=True))
            for offset in offsets:
                old.seek(offset)
                new.write(old.readline())

    def __enter__(self) -> Self:
        """Open it to append; a cut off line is dropped."""
        with ExitStack() as undone, self._failures():
            # Unbuffered: written lines have left this process.
            self._file = undone.enter_context(
                open_file(self.path, "a+b", buffering=0, private=True)
            )
            size = self._file.seek(0, os.SEEK_END)
            self.end = _end_of_whole_lines(self._file, size)
            self.torn = self.end < size
            self._file.truncate(self.end)
            flush_folder(self.path.parent)
            undone.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def _read(self, line: bytes, number: int) -> Row:
        try:
            # Pydantic's parser refuses a lone surrogate, which a model can write.
            return self._rows.validate_python(json.loads(line))
        # RecursionError: the JSON is nested too deeply.
        except (ValueError, RecursionError):
            raise self._damaged(number) from None

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                N_("{path} cannot be read or written ({problem})."),
                N_(
                    "Free some space or mend its permissions, then run the same command again: "
                    "it continues."
                ),
                path=self.path,
                problem=error,
            ) from error


def _as_line(row: Any) -> bytes:
    # A lone surrogate cannot be UTF-8; it becomes a JSON escape.
    return json_text(row).encode() + b"\n"


def _end_of_whole_lines(file: IO[bytes], size: int) -> int:
    end = size
    while end:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0
