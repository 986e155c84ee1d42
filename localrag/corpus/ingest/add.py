"""Adding files to a corpus: only new and changed files are read."""

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter

from localrag.corpus.ingest.events import (
    COMPARING,
    READING,
    READING_PAGES,
    DocumentsKept,
    DocumentsStored,
    Duplicate,
    Event,
    FileFailed,
    FileRead,
    FileRemoved,
    FileResumed,
    FilesFound,
    FileUnchanged,
    LeftOut,
    Listener,
    MoreDuplicates,
    PagesScanned,
    PartsLeftOut,
)
from localrag.corpus.ingest.reading import (
    Content,
    FileReader,
    FileToRead,
    FoundFile,
    Outcome,
    Walk,
    contents,
    still_there,
    walk,
)
from localrag.corpus.readers import (
    DOUBTFUL,
    Limits,
    Omission,
    PageRead,
    PassedOver,
    ReadFailure,
    ResumePoint,
    supported,
)
from localrag.corpus.rows import DocumentRows
from localrag.corpus.store import CorpusStore, FileRecord
from localrag.corpus.workspace import Workspace, writing
from localrag.errors import InputError
from localrag.language import N_, _
from localrag.text.dates import may_be_same_number
from localrag.text.progress import Progress, Stopwatch, ignore

_Entered = DocumentRows | ReadFailure | Omission | PassedOver

# Large enough that commits cost nothing, small enough that the log stays small.
_BATCH_CHARACTERS = 1_000_000
# Weight of an outcome besides its text, so that a batch of failures is bounded too.
_WEIGHT = 200
# A dump stored under two names would report a line for each article.
_DUPLICATES_NAMED = 3
REMOVED_AT_ONCE = 1_000
"""Documents removed in one transaction."""


