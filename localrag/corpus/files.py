"""The files that documents were read from, so that adding them again can skip what is unchanged."""

from dataclasses import dataclass

from localrag.corpus.database import Database


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
    """

    path: str
    bytes: int
    modified: int
    digest: str
    complete: bool = True


class Files:
    """The table of files of a store; writes join the store's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self) -> dict[str, FileRecord]:
        """Every file, by its path."""
        return {
            path: FileRecord(path, size, modified, digest, bool(complete))
            for path, size, modified, digest, complete in self._db.rows(
                "SELECT path, bytes, modified, digest, complete FROM files ORDER BY path"
            )
        }

    def put(self, record: FileRecord) -> None:
        """Note a file, or its new state."""
        self._db.write(
            "INSERT INTO files (path, bytes, modified, digest, complete) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes,"
            " modified = excluded.modified, digest = excluded.digest,"
            " complete = excluded.complete",
            (record.path, record.bytes, record.modified, record.digest, int(record.complete)),
        )

    def drop(self, path: str) -> None:
        """Forget a file; documents read from it stay, but belong to no file."""
        self._db.write("DELETE FROM files WHERE path = ?", (path,))

    def documents(self, path: str) -> list[str]:
        """Ids of the documents read from a file."""
        return [
            document_id
            for (document_id,) in self._db.rows(
                "SELECT documents.id FROM documents JOIN files ON files.key = documents.file"
                " WHERE files.path = ? ORDER BY documents.key",
                (path,),
            )
        ]

    def origin(self, document_id: str) -> tuple[str, str] | None:
        """Fingerprint and file path of a stored document; None when there is none."""
        row = self._db.row(
            "SELECT fingerprint, coalesce(files.path, '') FROM documents"
            " LEFT JOIN files ON files.key = documents.file WHERE documents.id = ?",
            (document_id,),
        )
        return None if row is None else (row[0], row[1])
