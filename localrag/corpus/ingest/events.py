"""The events of adding and indexing. Each is sent after its data is stored."""

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

# Listed by an event, of the pages.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class FilesFound:
    """The walk is over: the number of files to look at, and the files passed over."""

    files: int
    passed_over: tuple[PassedOver, ...] = ()


@dataclass(frozen=True, slots=True)
class FileResumed:
    """Reading a file continues after an interruption; everything before is stored."""

    path: str
    line: int  # the last one read before


@dataclass(frozen=True, slots=True)
class DocumentsStored:
    """Ids of stored documents, a few thousand at most; a large file sends many of these events."""

    path: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    bytes: int = 0  # of the file read so far; 0 if unknown


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file is stored; the number of documents, by what was done with them.

    After an interruption it counts the documents behind that line. It is sent again for documents
    that waited for the other files.
    """

    path: str
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class PartsLeftOut:
    """Parts of a file were left out on purpose, or read in a way worth a note."""

    source: str
    what: str  # in the plural ("pages that are no articles"), a message marked with `N_`
    count: int
    in_text: bool = False  # whether they were read all the same ("tracked insertions")


@dataclass(slots=True)
class LeftOut:
    """Counts of everything that an `add` or `update` left out."""

    # files, members of zips and attachments without a reader, by suffix
    unsupported: dict[str, int] = field(default_factory=dict)
    # each of them, and each link not followed, with its reason
    passed_over: list[PassedOver] = field(default_factory=list)
    # parts of files left out on purpose, with counts
    left_out: dict[str, int] = field(default_factory=dict)
    # parts read and noted ("tracked insertions"), with counts
    named: dict[str, int] = field(default_factory=dict)

    def count_left_out(self, one: PassedOver | PartsLeftOut) -> None:
        if isinstance(one, PartsLeftOut):
            counts = self.named if one.in_text else self.left_out
            counts[one.what] = counts.get(one.what, 0) + one.count
            return
        self.passed_over.append(one)
        if one.suffix:
            self.unsupported[one.suffix] = self.unsupported.get(one.suffix, 0) + 1


@dataclass(frozen=True, slots=True)
class PagesScanned:
    """OCR read scanned pages of a file."""

    source: str  # the file
    pages: int  # how many, pages read earlier included
    earlier: int  # pages read in an earlier run
    confidence: float  # average confidence of a character
    # numbers of the uncertain pages, each with its confidence
    doubtful: tuple[tuple[int, float], ...]
    empty: tuple[int, ...]  # numbers of the pages without any text

    @property
    def words(self) -> list[str]:
        """The event in words, in the language in use."""
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
    """A file is unchanged and was not read again."""

    path: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A file or document with content of the store was left out; `MoreDuplicates` counts on."""

    source: str
    original: str


@dataclass(frozen=True, slots=True)
class MoreDuplicates:
    """How many further documents of a file are already stored."""

    source: str
    count: int


@dataclass(frozen=True, slots=True)
class DocumentsKept:
    """Documents missing in a file stay in the corpus."""

    source: str  # the file
    documents: int
    reason: str  # why they stay, as the end of a sentence; a message marked with `N_`


@dataclass(frozen=True, slots=True)
class FileFailed(Unread):
    """A file or document could not be entered; what was stored of it before stays."""


@dataclass(frozen=True, slots=True)
class FileRemoved:
    """A file is gone, and its documents were removed from the corpus."""

    path: str
    documents: int


@dataclass(frozen=True, slots=True)
class EmbeddingPlanned:
    """Embedding is about to begin."""

    windows: int  # windows, passages: to embed; both 0 if all vectors are there
    passages: int
    model: str  # id of the embedder
    memory_bytes: int  # the most for building the index, besides the model
    discarded: str = ""  # the damage of the earlier vectors


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
