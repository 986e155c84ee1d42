"""Plans a download, fetches the missing files, and takes them into a corpus."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import is_zipfile

from pydantic import TypeAdapter, ValidationError

from localrag.corpus.durable import replace_text, storing
from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.ingest.events import Listener
from localrag.corpus.ingest.reading import limits_of
from localrag.corpus.ingest.update import UpdateReport, update
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import InputError, NotFoundError, UsageError
from localrag.language import N_
from localrag.ops.laws.egov import DAYS_KEPT, EGov
from localrag.ops.laws.shelf import (
    FILES,
    Kept,
    Shelf,
    check_archive,
    check_text,
    day_in_japan,
    through,
    today,
)
from localrag.ops.laws.types import ALL, Archive, Revision
from localrag.text.progress import BYTES, Phase, Stopwatch, ignore

if TYPE_CHECKING:
    from localrag.corpus.config import Config

FETCHING = N_("fetching")
LISTING = N_("listing states")
TEXTS = N_("texts")
_LAW = "law:"


@dataclass(frozen=True, slots=True)
class Text:
    """A state of a law to fetch.

    Attributes:
        revision: the state.
        form: ``xml`` or ``json``.
    """

    revision: Revision
    form: str

    @property
    def scope(self) -> str:
        """The scope of its file."""
        return f"{_LAW}{self.revision.law_id}"

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.revision.id}.{self.form}"


Item = Archive | Text
"""Something to fetch."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Something to fetch, before it is fetched.

    Attributes:
        scope, file: as in `Kept`.
        size: in bytes; None if the server does not say.
        is_here: a whole file is at hand.
    """

    scope: str
    file: str
    size: int | None
    is_here: bool


@dataclass(slots=True)
class Fetched:
    """The result of fetching.

    Attributes:
        new: files fetched now.
        unchanged: files at hand before.
        silent: days without an archive.
        failed: names of laws or files, and why.
    """

    new: list[Kept] = field(default_factory=list)
    unchanged: list[Kept] = field(default_factory=list)
    silent: list[Kept] = field(default_factory=list)
    failed: list[tuple[str, InputError | NotFoundError]] = field(default_factory=list)

    @property
    def files(self) -> list[Kept]:
        """All files at hand."""
        return [*self.unchanged, *self.new]

    @property
    def no_change(self) -> list[str]:
        """The days (ISO) without an archive."""
        return [one.scope.partition(":")[2] for one in self.silent]

    @property
    def taken(self) -> list[Kept]:
        """The files for a corpus, and the days without changes."""
        return [*self.files, *self.silent]


# Plans


def states_of(
    egov: EGov,
    shelf: Shelf,
    laws: Sequence[str],
    form: str,
    failed: Fetched,
    *,
    history: bool,
    on_event: Listener = ignore,
) -> list[Text]:
    """The states of laws, each by its id, number or title.

    Args:
        egov: asked for them.
        shelf: the folder remembers today's answers.
        laws: the names.
        form: ``xml`` or ``json``.
        failed: gets the laws unknown to e-Gov.
        history: with the states before today's, as far as e-Gov has them.
        on_event: called with `Progress`.

    Raises:
        InputError: the server fails.
        StorageError: the folder cannot be written.
    """
    found: dict[str, Text] = {}
    known, watch = shelf.remembered(), Stopwatch(on_event)
    for number, law in enumerate(laws, start=1):
        watch(Phase(LISTING, TEXTS), number, len(laws))
        try:
            if law not in known:
                known[law] = _revisions(egov, law)
                shelf.remember(law, known[law])
        except NotFoundError as error:
            failed.failed.append((law, error))
            continue
        revisions = known[law]
        needed = [one for one in revisions if history or one.is_needed] or revisions[:1]
        found.update((one.id, Text(one, form)) for one in needed)
    return list(found.values())


def _revisions(egov: EGov, law: str) -> list[Revision]:
    if law[:1].isdigit() or law.endswith("号"):
        return egov.revisions(law)
    found = egov.search(law)
    exact = [one for one in found if law in (one.title, *one.names)]
    if len(exact) == 1:
        return egov.revisions(exact[0].law_id)
    listed = exact or found
    names = ", ".join(f"{one.title} ({one.law_id})" for one in listed[:10])
    raise NotFoundError(
        N_("e-Gov has no single law called {law}."),
        N_("Name one of these by its id: {names}.") if names else N_("Check the title."),
        law=law,
        names=names,
    )


def since(
    files: Sequence[Kept],
    egov: EGov,
    shelf: Shelf,
    form: str,
    failed: Fetched,
    on_event: Listener = ignore,
) -> list[Item]:
    """List the news of e-Gov since some files were fetched.

    All laws come as archives of days, or as a whole if e-Gov has no longer all those days.

    Raises:
        UsageError: the files give no day to start from.
        InputError: the server fails.
    """
    files = [one for one in files if one.scope != FILES]
    if not files:
        raise UsageError(
            N_("The origin and the day of these laws are unknown."),
            N_("Fetch them once: localrag laws download. Later updates continue from there."),
        )
    last = through(files)
    if last is not None:
        return list(_days(last, files))
    categories = {one.scope for one in files if one.scope.startswith("category:")}
    laws = list(
        dict.fromkeys(one.scope.removeprefix(_LAW) for one in files if one.scope.startswith(_LAW))
    )
    known = {one.file: one.updated for one in files}
    texts = states_of(egov, shelf, laws, form, failed, history=False, on_event=on_event)
    new = [one for one in texts if known.get(one.file) != one.revision.updated]
    return [*map(Archive, sorted(categories)), *new]


def _days(last: date, files: Sequence[Kept]) -> Iterable[Archive]:
    yesterday = today() - timedelta(1)
    if (yesterday - last).days > DAYS_KEPT:
        return [Archive(ALL)]
    days = (last + timedelta(n + 1) for n in range((yesterday - last).days))
    return map(Archive.of_day, sorted({*days, *asked_once(files)}))


def asked_once(files: Iterable[Kept]) -> list[date]:
    """Days without an archive, asked for only once.

    The server may have failed, so they are asked for once more.
    """
    oldest = today() - timedelta(DAYS_KEPT)
    return sorted(
        one.day
        for one in files
        if one.day and not one.file and one.asked == 1 and one.day >= oldest
    )


# Fetching

_GIVES_UP = 3
"""Failed texts in a row before the download stops."""


def plan(egov: EGov, shelf: Shelf, items: Sequence[Item]) -> list[Planned]:
    """List the files to fetch; the server is asked for the sizes of archives.

    Raises:
        InputError: the server fails.
    """
    kept = {one.file: one for one in shelf.files()}
    planned = []
    for item in items:
        one = kept.get(item.file)
        if one and _is_current(item, one):
            planned.append(Planned(item.scope, item.file, one.size, is_here=True))
        else:
            size = egov.size(item) if isinstance(item, Archive) and not item.day else None
            planned.append(Planned(item.scope, item.file, size, is_here=False))
    return planned


def fetch(
    egov: EGov, shelf: Shelf, items: Sequence[Item], fetched: Fetched, on_event: Listener = ignore
) -> Fetched:
    """Fetch the missing files; a stopped call is continued by the next one.

    Args:
        egov: the server.
        shelf: the folder.
        items: archives and texts.
        fetched: gets the results.
        on_event: called with `Progress`.

    Raises:
        InputError: the server fails; whole files are kept.
        BusyError: another process fetches into the folder.
        StorageError: the disk is full or not writable.
    """
    work = _Fetching(egov, shelf, fetched, on_event)
    with shelf.held():
        work.known = {one.key: one for one in shelf.files()}
        for number, item in enumerate(items, start=1):
            work.get(item)
            if isinstance(item, Text):
                work.watch(Phase(FETCHING, TEXTS), number, len(items))
        shelf.forget_states()
    return fetched


def _is_current(item: Item, one: Kept) -> bool:
    if isinstance(item, Text):
        return one.updated == item.revision.updated
    # e-Gov makes new ones every day.
    return bool(item.day) or one.fetched_on == today()


def _is_of_today(item: Archive, path: Path) -> bool:
    if not path.exists():
        return False
    made = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return bool(item.day) or day_in_japan(made) == today()


class _Fetching:
    """One run of `fetch`."""

    def __init__(self, egov: EGov, shelf: Shelf, fetched: Fetched, on_event: Listener) -> None:
        self._egov = egov
        self._shelf = shelf
        self._fetched = fetched
        self._failures = 0
        self.watch = Stopwatch(on_event)
        self.known: dict[str, Kept] = {}

    def get(self, item: Item) -> None:
        one = self.known.get(item.scope if isinstance(item, Archive) and item.day else item.file)
        if one and one.file and _is_current(item, one):
            self._fetched.unchanged.append(one)
        elif isinstance(item, Archive):
            self._get_archive(item, one)
        elif (adopted := self._adopted(item)) is not None:
            self._fetched.unchanged.append(adopted)
        else:
            self._get_text(item)

    def _get_archive(self, item: Archive, before: Kept | None) -> None:
        target = self._shelf.folder / item.file
        if before is None and _is_of_today(item, target) and is_zipfile(target):
            # A killed process had checked it, and not listed it.
            part = target
        else:
            part = self._shelf.part(item.file)
        laws = self._laws_of_whole(item, part)
        if not laws and not self._egov.fetch_archive(item, part, self._teller(item)):
            self._shelf.part(item.file, going_on=False)
            self._note_no_change(item, before)
            return
        if not laws:
            try:
                laws = self._check(item, part)
            except InputError:
                # Two states of an archive may have been joined: once more, from the start.
                self._shelf.part(item.file, going_on=False)
                self._egov.fetch_archive(item, part, self._teller(item))
                laws = self._check_again(item, part)
        self._fetched.new.append(self._shelf.keep(part, Kept(item.scope, item.file, laws=laws)))

    def _check_again(self, item: Archive, part: Path) -> int:
        try:
            return self._check(item, part)
        except InputError:
            self._shelf.part(item.file, going_on=False)
            raise

    def _check(self, item: Archive, part: Path) -> int:
        return check_archive(part, item, self._egov.address(item), self.watch)

    def _laws_of_whole(self, item: Archive, part: Path) -> int:
        """The laws of a complete file without a check; else 0."""
        if not (part.exists() and is_zipfile(part)):
            return 0
        try:
            return self._check(item, part)
        except InputError:
            return 0

    def _teller(self, item: Archive) -> Callable[[int], object]:
        phase = Phase(FETCHING, BYTES, item.file)
        # The size is unknown.
        return lambda have: self.watch(phase, have, have)

    def _note_no_change(self, item: Archive, before: Kept | None) -> None:
        asked = before.asked + 1 if before and not before.file else 1
        now = datetime.now(UTC).isoformat(timespec="seconds")
        silent = Kept(item.scope, "", fetched=now, asked=asked)
        self._shelf.note(silent)
        self._fetched.silent.append(silent)

    def _adopted(self, item: Text) -> Kept | None:
        """A text kept, but not listed, by a killed process."""
        path = self._shelf.folder / item.file
        if not path.exists() or item.file in self.known:
            return None
        return self._kept(item, path)

    def _get_text(self, item: Text) -> None:
        part = self._shelf.part(item.file, going_on=False)
        try:
            self._egov.fetch_text(item.revision.id, item.form, part)
        except InputError as error:
            self._failures += 1
            if self._failures == _GIVES_UP:
                raise
            self._fetched.failed.append((item.file, error))
            return
        self._failures = 0
        try:
            self._fetched.new.append(self._kept(item, part))
        except InputError as error:
            self._shelf.part(item.file, going_on=False)
            self._fetched.failed.append((item.file, error))

    def _kept(self, item: Text, path: Path) -> Kept:
        check_text(path, item.file, item.revision.law_id)
        kept = Kept(item.scope, item.file, laws=1, updated=item.revision.updated)
        return self._shelf.keep(path, kept)


# Taking


@dataclass(frozen=True, slots=True)
class Record:
    """The files of e-Gov in a corpus, beside its store.

    Attributes:
        files: the files.
        update: number of the update with the last of them; 0 for `add`.
        before: the files before this update.
    """

    files: tuple[Kept, ...] = ()
    update: int = 0
    before: tuple[Kept, ...] = ()


_record = TypeAdapter(Record)


def record_of(place: CorpusPaths) -> tuple[Kept, ...]:
    """The files taken by a corpus, except for an undone update.

    Raises:
        StoreError: the store is damaged.
    """
    record = _read(place)
    if not record.update or not place.store.exists():
        return record.files
    with CorpusStore.open(place.store) as store:
        return record.files if store.last_update else record.before


def _read(place: CorpusPaths) -> Record:
    try:
        return _record.validate_json(_record_file(place).read_bytes())
    except (FileNotFoundError, ValidationError):
        return Record()


def _record_file(place: CorpusPaths) -> Path:
    return place.store.with_name("laws.json")


def _note_taken(
    place: CorpusPaths, taken: Sequence[Kept], report: AddReport | UpdateReport
) -> None:
    """Record files as taken, in place of older ones."""
    old, known = _read(place), record_of(place)
    merged = {one.key: one for one in (*known, *taken)}
    covered = through(one for one in merged.values() if not one.day) or date.min
    files = tuple(one for one in merged.values() if not one.day or one.day > covered)
    update, before = old.update, old.before
    if isinstance(report, UpdateReport) and report.applied:
        with CorpusStore.open(place.store) as store:
            update, before = store.last_update, known
    with storing(_record_file(place)):
        text = _record.dump_json(Record(files, update, before), indent=1).decode()
        replace_text(_record_file(place), text + "\n")


def take(
    workspace: Workspace,
    corpus: str,
    config: "Config",
    shelf: Shelf,
    files: Sequence[Kept],
    *,
    remove: Collection[str] | None = None,
    dry_run: bool = False,
    before: Callable[[UpdateReport], object] = ignore,
    on_event: Listener = ignore,
) -> AddReport | UpdateReport:
    """Take fetched laws into a corpus: added if it has none, else as an update to be undone.

    Args:
        workspace: of the corpus.
        corpus: its name; it need not exist.
        config: its settings.
        shelf: the folder of the files.
        files: the files to take.
        remove: ids of repealed laws to remove, besides laws missing in an archive of all laws;
            None to remove none.
        dry_run: report the changes of an update, and make none.
        before: as for `update`.
        on_event: as for `update`.

    Raises:
        UsageError: the corpus has no laws yet, and the files are changes alone.
        LocalragError: as `add` and `update`.
    """
    place = workspace.corpus(corpus)
    held = [one for one in files if one.file]
    days = sorted((one for one in held if one.day), key=lambda one: one.scope, reverse=True)
    others = [one for one in held if not one.day]
    workers, limits = config.ingest.processes, limits_of(config)
    if not _has_laws(place):
        if not others:
            raise UsageError(
                N_("The corpus {name!r} has no laws, and these are changes alone."),
                N_("Begin with all laws: localrag laws download"),
                name=corpus,
            )
        report: AddReport | UpdateReport = add(
            workspace,
            corpus,
            [*map(shelf.path, others)],
            workers=workers,
            limits=limits,
            on_event=on_event,
        )
        _note_taken(place, others, report)
        if not days:
            return report
        files = [one for one in files if one.day]
        others = []
    report = update(
        workspace,
        corpus,
        [*map(shelf.path, (*days, *others))],
        whole=remove is not None and any(one.scope == ALL for one in others),
        dry_run=dry_run,
        repealed=remove or (),
        newest_first=bool(days),
        before=before,
        workers=workers,
        limits=limits,
        on_event=on_event,
    )
    if not dry_run:
        _note_taken(place, files, report)
    return report


def _has_laws(place: CorpusPaths) -> bool:
    if not place.store.exists():
        return False
    with CorpusStore.open(place.store) as store:
        return bool(store.law_states())


def to_take(
    listed: Sequence[Kept], known: Sequence[Kept], *, whole_again: bool = False
) -> list[Kept]:
    """The files of a folder still to be taken by a corpus.

    Files older than its texts are left out.

    Args:
        listed: the files of the folder.
        known: the files taken before.
        whole_again: also an archive of all laws taken before, to compare the laws with it.
    """
    last, have = through(known), {one.key: one for one in known}

    def is_new(one: Kept) -> bool:
        before = have.get(one.key)
        if one.scope == ALL:
            same = before is not None and before.sha256 == one.sha256
            return (whole_again or not same) and not (last and one.fetched_on <= last)
        if one.day and one.file:
            return not (last and one.day <= last)
        if one.scope == FILES or before is None:
            return True
        # Two fetches may fall into one second.
        is_other = before.sha256 != one.sha256
        return before.fetched < one.fetched or (is_other and before.fetched == one.fetched)

    return [one for one in listed if is_new(one)]