class FileEntry:
    """Enters one file.

    Documents are written in batches. Each batch is a transaction, with a note of the last line
    read. The last one marks the file as complete. After a kill the next `add` continues behind
    that line. A file is read again from its beginning if reading cannot continue there, or if a
    document could not be entered. Documents already stored are unchanged.

    A document may have moved here from a later file. It waits for `settle`, after all files.
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
        # The record, stored with its documents.
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
        """The record of the file; complete if the store has all its documents."""
        return self._record

    @property
    def waits(self) -> bool:
        """Whether documents of the file wait until the other files are read."""
        return bool(self._waiting)

    @property
    def _whole(self) -> bool:
        return not (self._failures or self._duplicates or self._waiting)

    def enter(self, outcomes: Iterable[Outcome]) -> Iterator[Event]:
        """Write everything; yield each event after its transaction."""
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
        """Enter the waiting documents, given the outcomes once more."""
        waiting, self._waiting = self._waiting, set()
        found = (outcome for outcome in outcomes if not isinstance(outcome, ResumePoint))
        yield from self._write(one for number, one in enumerate(found) if number in waiting)
        yield from self._end()

    def _write(self, outcomes: Iterable[Outcome]) -> Iterator[Event]:
        for batch, mark in _batches(outcomes):
            with self._store.transaction():
                for outcome in batch:
                    self._take(outcome)
                    self._taken += 1
                # These must be looked at again: the other file may no longer have them when reading
                # continues.
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
        if self._duplicates > _DUPLICATES_NAMED:
            yield MoreDuplicates(self._name, self._duplicates - _DUPLICATES_NAMED)
        yield from self._kept()

    def _kept(self) -> Iterator[Event]:
        if not self._record.digest:
            return  # Reported already; a store may be unable to hold its name.
        files = self._store.files
        if self._begun:
            kept = files.count_vanished(self._path)
            reason = N_("not everything in the file could be entered")
        else:
            kept = files.count(self._path)
            reason = N_("no document was found, so it may be damaged")
        if kept:
            yield DocumentsKept(self._name, kept, reason)

    def _told(self, mark: ResumePoint) -> Iterator[Event]:
        """Yield the events of the batch, and forget it."""
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
            # From its own file, or from the one replaced by this file.
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
            # Looked at again each time, because its original may be gone one day.
            self._duplicates += 1
            if self._duplicates <= _DUPLICATES_NAMED:
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
        # The unreadable part of the file may still hold it.
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
    """The error if the corpus has another law under the id of this one."""
    if rows.kind != "law":
        return None
    number = json.loads(rows.metadata).get("law_num", "")
    for state in store.states(rows.work):
        own = state.metadata.get("law_num", "")
        if not may_be_same_number(number, own):
            return InputError(
                N_("Under the id {id!r} the corpus has another law, {own}; this one is {number}."),
                N_(
                    "Check which of the two has the wrong id. To take this one instead: localrag "
                    "remove {id}, then add it again."
                ),
                id=rows.work,
                own=own,
                number=number,
            )
    return None


def _batches(
    outcomes: Iterable[Outcome],
) -> Iterator[tuple[list[_Entered], ResumePoint]]:
    """Cut at marks if there are any; without a mark reading cannot continue there (line 0)."""
    batch: list[_Entered] = []
    mark = ResumePoint(0)
    characters = 0
    for outcome in outcomes:
        if isinstance(outcome, ResumePoint):
            mark = outcome
        else:
            batch.append(outcome)
            mark = ResumePoint(0)
            characters += _WEIGHT + (len(outcome.text) if isinstance(outcome, DocumentRows) else 0)
        if characters >= (_BATCH_CHARACTERS if mark.line else 2 * _BATCH_CHARACTERS):
            yield batch, mark
            batch, mark, characters = [], ResumePoint(0), 0
    if batch or mark.line:
        yield batch, mark


# Listed in a report, of each kind; events list them all.
_NAMED = 1_000


@dataclass(slots=True)
class AddReport(LeftOut):
    """The result of an `add`, counted in documents unless said otherwise."""

    added: int = 0  # added, replaced, removed: counts
    replaced: int = 0
    unchanged: int = 0  # unchanged documents in changed files
    removed: int = 0
    files_unchanged: int = 0  # unchanged files, not read
    scanned: list[PagesScanned] = field(default_factory=list)  # files with pages read by OCR
    duplicated: int = 0  # documents, or whole files, left out because the corpus has the same
    duplicates: list[Duplicate] = field(default_factory=list)  # the first of them
    kept: list[DocumentsKept] = field(default_factory=list)  # files whose vanished documents stay
    failures: int = 0  # files and documents with an error
    failed: list[FileFailed] = field(default_factory=list)  # the first of them, and why
    # vanished files below the added paths; always empty with `prune`
    gone: list[str] = field(default_factory=list)
    seconds: float = 0.0  # wall time

    def count(self, event: Event) -> None:
        match event:
            case FilesFound():
                for one in event.passed_over:
                    self.count_left_out(one)
            case PassedOver() | PartsLeftOut():
                self.count_left_out(event)
            case FileRead():
                self.added += event.added
                self.replaced += event.replaced
                self.unchanged += event.unchanged
                self.removed += event.removed
            case FileUnchanged():
                self.files_unchanged += 1
            case FileRemoved():
                self.removed += event.documents
            case PagesScanned():
                self.scanned.append(event)
            case Duplicate():
                self.duplicated += 1
                if len(self.duplicates) < _NAMED:
                    self.duplicates.append(event)
            case MoreDuplicates():
                self.duplicated += event.count
            case DocumentsKept():
                self.kept.append(event)
            case FileFailed():
                self.failures += 1
                if len(self.failed) < _NAMED:
                    self.failed.append(event)


def add(
    workspace: Workspace,
    corpus: str,
    paths: Sequence[Path],
    *,
    prune: bool = False,
    check_content: bool = False,
    follow_links: bool = False,
    workers: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    on_event: Listener = ignore,
) -> AddReport:
    """Enter files into a corpus; create it if it does not exist.

    Files with unchanged size and modification time, or unchanged content, are passed over. After an
    event its documents are stored, even if the process is killed. The next call continues. Links
    not followed are listed. With more than 1 of `workers` the calling script needs the usual ``if
    __name__ == "__main__"`` guard.
    """
    started = perf_counter()
    report = AddReport()
    offers = partial(supported, converting=limits.converter is not None)
    found = walk(paths, offers, follow_links=follow_links)
    place = workspace.corpus(corpus)
    limits = replace(limits, aside=place.store.parent)
    with writing(place), CorpusStore.open(place.store, create=True) as store:
        addition = _Addition(store, found, limits, workers, check_content, on_event)
        for event in addition.run(prune=prune):
            report.count(event)
            on_event(event)
        store.checkpoint()
        if not prune:
            report.gone = [path for path in missing(store, found) if store.files.count(path)]
    report.seconds = perf_counter() - started
    return report


class _Addition:
    def __init__(
        self,
        store: CorpusStore,
        walk: Walk,
        limits: Limits,
        workers: int,
        check_content: bool,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._store = store
        self._walk = walk
        if limits.scans:
            limits = replace(limits, scans=replace(limits.scans, on_page=self._take_page))
        self._reader = FileReader(limits)
        self._workers = workers
        self._check_content = check_content
        self._watch = Stopwatch(on_progress)
        self._known = store.files.all()
        self._by_digest = {file.digest: file for file in self._known.values() if file.complete}
        self._unread = set[str]()
        # Tasks that wait until all files are read, with their entries.
        self._waiting: dict[str, tuple[FileToRead, FileEntry | None]] = {}
        self._scanned: dict[str, list[PageRead]] = {}
        self._read_digests = set[str]()

    def _take_page(self, page: PageRead) -> None:
        self._scanned.setdefault(page.source, []).append(page)
        phase = replace(READING_PAGES, about=page.source)
        self._watch(phase, page.done, page.total, page.earlier)

    def run(self, *, prune: bool) -> Iterator[Event]:
        yield FilesFound(len(self._walk.files), self._walk.passed_over)
        for source, problem in self._walk.problems():
            yield FileFailed(source, problem)
        tasks = []
        # A page without text in an earlier run may be readable now.
        again = self._store.files.with_scans_left_out() if self._reader.reads_scans else set()
        for file in self._walk.files:
            record = self._known.get(file.path.as_posix())
            is_again = record is not None and record.path in again
            is_known = record and record.complete and not self._check_content and not is_again
            if record and is_known and _is_like(record, file):
                yield FileUnchanged(record.path)
            else:
                tasks.append(FileToRead(file, record, is_again))
        self._unread = {task.file.path.as_posix() for task in tasks}
        yield from self._read(tasks)
        yield from self._read([task for task, _ in self._waiting.values()])
        if prune:
            yield from self._prune()
        # Only now, because waiting files were read twice.
        for digest in self._read_digests:
            self._reader.discard_kept(digest)

    def _read(self, tasks: Sequence[FileToRead]) -> Iterator[Event]:
        total = sum(task.file.bytes for task in tasks)
        done = 0
        for task, content in contents(self._reader, tasks, self._workers, self._tell_check):
            for event in self._enter(task, content):
                yield event
                if isinstance(event, DocumentsStored) and event.bytes:
                    self._watch(READING, done + event.bytes, total)
            yield from map(_summed_up, self._scanned.values())
            self._scanned.clear()
            self._read_digests.add(content.digest)
            done += task.file.bytes
            self._watch(READING, done, total)

    def _tell_check(self, total: int, done: int) -> None:
        self._watch(COMPARING, done, total)

    def _enter(self, task: FileToRead, content: Content) -> Iterator[Event]:
        path = task.file.path.as_posix()
        self._unread.discard(path)
        if task.known and self._by_digest.get(task.known.digest) == task.known:
            del self._by_digest[task.known.digest]
        _, begun = self._waiting.pop(path, (task, None))
        original = None if task.known else self._by_digest.get(content.digest)
        if begun:
            yield from self._settle(begun, task, content)
        elif content.unchanged:
            record = FileRecord(path, task.file.bytes, task.file.modified, content.digest)
            self._store.files.put(record)
            self._by_digest[content.digest] = record
            yield FileUnchanged(path)
        elif original and original.path in self._unread:
            self._waiting[path] = (task, None)
        elif original and _is_as_noted(original):
            yield Duplicate(path, original.path)
        else:
            yield from self._begin(task, content)

    def _begin(self, task: FileToRead, content: Content) -> Iterator[Event]:
        entry = FileEntry(
            self._store, self._walk, task.file, content.digest, content.resumed, self._unread
        )
        yield from entry.enter(content.outcomes)
        if entry.waits:
            self._waiting[entry.record.path] = (task, entry)
        elif entry.record.complete:
            self._by_digest[content.digest] = entry.record

    def _settle(self, entry: FileEntry, task: FileToRead, content: Content) -> Iterator[Event]:
        if content.digest == entry.record.digest:
            yield from entry.settle(content.outcomes)
        else:
            problem = InputError(
                N_("The file changed while it was added."), N_("Add it once more.")
            )
            yield FileFailed(task.file.name, problem)

    def _prune(self) -> Iterator[Event]:
        for path in missing(self._store, self._walk):
            removed = 0
            while documents := self._store.files.documents(path, REMOVED_AT_ONCE):
                with self._store.transaction():
                    for document_id in documents:
                        self._store.remove(document_id)
                removed += len(documents)
            self._store.files.drop(path)
            yield FileRemoved(path, removed)


def _summed_up(pages: Sequence[PageRead]) -> PagesScanned:
    told = [page for page in pages if page.characters]
    size = sum(page.characters for page in told)
    confidence = sum(page.confidence * page.characters for page in told) / size if size else 0.0
    return PagesScanned(
        pages[0].source,
        len(pages),
        pages[-1].earlier,
        round(confidence, 2),
        tuple((page.number, page.confidence) for page in told if page.confidence < DOUBTFUL),
        tuple(page.number for page in pages if not page.characters),
    )


def missing(store: CorpusStore, found: Walk) -> list[str]:
    """List the files of a corpus below the roots of a walk that no longer exist."""
    return [path for path in store.files.all() if found.covers(path) and not still_there(path)]


def _is_like(record: FileRecord, file: FoundFile) -> bool:
    return (record.bytes, record.modified) == (file.bytes, file.modified)


def _is_as_noted(record: FileRecord) -> bool:
    try:
        status = Path(record.path).stat()
    except OSError:
        return False
    return (record.bytes, record.modified) == (status.st_size, status.st_mtime_ns)
