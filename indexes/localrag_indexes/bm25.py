"""A BM25 index on Tantivy: building, updating and searching it.

Header and body are weighted fields, attributes filter by exact match. Queries are terms and are
never parsed.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from localrag_indexes.errors import UNREADABLE, IndexDamaged, IndexNotWritten, IndexVersionError
from localrag_indexes.fusion import Scored
from localrag_indexes.manifest import COMPARED, FILE_NAME, IndexManifest, describe_files

if TYPE_CHECKING:
    from localrag_indexes.parallel import Workers


KIND = "bm25"
KEY = "key"
HEADER = "header"
BODY = "body"
PAIRS = "pairs"
_TOKENIZER = "terms"
_LOCK = ".tantivy-meta.lock"
# Chosen on Japanese questions over pages and statutes; no questions were kept apart.
_HEADER_WEIGHT = 0.05
_BODY_WEIGHT = 1.0
_PAIR_WEIGHT = 0.3

_MOST_VALUES_COUNTED = 100
# Keys are looked up if they are fewer than this share of all entries.
_FEW = 8
_ALL_KEYS = -(2**63), 2**63 - 1
_KEYS_AT_ONCE = 200_000


class BM25Index:
    """An index open for searching. Its files are mapped into memory, not read."""

    def __init__(self, folder: Path, manifest: IndexManifest, fields: Any, searcher: Any) -> None:
        self.folder = folder
        self.manifest = manifest
        self._schema = fields
        self._searcher = searcher
        self._known_values: dict[str, list[str]] = {}
        self._only_keys: tuple[Set[int], Any] = frozenset(), None

    @classmethod
    def open(cls, folder: Path, *, analyzer: str | None = None, deep: bool = False) -> Self:
        """Open the index in `folder`.

        `deep` compares the checksum of every file (0.6 s per gigabyte), even of unchanged ones.
        Raises `IndexMissing`, `IndexDamaged` or `IndexVersionError`.
        """
        manifest = IndexManifest.read(folder)
        if manifest.kind != KIND:
            raise IndexVersionError(folder, "kind", manifest.kind, KIND)
        if analyzer is not None and manifest.analyzer != analyzer:
            raise IndexVersionError(folder, "analyzer", manifest.analyzer, analyzer)
        manifest.verify(folder, deep=deep)
        with _damage_named(folder):
            return cls(folder, manifest, *_open_searcher(folder))

    @property
    def count(self) -> int:
        return self.manifest.count

    def search(
        self,
        terms: Sequence[str] | Mapping[str, float],
        k: int,
        *,
        where: Mapping[str, Collection[str]] | None = None,
        between: Mapping[str, tuple[str, str]] | None = None,
        among: Set[int] | None = None,  # only these keys may be found; None for all
        header_weight: float = _HEADER_WEIGHT,
        body_weight: float = _BODY_WEIGHT,
        pair_weight: float = _PAIR_WEIGHT,
    ) -> list[Scored]:
        """Find the best `k` entries with at least one of the terms, best first.

        Terms keep the order of their text; a repeated one counts once. With a weight for each term,
        pairs of neighbours earn nothing. `between` gives the lowest and highest value of each
        attribute, both included, compared as strings; an empty one sets no bound. Words of the
        header are in the body field too; a `header_weight` of 0 leaves it out. Scores are positive.
        Ties keep the order of keys.
        """
        import tantivy

        weights = terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0)
        beside = [] if isinstance(terms, Mapping) else pairs(terms)
        fields = [
            (HEADER, header_weight, weights),
            (BODY, body_weight, weights),
            (PAIRS, pair_weight, dict.fromkeys(beside, 1.0)),
        ]
        matches = [
            (tantivy.Occur.Should, self._term_query(field, term, weight * field_weight))
            for field, field_weight, wanted in fields
            for term, weight in wanted.items()
            if weight * field_weight > 0
        ]
        limit = min(k, self.count)
        if not matches or limit <= 0 or among == frozenset():
            return []
        query = tantivy.Query.boolean_query(matches)
        filters = self._filters(where or {}, between or {})
        if among is not None and (only := self._only(among)) is not None:
            filters, among = [*filters, only], None
        if filters:
            conditions = [
                (tantivy.Occur.Must, tantivy.Query.const_score_query(condition, 0.0))
                for condition in filters
            ]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *conditions])
        with _damage_named(self.folder):
            scored = self._found(query, limit, among)
        return sorted(scored, key=lambda hit: (-hit.score, hit.key))

    def _found(self, query: Any, k: int, among: Set[int] | None) -> list[Scored]:
        further = self.count // (2 * max(len(among), 1)) if among is not None else 1
        limit = min(k * max(further, 1), self.count)
        while True:
            hits = self._searcher.search(query, limit=limit, count=False).hits
            keys = self._searcher.fast_field_values(KEY, [address for _, address in hits])
            found = [
                Scored(key, score)
                for key, (score, _) in zip(keys, hits, strict=True)
                if among is None or key in among
            ]
            if len(found) >= k or len(hits) < limit or limit == self.count:
                return found[:k]
            limit = min(2 * limit, self.count)

    def _only(self, keys: Set[int]) -> Any | None:
        """The condition for one of these keys; None if filtering is cheaper, or in an old index."""
        import tantivy

        if len(keys) * _FEW > self.count:
            return None
        # Every stage of a search, and the next search, has the same keys.
        last, condition = self._only_keys
        if keys is not last:
            condition = None
            if any(self._searcher.doc_freq(KEY, key) for key in keys):
                condition = tantivy.Query.term_set_query(self._schema, KEY, list(keys))
            self._only_keys = keys, condition
        return condition

    def holding(self, terms: Iterable[str]) -> frozenset[int]:
        """The keys of the entries with all of the terms, in header or body."""
        import tantivy

        wanted = [(tantivy.Occur.Must, self._term_query(BODY, term, 1.0)) for term in terms]
        if not (wanted and self.count):
            return frozenset()
        with _damage_named(self.folder):
            query = tantivy.Query.boolean_query(wanted)
            found = self._found(query, self.count, None)
        return frozenset(entry.key for entry in found)

    def most_informative(self, terms: Sequence[str], n: int) -> list[str]:
        """Keep the `n` rarest terms in the index, in their order: frequent ones say least."""
        frequencies = {term: self.document_frequency(term) for term in terms}
        known = sorted((frequency, term) for term, frequency in frequencies.items() if frequency)
        kept = {term for _, term in known[:n]}
        return [term for term in terms if term in kept]

    def document_frequency(self, term: str) -> int:
        return int(self._searcher.doc_freq(BODY, term))

    def keys(self) -> Iterator[int]:
        """Yield the keys of all entries, in order, some hundred thousand at a time."""
        with _damage_named(self.folder):
            yield from self._keys_between(*_ALL_KEYS)

    def _keys_between(self, low: int, high: int) -> Iterator[int]:
        import tantivy

        some = tantivy.Query.range_query(self._schema, KEY, tantivy.FieldType.Integer, low, high)
        found = self._searcher.search(some, limit=1).count
        if found > _KEYS_AT_ONCE:
            middle = (low + high) // 2
            yield from self._keys_between(low, middle)
            yield from self._keys_between(middle + 1, high)
        elif found:
            hits = self._searcher.search(some, limit=found, count=False).hits
            yield from sorted(self._searcher.fast_field_values(KEY, [place for _, place in hits]))

    def close(self) -> None:
        self._searcher = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _term_query(self, field: str, term: str, weight: float) -> Any:
        import tantivy

        query = tantivy.Query.term_query(self._schema, field, term, index_option="freq")
        return tantivy.Query.boost_query(query, weight)

    def _filters(
        self, where: Mapping[str, Collection[str]], between: Mapping[str, tuple[str, str]]
    ) -> list[Any]:
        import tantivy

        for name in [*where, *between]:
            if name not in self.manifest.attributes:
                raise ValueError(f"the index has no attribute {name!r}")
        allowed = {name: frozenset(values) for name, values in where.items()}
        for name, (low, high) in between.items():
            span = frozenset(
                value
                for value in self._values(name)
                if low <= value and (not high or value <= high)
            )
            allowed[name] = allowed[name] & span if name in allowed else span
        return [
            tantivy.Query.term_set_query(self._schema, attribute_field(name), list(values))
            for name, values in allowed.items()
            if not self._allows_all(name, values)
        ]

    def _allows_all(self, name: str, values: Collection[str]) -> bool:
        """Whether a filter leaves nothing out; Tantivy searches faster without it."""
        field = attribute_field(name)
        if len(values) > _MOST_VALUES_COUNTED:
            return False
        matching = sum(int(self._searcher.doc_freq(field, value)) for value in values)
        return matching == self.count

    def _values(self, name: str) -> list[str]:
        field = attribute_field(name)
        if field not in self._known_values:
            self._known_values[field] = [
                value for value, _ in self._searcher.terms_with_prefix(field, "")
            ]
        return self._known_values[field]


def attribute_field(name: str) -> str:
    """Name the field of an attribute; the prefix avoids clashes with the fields of this module."""
    return f"attribute_{name}"


def schema_of(attributes: Iterable[str]) -> Any:
    """Build the schema. Nothing is stored: entries are found by their keys."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(KEY, fast=True, indexed=True)
    for field in (HEADER, BODY, PAIRS):
        builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="freq")
    for name in attributes:
        builder.add_text_field(attribute_field(name), tokenizer_name="raw", index_option="basic")
    return builder.build()


