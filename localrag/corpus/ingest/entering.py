"""Entering what was read of a file into the store: what is new, changed, the same, in conflict."""

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from localrag.corpus.ingest.events import (
    DocumentsKept,
    DocumentsStored,
    Duplicate,
    Event,
    FileFailed,
    FileRead,
    FileResumed,
    MoreDuplicates,
    PartsLeftOut,
)
from localrag.corpus.ingest.reading import FoundFile, Outcome, Walk, still_there
from localrag.corpus.readers import Mark, Omission, PassedOver, ReadFailure
from localrag.corpus.rows import DocumentRows
from localrag.corpus.store import CorpusStore, FileRecord
from localrag.errors import InputError
from localrag.language import N_, _
from localrag.text.dates import may_be_same_number

_Entered = DocumentRows | ReadFailure | Omission | PassedOver

# Large enough that commits cost nothing, small enough that the log stays small.
_BATCH_CHARACTERS = 1_000_000
# What an outcome weighs besides its text, so that a batch of failures is bounded too.
_WEIGHT = 200
# A dump that is there under two names would tell a line an article.
_NAMED = 3
REMOVED_AT_ONCE = 1_000
"""Documents removed in one transaction."""


class FileEntry:
    """Enters one file.

    Documents are written in batches, each one transaction, which also notes the line that was
    reached; the file is noted as complete with the last one. If the process is killed in between,
    the next `add` goes on after that line. A file that cannot be gone on with, or of which not
    everything could be entered, is read again from its beginning: the documents that are there are
    found unchanged.

    A document that the store has from a file which is still to be read may have moved here.
    It waits for `settle`, when all files are read and what vanished from them is removed.

    Args:
        store: where to.
        walk: the files of this run.
        file: the one to enter.
        digest: of its content.
        resumed: what the store has of it, where its reading goes on.
        unread: paths of the files that this run has still to read; looked at as it changes.
    """

    def __init__(
        self,
        store: CorpusStore,
        walk: Walk,
        file: FoundFile,
        digest: str,
        resumed: FileRecord | None,
        unread: Container[str],
    ) -> None:
        self._store = store
        self._walk = walk
        self._unread = unread
        self._name = file.name
        self._path = file.path.as_posix()
        # As it will be noted when its documents are stored.
        self._record = resumed or FileRecord(
            self._path, file.bytes, file.modified, digest, complete=False
        )
        self._resumed = self._begun = resumed is not None
        self._failures = self._duplicates = self._taken = 0
        self._waiting = set[int]()
        self._done = Counter[str]()
        self._left_out = Counter[tuple[str, bool]]()
        self._passed_over: list[PassedOver] = []
        self._batch: dict[str, list[str]] = {"added": [], "replaced": [], "unchanged": []}
        self._events: list[Event] = []

    @property
    def record(self) -> FileRecord:
        """The file as it is noted; complete where everything it holds is stored as its own."""
        return self._record

    @property
    def waits(self) -> bool:
        """Whether documents of the file wait until the other files are read."""
        return bool(self._waiting)

    @property
    def _whole(self) -> bool:
        return not (self._failures or self._duplicates or self._waiting)

    def enter(self, outcomes: Iterable[Outcome]) -> Iterator[Event]:
        """Write everything; yields events, each after what it tells was committed."""
        if self._resumed:
            yield FileResumed(self._path, self._record.line)
        yield from self._write(outcomes)
        if not self._begun and not self._failures:
            yield FileFailed(self._name, InputError(N_("There is no document in the file.")))
        yield from self._end()
        for (what, in_text), count in self._left_out.items():
            yield PartsLeftOut(self._name, what, count, in_text)
        yield from self._passed_over

    def settle(self, outcomes: Iterable[Outcome]) -> Iterator[Event]:
        """Enter what waited, given the outcomes once more; everything else is passed over."""
        waiting, self._waiting = self._waiting, set()
        found = (outcome for outcome in outcomes if not isinstance(outcome, Mark))
        yield from self._write(one for number, one in enumerate(found) if number in waiting)
        yield from self._end()

    def _write(self, outcomes: Iterable[Outcome]) -> Iterator[Event]:
        for batch, mark in _batches(outcomes):
            with self._store.transaction():
                for outcome in batch:
                    self._take(outcome)
                    self._taken += 1
                # What is not stored as the file's own must be looked at again: the file that has
                # it may have lost it when reading goes on.
                self._note(mark.line if self._whole else 0)
            yield from self._told(mark)

    def _end(self) -> Iterator[Event]:
        if self._begun:
            removed = self._remove_vanished()
            self._note(0, complete=self._whole)
            yield FileRead(self._path, **self._done, removed=removed)
            self._done.clear()
        if self._waiting:
            return
        if self._duplicates > _NAMED:
            yield MoreDuplicates(self._name, self._duplicates - _NAMED)
        yield from self._kept()

    def _kept(self) -> Iterator[Event]:
        if not self._record.digest:
            return  # What cannot be read is told; its name may be none that a store can hold.
        files = self._store.files
        if self._begun:
            kept = files.count_vanished(self._path)
            reason = N_("not everything in the file could be entered")
        else:
            kept = files.count(self._path)
            reason = N_("no document was found, so it may be damaged")
        if kept:
            yield DocumentsKept(self._name, kept, reason)

    def _told(self, mark: Mark) -> Iterator[Event]:
        """Yield what the batch told, and forget it."""
        yield from self._events
        self._events.clear()
        yield DocumentsStored(
            self._path, **{what: tuple(ids) for what, ids in self._batch.items()}, bytes=mark.bytes
        )
        for what, ids in self._batch.items():
            self._done[what] += len(ids)
            ids.clear()

    def _note(self, line: int, *, complete: bool = False) -> None:
        if self._begun:
            self._record = replace(self._record, complete=complete, line=line)
            self._store.files.put(self._record)

    def _take(self, outcome: _Entered) -> None:
        if isinstance(outcome, ReadFailure):
            self._fail(outcome.source, outcome.problem)
        elif isinstance(outcome, Omission):
            self._left_out[outcome.what, outcome.in_text] += outcome.count
        elif isinstance(outcome, PassedOver):
            self._passed_over.append(outcome)
        else:
            if not self._begun:
                self._store.files.begin(self._record)
                self._begun = True
            self._document(outcome)

    def _document(self, rows: DocumentRows) -> None:
        origin = self._store.files.origin(rows.id)
        same = origin is not None and origin.fingerprint == rows.fingerprint
        if not same and (problem := contradiction(self._store, rows)):
            self._fail(rows.source, problem)
            return
        if origin is None:
            self._store.add(rows, file=self._path)
            self._batch["added"].append(rows.id)
            return
        own = origin.path == self._path
        if own and origin.met:
            self._fail(
                rows.source,
                InputError(
                    N_("The file holds two documents with the id {id!r}."),
                    N_("Give each its own id; the first one was taken."),
                    id=rows.id,
                ),
            )
        elif own or (not still_there(origin.path) and (same or self._walk.covers(origin.path))):
            # Its own file, or one whose place this file has taken.
            if not own:
                self._store.files.give_up(origin.path)
            if same:
                self._store.move(rows.id, source=rows.source, file=self._path)
                self._batch["unchanged"].append(rows.id)
            else:
                self._store.replace(rows, file=self._path)
                self._batch["replaced"].append(rows.id)
        elif origin.path in self._unread:
            self._waiting.add(self._taken)
        elif same:
            # Looked at again each time, for the day its original is gone.
            self._duplicates += 1
            if self._duplicates <= _NAMED:
                self._events.append(Duplicate(rows.source, origin.path))
        else:
            self._fail(
                rows.source,
                InputError(
                    N_("The corpus already has {id!r} with another text, from {origin}; it stays."),
                    N_(
                        "The id is made of the file's name: add the folder that both files are in, "
                        "and this one gets ids of its own."
                    )
                    if rows.id.startswith(f"{self._name}:")
                    else N_("To have this one instead: localrag remove {id}, then add it again."),
                    id=rows.id,
                    origin=origin.path or _("another source"),
                ),
            )

    def _remove_vanished(self) -> int:
        removed = 0
        # What could not be read this time may still be in the file.
        while not self._failures and (
            gone := self._store.files.vanished(self._path, REMOVED_AT_ONCE)
        ):
            with self._store.transaction():
                for document_id in gone:
                    self._store.remove(document_id)
            removed += len(gone)
        return removed

    def _fail(self, source: str, problem: InputError) -> None:
        self._failures += 1
        self._events.append(FileFailed(source, problem))


