"""Reading one file: its digest and its documents laid out for the store."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TypeVar

from localrag.corpus import readers
from localrag.corpus.readers import Limits, Mark, Omission, Piece, ReadFailure
from localrag.corpus.rows import DocumentRows, prepare
from localrag.corpus.store import FileRecord
from localrag.corpus.types import Document
from localrag.errors import InputError, StorageError
from localrag.ingest.walk import FoundFile
from localrag_indexes.errors import IndexingError
from localrag_indexes.parallel import map_stream

Outcome = DocumentRows | ReadFailure | Omission | Mark

Item = TypeVar("Item")
Result = TypeVar("Result")

_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read.

    Attributes:
        known: what the store has of it; None when it has nothing.
    """

    file: FoundFile
    known: FileRecord | None


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds.

    Attributes:
        digest: of its bytes; empty where they cannot be read.
        unchanged: whether the store has all of it; then there are no outcomes.
        resumed: what the store has of it, where the outcomes are those after `FileRecord.line`.
    """

    digest: str
    outcomes: Iterable[Outcome] = ()
    unchanged: bool = False
    resumed: FileRecord | None = None


class Reader:
    """Reads files; picklable, so that other processes can do it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, task: Task) -> Content:
        """Read a file as a whole, unless its content is the known one. Nothing is raised."""
        content = self.stream(task)
        return replace(content, outcomes=tuple(content.outcomes))

    def stream(
        self, task: Task, workers: int = 1, on_bytes: Callable[[int], None] = lambda _: None
    ) -> Content:
        """Read a file as its outcomes are asked for, otherwise as `__call__`.

        Args:
            task: the file.
            workers: processes that share the work, where the form of the file allows it.
            on_bytes: told how many bytes have been compared with what is known of the file.
        """
        try:
            str(task.file.path).encode()
        except UnicodeEncodeError:
            cause = "The name of the file or of its folder is not valid UTF-8."
            return Content("", (ReadFailure(task.file.name, cause, "Rename it, then add it."),))
        try:
            digest = _digest(task.file.path, on_bytes)
        except OSError as error:
            cause = f"The file cannot be read ({error.strerror})."
            return Content("", (ReadFailure(task.file.name, cause, "Check that it is there."),))
        known = task.known if task.known and task.known.digest == digest else None
        if known and known.complete:
            return Content(digest, unchanged=True)
        if known is None or not known.line:
            return Content(digest, self._outcomes(task.file, 0, workers))
        resumed = replace(known, bytes=task.file.bytes, modified=task.file.modified)
        return Content(digest, self._outcomes(task.file, known.line, workers), resumed=resumed)

    def _outcomes(self, file: FoundFile, after: int, workers: int) -> Iterator[Outcome]:
        found = readers.stream(
            file.path, limits=self._limits, name=file.name, after=after, in_pieces=workers > 1
        )
        first = next(found, None)
        if first is None:
            return
        work = _LayOut(self._limits)
        workers = workers if isinstance(first, Piece) else 1
        for _, outcomes in in_processes(work, chain([first], found), workers):
            yield from outcomes


class _LayOut:
    """Lays what is read out for the store; picklable."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, found: readers.Outcome | Piece) -> tuple[Outcome, ...]:
        pieces = readers.read_piece(found, self._limits) if isinstance(found, Piece) else (found,)
        return tuple(map(_laid_out, pieces))


def _laid_out(outcome: readers.Outcome) -> Outcome:
    if not isinstance(outcome, Document):
        return outcome
    try:
        return prepare(outcome)
    except InputError as error:
        return ReadFailure(outcome.source, error.cause, error.cure)


def in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[Item, Result]]:
    """Do the work of reading in other processes, in order; see `map_stream`.

    Raises:
        StorageError: a process was killed.
    """
    try:
        yield from map_stream(work, items, workers)
    except IndexingError as error:
        raise StorageError(
            f"Reading stopped: {error}.",
            "What was added is kept. Go on with: localrag --set ingest.workers=1 add PATH",
        ) from error


def _digest(path: Path, on_bytes: Callable[[int], None]) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(_BLOCK):
            digest.update(piece)
            on_bytes(file.tell())
    return digest.hexdigest()
