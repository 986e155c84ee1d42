"""What adding and indexing tell while they run. An event is sent once what it says is stored."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilesFound:
    """The walk is over: so many files to look at, so many of a kind nobody reads.

    Attributes:
        unsupported: how many, by suffix.
    """

    files: int
    unsupported: dict[str, int]


@dataclass(frozen=True, slots=True)
class DocumentsStored:
    """So many documents of a large file are stored; there are more to come."""

    path: str
    documents: int


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file is stored; document ids by what was done with them."""

    path: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileUnchanged:
    """A file is as it was when it was read, and was not read again."""

    path: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A file, or a document of it, has the content of one that is stored; it was not entered.

    Attributes:
        source: what was left out.
        original: what holds the same.
    """

    source: str
    original: str


@dataclass(frozen=True, slots=True)
class FileFailed:
    """A file, or one document of it, could not be entered; what was stored of it before stays."""

    source: str
    cause: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class FileRemoved:
    """A file is gone, and its documents were removed from the corpus."""

    path: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EmbeddingPlanned:
    """Embedding is about to begin.

    Attributes:
        windows, passages: to embed; both 0 where all vectors are there already.
        model: id of the embedder.
        memory_bytes: what the index takes to build, at most, besides the model.
        discarded: the damage for which vectors made before are not taken over.
    """

    windows: int
    passages: int
    model: str
    memory_bytes: int
    discarded: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is.

    Attributes:
        stage: ``read`` (bytes), ``links`` (documents), ``terms`` (passages), ``windows``
            (passages split), ``vectors`` (passages embedded), ``graph`` (vectors).
        done, total: in the unit of the stage.
    """

    stage: str
    done: int
    total: int


Event = (
    FilesFound
    | DocumentsStored
    | FileRead
    | FileUnchanged
    | Duplicate
    | FileFailed
    | FileRemoved
    | EmbeddingPlanned
    | Progress
)
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Be the listener that does not listen."""
    del event
