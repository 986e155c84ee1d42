"""The vector index beside usearch and plain numpy: recall, build, queries per second, memory.

Clustered vectors: one normally distributed centre for every 50, normalised. Each vector is a centre
plus normal noise 0.7 times as long, normalised; queries likewise. ``--shape flat`` has no clusters:
normal vectors of 32 dimensions, rotated at random into the others around one direction (mean cosine
0.8), which is harder.

Every engine builds and searches in its own processes, for its own peak memory. Exact numpy is the
truth. Queries run one at a time on one thread, except for numpy's matrix product. "first" is the
time from the start to the first answer. Filters admit random rows, or whole clusters ("together").
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bench.options import parser
from bench.rates import rate
from numpy.typing import NDArray

from localrag_indexes.vectors import VectorEntry, VectorIndex, build, layout

Vectors = NDArray[np.float32]
ENGINES = ("localrag", "usearch f32", "usearch f16", "numpy exact")
K = 10


def main() -> None:
    """Be the parent, or after ``--child`` one step of one engine."""
    if sys.argv[1:2] == ["--child"]:
        folder, engine, step, *extra = sys.argv[2:]
        print(json.dumps(STEPS[step](Path(folder), engine, *extra)))
        return
    options = parser(__doc__, data=False)
    options.add_argument("--count", type=int, default=100_000, metavar="N", help="vectors (100000)")
    options.add_argument("--dimension", type=int, default=384, metavar="D", help="(384)")
    options.add_argument("--queries", type=int, default=500, metavar="N", help="queries (500)")
    options.add_argument("--shape", choices=("clustered", "flat"), default="clustered")
    options.add_argument("--only-ours", action="store_true", help="without the other engines")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="(1)")
    with tempfile.TemporaryDirectory() as folder:
        bench(options.parse_args(), Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Make the data, run every engine and print its figures."""
    vectors, queries, clusters = drawn(chosen)
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "queries.npy", queries)
    np.save(folder / "clusters.npy", clusters)
    np.save(folder / "truth.npy", nearest(vectors, queries))
    print(
        f"{chosen.count:,} x {chosen.dimension}, {chosen.shape}, {chosen.queries} queries, "
        f"{os.cpu_count()} cores; k = {K}, load {os.getloadavg()[0]:.1f}"
    )
    print(
        f"{'':12}  {'build s':>8} {'CPU s':>6} {'peak MB':>8} {'file MB':>8} | {'open ms':>8} "
        f"{'first ms':>8} {'queries/s':>9} {'peak MB':>8}  recall@{K}"
    )
    for engine in ENGINES[:1] if chosen.only_ours else ENGINES:
        built = child(folder, engine, "build")
        found = child(folder, engine, "search")
        print(
            f"{engine:12}  {built['seconds']:8.1f} {built['cpu']:6.1f} {built['peak']:8,.0f} "
            f"{built['size']:8,.1f} | {found['open']:8.1f} {found['first']:8.1f} "
            f"{found['rate']:9,.0f} {found['peak']:8,.0f}  {rate(found['hits'], found['n'])}"
        )
    print("filters, localrag:")
    for line in child(folder, ENGINES[0], "filters"):
        print(
            f"  {line['admitted']:4.0%} {line['name']:8}  recall@{K} "
            f"{rate(line['hits'], line['n'])}, {line['rate']:,.0f} queries/s; "
            f"comparing all that pass: {line['exact']:,.0f}"
        )
    print("comparing everything against the graph, localrag, in ms (first: from nothing open):")
    for count in (5_000, 10_000, 20_000, 40_000, 80_000):
        if count <= chosen.count:
            line = child(folder, ENGINES[0], "sizes", str(count))
            print(
                f"  {count:7,}: exact {line['exact']:6.2f}, graph {line['graph']:6.2f}; "
                f"first: exact {line['exact first']:6.1f}, graph {line['graph first']:6.1f}; "
                f"build: exact {line['exact build']:5.1f} s, graph {line['graph build']:5.1f} s"
            )


