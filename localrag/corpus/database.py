"""One SQLite file: how it is opened, how it is written, and what its errors mean to a user."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from localrag.corpus import schema
from localrag.errors import BusyError, LocalragError, NotFoundError, StorageError, StoreError

Row = tuple[Any, ...]

# Seconds to wait for a writer that does not hold the lock of the corpus (`localrag.ingest.lock`).
_PATIENCE = 5.0

_READING = ("temp_store = MEMORY", "cache_size = -32768")
_WRITING = (*_READING, "journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON")


class Database:
    """A connection that speaks localrag's errors.

    WAL with ``synchronous=NORMAL``: a commit is one write to the log, without waiting for the
    disk. A killed process loses no commit, because the log is in the kernel's hands by then. A
    power cut may lose the last commits, but never damages the file; `checkpoint` makes
    everything before it survive that as well.

    Args:
        path: the SQLite file.
        create: make the file and its folder where they are missing.
        read_only: refuse every write; other processes may write meanwhile.

    Raises:
        NotFoundError: there is no such file.
        StoreError: it is damaged, empty, of a newer version, or no store at all.
        StorageError: the folder cannot be read or written.
    """

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        if not path.exists() and not create:
            raise NotFoundError(
                f"There is no corpus store at {path}.", "Add documents first: localrag add PATH"
            )
        if path.is_dir():
            raise StoreError(
                f"{path} is a folder, not a corpus store.",
                "Move it away, then add the documents again: localrag add PATH",
            )
        try:
            with self._errors():
                if create:
                    path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _connect_to_read(path) if read_only else _connect(path, "rwc")
                for setting in _READING if read_only else _WRITING:
                    self._connection.execute(f"PRAGMA {setting}")
                self._check_version(create=create, read_only=read_only)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; further calls fail."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""
        with self._errors():
            return self._open.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, None when it has none."""
        with self._errors():
            found: Row | None = self._open.execute(sql, values).fetchone()
            return found

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query, one at a time."""
        with self._errors():
            yield from self._open.execute(sql, values)

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; returns the key of the row it inserted last."""
        with self._errors():
            return self._open.execute(sql, values).lastrowid or 0

    def write_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for every row."""
        with self._errors():
            self._open.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing does; nested ones join the outermost."""
        if self._open.in_transaction:
            yield
            return
        self.write("BEGIN IMMEDIATE")
        try:
            yield
            self.write("COMMIT")
        except BaseException:
            # A full disk makes SQLite roll back by itself.
            if self._open.in_transaction:
                self._open.execute("ROLLBACK")
            raise

    def checkpoint(self) -> None:
        """Move the log into the file and flush it to the disk, as far as readers allow."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"The corpus store {self.path} is closed.")
        return self._connection

    def _check_version(self, *, create: bool, read_only: bool) -> None:
        found = schema.version(self._open)
        if found > schema.VERSION:
            raise StoreError(
                f"The corpus store {self.path} has version {found}; "
                f"this localrag knows versions up to {schema.VERSION}.",
                "Use the newer localrag that wrote it.",
            )
        if found == 0 and self._open.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise StoreError(f"{self.path} is an SQLite file, but not a corpus store.")
        if found == 0 and not create:
            raise StoreError(
                f"The corpus store {self.path} is empty.",
                "Put back a copy of it, or add the documents again: localrag add PATH",
            )
        if found < schema.VERSION and read_only:
            raise StoreError(
                f"The corpus store {self.path} has the older version {found}.",
                "Upgrade it by indexing again: localrag index",
            )
        schema.upgrade(self._open)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except LocalragError:
            raise
        except (sqlite3.Error, OSError) as error:
            raise _translated(error, self.path) from error


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path.resolve()))}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=_PATIENCE,
        # A batch reads from several threads; whoever shares a connection holds a lock meanwhile.
        check_same_thread=False,
    )


def _connect_to_read(path: Path) -> sqlite3.Connection:
    connection = _connect(path, "ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.Error as error:
        connection.close()
        # A reader of a WAL file needs its -shm companion, which cannot be made on read-only
        # media. With no log beside it the file is complete and can be read as it stands.
        log = path.with_name(f"{path.name}-wal")
        if not isinstance(error, sqlite3.OperationalError) or log.exists():
            raise
        return _connect(path, "ro&immutable=1")
    return connection


def _translated(error: sqlite3.Error | OSError, path: Path) -> LocalragError:
    # The primary result code is the low byte of the extended one.
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return BusyError(
            f"Another process is writing to {path}.", "Wait until it has finished and try again."
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreError(
            f"The corpus store {path} is damaged ({error}).",
            "Put back a copy of it, or delete it and add the documents again.",
        )
    if code == sqlite3.SQLITE_FULL:
        return StorageError(
            f"The disk that holds {path} is full.",
            "Free some space and run the command again; nothing stored before was lost.",
        )
    if isinstance(error, OSError) or code in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_IOERR,
    ):
        return StorageError(
            f"{path} cannot be opened or written ({error}).",
            "Check the permissions of the folder and the disk, or choose another one with --home.",
        )
    return StoreError(f"The corpus store {path} cannot be used ({error}).", "localrag doctor")
