"""A file of answers as somebody reads it who looks at some rows, perhaps while it grows."""

import json
import re
from collections import Counter
from os import fstat
from pathlib import Path
from threading import Lock
from typing import IO, Any

from localrag.batch.rows import FAILED

# The beginning of a row as `rows.as_row` writes it. A quotation mark inside a text is escaped, so
# nothing in a question looks like a field. Parsing a whole line takes ten times as long.
_HEAD = re.compile(
    rb'\{"row": (\d{1,15}), .*?"status": "(\w{1,99})"(?:, "error": \{"type": "(\w{1,99})")?'
)


class WrittenRows:
    """The rows of a file of answers: found in one pass, read one by one.

    The newest line of a row counts. A line whose end is not written yet, and one that no batch
    wrote, is passed over. Several threads may use it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Two that read on from the same place would count every line twice.
        self._lock = Lock()
        self._forget()

    def refresh(self) -> bool:
        """Read what is new in the file; tells whether there was something.

        Raises:
            OSError: it cannot be read; one that is not there is empty.
        """
        try:
            with self._lock, self._path.open("rb") as file:
                return self._follow(file)
        except FileNotFoundError:
            with self._lock:
                there = bool(self._places)
                self._forget()
                return there

    def tally(self, up_to: int | None = None) -> Counter[str]:
        """Rows by outcome, a status or the type of an error; arguments as for `numbers`."""
        with self._lock:
            return Counter(
                outcome for row, outcome in self._outcomes.items() if up_to is None or row <= up_to
            )

    def numbers(self, *, failed: bool = False, up_to: int | None = None) -> list[int]:
        """The numbers of the rows that are there, in order.

        Args:
            failed: only those with an error.
            up_to: only so many of the table, from the first.
        """
        with self._lock:
            rows = self._failed if failed else self._places
            return sorted(row for row in rows if up_to is None or row <= up_to)

    def row(self, number: int) -> dict[str, Any]:
        """A row, as `rows.as_row` writes it.

        Raises:
            OSError: the file cannot be read.
            LookupError, ValueError: it has changed since `refresh`.
        """
        with self._path.open("rb") as file:
            file.seek(self._places[number])
            row = json.loads(file.readline())
        if not isinstance(row, dict) or row.get("row") != number:
            raise ValueError(number)
        return row

    def _forget(self) -> None:
        self._places: dict[int, int] = {}
        self._outcomes: dict[int, str] = {}
        self._failed: set[int] = set()
        self._end = 0
        self._file: tuple[int, int] | None = None

    def _follow(self, file: IO[bytes]) -> bool:
        stat = fstat(file.fileno())
        # Another file took its place (the rows were put in order), or a part was cut off.
        if self._file != (stat.st_dev, stat.st_ino) or stat.st_size < self._end:
            self._forget()
            self._file = stat.st_dev, stat.st_ino
        if stat.st_size == self._end:
            return False
        file.seek(self._end)
        for line in file:
            if not line.endswith(b"\n"):
                break
            self._note(line)
            self._end += len(line)
        return True

    def _note(self, line: bytes) -> None:
        found = _HEAD.match(line)
        if found is None:
            return
        number, status, error = int(found[1]), found[2].decode(), (found[3] or b"").decode()
        outcome = (error or status) if status == FAILED else status
        self._places[number], self._outcomes[number] = self._end, outcome
        (self._failed.add if status == FAILED else self._failed.discard)(number)
