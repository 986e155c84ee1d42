"""SQLite files: opening, writing, checksums, and errors with causes and cures."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote
from zlib import crc32

import apsw

from localrag.corpus.durable import make_folder, name_new, open_file
from localrag.errors import BusyError, LocalragError, NotFoundError, StorageError, StoreError
from localrag.language import N_, _
from localrag.text.facts import Fact, FactKind

Row = tuple[Any, ...]

# Milliseconds to wait for a writer without our lock (`localrag.corpus.durable`).
_PATIENCE = 5_000

_COLUMNS = (
    "SELECT tables.name, columns.name FROM sqlite_schema AS tables"
    " JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'"
)
_OF_THE_DISK = (
    apsw.SQLITE_READONLY,
    apsw.SQLITE_CANTOPEN,
    apsw.SQLITE_PERM,
    apsw.SQLITE_IOERR,
)
# SQLite's extension for a checksum at the end of every page, in these bytes, compared at every
# read: https://www.sqlite.org/cksumvfs.html
_CHECKING = "cksumvfs"
_CHECKSUM_BYTES = 8
# First bytes of the shared memory of a log, and of the log.
_COMPANIONS = 1 << 17
_READING = ("temp_store = MEMORY", "cache_size = -32768")
_WRITING = (*_READING, "journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON")


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of file: its tables, and the upgrades between versions.

    Each ``NNNN_name.sql`` upgrades from version N-1 to N; a new file runs all. A released script is
    never edited.
    """

    name: str  # of the kind ("corpus store"); all names are messages marked with `N_`
    upgrades: tuple[Path, ...]  # the scripts, in order
    first: str  # the cure for a missing file
    again: str  # the cure for a lost file, as the end of a sentence
    lift: str  # the cure for an older version

    @property
    def version(self) -> int:
        """The newest version."""
        return len(self.upgrades)

    def upgrade(self, connection: apsw.Connection, *, until: int | None = None) -> None:
        """Run the missing upgrades, each in one transaction."""
        connection.create_scalar_function(
            "checksum", lambda *texts: checksum(str(texts[0])), 1, deterministic=True
        )
        connection.create_scalar_function("row_mark", row_mark, deterministic=True)
        for number, file in enumerate(self.upgrades[:until], start=1):
            if version(connection) >= number:
                continue
            script = file.read_text(encoding="utf-8")
            connection.execute("BEGIN IMMEDIATE")
            try:
                # Another process may have upgraded it.
                if version(connection) < number:
                    connection.execute(f"{script}\n;PRAGMA user_version = {number}")
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def version(connection: apsw.Connection) -> int:
    """The version of a file; 0 for an empty one."""
    found: int = connection.execute("PRAGMA user_version").get
    return found