def drawn(chosen: argparse.Namespace) -> tuple[Vectors, Vectors, NDArray[np.int64]]:
    """Vectors, queries, and the cluster of each vector."""
    chance = np.random.default_rng(chosen.seed)
    d = chosen.dimension
    if chosen.shape == "flat":
        turn = chance.standard_normal((32, d))
        middle = 2 * np.sqrt(32) * chance.standard_normal(d)

        def draw(n: int) -> tuple[Vectors, NDArray[np.int64]]:
            return normalised(chance.standard_normal((n, 32)) @ turn + middle), np.zeros(n, int)
    else:
        centres = normalised(chance.standard_normal((max(chosen.count // 50, 1), d)))

        def draw(n: int) -> tuple[Vectors, NDArray[np.int64]]:
            clusters = chance.integers(0, len(centres), n)
            noise = 0.7 / np.sqrt(d) * chance.standard_normal((n, d), np.float32)
            return normalised(centres[clusters] + noise), clusters

    vectors, clusters = draw(chosen.count)
    return vectors, draw(chosen.queries)[0], clusters


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Make each of length 1."""
    found: NDArray[Any] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found.astype(np.float32)


def nearest(vectors: Vectors, queries: Vectors) -> NDArray[np.int64]:
    """The rows nearest to each query, shape ``(n, K)``."""
    found = []
    for start in range(0, len(queries), 50):
        similar = queries[start : start + 50] @ vectors.T
        found.append(np.argpartition(-similar, K, axis=1)[:, :K])
    return np.concatenate(found)


def child(folder: Path, engine: str, step: str, *extra: str) -> Any:
    """Run one step in a process of its own."""
    command = [sys.executable, __file__, "--child", str(folder), engine, step, *extra]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def peak() -> float:
    """The most memory this process ever held, in MB; mapped files count as far as they were read.

    What getrusage says would hold the memory of the parent too.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def entries(folder: Path, count: int | None = None) -> Iterator[VectorEntry]:
    """The vectors as entries, with an attribute for each filter that is tried."""
    clusters = np.load(folder / "clusters.npy")
    chance = np.random.default_rng(2)
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")[:count]
    for key, vector in enumerate(vectors):
        about = {"alone": int(chance.integers(100)), "together": int(clusters[key]) % 100}
        yield VectorEntry(key, key.to_bytes(16, "big"), vector, about)


def build_step(folder: Path, engine: str) -> dict[str, float]:
    """Build an index of all vectors."""
    target = folder / engine
    cpu, started = time.process_time(), time.perf_counter()
    if engine == "localrag":
        target.mkdir()
        build(
            target,
            entries(folder),
            model="bench",
            dimension=np.load(folder / "queries.npy").shape[1],
            attributes=("alone", "together"),
            threads=os.cpu_count() or 1,
        )
        size = sum(path.stat().st_size for path in target.iterdir())
    elif engine == "numpy exact":
        size = shutil.copyfile(folder / "vectors.npy", target).stat().st_size
    else:
        from usearch.index import Index

        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        index = Index(ndim=vectors.shape[1], metric="ip", dtype=engine.split()[1])
        index.add(np.arange(len(vectors)), vectors, threads=os.cpu_count() or 1)
        index.save(str(target))
        size = target.stat().st_size
    return {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - cpu,
        "peak": peak(),
        "size": size / 1e6,
    }


def search_step(folder: Path, engine: str) -> dict[str, float]:
    """Open the index and answer every query."""
    queries, truth = np.load(folder / "queries.npy"), np.load(folder / "truth.npy")
    started = time.perf_counter()
    search = opened(folder / engine, engine)
    open_ms = milliseconds(started)
    search(queries[0])
    first = milliseconds(started)
    seconds, hits = timed(search, queries, truth)
    return {
        "open": open_ms,
        "first": first,
        "rate": len(queries) / seconds,
        "peak": peak(),
        "hits": hits,
        "n": truth.size,
    }


def opened(path: Path, engine: str) -> Callable[[Vectors], list[int]]:
    """Open an index; gives what finds the rows nearest to a vector."""
    if engine == "localrag":
        index = VectorIndex.open(path, model="bench")
        return lambda query: [hit.key for hit in index.search(query, K)]
    if engine == "numpy exact":
        vectors = np.load(path, mmap_mode="r")

        def exact(query: Vectors) -> list[int]:
            nearest: list[int] = np.argpartition(-(vectors @ query), K)[:K].tolist()
            return nearest

        return exact
    from usearch.index import Index

    view = Index.restore(str(path), view=True)
    assert view is not None
    return lambda query: view.search(query, K, threads=1).keys.tolist()


def filters_step(folder: Path, engine: str) -> list[dict[str, Any]]:
    """Search what filters of several widths leave."""
    queries = np.load(folder / "queries.npy")[:200]
    index = VectorIndex.open(folder / engine)
    found = []
    for name in ("alone", "together"):
        for wide in (1, 10, 50):
            where = {name: [str(value) for value in range(wide)]}

            def exact(query: Vectors, where: dict[str, list[str]] = where) -> list[int]:
                return [hit.key for hit in index.search(query, K, where=where, exact=True)]

            def search(query: Vectors, where: dict[str, list[str]] = where) -> list[int]:
                return [hit.key for hit in index.search(query, K, where=where)]

            truth = np.array([exact(query) for query in queries])
            exact_seconds, _ = timed(exact, queries, truth)
            seconds, hits = timed(search, queries, truth)
            found.append(
                {
                    "name": name,
                    "admitted": wide / 100,
                    "hits": hits,
                    "n": truth.size,
                    "rate": len(queries) / seconds,
                    "exact": len(queries) / exact_seconds,
                }
            )
    return found


def sizes_step(folder: Path, engine: str, count: str) -> dict[str, float]:
    """Compare both ways of searching on the first vectors."""
    queries = np.load(folder / "queries.npy")[:200]
    found: dict[str, float] = {}
    for way, limit in (("exact", 2**62), ("graph", 0)):
        layout.EXACT_NUMBERS = limit
        target = folder / f"{engine} {way} {count}"
        target.mkdir()
        started = time.perf_counter()
        build(
            target,
            entries(folder, int(count)),
            model="bench",
            dimension=queries.shape[1],
            attributes=(),
            threads=os.cpu_count() or 1,
        )
        found[f"{way} build"] = time.perf_counter() - started
        started = time.perf_counter()
        search = opened(target, engine)
        search(queries[0])
        found[f"{way} first"] = milliseconds(started)
        seconds, _ = timed(search, queries, np.zeros((len(queries), K), int))
        found[way] = 1000 * seconds / len(queries)
        shutil.rmtree(target)
    return found


def timed(
    search: Callable[[Vectors], list[int]], queries: Vectors, truth: NDArray[np.int64]
) -> tuple[float, int]:
    """Seconds that all queries take, and how much of the truth they find."""
    started = time.perf_counter()
    answers = [search(query) for query in queries]
    seconds = time.perf_counter() - started
    hits = sum(
        len(set(answer) & set(right)) for answer, right in zip(answers, truth.tolist(), strict=True)
    )
    return seconds, hits


def milliseconds(since: float) -> float:
    """Milliseconds since a moment."""
    return 1000 * (time.perf_counter() - since)


STEPS: dict[str, Callable[..., Any]] = {
    "build": build_step,
    "search": search_step,
    "filters": filters_step,
    "sizes": sizes_step,
}

if __name__ == "__main__":
    main()
