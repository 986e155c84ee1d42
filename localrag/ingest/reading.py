"""Reading one file: its digest and its documents laid out for the store."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import file_digest

from localrag.corpus import readers
from localrag.corpus.readers import Limits, ReadFailure
from localrag.corpus.rows import DocumentRows, prepare
from localrag.errors import InputError
from localrag.ingest.walk import FoundFile

Outcome = DocumentRows | ReadFailure


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read.

    Attributes:
        known_digest: of the content the store has of it; empty when it has none.
    """

    file: FoundFile
    known_digest: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds; no outcomes where its digest is the known one.

    Attributes:
        digest: of its bytes; empty where they cannot be read.
    """

    digest: str
    outcomes: Iterable[Outcome] = ()


class Reader:
    """Reads files; picklable, so that other processes can do it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, task: Task) -> Content:
        """Read a file as a whole, unless its content is the known one. Nothing is raised."""
        content = self.stream(task)
        return Content(content.digest, tuple(content.outcomes))

    def stream(self, task: Task) -> Content:
        """Read a file as its outcomes are asked for, otherwise as `__call__`."""
        try:
            str(task.file.path).encode()
        except UnicodeEncodeError:
            cause = "The name of the file or of its folder is not valid UTF-8."
            return Content("", (ReadFailure(task.file.name, cause, "Rename it, then add it."),))
        try:
            with task.file.path.open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
        except OSError as error:
            cause = f"The file cannot be read ({error.strerror})."
            return Content("", (ReadFailure(task.file.name, cause, "Check that it is there."),))
        if digest == task.known_digest:
            return Content(digest)
        return Content(digest, self._outcomes(task.file))

    def _outcomes(self, file: FoundFile) -> Iterator[Outcome]:
        """Yield the documents of a file, ready for the store, and its failures."""
        for outcome in readers.read(file.path, limits=self._limits, name=file.name):
            if isinstance(outcome, ReadFailure):
                yield outcome
                continue
            try:
                yield prepare(outcome)
            except InputError as error:
                yield ReadFailure(outcome.source, error.cause, error.cure)
