"""Updating the laws of a corpus from an archive, in one undoable step.

An archive is any input of `add`: e-Gov's zip, a folder of its files, a single file. It is
entered in one transaction: after a kill the corpus is as before. The data for undoing is on the
disk before the transaction ends.
"""

import gzip
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from time import perf_counter, time_ns
from typing import IO, cast

from pydantic import TypeAdapter, ValidationError

from localrag.corpus.durable import replacing, storing
from localrag.corpus.ingest.add import contradiction
from localrag.corpus.ingest.events import (
    COMPARING,
    READING,
    FileFailed,
    LeftOut,
    Listener,
    PartsLeftOut,
)
from localrag.corpus.ingest.reading import FileReader, FileToRead, Walk, contents, walk
from localrag.corpus.readers import (
    Limits,
    Omission,
    PassedOver,
    ReadFailure,
    ResumePoint,
    supported,
)
from localrag.corpus.rows import DocumentRows, prepare
from localrag.corpus.states import DocumentInfo
from localrag.corpus.store import CorpusStore, FileRecord
from localrag.corpus.workspace import CorpusPaths, Workspace, writing
from localrag.errors import InputError, NotFoundError, StoreError, UsageError
from localrag.language import N_
from localrag.text.progress import Stopwatch, ignore

_UNFINISHED = "update.new"
_BEFORE = N_("Add the archive before it once more, or put back a backup: localrag restore FILE")


class LawChangeKind(StrEnum):
    """The change of one state of a law."""

    ADDED = "added"
    AMENDED = "amended"
    CORRECTED = "corrected"
    REPEALED = "repealed"
    WITHDRAWN = "withdrawn"


REMOVING = (LawChangeKind.REPEALED, LawChangeKind.WITHDRAWN)
"""The kinds that remove a text from the corpus."""


@dataclass(frozen=True, slots=True)
class LawChange:
    """The change of one state of a law."""

    # added: a new law. amended: a further state. corrected: another text of a state. repealed: a
    # law missing in a complete archive. withdrawn: a future state missing there
    kind: LawChangeKind
    law_id: str
    title: str
    state: str  # the day from which this text is in force (ISO); "" if its file has no date
    earlier: str = ""  # the state before, of an amended law; "" without one or without its date


@dataclass(frozen=True, slots=True)
class UpdateStep:
    """A change, and the data for undoing it."""

    change: LawChange
    document: str  # id of the state in the store
    after: str  # fingerprint of the new text; "" if it was removed
    before: DocumentRows | None  # the earlier document; None if there was none
    file: str  # path of the earlier file; "" if there was none


_adapter = TypeAdapter(UpdateStep)


def undo_file(place: CorpusPaths, number: int) -> Path:
    """Path of the steps of an update."""
    return place.store.with_name(f"update-{number}.undo")


@contextmanager
def keeping_steps(place: CorpusPaths, number: int) -> Iterator[Callable[[UpdateStep], None]]:
    """Write the steps of an update; at the end of the block all are on the disk, or none."""
    aside = place.store.with_name(_UNFINISHED)
    # The date in the head of a gzip file is not part of the content.
    with (
        replacing(undo_file(place, number), aside) as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
    ):
        yield lambda step: _write(cast(IO[bytes], packed), step)


def _write(packed: IO[bytes], step: UpdateStep) -> None:
    packed.write(_adapter.dump_json(step) + b"\n")


def steps(place: CorpusPaths, number: int) -> Iterator[UpdateStep]:
    """Read the steps of an update, in their order. Raises `StoreError`."""
    path = undo_file(place, number)
    try:
        with gzip.open(path) as lines:
            for line in lines:
                yield _adapter.validate_json(line)
    except (gzip.BadGzipFile, EOFError, zlib.error, ValidationError) as error:
        raise StoreError(
            N_("The data for undoing the update is damaged: {path}."), _BEFORE, path=path
        ) from error
    except OSError as error:
        raise StoreError(
            N_("The data for undoing the update cannot be read ({path}: {problem})."),
            _BEFORE,
            path=path,
            problem=error,
        ) from error


