"""Finding the files of an `add`, and reading one: its digest, and its documents as rows."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TypeVar

from localrag.corpus import readers
from localrag.corpus.config import Config
from localrag.corpus.ingest.events import READING_PAGES
from localrag.corpus.readers import (
    Limits,
    LineBlock,
    Omission,
    OnlyImagesError,
    PageRead,
    PassedOver,
    ReadFailure,
    ResumePoint,
    Scans,
)
from localrag.corpus.readers.ocr import PaddleOcr, is_installed
from localrag.corpus.rows import DocumentRows, prepare
from localrag.corpus.store import FileRecord
from localrag.corpus.types import PAGES_UNREADABLE, PAGES_WITHOUT_TEXT, Document
from localrag.errors import InputError, NotFoundError, NoWorkers, StorageError
from localrag.language import N_
from localrag.text.harmless import one_line
from localrag.text.progress import Progress, Stopwatch
from localrag_indexes.errors import IndexingError, WorkerNotStarted
from localrag_indexes.parallel import map_stream


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to look at."""

    path: Path  # absolute
    name: str  # relative to the folder of the walk, with slashes; for ids of documents
    bytes: int  # bytes, modified: size and modification time (nanoseconds)
    modified: int


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a walk."""

    roots: tuple[Path, ...]  # the requested folders and files, absolute
    files: tuple[FoundFile, ...]  # each once, folder by folder, sorted by name
    # unread files, each with its reason, in the order of the walk
    passed_over: tuple[PassedOver, ...] = ()
    unreadable: tuple[Path, ...] = ()  # folders and files with an error

    def problems(self) -> Iterator[tuple[str, InputError]]:
        """The unreadable paths, each with its error and cure."""
        for path in self.unreadable:
            problem = InputError(
                N_("It cannot be read."), N_("Check its permissions, or where the link leads.")
            )
            yield str(path), problem

    def links(self) -> Iterator[PassedOver]:
        return (one for one in self.passed_over if one.problem is _NOT_FOLLOWED)

    def covers(self, path: str) -> bool:
        return any(Path(path).is_relative_to(root) for root in self.roots)


def walk(
    paths: Sequence[Path], supported: Callable[[Path], bool], *, follow_links: bool = False
) -> Walk:
    """Find the files below some folders; a file or link in `paths` is always taken.

    Hidden files and folders (``.git``, ``.DS_Store``) and leftovers of systems and programs
    (``Thumbs.db``, ``~$letter.docx``) are skipped silently. Links that lead back, or are not
    followed, are listed. Raises `NotFoundError` if a path does not exist or cannot be looked up.
    """
    roots = tuple(Path(os.path.abspath(path)) for path in paths)  # noqa: PTH100 - keeps links
    found: dict[Path, FoundFile] = {}
    steps = _Steps(follow_links)
    for root in roots:
        _require(root)
        if not root.is_dir():
            found.setdefault(root, _describe(root, root.parent))
            continue
        steps.seen.clear()
        for path in steps.files(root):
            if not supported(path):
                steps.passed_over[path] = readers.how_to_read(path)
            elif path not in found:
                try:
                    found[path] = _describe(path, root)
                except OSError:
                    steps.unreadable.append(path)
    passed_over = (
        PassedOver(
            str(path), reason, "" if reason is _NOT_FOLLOWED else path.suffix.lower() or path.name
        )
        for path, reason in steps.passed_over.items()
        if path not in found
    )
    return Walk(roots, tuple(found.values()), tuple(passed_over), tuple(steps.unreadable))


def _require(root: Path) -> None:
    try:
        exists = root.exists()
    except OSError as error:
        raise NotFoundError(
            N_("{root} cannot be looked up ({problem})."),
            N_("Check the path and its permissions."),
            root=root,
            problem=error,
        ) from error
    if not exists:
        raise NotFoundError(
            N_("There is no file or folder {root}."),
            N_("Check the spelling."),
            root=root,
        )


def still_there(path: str) -> bool:
    """Whether a file exists; true if unknown, to remove nothing on a guess."""
    try:
        return Path(path).exists()
    except OSError:
        return True


class _Steps:
    def __init__(self, follow_links: bool) -> None:
        self._follow_links = follow_links
        self.passed_over: dict[Path, InputError] = {}
        self.unreadable: list[Path] = []
        self.seen = set[tuple[int, int]]()

    def files(self, folder: Path) -> Iterator[Path]:
        """Yield the files below a folder, in order of their names."""
        try:
            status = folder.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in self.seen:
                return
            self.seen.add(identity)
            with os.scandir(folder) as entries:
                visible = [entry for entry in entries if not _is_left_behind(entry.name)]
        except OSError:
            self.unreadable.append(folder)
            return
        for entry in sorted(visible, key=lambda entry: entry.name):
            path = Path(entry.path)
            try:
                if entry.is_symlink() and not self._follow_links:
                    self.passed_over[path] = _NOT_FOLLOWED
                elif entry.is_dir():
                    yield from self.files(path)
                elif entry.is_file():
                    yield path
                elif entry.is_symlink() and not path.exists():
                    self.unreadable.append(path)
                else:
                    self.passed_over[path] = _NO_FILE
            except OSError:  # A link that leads to itself, a share that went away.
                self.unreadable.append(path)


_NOT_FOLLOWED = InputError(
    N_("It is a link, and links inside a folder are not followed."),
    N_("Follow them with --follow-links, or add the file or folder that it leads to."),
)
"""Why a link is left out."""
_NO_FILE = InputError(N_("It is a device, a socket or a pipe."), N_("Add files and folders only."))


def _is_left_behind(name: str) -> bool:
    """Whether a name is hidden, or a leftover of a system or a program (``~$letter.docx``)."""
    return name.startswith((".", "~$")) or name.casefold() in ("thumbs.db", "desktop.ini")


def _describe(path: Path, root: Path) -> FoundFile:
    status = path.stat()
    name = path.relative_to(root).as_posix()
    return FoundFile(path, name, status.st_size, status.st_mtime_ns)


def limits_of(config: Config) -> Limits:
    """The limits of the settings for files, and how scanned pages are read."""
    reads_scans = config.ingest.ocr == "auto" and is_installed()
    return Limits(
        file_bytes=config.ingest.max_file_mb * 1_000_000,
        scans=Scans(PaddleOcr(config.runtime.threads)) if reads_scans else None,
    )


def watched(limits: Limits, tell: Callable[[Progress], None]) -> Limits:
    """The same limits, with progress reports for scanned pages."""
    if limits.scans is None:
        return limits
    watch = Stopwatch(tell)

    def take(page: PageRead) -> None:
        watch(replace(READING_PAGES, about=page.source), page.done, page.total, page.earlier)

    return replace(limits, scans=replace(limits.scans, on_page=take))


Outcome = DocumentRows | ReadFailure | Omission | PassedOver | ResumePoint

Item = TypeVar("Item")
Result = TypeVar("Result")

# Larger files are streamed document by document.
_LARGE = 4_000_000
# Below this many bytes, starting processes costs more than it saves.
_WORTH_PROCESSES = 2_000_000
_BLOCK = 1 << 22
# Size on the disk: compressed texts have some hundred bytes a document.
_BYTES_A_DOCUMENT = 10


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file to read."""

    file: FoundFile
    known: FileRecord | None  # its record in the store, if any
    # read it although the store has all of it, because scanned pages were left out
    again: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file."""

    digest: str  # of its bytes; empty if they cannot be read
    outcomes: Iterable[Outcome] = ()
    unchanged: bool = False  # the store has all of it, and there are no outcomes
    resumed: FileRecord | None = None  # its record, if the outcomes begin after `FileRecord.line`


class FileReader:
    """Reads files; can be pickled for other processes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, task: FileToRead) -> Content:
        """Read a whole file, unless its content is known. It never raises."""
        content = self.stream(task)
        return replace(content, outcomes=tuple(content.outcomes))

    def stream(
        self, task: FileToRead, workers: int = 1, on_bytes: Callable[[int], None] = lambda _: None
    ) -> Content:
        """Read a file while its outcomes are taken; otherwise like `__call__`."""
        try:
            str(task.file.path).encode()
        except UnicodeEncodeError:
            problem = InputError(
                N_("The name of the file or of its folder is not valid UTF-8."),
                N_("Rename it, then add it."),
            )
            return Content("", (ReadFailure(task.file.name, problem),))
        try:
            digest = _digest(task.file.path, on_bytes)
        except OSError as error:
            return Content("", (ReadFailure(task.file.name, readers.unreadable(error)),))
        known = task.known if task.known and task.known.digest == digest else None
        if known and known.complete and not task.again:
            return Content(digest, unchanged=True)
        limits = self._limits_of(digest)
        if known is None or not known.line:
            return Content(digest, self._outcomes(task.file, limits, 0, workers))
        resumed = replace(known, bytes=task.file.bytes, modified=task.file.modified)
        outcomes = self._outcomes(task.file, limits, known.line, workers)
        return Content(digest, outcomes, resumed=resumed)

    def without_scans(self) -> "FileReader":
        """The same reader without OCR: one process reads scanned pages, with all cores."""
        return FileReader(replace(self._limits, scans=None))

    @property
    def reads_scans(self) -> bool:
        return self._limits.scans is not None

    def discard_kept(self, digest: str) -> None:
        """Remove the kept pages of a scanned file."""
        if scans := self._limits_of(digest).scans:
            scans.discard_kept()

    def _limits_of(self, digest: str) -> Limits:
        scans, aside = self._limits.scans, self._limits.aside
        if scans is None or aside is None:
            return self._limits
        kept = aside / "scans" / digest
        return replace(self._limits, scans=replace(scans, kept=kept))

    def _outcomes(
        self, file: FoundFile, limits: Limits, after: int, workers: int
    ) -> Iterator[Outcome]:
        found = readers.stream(
            file.path, limits=limits, name=file.name, after=after, in_pieces=workers > 1
        )
        first = next(found, None)
        if first is None:
            return
        work = _LayOut(replace(limits, scans=None))
        workers = workers if isinstance(first, LineBlock) else 1
        read = in_processes(work, chain([first], found), workers)
        yield from _given_up(chain.from_iterable(done for _, done in read), file, limits)