def contradiction(store: CorpusStore, rows: DocumentRows) -> InputError | None:
    """Why a law cannot be entered under its id: the corpus has another law under it."""
    if rows.kind != "law":
        return None
    number = json.loads(rows.metadata).get("law_num", "")
    for state in store.states(rows.work):
        own = state.metadata.get("law_num", "")
        if not may_be_same_number(number, own):
            return InputError(
                N_("Under the id {id!r} the corpus has another law, {own}; this one is {number}."),
                N_(
                    "Look which of the two has the wrong id. To have this one instead: localrag "
                    "remove {id}, then add it again."
                ),
                id=rows.work,
                own=own,
                number=number,
            )
    return None


def _batches(
    outcomes: Iterable[Outcome],
) -> Iterator[tuple[list[_Entered], Mark]]:
    """Cut at marks where there are any; without one, reading cannot go on there (line 0)."""
    batch: list[_Entered] = []
    mark = Mark(0)
    characters = 0
    for outcome in outcomes:
        if isinstance(outcome, Mark):
            mark = outcome
        else:
            batch.append(outcome)
            mark = Mark(0)
            characters += _WEIGHT + (len(outcome.text) if isinstance(outcome, DocumentRows) else 0)
        if characters >= (_BATCH_CHARACTERS if mark.line else 2 * _BATCH_CHARACTERS):
            yield batch, mark
            batch, mark, characters = [], Mark(0), 0
    if batch or mark.line:
        yield batch, mark
