"""The corpus store: one SQLite file with the truth of a corpus."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import astuple, dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple, Self

from localrag.corpus import links, states
from localrag.corpus.database import Database, Schema, row_mark
from localrag.corpus.links import Definition, Reference, ReferenceRow
from localrag.corpus.lookups import Lookups
from localrag.corpus.rows import DocumentRows, block_range, prepare
from localrag.corpus.states import DocumentInfo
from localrag.corpus.types import PAGES_UNREADABLE, PAGES_WITHOUT_TEXT, Document, LawRow, Locator
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _

CORPUS = Schema(
    name=N_("corpus store"),
    upgrades=tuple(sorted(Path(__file__).with_name("schema").glob("[0-9]*.sql"))),
    first=N_("Add documents first: localrag add PATH"),
    again=N_("add the documents again: localrag add PATH"),
    lift=N_("Upgrade it by indexing again: localrag index"),
)
"""Tables of a corpus store; the folder ``schema`` has one upgrade per version."""

# Faults to look for, each with a query for their number.
_ORPHANS = {
    N_("blocks of no document"): (
        "SELECT count(*) FROM blocks"
        " WHERE NOT EXISTS (SELECT 1 FROM documents WHERE key = blocks.key >> 20)"
    ),
    N_("documents whose text is not complete"): (
        "SELECT count(*) FROM documents WHERE characters != coalesce("
        ' (SELECT sum("end" - start) FROM pieces WHERE document = documents.key),'
        " (SELECT sum(length(text)) FROM blocks"
        "  WHERE blocks.key >= documents.key << 20 AND blocks.key < (documents.key + 1) << 20), 0)"
    ),
    N_("passages outside the text of their document"): (
        "SELECT count(*) FROM passages JOIN documents ON documents.key = document"
        ' WHERE start < 0 OR start > "end" OR "end" > characters'
    ),
    N_("passages of triples without a triple"): (
        "SELECT count(*) FROM passages JOIN layers ON layers.key = layer"
        " WHERE name = 'triples'"
        " AND NOT EXISTS (SELECT 1 FROM triples WHERE passage = passages.key)"
    ),
    N_("triples without a name for their subject"): (
        "SELECT (SELECT count(*) FROM triples) -"
        " (SELECT coalesce(sum(last - first + 1), 0) FROM names WHERE rank = 0)"
    ),
    N_("names of no triple"): (
        "SELECT count(*) FROM names"
        " WHERE NOT EXISTS (SELECT 1 FROM triples WHERE passage = first)"
        " OR NOT EXISTS (SELECT 1 FROM triples WHERE passage = last)"
    ),
}


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file in the corpus."""

    path: str  # absolute, with forward slashes
    bytes: int  # its size when it was read
    modified: int  # its modification time then, in nanoseconds
    digest: str  # of its content
    # False if the next `add` must read it again: interrupted, partly unreadable, or one of its
    # documents was removed
    complete: bool = True
    # the last stored line of an interrupted file; reading continues after it. 0 to start over
    line: int = 0


