"""Adding files to a corpus: only what is new or changed is read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter

from localrag.corpus.ingest.entering import REMOVED_AT_ONCE, FileEntry
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
    FileToRead,
    FoundFile,
    Reader,
    Walk,
    contents,
    still_there,
    walk,
)
from localrag.corpus.readers import DOUBTFUL, Limits, PageRead, PassedOver, supported
from localrag.corpus.store import CorpusStore, FileRecord
from localrag.corpus.workspace import Workspace, writing
from localrag.errors import InputError
from localrag.language import N_
from localrag.text.progress import Progress, Stopwatch, ignore

# Of each kind in a report; events name the others too.
_NAMED = 1_000


@dataclass(slots=True)
class AddReport(LeftOut):
    """What an `add` did, in documents unless said otherwise.

    Attributes:
        added, replaced, removed: counts.
        unchanged: of them as they were, in files that had to be read.
        files_unchanged: files that were not read again.
        scanned: files with pages that were read by OCR.
        duplicated: how many documents, or files as a whole, were left out because the corpus has
            the same.
        duplicates: the first of them.
        kept: documents that stay though their file no longer holds them, a file each.
        failures: how many files and documents could not be entered.
        failed: the first of them, and why.
        gone: files of the corpus below the added paths which no longer exist, and whose
            documents are still there; always empty with `prune`.
        seconds: wall time.
    """

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0
    files_unchanged: int = 0
    scanned: list[PagesScanned] = field(default_factory=list)
    duplicated: int = 0
    duplicates: list[Duplicate] = field(default_factory=list)
    kept: list[DocumentsKept] = field(default_factory=list)
    failures: int = 0
    failed: list[FileFailed] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, event: Event) -> None:
        """Take an event into account."""
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
    """Enter the files below some paths into a corpus, which is made if it does not exist.

    A file with the size and modification time it was read with is passed over; one with the same
    content too. Whatever an event has told is stored, also if the process is killed the moment
    after; calling again goes on from there.

    Args:
        workspace: need not be initialised.
        corpus: name of the corpus.
        paths: folders, walked in order of names, and files.
        prune: remove the documents of files below `paths` that no longer exist.
        check_content: compare content even where size and time are the same.
        follow_links: follow links inside the folders, wherever they lead; else they are named and
            left out.
        workers: processes that read files; with more than 1 the calling script needs the usual
            ``if __name__ == "__main__"`` guard.
        limits: what a file may hold.
        on_event: called with every event, in this process.

    Raises:
        NotFoundError: a path does not exist; nothing was done.
        BusyError: another process is writing to the corpus.
        StorageError: the disk is full or read-only, or a process that reads was killed; what
            events told is stored.
        StoreError: the store is damaged.
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
    """One run of `add`: a stream of events, each sent after what it tells is stored."""

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
        self._reader = Reader(limits)
        self._workers = workers
        self._check_content = check_content
        self._watch = Stopwatch(on_progress)
        self._known = store.files.all()
        self._by_digest = {file.digest: file for file in self._known.values() if file.complete}
        self._unread = set[str]()
        # Tasks that wait until all files are read, with what was begun of them.
        self._waiting: dict[str, tuple[FileToRead, FileEntry | None]] = {}
        self._scanned: dict[str, list[PageRead]] = {}
        self._read_digests = set[str]()

    def _take_page(self, page: PageRead) -> None:
        """Tell of a scanned page that was read."""
        self._scanned.setdefault(page.source, []).append(page)
        phase = replace(READING_PAGES, about=page.source)
        self._watch(phase, page.done, page.total, page.earlier)

    def run(self, *, prune: bool) -> Iterator[Event]:
        yield FilesFound(len(self._walk.files), self._walk.passed_over)
        for source, problem in self._walk.problems():
            yield FileFailed(source, problem)
        tasks = []
        # A page that an earlier run could not read may be readable now.
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
        # Only now: what waited was read twice.
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
    """List the files of a corpus below the roots of a walk which no longer exist."""
    return [path for path in store.files.all() if found.covers(path) and not still_there(path)]


def _is_like(record: FileRecord, file: FoundFile) -> bool:
    return (record.bytes, record.modified) == (file.bytes, file.modified)


def _is_as_noted(record: FileRecord) -> bool:
    try:
        status = Path(record.path).stat()
    except OSError:
        return False
    return (record.bytes, record.modified) == (status.st_size, status.st_mtime_ns)