def sweep(place: CorpusPaths, number: int) -> None:
    """Remove the files of all updates but one. Raises `OSError` if a file cannot be removed."""
    kept = undo_file(place, number)
    for path in [*place.store.parent.glob("update-*.undo"), kept.with_name(_UNFINISHED)]:
        if path != kept:
            path.unlink(missing_ok=True)


# Listed in a report, of each kind; events list them all.
_NAMED = 1_000


@dataclass(slots=True)
class UpdateReport(LeftOut):
    """The result of an update, of its dry run, or of undoing it."""

    # states of laws, in the order of the archive; removed ones come last
    changes: list[LawChange] = field(default_factory=list)
    unchanged: int = 0  # states with the same text in the archive
    no_laws: int = 0  # other documents of the archive
    failures: int = 0  # unreadable parts of the archive
    failed: list[FileFailed] = field(default_factory=list)  # the first of them, and why
    applied: bool = False  # whether the corpus was changed
    undo_bytes: int = 0  # size on the disk of the data for undoing it, kept until the next update
    made: str = ""  # when an update was applied (ISO, UTC), if it is undone; otherwise ""
    seconds: float = 0.0  # wall time

    def laws(self, kind: LawChangeKind) -> list[LawChange]:
        """The changes of this kind, one for each law."""
        first: dict[str, LawChange] = {}
        for change in self.changes:
            if change.kind is kind:
                first.setdefault(change.law_id, change)
        return list(first.values())


class _Left(Exception):  # noqa: N818 - no error
    """Leaves a transaction without a change."""


def update(
    workspace: Workspace,
    corpus: str,
    paths: Sequence[Path],
    *,
    whole: bool = False,
    dry_run: bool = False,
    repealed: Collection[str] = (),
    newest_first: bool = False,
    follow_links: bool = False,
    workers: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    before: Callable[[UpdateReport], object] = ignore,
    on_event: Listener = ignore,
) -> UpdateReport:
    """Take the laws of an archive into a corpus, in one step; `undo_update` reverses it.

    New laws and new states are added, and changed texts replace the old ones. Other documents are
    left alone. Call `index` afterwards. With `whole` the archive has all laws in force: missing
    laws are removed, and so are missing future states. `before` gets the changes; its error cancels
    them. `repealed` names laws to remove. Archives of several days come with the newest first
    (`newest_first`): earlier texts of a state are passed over.
    """
    started = perf_counter()
    place = workspace.corpus(corpus)
    place.require()
    found = walk(paths, supported, follow_links=follow_links)
    reader = FileReader(replace(limits, aside=place.store.parent))
    number = time_ns()
    with writing(place), CorpusStore.open(place.store) as store, storing(place.store):
        _require_laws(store, corpus)
        sweep(place, store.last_update)
        report = UpdateReport()
        with suppress(_Left), store.transaction(), keeping_steps(place, number) as keep:
            made = _Update(store, found, report, keep, on_event, newest_first=newest_first)
            made.enter(reader, workers)
            if whole:
                made.remove_lacking()
            made.remove_repealed(repealed)
            before(report)
            if dry_run or not report.changes:
                raise _Left
            store.note_update(number)
        report.applied = store.last_update == number
        if report.applied:
            _settle(place, store, number)
            report.undo_bytes = undo_file(place, number).stat().st_size
    report.seconds = perf_counter() - started
    return report