def _create(folder: Path, fields: Any) -> Any:
    import tantivy

    return _with_tokenizer(tantivy.Index(fields, path=str(folder)))


def _copy(previous: Path, folder: Path) -> Any:
    """Open a writable copy of an index; hard links share the files. Tantivy never changes one."""
    import tantivy

    for path in previous.iterdir():
        if path.name not in (FILE_NAME, COMPARED) and path.suffix != ".lock":
            try:
                (folder / path.name).hardlink_to(path)
            except OSError:
                shutil.copyfile(path, folder / path.name)
    return _with_tokenizer(tantivy.Index.open(str(folder)))


def _remove(opened: Any, writer: Any, low: int, high: int) -> int:
    """Remove the entries with keys from `low` to `high`; return how many there were."""
    import tantivy

    run = tantivy.Query.range_query(opened.schema, KEY, tantivy.FieldType.Integer, low, high)
    writer.delete_documents_by_query(run)
    found: int = opened.searcher().search(run, limit=1).count
    return found


def _with_tokenizer(index: Any) -> Any:
    """Register the tokenizer: Tantivy forgets it whenever an index is closed."""
    import tantivy

    tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, tokenizer)
    return index


def pairs(terms: Sequence[str]) -> list[str]:
    """Join each term with its right neighbour."""
    return [f"{left}\u001f{right}" for left, right in pairwise(terms)]


