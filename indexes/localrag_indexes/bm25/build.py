"""Building a BM25 index: analysis in parallel, one writer, one segment where memory allows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from localrag_indexes.bm25 import index
from localrag_indexes.bm25.index import BM25Index
from localrag_indexes.errors import IndexNotWritten
from localrag_indexes.manifest import IndexManifest, describe_files

if TYPE_CHECKING:
    from localrag_indexes.parallel import Workers

# Tantivy flushes a segment when its arena is full; up to this it takes only what it needs.
_MEMORY_BYTES = 700_000_000
_CHUNK_CHARACTERS = 100_000
# The body field holds the header's terms too, so that a word found in both counts as one word
# that is frequent, not as two finds. Twice was best of 1, 2, 3 on Wikipedia and on statutes.
_HEADER_COPIES_IN_BODY = 2


@dataclass(frozen=True, slots=True)
class TextEntry:
    """What is indexed.

    Attributes:
        key: the caller's number for it, unique in the index, any 64-bit signed integer.
        header, body: searched as two fields, each with its own lengths and weight.
        attributes: values to filter by, compared exactly as strings; write dates as ISO dates.
    """

    key: int
    header: str
    body: str
    attributes: Mapping[str, str | int]


class SupportsTerms(Protocol):
    """What an index needs of an analyzer; it is pickled into the worker processes."""

    @property
    def id(self) -> str:
        """Names the analyzer and its version."""
        ...

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text`; none may hold a blank."""
        ...


class _Fields(NamedTuple):
    """The terms of an entry by field, joined by blanks as the writer wants them."""

    header: str
    body: str
    pairs: str


@dataclass(frozen=True, slots=True)
class _TermAnalysis:
    """The work of one worker process."""

    analyzer: SupportsTerms

    def __call__(self, chunk: list[TextEntry]) -> list[_Fields]:
        return [self._fields(entry) for entry in chunk]

    def _fields(self, entry: TextEntry) -> _Fields:
        header, body = self.analyzer.terms(entry.header), self.analyzer.terms(entry.body)
        pairs = index.pairs(header) + index.pairs(body)
        whole = header * _HEADER_COPIES_IN_BODY + body
        return _Fields(" ".join(header), " ".join(whole), " ".join(pairs))