def undo_update(workspace: Workspace, corpus: str, *, dry_run: bool = False) -> UpdateReport:
    """Undo the last update of a corpus; its laws are as before."""
    started = perf_counter()
    place = workspace.corpus(corpus)
    place.require()
    with writing(place), CorpusStore.open(place.store) as store, storing(place.store):
        number = store.last_update
        sweep(place, number)
        if not number:
            raise NotFoundError(
                N_("Corpus {name!r} has no update to undo."),
                N_("The last one can be, once. See its documents: localrag list {name}"),
                name=corpus,
            )
        made = datetime.fromtimestamp(number / 1e9, UTC).isoformat(timespec="seconds")
        report = UpdateReport(made=made)
        with suppress(_Left), store.transaction():
            # All steps are checked before the first is undone: damage is found before any change.
            for step in steps(place, number):
                _require_as_left(store, step)
                report.changes.append(step.change)
            if dry_run:
                raise _Left
            entered = {_undo(store, step) for step in steps(place, number)}
            for path in filter(None, entered):
                if not store.files.count(path):
                    store.files.drop(path)
            store.note_update(0)
            report.applied = True
        if report.applied:
            _settle(place, store, 0)
    report.seconds = perf_counter() - started
    return report


class _Update:
    """One run of `update`, within a transaction."""

    def __init__(
        self,
        store: CorpusStore,
        found: Walk,
        report: UpdateReport,
        keep: Callable[[UpdateStep], None],
        on_event: Listener,
        *,
        newest_first: bool,
    ) -> None:
        self._store = store
        self._newest_first = newest_first
        self._walk = found
        self._report = report
        self._keep = keep
        self._tell = on_event
        self._watch = Stopwatch(on_event)
        # Fingerprints of the states in the archive, its laws, and the laws new to the corpus.
        self._met: dict[str, str] = {}
        self._laws = set[str]()
        self._new = set[str]()
        self._unread = 0

    def enter(self, reader: FileReader, workers: int) -> None:
        """Enter new states and changed texts."""
        for source, problem in self._walk.problems():
            self._fail_to_read(source, problem)
        for one in self._walk.passed_over:
            self._report.count_left_out(one)
        # A law may seem missing only because a link to it was not followed.
        self._unread += sum(1 for _ in self._walk.links())
        tasks = [FileToRead(file, None) for file in self._walk.files]
        total, done = sum(task.file.bytes for task in tasks), 0
        for task, content in contents(reader, tasks, workers, self._tell_check):
            file = task.file
            record = FileRecord(
                file.path.as_posix(), file.bytes, file.modified, content.digest, complete=False
            )
            begun = False
            for outcome in content.outcomes:
                match outcome:
                    case ReadFailure(source, problem):
                        self._fail_to_read(source, problem)
                    case Omission():
                        self._report.count_left_out(
                            PartsLeftOut(file.name, outcome.what, outcome.count, outcome.in_text)
                        )
                    case PassedOver():
                        self._report.count_left_out(outcome)
                    case ResumePoint():
                        if outcome.bytes:
                            self._watch(READING, done + outcome.bytes, total)
                    case DocumentRows(kind="law"):
                        begun = self._take(outcome, record, begun=begun)
                    case DocumentRows():
                        self._report.no_laws += 1
            done += file.bytes
            self._watch(READING, done, total)
        if self._walk.roots and not self._laws:
            raise InputError(
                N_("The archive has no law; nothing was changed."),
                N_("Name e-Gov's zip, or a folder of its XML files."),
            )

    def remove_lacking(self) -> None:
        """Remove the laws and future states missing in the archive."""
        if self._unread:
            raise InputError(
                N_(
                    "{n:,} parts of the archive cannot be read, so its missing laws are unknown; "
                    "nothing was changed."
                ),
                N_("Take another copy of it, or leave out --whole: then no law is removed."),
                n=self._unread,
            )
        today = date.today().isoformat()
        for law in self._store.laws():
            for state in self._store.states(law.law_id):
                if law.law_id not in self._laws:
                    self._remove(state, LawChangeKind.REPEALED)
                elif _day(state) > today and state.state_id not in self._met:
                    self._remove(state, LawChangeKind.WITHDRAWN)

    def remove_repealed(self, laws: Collection[str]) -> None:
        """Remove laws by id, with all their states."""
        for law in self._store.laws():
            if law.law_id in laws:
                for state in self._store.states(law.law_id):
                    self._remove(state, LawChangeKind.REPEALED)

    def _take(self, rows: DocumentRows, record: FileRecord, *, begun: bool) -> bool:
        """Enter a state of a law; return whether the store has anything of the file now."""
        store = self._store
        if known := self._met.get(rows.id):
            if known != rows.fingerprint and not self._newest_first:
                problem = InputError(
                    N_("The archive holds two texts of {id!r}."),
                    N_("The first one was taken."),
                    id=rows.id,
                )
                self._fail(rows.source, problem)
            return begun
        origin = store.files.origin(rows.id)
        same = origin is not None and origin.fingerprint == rows.fingerprint
        if not same and (another := contradiction(store, rows)):
            self._fail_to_read(rows.source, another)
            return begun
        self._met[rows.id] = rows.fingerprint
        self._laws.add(rows.work)
        if same:
            self._report.unchanged += 1
            return begun
        if not begun:
            store.files.begin(record)
        states = store.states(rows.work)
        kind, earlier, before, file = LawChangeKind.CORRECTED, "", None, ""
        if origin:
            # By its key: an id without a date also means the state in force.
            key = next(one.key for one in states if one.state_id == rows.id)
            before, file = prepare(store.read(key)), origin.path
            store.files.give_up(file)
            store.replace(rows, file=record.path)
        else:
            if not states or rows.work in self._new:
                self._new.add(rows.work)
                kind = LawChangeKind.ADDED
            else:
                kind = LawChangeKind.AMENDED
                earlier = max((_day(one) for one in states if _day(one) < rows.state), default="")
            store.add(rows, file=record.path)
        change = LawChange(kind, rows.work, rows.title, rows.state, earlier)
        self._done(UpdateStep(change, rows.id, rows.fingerprint, before, file))
        return True

    def _remove(self, state: DocumentInfo, kind: LawChangeKind) -> None:
        before = prepare(self._store.read(state.key))
        origin = self._store.files.origin(state.state_id)
        assert origin is not None, "it was listed"
        self._store.remove(state.state_id)
        change = LawChange(kind, state.id, state.title, _day(state))
        self._done(UpdateStep(change, state.state_id, "", before, origin.path))

    def _done(self, step: UpdateStep) -> None:
        self._keep(step)
        self._report.changes.append(step.change)

    def _fail_to_read(self, source: str, problem: InputError) -> None:
        self._unread += 1
        self._fail(source, problem)

    def _fail(self, source: str, problem: InputError) -> None:
        failed = FileFailed(source, problem)
        self._report.failures += 1
        if len(self._report.failed) < _NAMED:
            self._report.failed.append(failed)
        self._tell(failed)

    def _tell_check(self, total: int, done: int) -> None:
        self._watch(COMPARING, done, total)


def _require_laws(store: CorpusStore, corpus: str) -> None:
    if not store.law_states():
        raise UsageError(
            N_("The corpus {name!r} has no laws, and only laws are brought up to date so."),
            N_("Add files: localrag add PATH. See its documents: localrag list {name}"),
            name=corpus,
        )


def _day(state: DocumentInfo) -> str:
    return state.metadata.get("date", "")


def _require_as_left(store: CorpusStore, step: UpdateStep) -> None:
    origin = store.files.origin(step.document)
    if (origin.fingerprint if origin else "") != step.after:
        raise UsageError(
            N_("{id} was changed after the update, so the update cannot be undone."),
            N_("Nothing was changed. Add the older archive, or put back a backup."),
            id=step.document,
        )


def _undo(store: CorpusStore, step: UpdateStep) -> str:
    """Undo a step; return the path of the update's file."""
    origin = store.files.origin(step.document)
    if step.before is None:
        store.remove(step.document)
    elif origin is None:
        store.add(step.before, file=step.file)
    else:
        store.replace(step.before, file=step.file)
    return origin.path if origin else ""


def _settle(place: CorpusPaths, store: CorpusStore, number: int) -> None:
    store.checkpoint()
    sweep(place, number)
