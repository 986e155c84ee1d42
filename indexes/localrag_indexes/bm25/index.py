"""Searching a BM25 index."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from localrag_indexes.bm25 import schema
from localrag_indexes.bm25.native import damage_named, open_searcher
from localrag_indexes.errors import IndexVersionError
from localrag_indexes.manifest import Manifest
from localrag_indexes.scored import Scored

# Chosen on Japanese questions over pages and statutes; none were kept apart.
_HEADER_WEIGHT = 0.05
_BODY_WEIGHT = 1.0
_PAIR_WEIGHT = 0.3

_MOST_VALUES_COUNTED = 100


class BM25Index:
    """An index made by `build`, open for searching; files are mapped, not read.

    Queries are made of terms, never parsed: whatever a term holds, it is only looked up.
    """

    def __init__(self, folder: Path, manifest: Manifest, fields: Any, searcher: Any) -> None:
        self.folder = folder
        self.manifest = manifest
        self._schema = fields
        self._searcher = searcher
        self._known_values: dict[str, list[str]] = {}

    @classmethod
    def open(cls, folder: Path, *, analyzer: str | None = None, deep: bool = False) -> Self:
        """Open the index in `folder`.

        Args:
            folder: where it lies.
            analyzer: id of the analyzer that will make the queries' terms, to be checked.
            deep: compare the checksum of every file, not only its size (0.6 s per gigabyte).

        Raises:
            IndexMissing, IndexDamaged, IndexVersionError: as their names say.
        """
        manifest = Manifest.read(folder)
        if manifest.kind != schema.KIND:
            raise IndexVersionError(folder, "kind", manifest.kind, schema.KIND)
        if analyzer is not None and manifest.analyzer != analyzer:
            raise IndexVersionError(folder, "analyzer", manifest.analyzer, analyzer)
        manifest.verify(folder, deep=deep)
        with damage_named(folder):
            return cls(folder, manifest, *open_searcher(folder))

    @property
    def count(self) -> int:
        """Number of entries."""
        return self.manifest.count

    def search(
        self,
        terms: Sequence[str] | Mapping[str, float],
        k: int,
        *,
        where: Mapping[str, Collection[str]] | None = None,
        between: Mapping[str, tuple[str, str]] | None = None,
        header_weight: float = _HEADER_WEIGHT,
        body_weight: float = _BODY_WEIGHT,
        pair_weight: float = _PAIR_WEIGHT,
    ) -> list[Scored]:
        """Find the best `k` entries that hold at least one of the terms, best first.

        Args:
            terms: terms of the query from the index's analyzer in the order of its text, a
                repeated one counting once; or each with its weight, in which case neighbours
                are not known and earn nothing.
            k: how many at most.
            where: for each attribute named, the values allowed.
            between: for each attribute named, the lowest and highest value allowed, both
                included, compared as strings; an empty one is no bound.
            header_weight: factor on what the header contributes by itself; 0 leaves it out. Its
                words stand in the body field as well.
            body_weight: factor on what the body contributes.
            pair_weight: factor on what terms contribute that stand side by side in the query and
                in the entry.

        Returns:
            Entries with positive scores, ties in the order of their keys.

        Raises:
            ValueError: an attribute the index does not have.
            IndexDamaged: a file has changed since the index was opened or built.
        """
        import tantivy

        weights = terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0)
        pairs = [] if isinstance(terms, Mapping) else schema.pairs(terms)
        fields = [
            (schema.HEADER, header_weight, weights),
            (schema.BODY, body_weight, weights),
            (schema.PAIRS, pair_weight, dict.fromkeys(pairs, 1.0)),
        ]
        matches = [
            (tantivy.Occur.Should, self._term_query(field, term, weight * field_weight))
            for field, field_weight, wanted in fields
            for term, weight in wanted.items()
            if weight * field_weight > 0
        ]
        limit = min(k, self.count)
        if not matches or limit <= 0:
            return []
        query = tantivy.Query.boolean_query(matches)
        filters = self._filters(where or {}, between or {})
        if filters:
            conditions = [
                (tantivy.Occur.Must, tantivy.Query.const_score_query(condition, 0.0))
                for condition in filters
            ]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *conditions])
        with damage_named(self.folder):
            hits = self._searcher.search(query, limit=limit, count=False).hits
            keys = self._searcher.fast_field_values(schema.KEY, [address for _, address in hits])
        scored = [Scored(key, score) for key, (score, _) in zip(keys, hits, strict=True)]
        return sorted(scored, key=lambda hit: (-hit.score, hit.key))

    def most_informative(self, terms: Sequence[str], n: int) -> list[str]:
        """Keep the `n` rarest of the terms, in their order; those the index lacks are dropped.

        Long queries cost time in proportion to their frequent terms, which tell least.
        """
        frequencies = {term: self.document_frequency(term) for term in terms}
        known = sorted((frequency, term) for term, frequency in frequencies.items() if frequency)
        kept = {term for _, term in known[:n]}
        return [term for term in terms if term in kept]

    def document_frequency(self, term: str) -> int:
        """Count the entries that hold the term, in header or body."""
        return int(self._searcher.doc_freq(schema.BODY, term))

    def close(self) -> None:
        """Let go of the files."""
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
            tantivy.Query.term_set_query(self._schema, schema.attribute_field(name), list(values))
            for name, values in allowed.items()
            if not self._allows_all(name, values)
        ]

    def _allows_all(self, name: str, values: Collection[str]) -> bool:
        """Whether a filter leaves nothing out; Tantivy searches faster without it."""
        field = schema.attribute_field(name)
        if len(values) > _MOST_VALUES_COUNTED:
            return False
        matching = sum(int(self._searcher.doc_freq(field, value)) for value in values)
        return matching == self.count

    def _values(self, name: str) -> list[str]:
        """Every value an attribute takes; Tantivy has no ranges over text."""
        field = schema.attribute_field(name)
        if field not in self._known_values:
            self._known_values[field] = [
                value for value, _ in self._searcher.terms_with_prefix(field, "")
            ]
        return self._known_values[field]
