"""Entering what was read of a file into the store: what is new, changed, the same, in conflict."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from localrag.corpus.readers import ReadFailure
from localrag.corpus.rows import DocumentRows
from localrag.corpus.store import CorpusStore, FileRecord
from localrag.ingest.events import DocumentsStored, Duplicate, Event, FileFailed, FileRead
from localrag.ingest.reading import Outcome
from localrag.ingest.walk import FoundFile, Walk, still_there

# Large enough that commits cost nothing, small enough that the log stays small.
_BATCH_CHARACTERS = 4_000_000


class FileEntry:
    """Enters one file.

    Documents are written in batches, each one transaction; the file is noted as complete with
    the last one. If the process is killed in between, the next `add` reads the file again, finds
    the documents that are there unchanged, and goes on.
    """

    def __init__(self, store: CorpusStore, walk: Walk, file: FoundFile, digest: str) -> None:
        self._store = store
        self._walk = walk
        self._name = file.name
        self._path = file.path.as_posix()
        self._record = FileRecord(self._path, file.bytes, file.modified, digest)
        self._done: dict[str, list[str]] = {"added": [], "replaced": [], "unchanged": []}
        self._events: list[Event] = []
        self._seen: set[str] = set()
        self._failed = False
        self._complete = True

    @property
    def complete(self) -> bool:
        """Whether everything the file holds is stored as its own."""
        return self._complete and bool(self._seen)

    def enter(self, outcomes: Iterable[Outcome]) -> Iterator[Event]:
        """Write everything; yields events, each after what it tells was committed."""
        empty = True
        for batch in _batches(outcomes):
            empty = False
            with self._store.transaction():
                for outcome in batch:
                    self._take(outcome)
            yield from self._events
            self._events.clear()
            yield DocumentsStored(self._path, len(self._seen))
        if empty:
            yield FileFailed(self._name, "There is no document in the file.")
        if self._seen:
            with self._store.transaction():
                removed = self._remove_vanished()
                self._store.files.put(replace(self._record, complete=self._complete))
            done = {what: tuple(ids) for what, ids in self._done.items()}
            yield FileRead(self._path, **done, removed=tuple(removed))

    def _take(self, outcome: Outcome) -> None:
        if isinstance(outcome, ReadFailure):
            self._fail(outcome.source, outcome.cause, outcome.cure)
        elif outcome.id in self._seen:
            self._fail(
                outcome.source,
                f"The file holds two documents with the id {outcome.id!r}.",
                "Give each its own id; the first one was taken.",
            )
        else:
            if not self._seen:
                self._store.files.put(replace(self._record, complete=False))
            self._seen.add(outcome.id)
            self._document(outcome)

    def _document(self, rows: DocumentRows) -> None:
        origin = self._store.files.origin(rows.id)
        if origin is None:
            self._store.add(rows, file=self._path)
            self._done["added"].append(rows.id)
            return
        fingerprint, path = origin
        same = fingerprint == rows.fingerprint
        if path == self._path or (not still_there(path) and (same or self._walk.covers(path))):
            # Its own file, or one whose place this file has taken.
            if same:
                self._store.move(rows.id, source=rows.source, file=self._path)
                self._done["unchanged"].append(rows.id)
            else:
                self._store.replace(rows, file=self._path)
                self._done["replaced"].append(rows.id)
        elif same:
            # Looked at again each time, for the day its original is gone.
            self._complete = False
            self._events.append(Duplicate(rows.source, path))
        else:
            self._fail(
                rows.source,
                f"The corpus already has {rows.id!r} with another text, from "
                f"{path or 'another source'}; it stays.",
                f"To have this one instead: localrag remove {rows.id}, then add it again.",
            )

    def _remove_vanished(self) -> list[str]:
        if self._failed:
            return []  # What could not be read this time may still be in the file.
        gone = [id_ for id_ in self._store.files.documents(self._path) if id_ not in self._seen]
        for document_id in gone:
            self._store.remove(document_id)
        return gone

    def _fail(self, source: str, cause: str, cure: str) -> None:
        self._failed, self._complete = True, False
        self._events.append(FileFailed(source, cause, cure))


def _batches(outcomes: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    batch: list[Outcome] = []
    characters = 0
    for outcome in outcomes:
        batch.append(outcome)
        characters += len(outcome.text) if isinstance(outcome, DocumentRows) else 0
        if characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