class Database:
    """A connection with localrag's errors: `NotFoundError`, `StoreError`, `StorageError`.

    WAL with ``synchronous=NORMAL``: a commit is one write to the log, without waiting for the disk.
    A kill loses no commit, because the kernel has the log. A power cut may lose the last commits
    and never damages the file; `checkpoint` secures everything before it.

    Each page has a checksum (see `connect`): a page changed by the disk is an error at reading.
    Pages of the log have none until they are moved into the file.
    """

    def __init__(
        self,
        path: Path,
        schema: Schema,
        *,
        create: bool = False,
        read_only: bool = False,
        verified: bool = True,
    ) -> None:
        self.path = path
        self._schema = schema
        self._connection: apsw.Connection | None = None
        if not path.exists() and not create:
            raise NotFoundError(
                N_("There is no {name} at {path}."), schema.first, name=_(schema.name), path=path
            )
        if path.is_dir():
            raise StoreError(
                N_("{path} is a folder, not a {name}."),
                N_("Move it away, then {again}"),
                path=path,
                name=_(schema.name),
                again=_(schema.again),
            )
        try:
            with self._errors():
                if create and not path.exists():
                    _make(path, schema)
                opened_by = connect_to_read if read_only else connect
                self._connection = opened_by(path, verified=verified)
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
        """All rows of a query."""
        with self._errors():
            return self._open.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query; None without rows."""
        with self._errors():
            found: Row | None = self._open.execute(sql, values).fetchone()
            return found

    def faults(self, wrong: Mapping[str, str] = MappingProxyType({})) -> list[str]:
        """Read the whole file and list its faults, a sentence each."""
        try:
            if lacking := self._lacking():
                return [_("The store has no {columns}.").format(columns=_(", ").join(lacking))]
            problems = [
                _("SQLite reports: {problem}").format(problem=line)
                for (line,) in self.rows("PRAGMA integrity_check(10)")
                if line != "ok"
            ]
            dangling = {row[0] for row in self.rows("PRAGMA foreign_key_check")}
            problems += [
                _("Table {table} has rows of no document.").format(table=table)
                for table in sorted(dangling)
            ]
            for what, query in wrong.items():
                count = self.rows(query)[0][0]
                if count:
                    problems.append(_("The store has {n} {what}.").format(n=count, what=_(what)))
        except StoreError as error:
            return [error.cause]
        return problems

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query, one at a time."""
        with self._errors():
            yield from self._open.execute(sql, values)

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run a statement; returns the key of the last inserted row."""
        with self._errors():
            self._open.execute(sql, values)
            return self._open.last_insert_rowid()

    def write_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for every row."""
        with self._errors():
            self._open.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction; nested ones join the outermost."""
        if self._open.in_transaction:
            yield
            return
        self.write("BEGIN IMMEDIATE")
        try:
            yield
            self.write("COMMIT")
        except BaseException:
            # On a full disk SQLite rolls back by itself.
            if self._open.in_transaction:
                self._open.execute("ROLLBACK")
            raise

    @property
    def mark(self) -> tuple[int, int]:
        """A value changed by every write of any connection."""
        return int(self.rows("PRAGMA data_version")[0][0]), self._open.total_changes()

    def checkpoint(self) -> bool:
        """Move the log into the file and flush it; False if readers keep a part of it."""
        busy = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        return not busy

    def empty_log(self) -> None:
        """Do a complete `checkpoint`. Raises `BusyError` if a reader still uses the log."""
        if not self.checkpoint():
            raise BusyError(
                N_("Another process is reading {path}."),
                N_("Wait until it has finished and try again."),
                path=self.path,
            )

    def require_marked(self, values: Sequence[object], mark: int, document: object) -> None:
        """Check that a row is as it was stored. Raises `StoreError` if it has changed."""
        if row_mark(*values) != mark:
            told = _("{document} is not as it was stored")
            raise self.damage(told.format(document=document))

    def damage(self, problem: str) -> StoreError:
        """The error for changed content."""
        return _damaged(problem, self.path, self._schema)

    def _lacking(self) -> list[str]:
        with closing(apsw.Connection(":memory:")) as sound:
            self._schema.upgrade(sound)
            expected = sound.execute(_COLUMNS).fetchall()
        return [".".join(map(str, one)) for one in expected if one not in set(self.rows(_COLUMNS))]

    @property
    def _open(self) -> apsw.Connection:
        if self._connection is None:
            raise StoreError(
                N_("The {name} {path} is closed."),
                name=_(self._schema.name),
                path=self.path,
            )
        return self._connection

    def _check_version(self, *, create: bool, read_only: bool) -> None:
        schema, found = self._schema, version(self._open)
        if found > schema.version:
            raise StoreError(
                N_(
                    "The {name} {path} has version {found}; this localrag knows versions up to "
                    "{version}."
                ),
                N_("It was written by a newer localrag: use that one."),
                name=_(schema.name),
                path=self.path,
                found=found,
                version=schema.version,
            )
        if found == 0 and self._open.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise StoreError(
                N_("{path} is an SQLite file, but not a {name}."),
                path=self.path,
                name=_(schema.name),
            )
        if found == 0 and not create:
            raise StoreError(
                N_("The {name} {path} is empty."),
                N_("Put back a copy of it, or {again}"),
                name=_(schema.name),
                path=self.path,
                again=_(schema.again),
            )
        if found < schema.version and read_only:
            raise StoreError(
                N_("The {name} {path} has the older version {found}."),
                schema.lift,
                name=_(schema.name),
                path=self.path,
                found=found,
            )
        if self._open.reserve_bytes("main") != _CHECKSUM_BYTES:
            if found == schema.version:
                raise _damaged(_("its pages have lost their checksums"), self.path, schema)
            # From a localrag without checksums. If that one still has the file open, leaving the
            # log fails with BUSY.
            for mode in ("DELETE", "WAL"):
                self._open.execute(f"PRAGMA journal_mode = {mode}")
            self._open.reserve_bytes("main", _CHECKSUM_BYTES)
            self._open.execute("VACUUM")
        schema.upgrade(self._open)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except LocalragError:
            raise
        except UnicodeDecodeError as error:
            # SQLite's message about damage may be damaged itself.
            raise _damaged(error, self.path, self._schema) from error
        except (apsw.Error, OSError) as error:
            raise _translated(error, self.path, self._schema) from error


# Made once: a search compares hundreds of marks.
_as_json = json.JSONEncoder(ensure_ascii=False, default=repr).encode


def checksum(text: str) -> int:
    """CRC-32 of a text as UTF-8; upgrade scripts use the same name."""
    return crc32(text.encode())


def row_mark(*values: object) -> int:
    """CRC-32 of the values of a row; upgrade scripts use the same name."""
    return crc32(_as_json(values).encode(errors="replace"))


def scratch(folder: Path | None) -> apsw.Connection:
    """A temporary database for one connection, in the system's folder by default."""
    if folder is None:
        return apsw.Connection("")
    path = folder / f".{os.urandom(8).hex()}.scratch"
    open_file(path, "xb").close()
    try:
        connection = apsw.Connection(str(path))
        # No rollback is needed, so no second file is made; temporary tables stay in memory.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
    finally:
        with suppress(PermissionError):  # Windows
            path.unlink()
    return connection


