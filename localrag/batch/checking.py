"""The first pass over a table: what can be asked, and whether an id stands for two questions."""

import json
import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b

from localrag.batch.model import Row, Unreadable
from localrag.batch.table import Table
from localrag.errors import InputError, StorageError

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Checked:
    """What the first pass found.

    Attributes:
        digests: a number for each row that stands for its content; 0 for an unreadable one.
        unreadable: how many of those there are.
    """

    digests: Sequence[int]
    unreadable: int

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return len(self.digests)

    def holds(self, row: int, digest: int) -> bool:
        """Whether a row has the content that `digest` stands for; 0 stands for any."""
        return row <= self.rows and (not digest or self.digests[row - 1] == digest)

    def again(self, table: Table) -> Iterator[Row]:
        """Yield the rows of the table once more.

        Raises:
            InputError: they are not what they were.
        """
        number = 0
        for row in table.rows():
            number = row.row
            if number > self.rows or self.digests[number - 1] != _digest_of(row):
                raise _changed(table)
            yield row
        if number < self.rows:
            raise _changed(table)


def digest(id_: str, question: str, options: Sequence[str]) -> int:
    """A number of 8 bytes, never 0, that stands for the content of a row."""
    content = json.dumps([id_, question, list(options)]).encode()
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big") or 1


def check(table: Table) -> Checked:
    """Read a table once, keeping 8 bytes of each row in memory.

    Raises:
        InputError: it is no table, no row of it can be asked, or an id occurs twice.
        StorageError: the folder for temporary files is full.
    """
    digests = array("Q")
    unreadable = 0
    first: Unreadable | None = None
    try:
        with closing(_Ids()) as ids:
            for row in table.rows():
                digests.append(_digest_of(row))
                ids.add(row)
                if isinstance(row, Unreadable):
                    unreadable += 1
                    first = first or row
            duplicates = ids.duplicates()
    except sqlite3.Error as error:
        raise StorageError(
            f"The ids of {table.name} cannot be compared ({error}).",
            "Free some space where temporary files lie, or name another folder with TMPDIR.",
        ) from error
    if duplicates:
        raise InputError(
            f"Ids occur twice in {table.name}: {duplicates}.", "Give every row an id of its own."
        )
    if first is not None and unreadable == len(digests):
        raise InputError(
            f"{table.name} holds no question. Line {first.line}: {first.problem.cause}",
            first.problem.cure,
        )
    if not digests:
        raise InputError(f"{table.name} holds no question.", "Check how it was saved.")
    return Checked(digests, unreadable)


def _digest_of(row: Row) -> int:
    if isinstance(row, Unreadable):
        return 0
    return digest(row.id, row.query.text, row.query.options)


def _changed(table: Table) -> InputError:
    return InputError(
        f"{table.name} changed while its questions were answered.",
        "Run the same command again, and leave the file alone meanwhile.",
    )


class _Ids:
    """The ids of a table, in a private SQLite file that the system removes."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.execute("CREATE TABLE ids (id TEXT, line INTEGER)")

    def close(self) -> None:
        self._database.close()

    def add(self, row: Row) -> None:
        if row.id:
            values = (row.id, row.line)
            self._database.execute("INSERT INTO ids VALUES (?, ?)", values)

    def duplicates(self) -> str:
        """The first ids that occur twice, in words; empty where none does."""
        found = self._database.execute(
            "SELECT id, group_concat(line, ', ') FROM ids GROUP BY id HAVING count(*) > 1"
            " ORDER BY min(line) LIMIT ?",
            (_SHOWN,),
        )
        return "; ".join(f"{id_!r} in lines {lines}" for id_, lines in found)