class Origin(NamedTuple):
    """The file of a stored document."""

    fingerprint: str
    path: str  # of the file; "" without one
    met: bool  # whether the latest reading of the file has met the document


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
        """Every file, by path."""
        return {
            row[0]: FileRecord(**dict(zip(_COLUMNS, row, strict=True)))
            for row in self._db.rows(f"SELECT {', '.join(_COLUMNS)} FROM files ORDER BY path")  # noqa: S608
        }

    def with_scans_left_out(self) -> set[str]:
        """Paths of files with unread image pages."""
        rows = self._db.rows(
            "SELECT DISTINCT path FROM files JOIN documents ON documents.file = files.key"
            " WHERE instr(metadata, ?) OR instr(metadata, ?)",
            (f'"{PAGES_WITHOUT_TEXT}"', f'"{PAGES_UNREADABLE}"'),
        )
        return {path for (path,) in rows}

    def begin(self, record: FileRecord) -> None:
        """Note the start of a new reading; none of its documents is met so far."""
        self.put(replace(record, complete=False))
        self._db.write("UPDATE files SET reading = reading + 1 WHERE path = ?", (record.path,))

    def put(self, record: FileRecord) -> None:
        """Insert or update a file."""
        self._db.write(_PUT, astuple(record))

    def give_up(self, path: str) -> None:
        """Start over at the next reading: another file took over one of its documents."""
        self._db.write("UPDATE files SET complete = 0, line = 0 WHERE path = ?", (path,))

    def drop(self, path: str) -> None:
        """Delete a file; its documents stay without a file."""
        self._db.write("DELETE FROM files WHERE path = ?", (path,))

    def documents(self, path: str, limit: int) -> list[str]:
        """Ids of up to `limit` documents of a file."""
        return self._ids("TRUE", path, limit)

    def vanished(self, path: str, limit: int) -> list[str]:
        """Ids of up to `limit` documents missing from the latest reading."""
        # Two ranges of the index. NULL: read before readings were counted.
        earlier = self._ids("documents.reading < files.reading", path, limit)
        return earlier or self._ids("documents.reading IS NULL", path, limit)

    def count(self, path: str) -> int:
        """Count the documents of a file."""
        return self._count("TRUE", path)

    def count_vanished(self, path: str) -> int:
        """Count the documents missing from the latest reading."""
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
        """The origin of a stored document; None if there is no such document."""
        row = self._db.row(
            "SELECT fingerprint, coalesce(files.path, ''),"
            " coalesce(documents.reading = files.reading, 0) FROM documents"
            " LEFT JOIN files ON files.key = documents.file WHERE documents.id = ?",
            (document_id,),
        )
        return None if row is None else Origin(row[0], row[1], bool(row[2]))


__all__ = ["CorpusStore", "Definition", "DocumentInfo", "FileRecord", "Reference"]


# A document's file, and the latest reading that met the document.
_FILE = "(file, reading) = (SELECT key, reading FROM files WHERE path = ?)"