def _make(path: Path, schema: Schema) -> None:
    """Make a file with its tables in one step: a kill leaves no empty file."""
    make_folder(path.parent)
    unfinished = path.with_name(f".{os.urandom(8).hex()}.new")
    try:
        # Made first with its mode: SQLite follows the umask.
        open_file(unfinished, "xb").close()
        with closing(connect(unfinished)) as connection:
            # Without a rollback log, a full disk leaves a file that looks damaged.
            connection.execute("PRAGMA journal_mode = MEMORY")
            schema.upgrade(connection)
            # Dropped tables leave free pages, which nothing would check.
            connection.execute("VACUUM")
        with suppress(FileExistsError):  # Another process has made it meanwhile: that one stays.
            name_new(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def connect(path: Path, mode: str = "rw", *, verified: bool = True) -> apsw.Connection:
    """Open a file whose pages have checksums; each statement is its own transaction."""
    connection = apsw.Connection(
        f"file:{quote(str(path.resolve()))}?mode={mode}",
        apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI,
        checking_layer(),
    )
    connection.set_busy_timeout(_PATIENCE)
    if not verified:
        connection.execute("PRAGMA checksum_verification = OFF")
    if mode == "rw" and not path.stat().st_size:
        connection.reserve_bytes("main", _CHECKSUM_BYTES)
    return connection


@cache
def checking_layer() -> str:
    """Load SQLite's check of pages for this process; returns the name of its VFS."""
    try:
        extra = import_module("apsw.sqlite_extra")
        with closing(apsw.Connection(":memory:")) as connection:
            extra.load(connection, _CHECKING)
    except Exception as error:
        raise LocalragError(
            N_("The installed apsw has no {extension}, an extension of SQLite ({problem})."),
            Fact(FactKind.TO_INSTALL_AGAIN, packages="--only-binary :all: apsw"),
            extension=_CHECKING,
            problem=error,
        ) from error
    return "cksmvfs"


def connect_to_read(path: Path, *, verified: bool = True) -> apsw.Connection:
    """Open a file to read it, without space or the right to write.

    Readers of a WAL file share memory in a file (-shm), which cannot be made on a read-only or full
    disk. With an empty log the file is read directly, otherwise with a private index of the log.
    """
    try:
        return _tried(path, "ro", verified)
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError):
        log = path.with_name(f"{path.name}-wal")
        logged = log.exists() and log.stat().st_size > 0
        return _tried(path, "ro&readonly_shm=1" if logged else "ro&immutable=1", verified)


def _tried(path: Path, mode: str, verified: bool) -> apsw.Connection:
    connection = connect(path, mode, verified=verified)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_full(path: Path) -> bool:
    """Whether the disk is too full for SQLite's second file; SQLite reports another error."""
    try:
        return shutil.disk_usage(path.parent).free < _COMPANIONS
    except OSError:
        return False


def _damaged(error: Exception | str, path: Path, schema: Schema) -> StoreError:
    return StoreError(
        N_("The {name} {path} is damaged ({problem})."),
        N_(
            "If its contents are as they were stored, localrag doctor --mend keeps it. Else put "
            "back a copy of it, or move it away, with the files beside it (-wal, -shm), and "
            "{again}"
        ),
        name=_(schema.name),
        path=path,
        problem=error,
        again=_(schema.again),
    )


def damage_told(error: Exception) -> str:
    """The damage reported by an error; empty for other errors."""
    if _code(error) == apsw.SQLITE_IOERR_DATA:
        return _("its content has changed since it was written")
    return str(error) if _code(error) & 0xFF in (apsw.SQLITE_CORRUPT, apsw.SQLITE_NOTADB) else ""


def _code(error: Exception) -> int:
    return int(getattr(error, "extendedresult", 0))


def _translated(error: apsw.Error | OSError, path: Path, schema: Schema) -> LocalragError:
    # The low byte is the primary result code.
    code = _code(error) & 0xFF
    if code in (apsw.SQLITE_BUSY, apsw.SQLITE_LOCKED, apsw.SQLITE_PROTOCOL):
        return BusyError(
            N_("Another process is writing to {path}."),
            N_("Wait until it has finished and try again."),
            path=path,
        )
    if problem := damage_told(error):
        return _damaged(problem, path, schema)
    if code == apsw.SQLITE_FULL or (code in _OF_THE_DISK and _is_full(path)):
        return StorageError(
            N_("The disk that holds {path} is full."),
            N_("Free some space and run the command again; nothing stored before was lost."),
            path=path,
        )
    if isinstance(error, OSError) or code in _OF_THE_DISK:
        return StorageError(
            N_("{path} cannot be opened or written ({problem})."),
            N_(
                "Check the permissions of the folder and the disk, or choose another one "
                "with --home."
            ),
            path=path,
            problem=error,
        )
    return StoreError(
        N_("The {name} {path} cannot be used ({problem})."),
        Fact(FactKind.TO_EXAMINE),
        name=_(schema.name),
        path=path,
        problem=error,
    )