def contents(
    reader: FileReader,
    tasks: Sequence[FileToRead],
    workers: int,
    on_check: Callable[[int, int], None],
) -> Iterator[tuple[FileToRead, Content]]:
    """Read files: small ones as a whole, in processes; large ones while their outcomes are taken.

    `on_check` is called for a large file with its size and the bytes compared so far.
    """
    # Large files come last: the order of documents is the same with any number of workers.
    small = [task for task in tasks if not _is_streamed(task.file)]
    worth = len(small) > 1 and sum(task.file.bytes for task in small) >= _WORTH_PROCESSES
    scanned: list[FileToRead] = []
    for task, content in in_processes(reader.without_scans(), small, workers if worth else 1):
        if reader.reads_scans and any(map(_leaves_scans, content.outcomes)):
            scanned.append(task)
        else:
            yield task, content
    for task in [*scanned, *filter(lambda task: _is_streamed(task.file), tasks)]:
        yield task, reader.stream(task, workers, partial(on_check, task.file.bytes))


def _leaves_scans(outcome: Outcome) -> bool:
    """Whether pages or a whole file are left out because they are images."""
    if isinstance(outcome, ReadFailure):
        return isinstance(outcome.problem, OnlyImagesError)
    return isinstance(outcome, DocumentRows) and any(
        f'"{key}"' in outcome.metadata for key in (PAGES_WITHOUT_TEXT, PAGES_UNREADABLE)
    )


