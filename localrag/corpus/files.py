"""The files that documents were read from, so that adding them again can skip what is unchanged."""

from dataclasses import astuple, dataclass, fields, replace
from typing import NamedTuple

from localrag.database import Database


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that documents were read from.

    Attributes:
        path: absolute, with forward slashes.
        bytes: its size when it was read.
        modified: its modification time then, in nanoseconds.
        digest: of its content.
        complete: False where the next `add` must read it again (interrupted, partly bad, or a
            document of it was removed).
        line: where reading goes on if it was interrupted: all the file holds up to this line is
            stored as its own; 0 where it must be read from its beginning.
    """

    path: str
    bytes: int
    modified: int
    digest: str
    complete: bool = True
    line: int = 0


class Origin(NamedTuple):
    """Where a stored document comes from.

    Attributes:
        fingerprint: of its content.
        path: of its file; empty where it has none.
        met: whether the reading of the file that was begun last has met it.
    """

    fingerprint: str
    path: str
    met: bool


_COLUMNS = tuple(field.name for field in fields(FileRecord))
_PUT = (
    f"INSERT INTO files ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
    f" ON CONFLICT (path) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in _COLUMNS[1:])}"
)


class Files:
    """The table of files of a store; writes join the store's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self) -> dict[str, FileRecord]:
        """Every file, by its path."""
        return {
            row[0]: FileRecord(**dict(zip(_COLUMNS, row, strict=True)))
            for row in self._db.rows(f"SELECT {', '.join(_COLUMNS)} FROM files ORDER BY path")  # noqa: S608
        }

    def begin(self, record: FileRecord) -> None:
        """Note that a file is being read from its beginning: none of its documents is met yet."""
        self.put(replace(record, complete=False))
        self._db.write("UPDATE files SET reading = reading + 1 WHERE path = ?", (record.path,))

    def put(self, record: FileRecord) -> None:
        """Note a file, or its new state."""
        self._db.write(_PUT, astuple(record))

    def give_up(self, path: str) -> None:
        """Have a file read from its beginning next time: a document of it became another's."""
        self._db.write("UPDATE files SET complete = 0, line = 0 WHERE path = ?", (path,))

    def drop(self, path: str) -> None:
        """Forget a file; documents read from it stay, but belong to no file."""
        self._db.write("DELETE FROM files WHERE path = ?", (path,))

    def documents(self, path: str, limit: int) -> list[str]:
        """Ids of the documents read from a file, so many at most."""
        return self._ids("TRUE", path, limit)

    def vanished(self, path: str, limit: int) -> list[str]:
        """Ids of the documents that the last reading of a file has not met, so many at most."""
        # Two ranges of the index; NULL: read before readings were counted.
        earlier = self._ids("documents.reading < files.reading", path, limit)
        return earlier or self._ids("documents.reading IS NULL", path, limit)

    def count(self, path: str) -> int:
        """How many documents were read from a file."""
        return self._count("TRUE", path)

    def count_vanished(self, path: str) -> int:
        """How many of them the last reading of the file has not met."""
        return self._count("documents.reading IS NOT files.reading", path)

    def _count(self, condition: str, path: str) -> int:
        row = self._db.row(
            "SELECT count(*) FROM files JOIN documents ON documents.file = files.key"  # noqa: S608
            f" WHERE files.path = ? AND {condition}",
            (path,),
        )
        return int(row[0]) if row else 0

    def _ids(self, condition: str, path: str, limit: int) -> list[str]:
        rows = self._db.rows(
            "SELECT documents.id FROM files JOIN documents ON documents.file = files.key"  # noqa: S608
            f" WHERE files.path = ? AND {condition} LIMIT ?",
            (path, limit),
        )
        return [document_id for (document_id,) in rows]

    def origin(self, document_id: str) -> Origin | None:
        """Where a stored document comes from; None when there is none."""
        row = self._db.row(
            "SELECT fingerprint, coalesce(files.path, ''),"
            " coalesce(documents.reading = files.reading, 0) FROM documents"
            " LEFT JOIN files ON files.key = documents.file WHERE documents.id = ?",
            (document_id,),
        )
        return None if row is None else Origin(row[0], row[1], bool(row[2]))