def build(
    folder: Path,
    entries: Iterable[TextEntry],
    *,
    analyzer: SupportsTerms,
    attributes: Sequence[str],
    workers: "Workers" = 1,
    memory_bytes: int = _MEMORY_BYTES,
    on_progress: Callable[[int], None] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> IndexManifest:
    """Build an index of `entries` in `folder`, which must be empty.

    Entries are read as a stream and never held all at once. An interrupted build leaves a folder
    without a manifest, which no one takes for an index.

    Args:
        folder: an existing empty folder, e.g. from `generations.new_generation`.
        entries: what to index; attributes an entry lacks are simply not set on it.
        analyzer: makes the terms; queries must use one with the same id.
        attributes: names of the attributes to filter by; others are ignored.
        workers: processes that analyse text, or what does it elsewhere; 1 works in this process.
            With more, the calling script needs the usual ``if __name__ == "__main__"`` guard.
        memory_bytes: arena of the writer, at least 15 MB; a larger index gets more segments.
        on_progress: called with the number of entries indexed so far, now and then.
        extra: kept in the manifest.

    Raises:
        IndexNotWritten: the files cannot be written.
        IndexingError: a worker process was killed.
    """
    with _failures_named(folder):
        opened = index.create(folder, index.schema_of(attributes))
    with _writer(opened, folder, memory_bytes) as writer:
        count = _enter(writer, folder, entries, analyzer, attributes, workers, on_progress)
    return _described(folder, count, analyzer, attributes, extra)


def update(
    folder: Path,
    previous: Path,
    gone: Iterable[tuple[int, int]],
    entries: Iterable[TextEntry],
    *,
    analyzer: SupportsTerms,
    workers: "Workers" = 1,
    memory_bytes: int = _MEMORY_BYTES,
    on_progress: Callable[[int], None] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> IndexManifest:
    """Build an index in `folder` from an earlier one, of which only a part has changed.

    What did not change is not written again: both share these files. Until an index is built from
    nothing, entries that are gone still count where it is measured how rare a term is.

    Args:
        folder: as for `build`.
        previous: the earlier index, with the same analyzer; it stays as it is.
        gone: the lowest and the highest key of every run of its entries that are gone.
        entries: what to index besides.
        analyzer: as for `build`, like all that follows.
        workers: as there.
        memory_bytes: as there.
        on_progress: as there.
        extra: as there.

    Raises:
        IndexNotWritten: the files cannot be written.
        IndexingError: the earlier index cannot be read, or a worker process was killed.
    """
    with BM25Index.open(previous, analyzer=analyzer.id) as earlier:
        before, attributes = earlier.count, earlier.manifest.attributes
    with _failures_named(folder):
        opened = index.copy(previous, folder)
    with _writer(opened, folder, memory_bytes) as writer:
        with _failures_named(folder):
            removed = sum(index.remove(opened, writer, low, high) for low, high in gone)
        added = _enter(writer, folder, entries, analyzer, attributes, workers, on_progress)
    return _described(folder, before - removed + added, analyzer, attributes, extra)


def _enter(
    writer: Any,
    folder: Path,
    entries: Iterable[TextEntry],
    analyzer: SupportsTerms,
    attributes: Sequence[str],
    workers: "Workers",
    on_progress: Callable[[int], None] | None,
) -> int:
    # Whoever only searches need not load what starts processes.
    from localrag_indexes.parallel import map_stream

    count = 0
    for chunk, analysed in map_stream(_TermAnalysis(analyzer), _chunks(entries), workers):
        with _failures_named(folder):
            for entry, fields in zip(chunk, analysed, strict=True):
                writer.add_document(_document(entry, fields, attributes))
        count += len(chunk)
        if on_progress is not None:
            on_progress(count)
    return count


def _described(
    folder: Path,
    count: int,
    analyzer: SupportsTerms,
    attributes: Sequence[str],
    extra: Mapping[str, Any] | None,
) -> IndexManifest:
    manifest = IndexManifest(
        kind=index.KIND,
        count=count,
        analyzer=analyzer.id,
        attributes=tuple(attributes),
        files=describe_files(folder),
        extra=dict(extra or {}),
    )
    manifest.write(folder)
    return manifest


@contextmanager
def _writer(opened: Any, folder: Path, memory_bytes: int) -> Iterator[Any]:
    """Open a writer, and when the block ends well, commit what it was given."""
    with _failures_named(folder):
        writer = opened.writer(memory_bytes, num_threads=1)
    yield writer
    with _failures_named(folder):
        writer.commit()
        writer.wait_merging_threads()
    for lock in folder.glob("*.lock"):
        lock.unlink()


@contextmanager
def _failures_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise IndexNotWritten(folder, error) from error


def _chunks(entries: Iterable[TextEntry]) -> Iterator[list[TextEntry]]:
    chunk: list[TextEntry] = []
    characters = 0
    for entry in entries:
        chunk.append(entry)
        characters += len(entry.header) + len(entry.body)
        if characters >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _document(entry: TextEntry, fields: _Fields, attributes: Sequence[str]) -> Any:
    import tantivy

    document = tantivy.Document()
    document.add_integer(index.KEY, entry.key)
    document.add_text(index.HEADER, fields.header)
    document.add_text(index.BODY, fields.body)
    document.add_text(index.PAIRS, fields.pairs)
    for name in attributes:
        value = entry.attributes.get(name)
        if value is not None:
            document.add_text(index.attribute_field(name), str(value))
    return document