class CorpusStore(Lookups):
    """Documents and passages of one corpus, and the edges derived from them.

    Every write is one transaction; `transaction` groups several. See `Database` for the errors.
    Unknown ids are NotFoundErrors, and documents breaking the rules of the model InputErrors.
    Each thread and process opens its own store.
    """

    def __init__(self, database: Database, as_of: date | None = None) -> None:
        super().__init__(database, as_of)
        self.files = Files(database)

    @classmethod
    def open(
        cls, path: Path, *, create: bool = False, read_only: bool = False, as_of: date | None = None
    ) -> Self:
        """Open a store as `Database` does; `as_of` is the day to read, today by default."""
        return cls(Database(path, CORPUS, create=create, read_only=read_only), as_of)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; later calls fail."""
        self._db.close()

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._db.path

    def transaction(self) -> AbstractContextManager[None]:
        """Group writes: all succeed, or none."""
        return self._db.transaction()

    def checkpoint(self) -> None:
        """Make all writes so far survive a power cut."""
        self._db.checkpoint()

    def add(self, document: Document | DocumentRows, *, file: str = "") -> None:
        """Insert a document, or its rows from `rows.prepare`; a known id is a UsageError."""
        rows = prepare(document) if isinstance(document, Document) else document
        with self._changing():
            if self._exact(rows.id) is not None:
                raise UsageError(N_("The corpus already has a document {id!r}."), id=rows.id)
            key = self._db.write(
                "INSERT INTO documents (id, title, kind, source, characters, passages,"
                " fingerprint, metadata, work, state) VALUES (?, '', '', '', 0, 0, '', '{}', ?, ?)",
                (rows.id, states.work_of(self._db, rows.work), rows.state),
            )
            self._fill(key, rows, file)

    def replace(self, document: Document | DocumentRows, *, file: str = "") -> None:
        """Replace the document with the same id and state.

        Passages get new keys; indexes keep the old keys of unchanged passages. Its references go
        until the next indexing.
        """
        rows = prepare(document) if isinstance(document, Document) else document
        with self._changing():
            # An id without a date also names the state in force.
            key = self._exact(rows.id) or self._require(rows.id)
            about = "SELECT kind, metadata FROM documents WHERE key = ?"
            before, known = self._db.row(about, (key,)), states.indexed(self._db, key)
            self._empty(key)
            self._fill(key, rows, file)
            if self._db.row(about, (key,)) == before:
                states.keep_indexed(self._db, key, known)

    def remove(self, document_id: str) -> None:
        """Remove a document, or all states of a law; adding its file again restores it."""
        with self._changing():
            exact = self._exact(document_id)
            (work,) = self._column(
                "SELECT work FROM documents WHERE key = ?", (exact or self._require(document_id),)
            )
            states_of_work = "SELECT key FROM documents WHERE work = ?"
            for key in [exact] if exact else self._column(states_of_work, (work,)):
                self._db.write(
                    "UPDATE files SET complete = 0, line = 0"
                    " WHERE key = (SELECT file FROM documents WHERE key = ?)",
                    (key,),
                )
                self._empty(key)
                self._db.write("DELETE FROM documents WHERE key = ?", (key,))
            states.arrange(self._db, work)

    def forget(self, document_ids: Iterable[str]) -> None:
        """Remove documents and overwrite their content, also of earlier ones, in the file.

        A file loses its record with its last document.
        """
        self._db.empty_log()
        self._db.write("PRAGMA secure_delete = ON")
        try:
            with self.transaction():
                files = set[int]()
                for id_ in dict.fromkeys(document_ids):
                    work = self._work(id_)
                    files.update(
                        self._column(
                            "SELECT file FROM documents WHERE work = ? AND file IS NOT NULL",
                            (work,),
                        )
                    )
                    self.remove(id_)
                    self._db.write("DELETE FROM linked_names WHERE id = ?", (id_,))
                self._db.write_many(
                    "DELETE FROM files WHERE key = ?"
                    " AND NOT EXISTS (SELECT 1 FROM documents WHERE file = files.key)",
                    ((file,) for file in files),
                )
                self.note_update(0)
        finally:
            # An interrupted run may have left content of a removed document.
            self._db.write("VACUUM")
            self._db.empty_log()

    def move(self, document_id: str, *, source: str, file: str) -> None:
        """Set the source and file of an unchanged document."""
        self._db.write(
            f"UPDATE documents SET source = ?, {_FILE} WHERE id = ?",  # noqa: S608 - fixed
            (source, file, document_id),
        )

    def law_states(self, *, unlinked: bool = False) -> list[int]:
        """Keys of all states of all laws, or of those without references, in insertion order."""
        return self._column(
            "SELECT key FROM documents WHERE kind = 'law' AND (linked = 0 OR NOT ?) ORDER BY key",
            (unlinked,),
        )

    @property
    def indexed_stamp(self) -> int:
        """Stamp of the latest indexed content; 0 before."""
        return self._meta("indexed_stamp")

    def note_indexed(self) -> None:
        """Note an index of the present content."""
        self._note("indexed_stamp", self.stamp)

    @property
    def last_update(self) -> int:
        """Number of the latest update that can be undone; 0 for none."""
        return self._meta("last_update")

    def note_update(self, number: int) -> None:
        """Note the number of an update, inside its transaction."""
        self._note("last_update", number)

    def linked_names(self) -> list[LawRow]:
        """The law names used for the stored references; none before."""
        return [LawRow(*row) for row in self._db.rows("SELECT * FROM linked_names")]

    def replace_links(
        self,
        found: Iterable[tuple[int, Sequence[ReferenceRow], Sequence[Definition]]],
        *,
        everything: bool,
    ) -> tuple[int, int]:
        """Replace the edges of documents, or `everything`, in one step; return their numbers."""
        return links.replace(
            self._db,
            (links.Found(*one) for one in found),
            self.laws(),
            self.law_states(unlinked=True),
            everything=everything,
        )

    def check(self) -> list[str]:
        """Read the whole file and describe its faults, one sentence each."""
        return self._db.faults(_ORPHANS)

    @classmethod
    def mend(cls, path: Path) -> None:
        """Write new page checksums if every document is unchanged; else a StoreError.

        Data without marks is derived again, here or by the next `index` and `add`: days of states,
        references, definitions, index keys, files read. Origins of documents are not checked.
        """
        read = Database(path, CORPUS, read_only=True, verified=False)
        with closing(cls(read)) as store:
            if problems := store.check():
                raise read.damage(" ".join(problems))
            for document in store.altered():
                told = _("{document} has changed since it was stored")
                raise read.damage(told.format(document=document))
        with closing(cls(Database(path, CORPUS, verified=False))) as store:
            store._derive_anew()
            store._db.write("VACUUM")
            store.checkpoint()

    def _derive_anew(self) -> None:
        with self._changing():
            for (work,) in self._db.rows("SELECT key FROM works"):
                states.arrange(self._db, work)
            self._db.write("UPDATE documents SET linked = 0")
            self._db.write("UPDATE passages SET indexed_as = NULL")
            self._db.write("UPDATE files SET complete = 0, line = 0")
            self._note("links_generation", -1)

    def altered(self) -> Iterator[str]:
        """Yield ids of documents unlike their fingerprint, even if page checksums are right."""
        for key, id_, fingerprint in self._db.stream(
            "SELECT key, id, fingerprint FROM documents ORDER BY key"
        ):
            try:
                same = prepare(self.read(key)).fingerprint == fingerprint
                self._references_of(key, Locator(), links.KINDS)
            except (LocalragError, ValueError, LookupError, TypeError, AttributeError):
                same = False
            if not same:
                yield id_

    def _note(self, name: str, value: int) -> None:
        self._db.write(
            "INSERT INTO meta VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._db.transaction():
            yield
            self._db.write("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
            self._db.write("UPDATE meta SET value = random() WHERE name = 'stamp'")

    def _fill(self, key: int, rows: DocumentRows, file: str) -> None:
        id_, work, name = self._db.rows(
            "SELECT documents.id, works.key, works.id FROM documents JOIN works ON works.key = work"
            " WHERE documents.key = ?",
            (key,),
        )[0]
        self._db.write(
            "UPDATE documents SET title = ?, kind = ?, source = ?, characters = ?,"  # noqa: S608
            f" passages = ?, fingerprint = ?, metadata = ?, linked = 0, mark = ?, {_FILE}"
            " WHERE key = ?",
            (
                rows.title,
                rows.kind,
                rows.source,
                len(rows.text),
                len(rows.passages),
                rows.fingerprint,
                rows.metadata,
                row_mark(name, id_, rows.title, rows.kind, rows.metadata),
                file,
                key,
            ),
        )
        states.write_text(self._db, key, rows, work)
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
            ' "end", text, source, mark) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            ((key, layers[row[0]], *row[1:], row_mark(key, *row)) for row in rows.passages),
        )
        if rows.triples:
            self._know(key, rows)
        states.share_indexed(self._db, key, work)
        states.arrange(self._db, work)

    def _know(self, key: int, rows: DocumentRows) -> None:
        # No other process writes meanwhile, so the keys are consecutive.
        first = self._db.rows("SELECT last_insert_rowid()")[0][0] - len(rows.passages) + 1
        self._db.write_many(
            "INSERT INTO triples VALUES (?, ?, ?, ?, ?)",
            ((first + number, *row) for number, *row in rows.triples),
        )
        self._db.write_many(
            "INSERT INTO names VALUES (?, ?, ?, ?, ?)",
            ((key, first + begin, first + end, *row) for begin, end, *row in rows.names),
        )

    def _exact(self, id_: str) -> int | None:
        return self._number("SELECT key FROM documents WHERE id = ?", (id_,))

    def _empty(self, key: int) -> None:
        states.stand_alone(self._db, key)
        blocks = block_range(key, 0, None)
        self._db.write("DELETE FROM blocks WHERE key >= ? AND key < ?", (blocks.start, blocks.stop))
        for table in ("pieces", "sections", "passages", "names", "edges"):
            self._db.write(f"DELETE FROM {table} WHERE document = ?", (key,))  # noqa: S608 - fixed

    def _layer(self, name: str) -> int:
        self._db.write("INSERT OR IGNORE INTO layers (name) VALUES (?)", (name,))
        return int(self._db.rows("SELECT key FROM layers WHERE name = ?", (name,))[0][0])
