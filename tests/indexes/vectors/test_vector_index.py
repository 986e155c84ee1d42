"""Searching without a graph: exact results, filters, long passages, ties, bad input."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localrag_indexes.errors import IndexMissing, IndexVersionError, PackageMissing
from localrag_indexes.manifest import IndexManifest
from localrag_indexes.vectors import VectorEntry, VectorIndex, build

from ...rows import each

Make = Callable[..., Path]
X, Y, Z = np.eye(3, dtype=np.float32)
BETWEEN = ((X + Y) / np.sqrt(2)).astype(np.float32)
ATTRIBUTES = ("law", "date")
ENTRIES = [
    VectorEntry(7, b"a", X, {"law": "A", "date": "2020-04-01"}),
    VectorEntry(3, b"b", Y, {"law": "B", "date": "2023-10-01"}),
    VectorEntry(-5, b"c", BETWEEN, {"law": "A", "date": "2023-10-01"}),
    VectorEntry(9, b"d", -Z, {"law": "C"}),
]


@pytest.fixture
def index(make: Make) -> VectorIndex:
    return VectorIndex.open(make("index", ENTRIES, dimension=3), model="m", dimension=3)


def keys(index: VectorIndex, vector: Any, k: int = 10, **options: Any) -> list[int]:
    return [hit.key for hit in index.search(vector, k, **options)]


def test_the_most_similar_comes_first(index: VectorIndex) -> None:
    assert index.search(X, 2) == [(7, 1.0), (-5, pytest.approx(0.7071, abs=1e-4))]
    assert keys(index, Y) == [3, -5, 7, 9]
    assert index.count == 4
    assert (index.model, index.dimension) == ("m", 3)


def test_a_long_passage_counts_once_with_its_best_window(make: Make) -> None:
    windows = [VectorEntry(1, bytes([n]), v, {}) for n, v in enumerate((Z, BETWEEN, X))]
    others = [VectorEntry(2, b"y", Y, {}), VectorEntry(3, b"-", -X, {})]
    with VectorIndex.open(make("index", [*windows, *others], dimension=3)) as index:
        assert index.search(X, 3) == [(1, 1.0), (2, 0.0), (3, -1.0)]
        assert keys(index, X, 2) == [1, 2]


def test_a_passage_of_very_many_windows_hides_no_other(make: Make) -> None:
    near = np.array([X + n * 1e-3 * Y for n in range(900)])
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    entries = [VectorEntry(1, n.to_bytes(2, "big"), v, {}) for n, v in enumerate(near)]
    entries += [VectorEntry(2, b"zz", Z, {}), VectorEntry(3, b"yy", -X, {})]
    with VectorIndex.open(make("index", entries, dimension=3)) as index:
        assert keys(index, X, 3) == [1, 2, 3]


def test_the_same_text_in_several_passages_is_stored_once(make: Make) -> None:
    entries = [VectorEntry(key, b"same", X, {"law": str(key % 2)}) for key in (9, 2, 5, 4)]
    folder = make("index", [*entries, VectorEntry(1, b"else", Y, {})], dimension=3)
    with VectorIndex.open(folder) as index:
        assert keys(index, X) == [2, 4, 5, 9, 1]
        assert keys(index, X, where={"law": ["1"]}) == [5, 9]
        assert index.vectors.shape == (2, 3)
        assert index.digests() == [b"same", b"else"]
        assert index.count == 5


def test_ties_come_in_the_order_of_their_keys_also_where_they_are_cut(make: Make) -> None:
    entries = [VectorEntry(key, bytes([key]), X, {}) for key in range(60, 0, -1)]
    with VectorIndex.open(make("index", entries, dimension=3)) as index:
        assert keys(index, X, 5) == [1, 2, 3, 4, 5]


def test_filters(index: VectorIndex) -> None:
    assert keys(index, X, where={"law": ["A"]}) == [7, -5]
    assert keys(index, X, where={"law": ["A", "B", "none"]}) == [7, -5, 3]
    assert keys(index, X, where={"law": []}) == []
    assert keys(index, X, between={"date": ("", "2020-12-31")}) == [7]
    assert keys(index, X, between={"date": ("2023-10-01", "2023-10-01")}) == [-5, 3]
    assert keys(index, X, where={"law": ["A"]}, between={"date": ("2023", "")}) == [-5]
    assert keys(index, X, between={"date": ("", "")}) == [7, -5, 3]
    assert keys(index, X, where={}, between={}) == [7, -5, 3, 9]


def test_filters_leave_scores_as_they_are(make: Make, clustered: Any, entries_of: Any) -> None:
    vectors = clustered(300)
    with VectorIndex.open(make("index", entries_of(vectors))) as index:
        every = index.search(vectors[0], 300)
        for law in range(10):
            chosen = index.search(vectors[0], 300, where={"law": [f"L{law}"]})
            assert chosen == [hit for hit in every if hit.key % 10 == law]


def test_an_unknown_attribute_is_refused(index: VectorIndex) -> None:
    with pytest.raises(ValueError, match="colour"):
        index.search(X, 3, where={"colour": ["red"]})
    with pytest.raises(ValueError, match="colour"):
        index.search(X, 3, between={"colour": ("", "")})


@each("vector", [np.ones(4), np.ones(2), np.ones((1, 3)), [], 1.0, [1.0, np.nan, 0.0]])
def test_a_query_of_another_dimension_is_refused(index: VectorIndex, vector: Any) -> None:
    with pytest.raises(ValueError, match="vector of a query"):
        index.search(vector, 3)


def test_no_more_than_asked_for(index: VectorIndex) -> None:
    assert keys(index, X, 0) == []
    assert keys(index, X, -1) == []
    assert len(keys(index, X, 1000)) == 4


def test_an_index_of_nothing(make: Make) -> None:
    with VectorIndex.open(make("index", [], dimension=3), model="m", dimension=3) as index:
        assert index.search(X, 3) == []
        assert index.search(X, 3, where={"law": ["A"]}) == []
        assert index.digests() == []


@pytest.mark.parametrize(
    "vector", [np.zeros(3), 2 * X, np.array([np.nan, 0, 0]), np.ones(4) / 2, np.eye(3)]
)
def test_vectors_that_cannot_be_compared_are_refused(make: Make, vector: Any) -> None:
    with pytest.raises(ValueError, match="the vector of 1 "):
        make("index", [VectorEntry(1, b"a", vector, {})], dimension=3)


def test_digests_of_several_lengths_are_refused(make: Make) -> None:
    with pytest.raises(ValueError, match="one length"):
        make("index", [VectorEntry(1, b"a", X, {}), VectorEntry(2, b"bb", Y, {})], dimension=3)


def test_hostile_attributes_are_only_compared(make: Make) -> None:
    odd = ['"; DROP TABLE', "\ud800", "\x00", "[bold]", "法" * 10_000, "", " "]
    entries = [VectorEntry(n, bytes([n]), X, {"law": value}) for n, value in enumerate(odd)]
    with VectorIndex.open(make("index", entries, dimension=3)) as index:
        for number, value in enumerate(odd):
            assert keys(index, X, where={"law": [value]}) == [number]


def test_another_model_or_dimension_is_told_before_anything_is_read(make: Make) -> None:
    folder = make("index", ENTRIES, dimension=3)
    with pytest.raises(IndexVersionError, match=r"model 'm'.*'other'") as model:
        VectorIndex.open(folder, model="other")
    assert model.value.what == "model"
    with pytest.raises(IndexVersionError) as dimension:
        VectorIndex.open(folder, model="m", dimension=2)
    assert (dimension.value.what, dimension.value.found) == ("dimension", 3)


def test_an_index_of_another_kind_or_none_at_all(tmp_path: Path, make: Make) -> None:
    with pytest.raises(IndexMissing):
        VectorIndex.open(tmp_path)
    folder = make("index", ENTRIES, dimension=3)
    IndexManifest(kind="bm25", count=0).write(folder)
    with pytest.raises(IndexVersionError, match="'bm25'"):
        VectorIndex.open(folder)


def test_the_manifest_keeps_what_its_owner_gives(tmp_path: Path) -> None:
    written = build(
        tmp_path, ENTRIES, model="m", dimension=3, attributes=ATTRIBUTES, extra={"stamp": 5}
    )
    assert IndexManifest.read(tmp_path) == written
    assert written.extra == {"stamp": 5, "model": "m", "dimension": 3, "vectors": 4}
    assert written.attributes == ATTRIBUTES


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localrag_indexes.vectors.layout.find_spec", lambda _: None)
    with pytest.raises(PackageMissing, match="numpy is not installed"):
        build(tmp_path, ENTRIES, model="m", dimension=3, attributes=ATTRIBUTES)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    script = (
        "import sys, localrag_indexes.vectors, localrag.search.indexing.index\n"
        "print({'numpy', 'hnswlib', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "set()"
