"""What is embedded already and not yet in an index: kept so that no text is embedded twice.

SQLite, for the same promises as the corpus store, without code of our own: a batch is in the
file as a whole or not at all, whatever kills the process, and a full disk is an error. Writing is
flushed batch by batch, which costs milliseconds where embedding costs seconds.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from localrag.errors import StorageError
from localrag.workspace import CorpusPaths

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors"
    " (key INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, vector BLOB NOT NULL)"
)
_COMPANIONS = ("", "-wal", "-shm")


class Journal:
    """Vectors by the digest of their text; one process at a time, which holds the corpus's lock.

    Opened by ``with``, which makes the file where it is missing.

    Raises:
        StorageError: it cannot be opened, read or written (as for every method).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: sqlite3.Connection | None = None

    @classmethod
    def of(cls, place: CorpusPaths, model: str) -> Self:
        """The journal of a corpus for one embedder.

        Each has its own: who tries another model and comes back finds what was done before.
        """
        name = hashlib.blake2b(model.encode(), digest_size=6).hexdigest()
        return cls(place.vectors / f"journal-{name}.sqlite")

    def digests(self) -> set[bytes]:
        """The digests of all texts in it."""
        with self._errors():
            return {digest for (digest,) in self._connection.execute("SELECT digest FROM vectors")}

    def vector(self, digest: bytes) -> "NDArray[np.float32]":
        """The vector of a text that is in it, shape ``(d,)``."""
        import numpy as np

        with self._errors():
            row = self._connection.execute(
                "SELECT vector FROM vectors WHERE digest = ?", (digest,)
            ).fetchone()
        return np.frombuffer(row[0], "<f4")

    def append(self, digests: Sequence[bytes], vectors: "NDArray[np.float32]") -> None:
        """Enter the vectors of some texts, all of them or none; once this returns they stay."""
        rows = [
            (digest, vector.astype("<f4").tobytes())
            for digest, vector in zip(digests, vectors, strict=True)
        ]
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(
                    "INSERT OR IGNORE INTO vectors (digest, vector) VALUES (?, ?)", rows
                )
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def discard(self) -> None:
        """Delete the file, if there is one: all that is in it is in an index now."""
        self._close()
        with self._errors():
            for companion in _COMPANIONS:
                self._path.with_name(self._path.name + companion).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        with self._errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = sqlite3.connect(self._path, isolation_level=None)
            try:
                for setting in ("journal_mode = WAL", "synchronous = FULL"):
                    self._opened.execute(f"PRAGMA {setting}")
                self._opened.execute(_TABLE)
            except BaseException:
                self._close()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._opened is not None
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                f"What is embedded already cannot be kept in {self._path} ({error}).",
                "Free space on the disk; if the file is damaged, delete it.",
            ) from error