def _open_searcher(folder: Path) -> tuple[Any, Any]:
    """Open the Tantivy index in `folder`, even on a read-only disk."""
    if os.access(folder, os.W_OK):
        with suppress(OSError):
            # Tantivy would make its lock file readable for everybody. A full disk has room for an
            # empty one.
            os.close(os.open(folder / _LOCK, os.O_CREAT | os.O_WRONLY, 0o600))
        return _open(folder)
    # Tantivy needs a lock file beside the index. On a read-only share it gets a folder of links
    # while it opens the files.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as links:
        # An existing lock file cannot be opened through a link either.
        for path in folder.iterdir():
            if path.suffix != ".lock":
                _link(path, Path(links) / path.name)
        return _open(Path(links))


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    """Turn the errors of Tantivy on changed files into `IndexDamaged`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise IndexDamaged(folder, UNREADABLE, why=error) from error
    except BaseException as error:
        # A panic in native code arrives as an exception outside the tree of Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexDamaged(folder, UNREADABLE, why=error) from error


def _open(folder: Path) -> tuple[Any, Any]:
    import tantivy

    index = tantivy.Index.open(str(folder))
    return index.schema, index.searcher()


def _link(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source.absolute())
    except OSError:
        shutil.copyfile(source, target)


# Tantivy flushes a segment when its arena is full, and takes only the memory it needs.
_MEMORY_BYTES = 700_000_000
_CHUNK_CHARACTERS = 100_000
# The body field holds the header's terms too: a word found in both counts as one frequent word.
# Twice was the best of 1, 2, 3 on Wikipedia and on statutes.
_HEADER_COPIES_IN_BODY = 2


@dataclass(frozen=True, slots=True)
class TextEntry:
    """An entry to index."""

    key: int  # unique number, any 64-bit signed integer
    header: str  # header, body: two fields, each with its own lengths and weight
    body: str
    # values for filters, compared as strings; write dates as ISO dates
    attributes: Mapping[str, str | int]


class SupportsTerms(Protocol):
    """An analyzer; it is pickled into the worker processes."""

    @property
    def id(self) -> str: ...

    def terms(self, text: str) -> list[str]: ...


class _Fields(NamedTuple):
    header: str
    body: str
    pairs: str


@dataclass(frozen=True, slots=True)
class _TermAnalysis:
    analyzer: SupportsTerms

    def __call__(self, chunk: list[TextEntry]) -> list[_Fields]:
        return [self._fields(entry) for entry in chunk]

    def _fields(self, entry: TextEntry) -> _Fields:
        header, body = self.analyzer.terms(entry.header), self.analyzer.terms(entry.body)
        beside = pairs(header) + pairs(body)
        whole = header * _HEADER_COPIES_IN_BODY + body
        return _Fields(" ".join(header), " ".join(whole), " ".join(beside))


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
    """Build an index of `entries`, read as a stream, in an empty `folder`.

    An interrupted build leaves a folder without a manifest. `workers` are processes for analysing
    text, or other machines; with more than 1 the calling script needs the usual guard
    (``__main__``). `memory_bytes` is the arena of the writer, at least 15 MB; a larger index
    gets more segments. `attributes` names those for filters; an entry may miss some. `extra` is
    kept in the manifest. Raises `IndexNotWritten`, or `IndexingError` if a worker was killed.
    """
    with _failures_named(folder):
        opened = _create(folder, schema_of(attributes))
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
    """Build an index in `folder` from an earlier one after a small change.

    Unchanged files are shared. Removed entries still count in the frequencies of terms until the
    next full build. `previous` has the same analyzer. `gone` has the lowest and highest key of
    every run of its removed entries; `entries` are new. The rest is as for `build`.
    """
    with BM25Index.open(previous, analyzer=analyzer.id) as earlier:
        before, attributes = earlier.count, earlier.manifest.attributes
    with _failures_named(folder):
        opened = _copy(previous, folder)
    with _writer(opened, folder, memory_bytes) as writer:
        with _failures_named(folder):
            removed = sum(_remove(opened, writer, low, high) for low, high in gone)
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
    # A search does not need this module.
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
        kind=KIND,
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
    document.add_integer(KEY, entry.key)
    document.add_text(HEADER, fields.header)
    document.add_text(BODY, fields.body)
    document.add_text(PAIRS, fields.pairs)
    for name in attributes:
        value = entry.attributes.get(name)
        if value is not None:
            document.add_text(attribute_field(name), str(value))
    return document
