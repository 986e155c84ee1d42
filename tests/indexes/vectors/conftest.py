"""Clustered vectors, and indexes of them with and without a graph."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from localrag_indexes.vectors import VectorEntry, build

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSION = 24
ATTRIBUTES = ("law", "date")

Clustered = Callable[..., "NDArray[np.float32]"]
EntriesOf = Callable[..., list[VectorEntry]]
Make = Callable[..., Path]


@pytest.fixture
def clustered() -> Clustered:
    """Unit vectors around 50 centres: ``clustered(400, seed=2)``, shape ``(400, DIMENSION)``."""

    def clustered(count: int, seed: int = 1) -> "NDArray[np.float32]":
        chance = np.random.default_rng(seed)
        centres = np.random.default_rng(0).standard_normal((50, DIMENSION))
        around = 0.6 * chance.standard_normal((count, DIMENSION))
        found = centres[chance.integers(0, 50, count)] + around
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    return clustered


@pytest.fixture
def entries_of() -> EntriesOf:
    """An entry for each vector, its key counting up from `first`, with attributes by its key."""

    def entries_of(vectors: "NDArray[np.float32]", first: int = 0) -> list[VectorEntry]:
        return [
            VectorEntry(
                key,
                vector.tobytes()[:16],
                vector,
                {"law": f"L{key % 10}", "date": f"20{key % 30:02}-04-01"},
            )
            for key, vector in enumerate(vectors, start=first)
        ]

    return entries_of


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Builds an index and gives its folder: ``make("name", entries, threads=1)``."""

    def make(name: str, entries: Iterable[VectorEntry], **options: object) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        options = {"model": "m", "dimension": DIMENSION, "attributes": ATTRIBUTES, **options}
        build(folder, entries, **options)  # type: ignore[arg-type]
        return folder

    return make


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are built from 250 vectors on, and used where a filter leaves more than 60."""
    monkeypatch.setattr("localrag_indexes.vectors.layout.EXACT_NUMBERS", 250 * DIMENSION)
    monkeypatch.setattr("localrag_indexes.vectors.index._FEW_NUMBERS", 60 * DIMENSION)