def _is_streamed(file: FoundFile) -> bool:
    return file.bytes > _LARGE or readers.grows(file.path)


def _given_up(outcomes: Iterable[Outcome], file: FoundFile, limits: Limits) -> Iterator[Outcome]:
    """The outcomes of a file, until it turns out to be made to fill the corpus."""
    most = max(limits.documents, file.bytes // _BYTES_A_DOCUMENT)
    failures = documents = 0
    for outcome in outcomes:
        yield outcome
        failures += isinstance(outcome, ReadFailure)
        documents += isinstance(outcome, DocumentRows)
        if failures > max(limits.failures, documents):
            said = N_("More than {n:,} parts of the file cannot be read: the rest is left out.")
        elif documents >= most:
            said = N_("The file has {n:,} documents, too many for its size: the rest is left out.")
        else:
            continue
        problem = InputError(said, N_("Check how it was made."), n=max(failures, documents))
        yield ReadFailure(file.name, problem)
        return


class _LayOut:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, found: readers.Outcome | LineBlock) -> tuple[Outcome, ...]:
        pieces = (
            readers.read_piece(found, self._limits) if isinstance(found, LineBlock) else (found,)
        )
        return tuple(map(_laid_out, pieces))


def _laid_out(outcome: readers.Outcome) -> Outcome:
    if not isinstance(outcome, Document):
        return outcome
    try:
        return prepare(_plainly_named(outcome))
    except InputError as error:
        return ReadFailure(outcome.source, error)


def _plainly_named(document: Document) -> Document:
    """The document with every name on one line and without hidden characters.

    A file name may hold line breaks, and characters to reorder or hide others. The text stays.
    """
    names = (
        document.id,
        document.title,
        document.source,
        *(section.title for section in document.sections),
        *(
            f"{p.id}{p.locator.section}{p.header if p.triple is None else ''}"
            for p in document.passages
        ),
    )
    if one_line(every := "".join(names)) == every:
        return document
    id_ = one_line(document.id)
    return replace(
        document,
        id=id_,
        title=one_line(document.title),
        source=one_line(document.source),
        sections=tuple(replace(one, title=one_line(one.title)) for one in document.sections),
        passages=tuple(
            replace(
                one,
                id=one_line(one.id),
                document_id=id_,
                header=one_line(one.header) if one.triple is None else one.header,
                locator=replace(one.locator, section=one_line(one.locator.section)),
            )
            for one in document.passages
        ),
    )


def in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[Item, Result]]:
    """Read in other processes, in order; see `map_stream`. Raises `NoWorkers` or `StorageError`."""
    try:
        yield from map_stream(work, items, workers)
    except WorkerNotStarted as error:
        raise NoWorkers(error) from error
    except IndexingError as error:
        raise StorageError(
            N_("Reading stopped: {problem}."),
            N_(
                "Files added so far are kept. Continue with: localrag --set ingest.workers=1 add "
                "PATH"
            ),
            problem=error,
        ) from error


def _digest(path: Path, on_bytes: Callable[[int], None]) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(_BLOCK):
            digest.update(piece)
            on_bytes(file.tell())
    return digest.hexdigest()
