"""What adding and indexing tell while they run. An event is sent once what it says is stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from localrag.corpus.readers.types import PassedOver, Unread
from localrag.language import N_, _, ngettext
from localrag.text.progress import BYTES, Phase, Progress

COMPARING = Phase(N_("comparing"), BYTES)
READING = Phase(N_("reading"), BYTES)
READING_PAGES = Phase(N_("reading scanned pages"), N_("pages"))
FINDING_REFERENCES = Phase(N_("finding references"), N_("documents"))
INDEXING = Phase(N_("indexing"), N_("passages"))
SPLITTING = Phase(N_("splitting"), N_("passages"))
EMBEDDING = Phase(N_("embedding"), N_("windows"))
JOINING = Phase(N_("joining"), N_("vectors"))

# Of the pages that an event names.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class FilesFound:
    """The walk is over: so many files to look at, and those that are not read."""

    files: int
    passed_over: tuple[PassedOver, ...] = ()


@dataclass(frozen=True, slots=True)
class FileResumed:
    """Reading a file goes on where it was interrupted; what stands before is stored.

    Attributes:
        line: the last one that is not read again.
    """

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class DocumentsStored:
    """Some documents of a file are stored, their ids by what was done with them.

    There are a few thousand at most: a large file sends many of these events.

    Attributes:
        bytes: of the file read so far; 0 where that is not known.
    """

    path: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file is stored; how many documents, by what was done with them since it was begun.

    Where reading was resumed, they are those after the line it was resumed at. Sent once more,
    with those alone, where documents had to wait until the other files were read.
    """

    path: str
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class PartsLeftOut:
    """Something in a file was left out on purpose, or read in a way that its reader names.

    Attributes:
        what: in the plural ("pages that are no articles"), a message marked with `N_`.
        count: how many.
        in_text: whether it was read all the same ("tracked insertions").
    """

    source: str
    what: str
    count: int
    in_text: bool = False


@dataclass(slots=True)
class LeftOut:
    """What a report says of the files besides the documents that were made of them.

    Attributes:
        unsupported: files, members of zips and attachments without a reader, by suffix.
        passed_over: each of them and each link that was not followed, with its reason.
        left_out: what files hold that was left out on purpose, and how many.
        named: what was read and is named all the same ("tracked insertions"), and how many.
    """

    unsupported: dict[str, int] = field(default_factory=dict)
    passed_over: list[PassedOver] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)

    def count_left_out(self, one: PassedOver | PartsLeftOut) -> None:
        """Take something into account that was left out or is named."""
        if isinstance(one, PartsLeftOut):
            counts = self.named if one.in_text else self.left_out
            counts[one.what] = counts.get(one.what, 0) + one.count
            return
        self.passed_over.append(one)
        if one.suffix:
            self.unsupported[one.suffix] = self.unsupported.get(one.suffix, 0) + 1


@dataclass(frozen=True, slots=True)
class PagesScanned:
    """Pages of a file that are images were read by OCR.

    Attributes:
        source: the file.
        pages: how many, those that had been read before included.
        earlier: of them, those that had been read before.
        confidence: how sure OCR is of a character of them, on average.
        doubtful: numbers of the pages it is unsure of, each with its confidence.
        empty: numbers of the pages that it found no text on.
    """

    source: str
    pages: int
    earlier: int
    confidence: float
    doubtful: tuple[tuple[int, float], ...]
    empty: tuple[int, ...]

    @property
    def words(self) -> list[str]:
        """What there is to say of it, in the language in use."""
        read = ngettext(
            "{source}: {n:,} page read by OCR, confidence {confidence:.2f}",
            "{source}: {n:,} pages read by OCR, confidence {confidence:.2f}",
            self.pages,
        )
        told = [read.format(source=self.source, n=self.pages, confidence=self.confidence)]
        if self.doubtful:
            unsure = _("{source}: OCR is unsure of {pages}; compare with the paper")
            pages = _(", ").join(
                _("page {n} ({confidence:.2f})").format(n=number, confidence=confidence)
                for number, confidence in self.doubtful[:_NAMED]
            )
            told.append(unsure.format(source=self.source, pages=pages + self._more(self.doubtful)))
        if self.empty:
            empty = _("{source}: OCR found no text on {pages}")
            pages = _(", ").join(_("page {n}").format(n=number) for number in self.empty[:_NAMED])
            told.append(empty.format(source=self.source, pages=pages + self._more(self.empty)))
        return told

    @staticmethod
    def _more(pages: Sequence[object]) -> str:
        left = len(pages) - _NAMED
        return _(" and {n:,} more").format(n=left) if left > 0 else ""


@dataclass(frozen=True, slots=True)
class FileUnchanged:
    """A file is as it was when it was read, and was not read again."""

    path: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A file, or a document of it, has the content of one that is stored; it was not entered.

    Only the first few documents of a file are told so, the others with `MoreDuplicates`.

    Attributes:
        source: what was left out.
        original: what holds the same.
    """

    source: str
    original: str


@dataclass(frozen=True, slots=True)
class MoreDuplicates:
    """How many further documents of a file have the content of one that is stored."""

    source: str
    count: int


@dataclass(frozen=True, slots=True)
class DocumentsKept:
    """Documents that a file no longer holds, as far as it could be read, stay in the corpus.

    Attributes:
        source: the file.
        documents: how many.
        reason: why they were not removed, as the end of a sentence; a message marked with `N_`.
    """

    source: str
    documents: int
    reason: str


@dataclass(frozen=True, slots=True)
class FileFailed(Unread):
    """A file, or one document of it, could not be entered; what was stored of it before stays."""


@dataclass(frozen=True, slots=True)
class FileRemoved:
    """A file is gone, and so many documents of it were removed from the corpus."""

    path: str
    documents: int


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


Event = (
    FilesFound
    | FileResumed
    | DocumentsStored
    | FileRead
    | PartsLeftOut
    | PassedOver
    | PagesScanned
    | FileUnchanged
    | Duplicate
    | MoreDuplicates
    | DocumentsKept
    | FileFailed
    | FileRemoved
    | EmbeddingPlanned
    | Progress
)
Listener = Callable[[Event], None]
