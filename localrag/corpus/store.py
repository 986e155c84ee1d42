"""The corpus store: one SQLite file that holds the truth of a corpus."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self

from localrag.corpus import links
from localrag.corpus.check import check
from localrag.corpus.files import FileRecord, Files
from localrag.corpus.links import StoredDefinition, StoredReference
from localrag.corpus.lookups import DocumentInfo, LawRow, Lookups
from localrag.corpus.rows import DocumentRows, block_range, prepare, text_blocks
from localrag.corpus.schema import CORPUS
from localrag.corpus.types import Document
from localrag.database import Database
from localrag.errors import UsageError

__all__ = [
    "CorpusStore",
    "DocumentInfo",
    "FileRecord",
    "LawRow",
    "StoredDefinition",
    "StoredReference",
]


# The file a document is read from, and the reading of it that met the document last.
_FILE = "(file, reading) = (SELECT key, reading FROM files WHERE path = ?)"


class CorpusStore(Lookups):
    """Documents and passages of one corpus, and what indexing derives from them.

    Every write is one transaction; `transaction` groups several. The errors are those of
    `Database`. A store is used by one thread; other threads and processes open their own.

    Attributes:
        files: the files the documents were read from.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.files = Files(database)

    @classmethod
    def open(cls, path: Path, *, create: bool = False, read_only: bool = False) -> Self:
        """Open a store; see `Database` for the arguments and errors."""
        return cls(Database(path, CORPUS, create=create, read_only=read_only))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; further calls fail."""
        self._db.close()

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._db.path

    def transaction(self) -> AbstractContextManager[None]:
        """Group writes: all of them happen, or none."""
        return self._db.transaction()

    def checkpoint(self) -> None:
        """Make everything written so far survive a power cut too."""
        self._db.checkpoint()

    def add(self, document: Document | DocumentRows, *, file: str = "") -> None:
        """Enter a new document.

        Args:
            document: the document, or its rows made in another process by `rows.prepare`.
            file: path of the `FileRecord` it was read from.

        Raises:
            UsageError: a document with this id is already there.
            InputError: the document breaks the rules of the model.
        """
        rows = prepare(document) if isinstance(document, Document) else document
        with self._changing():
            if self._key(rows.id) is not None:
                raise UsageError(f"The corpus already has a document {rows.id!r}.")
            key = self._db.write(
                "INSERT INTO documents (id, title, kind, source, characters, passages,"
                " fingerprint, metadata) VALUES (?, '', '', '', 0, 0, '', '{}')",
                (rows.id,),
            )
            self._fill(key, rows, file)

    def replace(self, document: Document | DocumentRows, *, file: str = "") -> None:
        """Put a document in the place of the stored one with the same id.

        Its passages get new keys; references from it are gone until the next indexing.

        Raises:
            NotFoundError: no document has this id.
            InputError: the document breaks the rules of the model.
        """
        rows = prepare(document) if isinstance(document, Document) else document
        with self._changing():
            key = self._require(rows.id)
            self._empty(key)
            self._fill(key, rows, file)

    def remove(self, document_id: str) -> None:
        """Remove a document; adding its file once more enters it again.

        Raises:
            NotFoundError: no document has this id.
        """
        with self._changing():
            key = self._require(document_id)
            self._db.write(
                "UPDATE files SET complete = 0, line = 0"
                " WHERE key = (SELECT file FROM documents WHERE key = ?)",
                (key,),
            )
            self._empty(key)
            self._db.write("DELETE FROM documents WHERE key = ?", (key,))

    def move(self, document_id: str, *, source: str, file: str) -> None:
        """Note that a document, unchanged, is now read from another place."""
        self._db.write(
            f"UPDATE documents SET source = ?, {_FILE} WHERE id = ?",  # noqa: S608 - fixed
            (source, file, document_id),
        )

    def replace_derived(
        self, references: Iterable[StoredReference], definitions: Iterable[StoredDefinition]
    ) -> tuple[int, int]:
        """Put these in the place of all stored ones, in one transaction; returns both counts."""
        return links.replace_all(self._db, references, definitions)

    def check(self) -> list[str]:
        """Read the whole file and say what is wrong, a sentence each; nothing when it is sound."""
        return check(self._db)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._db.transaction():
            yield
            self._db.write("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
            self._db.write("UPDATE meta SET value = random() WHERE name = 'stamp'")

    def _fill(self, key: int, rows: DocumentRows, file: str) -> None:
        self._db.write(
            "UPDATE documents SET title = ?, kind = ?, source = ?, characters = ?,"  # noqa: S608
            f" passages = ?, fingerprint = ?, metadata = ?, {_FILE} WHERE key = ?",
            (
                rows.title,
                rows.kind,
                rows.source,
                len(rows.text),
                len(rows.passages),
                rows.fingerprint,
                rows.metadata,
                file,
                key,
            ),
        )
        self._db.write_many("INSERT INTO blocks VALUES (?, ?)", text_blocks(key, rows.text))
        self._db.write_many(
            "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
            (
                (key, number, section.depth, section.title, section.start, section.end)
                for number, section in enumerate(rows.sections)
            ),
        )
        layers = {name: self._layer(name) for name in {row[0] for row in rows.passages}}
        self._db.write_many(
            "INSERT INTO passages (document, layer, locator, place, section, page, header, start,"
            ' "end", text, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            ((key, layers[row[0]], *row[1:]) for row in rows.passages),
        )
        if rows.triples:
            self._know(key, rows)

    def _know(self, key: int, rows: DocumentRows) -> None:
        # Keys are given in a row, for no one else writes meanwhile.
        first = self._db.rows("SELECT last_insert_rowid()")[0][0] - len(rows.passages) + 1
        self._db.write_many(
            "INSERT INTO triples VALUES (?, ?, ?, ?, ?)",
            ((first + number, *row) for number, *row in rows.triples),
        )
        self._db.write_many(
            "INSERT INTO names VALUES (?, ?, ?, ?, ?)",
            ((key, first + begin, first + end, *row) for begin, end, *row in rows.names),
        )

    def _empty(self, key: int) -> None:
        blocks = block_range(key, 0, None)
        self._db.write("DELETE FROM blocks WHERE key >= ? AND key < ?", (blocks.start, blocks.stop))
        for table in ("sections", "passages", "names", "refs", "definitions"):
            self._db.write(f"DELETE FROM {table} WHERE document = ?", (key,))  # noqa: S608 - fixed

    def _layer(self, name: str) -> int:
        self._db.write("INSERT OR IGNORE INTO layers (name) VALUES (?)", (name,))
        return int(self._db.rows("SELECT key FROM layers WHERE name = ?", (name,))[0][0])
