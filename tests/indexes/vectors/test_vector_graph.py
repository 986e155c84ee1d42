"""The graph: recall, filters, carrying it on, what happens to it on a bad disk."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localrag_indexes.errors import IndexDamaged, IndexNotWritten, IndexTooLarge
from localrag_indexes.vectors import VectorIndex, build, memory_needed

Make = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("small_graphs")


def recall(index: VectorIndex, queries: Any, **options: Any) -> float:
    """Share of the 10 nearest that a search finds; 1 where there are fewer and all are found."""
    wanted = found = 0
    for query in queries:
        truth = set(index.search(query, 10, exact=True, **options))
        wanted += len(truth)
        found += len(truth & set(index.search(query, 10, **options)))
    return found / wanted


def has_graph(folder: Path) -> bool:
    return (folder / "graph.bin").exists()


def test_a_graph_is_built_where_comparing_everything_is_slower(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    assert not has_graph(make("small", entries_of(clustered(250))))
    assert has_graph(make("large", entries_of(clustered(251))))


def test_that_the_graph_was_compared_is_noted_beside_the_rest(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    folder = make("index", entries_of(clustered(300)))
    with VectorIndex.open(folder) as index:
        index.search(clustered(1, seed=2)[0], 5)
    noted = json.loads((folder / "manifest.compared").read_text(encoding="utf-8"))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert has_graph(folder)
    assert noted.keys() == manifest["files"].keys()


def test_the_graph_finds_what_comparing_everything_finds(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    folder = make("index", entries_of(clustered(3000)), threads=1)
    with VectorIndex.open(folder, deep=True) as index:
        assert recall(index, clustered(50, seed=2)) >= 0.95
        for where in ({"law": ["L3"]}, {"law": [f"L{n}" for n in range(5)]}):
            assert recall(index, clustered(50, seed=2), where=where) >= 0.95
        assert recall(index, clustered(50, seed=2), between={"date": ("2010", "2020")}) >= 0.95


def test_filters_hold_in_the_graph(make: Make, clustered: Any, entries_of: Any) -> None:
    with VectorIndex.open(make("index", entries_of(clustered(1000)))) as index:
        hits = index.search(clustered(1, seed=2)[0], 50, where={"law": ["L1", "L2"]})
        assert len(hits) == 50
        assert {hit.key % 10 for hit in hits} == {1, 2}


def test_more_is_asked_for_than_the_graph_leads_to(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    with VectorIndex.open(make("index", entries_of(clustered(400)))) as index:
        assert len({hit.key for hit in index.search(clustered(1, seed=2)[0], 400)}) == 400


def test_the_same_index_gives_the_same_answers(make: Make, clustered: Any, entries_of: Any) -> None:
    entries, query = entries_of(clustered(1000)), clustered(1, seed=2)[0]
    folders = [make(name, entries, threads=1) for name in ("one", "two")]
    answers = []
    for folder in [*folders, folders[0]]:
        with VectorIndex.open(folder) as index:
            answers.append(index.search(query, 20))
    assert answers[0] == answers[1] == answers[2]


def test_what_is_new_is_added_to_a_copy_of_the_graph(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    vectors, told = clustered(2200), []
    first = make("first", entries_of(vectors[:2000]), threads=1)
    before = (first / "graph.bin").read_bytes()
    wanted = entries_of(vectors[150:], first=150)
    second = make(
        "second", wanted, previous=first, on_progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (200, 200), "only the new ones were added"
    assert (first / "graph.bin").read_bytes() == before
    rebuilt = make("rebuilt", wanted, threads=1)
    queries = clustered(50, seed=2)
    with VectorIndex.open(second, deep=True) as carried, VectorIndex.open(rebuilt) as anew:
        assert recall(carried, queries) >= 0.95
        assert recall(carried, queries) == pytest.approx(recall(anew, queries), abs=0.02)
        for query in queries:
            assert carried.search(query, 10, exact=True) == anew.search(query, 10, exact=True)
            assert min(hit.key for hit in carried.search(query, 300)) >= 150
        for new in vectors[2000:2050]:
            assert carried.search(new, 1)[0].score == pytest.approx(1, abs=1e-5)


def test_the_graph_is_built_anew_when_much_of_it_has_vanished(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    vectors = clustered(1500)
    generations = [make("g0", entries_of(vectors), threads=1)]
    added = []
    for number in range(1, 5):
        told: list[int] = []
        generations.append(
            make(
                f"g{number}",
                entries_of(vectors[100 * number :], first=100 * number),
                previous=generations[-1],
                on_progress=lambda done, _, told=told: told.append(done),
            )
        )
        added.append(max(told, default=0))
    # A fifth of what is left may be useless: 200 of 1300 is, 300 of 1200 is not.
    assert added == [0, 0, 1200, 0]


def test_a_previous_index_of_no_use_is_passed_over(
    make: Make, clustered: Any, entries_of: Any, tmp_path: Path
) -> None:
    entries = entries_of(clustered(400))
    other_model = make("other", entries, model="other")
    small = make("small", entries[:100])
    damaged = make("damaged", entries)
    graph = damaged / "graph.bin"
    graph.write_bytes(graph.read_bytes()[:-7] + b"garbage")
    for number, previous in enumerate((other_model, small, damaged, tmp_path / "none")):
        told: list[int] = []
        folder = make(
            f"built{number}",
            entries,
            previous=previous,
            on_progress=lambda done, _, told=told: told.append(done),
        )
        assert told[-1] == 400
        with VectorIndex.open(folder, deep=True) as index:
            assert index.search(entries[0].vector, 1)[0].key == 0


@pytest.mark.parametrize("name", ["vectors.npy", "graph.bin", "keys.npy", "codes.npy"])
@pytest.mark.parametrize("harm", ["cut", "emptied", "removed"])
def test_damage_is_named_before_native_code_sees_it(
    make: Make, clustered: Any, entries_of: Any, name: str, harm: str
) -> None:
    path = make("index", entries_of(clustered(300))) / name
    if harm == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] if harm == "cut" else b"")
    with pytest.raises(IndexDamaged) as error:
        VectorIndex.open(path.parent)
    assert error.value.file == path


def overwrite(path: Path, content: bytes) -> None:
    """Change a file as a failing disk would, which says of no writing."""
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_changed_bytes_of_the_graph_are_found_before_it_is_loaded(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    folder = make("index", entries_of(clustered(300)))
    path = folder / "graph.bin"
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    overwrite(path, content)
    with VectorIndex.open(folder) as index, pytest.raises(IndexDamaged, match="has changed"):
        index.search(clustered(1)[0], 3)
    with pytest.raises(IndexDamaged, match="has changed"):
        VectorIndex.open(folder, deep=True)


@pytest.mark.parametrize("name", ["vectors.npy", "starts.npy", "values.json", "labels.npy"])
def test_garbage_of_the_right_size_is_an_error_not_a_crash(
    make: Make, clustered: Any, entries_of: Any, name: str
) -> None:
    folder = make("index", entries_of(clustered(300)))
    path = folder / name
    overwrite(path, b"\x93" * path.stat().st_size)
    with pytest.raises(IndexDamaged):
        VectorIndex.open(folder).search(clustered(1)[0], 3, where={"law": ["L1", "L2", "L3"]})


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from localrag_indexes.errors import IndexNotWritten
from localrag_indexes.vectors import VectorEntry, build, layout
layout.EXACT_NUMBERS = 0
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
vectors = np.random.default_rng(0).standard_normal((2000, 24)).astype(np.float32)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
entries = [VectorEntry(n, n.to_bytes(2, "big"), v, {}) for n, v in enumerate(vectors)]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    build(Path(sys.argv[1]), entries, model="m", dimension=24, attributes=())
except IndexNotWritten as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are of POSIX")
@pytest.mark.parametrize("limit", [100, 100_000, 300_000])
def test_a_full_disk_is_told_also_by_the_library_that_ignores_it(
    tmp_path: Path, limit: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), str(limit)],
        capture_output=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert b"disk full" in done.stdout
    assert not (tmp_path / "manifest.json").exists()


def test_a_folder_that_is_not_there(clustered: Any, entries_of: Any, tmp_path: Path) -> None:
    entries = entries_of(clustered(3))
    with pytest.raises(IndexNotWritten):
        build(tmp_path / "none", entries, model="m", dimension=24, attributes=())


def test_memory_is_compared_before_the_graph_is_begun(
    make: Make, clustered: Any, entries_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag_indexes.vectors.index.memory_free", lambda: 1000)
    with pytest.raises(IndexTooLarge, match="close other programs"):
        make("index", entries_of(clustered(300)))


def test_memory_needed_grows_with_what_is_indexed() -> None:
    assert memory_needed(0, 384) == 0
    assert memory_needed(1000, 384) < memory_needed(100_000, 384) < memory_needed(100_000, 1024)
    # Every vector is in memory once, in the graph.
    assert memory_needed(100_000, 384) > 100_000 * 384 * 4


def test_an_index_can_be_copied_elsewhere(
    make: Make, clustered: Any, entries_of: Any, tmp_path: Path
) -> None:
    folder = make("index", entries_of(clustered(300)))
    moved = Path(shutil.move(folder, tmp_path / "移動した場所"))
    with VectorIndex.open(moved, deep=True) as index:
        assert index.search(np.asarray(index.vectors[5]), 1)[0].key == 5


@pytest.mark.skipif(sys.platform == "win32", reason="files that are open cannot be deleted")
def test_an_index_that_was_superseded_goes_on_answering(
    make: Make, clustered: Any, entries_of: Any
) -> None:
    folder, query = make("index", entries_of(clustered(400))), clustered(1, seed=2)[0]
    with VectorIndex.open(folder) as index, VectorIndex.open(folder) as other:
        before = index.search(query, 10), index.search(query, 10, where={"law": ["L1"]})
        shutil.rmtree(folder)
        for opened in (index, other):
            after = opened.search(query, 10), opened.search(query, 10, where={"law": ["L1"]})
            assert after == before
