"""Measures the HTTP server: searches a second, and how long they take, from another process.

``serve.py`` makes the corpus of the 327 laws in ``--work`` (minutes, the first time), or takes a
workspace that ``--home`` names, starts ``localrag serve`` on it, and searches for the questions of
``lawqa/train.jsonl``. Clients ask one search after the other, as fast as replies come; with
``--rate`` they ask so many a second together, whatever comes back, as users do. No search is asked
twice, for the server remembers those that were; with ``--repeat`` they are.

Printed are searches a second, the median and the 95th percentile of their time (with its 95 %
interval, by order statistics), what the server takes of a processor, which is the same on a busy
machine, how the searches ended, and the memory of the server before and after.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, cycle, islice
from math import sqrt
from pathlib import Path

import httpx
import psutil
from bench.corpora import LAWS, open_laws
from bench.options import parser

# Characters of a question that are searched for.
_LONGEST = 120
_NORMAL = 1.96


def main() -> None:
    """Start the server, ask it, and print what it did."""
    given = _arguments()
    home, corpus = given.home, given.corpus
    if home is None:
        open_laws(given.data, given.work).close()
        home, corpus = given.work / "home", LAWS
    questions = _questions(given.data / "lawqa" / "train.jsonl")
    asked = cycle(questions) if given.repeat else _distinct(questions)
    with _server(home, corpus) as (address, server):
        asyncio.run(_search(address, asked, given.clients, given.warm, 0.0))
        before, spent = _memory(server), _spent(server)
        began = time.perf_counter()
        took, ends = asyncio.run(_search(address, asked, given.clients, given.searches, given.rate))
        seconds = time.perf_counter() - began
        after, spent = _memory(server), _spent(server) - spent
    again = " again and again" if given.repeat else ""
    offered = f", {given.rate:g} offered" if given.rate else ""
    low, high = (1000 * _at(took, 0.95, side) for side in (-_NORMAL, _NORMAL))
    print(
        f"{given.clients} clients, {len(set(questions))} questions{again}, n = {len(took)} searches"
    )
    print(f"{len(took) / seconds:.0f} searches a second{offered}")
    print(
        f"p50 {1000 * _at(took, 0.5):.0f} ms, p95 {1000 * _at(took, 0.95):.0f} ms "
        f"[{low:.0f}, {high:.0f}]"
    )
    print(f"the server takes {1000 * spent / len(took):.1f} ms of a processor for each")
    print("ended with: " + ", ".join(f"{end} ({n})" for end, n in sorted(ends.items())))
    print(f"memory of its processes: {before / 1e6:.0f} MB, {after / 1e6:.0f} MB at the end")


def _arguments() -> argparse.Namespace:
    made = parser(__doc__, work=True)
    made.add_argument("--home", type=Path, metavar="FOLDER", help="a workspace that is there")
    made.add_argument("--corpus", default="main", metavar="NAME", help="of --home")
    made.add_argument("--clients", type=int, default=16, metavar="N")
    made.add_argument("--searches", type=int, default=3000, metavar="N")
    made.add_argument("--warm", type=int, default=200, metavar="N", help="searches before")
    made.add_argument("--repeat", action="store_true", help="ask what the server remembers, too")
    made.add_argument("--rate", type=float, default=0.0, metavar="N", help="searches a second")
    return made.parse_args()


def _questions(path: Path) -> list[str]:
    rows = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["question"].split("\n")[0][:_LONGEST] for row in rows]


def _distinct(questions: Sequence[str]) -> Iterator[str]:
    """The questions again and again, each with more blanks at its end: none was asked before."""
    return (question + " " * times for times in count() for question in questions)


@contextmanager
def _server(home: Path, corpus: str) -> Iterator[tuple[str, psutil.Process]]:
    """The address of a server in processes of its own, and the first of them."""
    command = [sys.executable, "-m", "localrag", "--home", str(home), "--lang", "en"]
    command += ["--set", "embedding.model=off", "serve", "--port", "0", "--corpus", corpus]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            # "localrag is at http://127.0.0.1:40001/"
            yield server.stdout.readline().split()[-1], psutil.Process(server.pid)
        finally:
            server.terminate()
            server.wait()


async def _search(
    address: str, questions: Iterator[str], clients: int, searches: int, rate: float
) -> tuple[list[float], Counter[str]]:
    """Search so many times; how long each took, sorted, and how each ended."""
    asked = enumerate(islice(questions, searches))
    took: list[float] = []
    ends: Counter[str] = Counter()
    began = time.perf_counter()

    async def client(http: httpx.AsyncClient) -> None:
        for number, question in asked:
            # A search that is due and waits for its client waits for the server, all the same.
            due = began + number / rate if rate else time.perf_counter()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                reply = await http.post("/search", json={"query": question})
                ends[str(reply.status_code)] += 1
            except httpx.HTTPError as error:
                ends[type(error).__name__] += 1
            took.append(time.perf_counter() - due)

    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        await asyncio.gather(*(client(http) for _ in range(clients)))
    return sorted(took), ends


def _at(values: Sequence[float], share: float, side: float = 0.0) -> float:
    """The value below which a share of sorted values lies; `side` standard errors beside it."""
    place = len(values) * share + side * sqrt(len(values) * share * (1 - share))
    return values[min(max(round(place), 1), len(values)) - 1]


def _spent(server: psutil.Process) -> float:
    """Seconds of a processor that the processes of the server have had."""
    times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
    return sum(of.user + of.system for of in times)


def _memory(server: psutil.Process) -> int:
    return sum(one.memory_info().rss for one in (server, *server.children(recursive=True)))


if __name__ == "__main__":
    main()
