"""The HTTP server: searches a second and their times, from another process.

``serve.py`` makes the corpus of the 327 laws in ``--work`` (minutes, the first time), or takes the
workspace of ``--home``, starts ``localrag serve``, and searches for the questions of
``lawqa/train.jsonl``. Each client asks its next search after a reply; ``--rate`` sends a number of
searches a second instead. Each search is new, because the server caches; ``--repeat`` repeats them.

Printed are searches a second, median and 95th percentile of their time (with its 95 % interval, by
order statistics), processor time and memory of the server, and how searches ended.

With ``--minutes`` the clients then send everything: searches, provisions, citations, histories,
answers, checks, the page, slow or abandoned replies, unfinished requests, bodies of 100 MB, wrong
tokens and paths out of the folder. Printed are memory by minute, and how requests ended.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, cycle, islice
from math import sqrt
from pathlib import Path
from zlib import crc32

import httpx
import psutil
from bench.corpora import LAWS, open_laws
from bench.options import parser

# Characters of a question that are searched for.
_LONGEST = 120
_NORMAL = 1.96
# Whose articles are looked up in a mixed load.
_LAWS = ("民法", "刑法", "会社法", "個人情報の保護に関する法律", "金融商品取引法")


def main() -> None:
    """Start the server, ask it, and print what it did."""
    given = _arguments()
    home, corpus = given.home, given.corpus
    if home is None:
        open_laws(given.data, given.work).close()
        home, corpus = given.work / "home", LAWS
    questions = _questions(given.data / "lawqa" / "train.jsonl")
    asked = cycle(questions) if given.repeat else _distinct(questions)
    with _server(home, corpus) as (address, token, server):
        given.token = given.token or token
        asyncio.run(_search(address, asked, given, given.warm, 0.0))
        before, spent = _memory(server), _spent(server)
        began = time.perf_counter()
        took, ends = asyncio.run(_search(address, asked, given, given.searches, given.rate))
        seconds = time.perf_counter() - began
        after, spent = _memory(server), _spent(server) - spent
        if given.minutes:
            asyncio.run(_mixed(address, asked, server, given))
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
    made.add_argument("--minutes", type=float, default=0.0, metavar="N", help="of a mixed load")
    made.add_argument("--body", type=int, default=100, metavar="MB", help="that is too large (100)")
    made.add_argument("--token", default="", help="a right one, of a workspace that has some")
    return made.parse_args()


def _questions(path: Path) -> list[str]:
    rows = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["question"].split("\n")[0][:_LONGEST] for row in rows]


def _distinct(questions: Sequence[str]) -> Iterator[str]:
    """The questions again and again, each with more blanks at its end: none was asked before."""
    return (question + " " * times for times in count() for question in questions)


@contextmanager
def _server(home: Path, corpus: str) -> Iterator[tuple[str, str, psutil.Process]]:
    """The address and the token of a server in processes of its own, and the first of them."""
    command = [sys.executable, "-m", "localrag", "--home", str(home), "--lang", "en"]
    command += ["--set", "embedding.model=off", "serve", "--port", "0", "--corpus", corpus]
    command += ["--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            started = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")
            yield started["address"], started["token"], psutil.Process(server.pid)
        finally:
            server.terminate()
            server.wait()


def _client(address: str, token: str) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(base_url=address, timeout=60, headers=headers)


async def _search(
    address: str, questions: Iterator[str], given: argparse.Namespace, searches: int, rate: float
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

    async with _client(address, given.token) as http:
        await asyncio.gather(*(client(http) for _ in range(given.clients)))
    return sorted(took), ends


async def _mixed(
    address: str, questions: Iterator[str], server: psutil.Process, given: argparse.Namespace
) -> None:
    """Do all that clients do for some minutes, and print the memory of each."""
    ends: Counter[str] = Counter()
    until = time.perf_counter() + 60 * given.minutes

    async def too_large(http: httpx.AsyncClient, _question: str) -> str:
        return await _large(http, given.body)

    every = cycle((too_large, *_DEEDS))

    async def client(http: httpx.AsyncClient) -> None:
        while time.perf_counter() < until:
            deed = next(every)
            try:
                async with asyncio.timeout(60):
                    end = await deed(http, next(questions))
            except (httpx.HTTPError, OSError, TimeoutError) as error:
                end = type(error).__name__
            ends[f"{deed.__name__.strip('_')}: {end}"] += 1

    async def watch() -> None:
        for minute in count(1):
            await asyncio.sleep(60)
            each = [_memory_of(one) for one in (server, *server.children(recursive=True))]
            told = " + ".join(f"{one / 1e6:.0f}" for one in sorted(each, reverse=True))
            print(f"minute {minute}: {sum(each) / 1e6:.0f} MB ({told}); n = {ends.total()}")
            sys.stdout.flush()

    async with _client(address, given.token) as http:
        watching = asyncio.create_task(watch())
        await asyncio.gather(*(client(http) for _ in range(given.clients)))
        watching.cancel()
    print("ended with: " + ", ".join(f"{end} ({n})" for end, n in sorted(ends.items())))


async def _posted(http: httpx.AsyncClient, path: str, **call: str | bool) -> str:
    return str((await http.post(path, json=call)).status_code)


async def _searched(http: httpx.AsyncClient, question: str) -> str:
    return await _posted(http, "/search", query=question)


async def _shown(http: httpx.AsyncClient, question: str) -> str:
    return await _posted(http, "/show", citation=_some_citation(question))


async def _resolved(http: httpx.AsyncClient, question: str) -> str:
    return await _posted(http, "/resolve", citation=_some_citation(question))


async def _compared(http: httpx.AsyncClient, question: str) -> str:
    return await _posted(http, "/history", citation=_some_citation(question))


async def _checked(http: httpx.AsyncClient, question: str) -> str:
    return await _posted(http, "/check", text=f"{question}。{_some_citation(question)}による。")


async def _answered(http: httpx.AsyncClient, question: str) -> str:
    return await _posted(http, "/ask", question=question, model=False)


async def _read(http: httpx.AsyncClient, question: str) -> str:
    form = {"question": question, "without-model": "on"}
    page = await http.post("/answers", data=form, follow_redirects=True)
    await http.get("/provision", params={"at": _some_citation(question)})
    return str(page.status_code)


async def _misled(http: httpx.AsyncClient, _question: str) -> str:
    path = "/v1/..%2f..%2f..%2fetc/passwd"
    return str((await http.get(path)).status_code)


async def _without_right(http: httpx.AsyncClient, question: str) -> str:
    wrong = {"authorization": "Bearer wrong"}
    reply = await http.post("/search", json={"query": question}, headers=wrong)
    return str(reply.status_code)


async def _large(http: httpx.AsyncClient, megabytes: int) -> str:
    """A body that is too large, of no told length."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(megabytes):
            yield b" " * 1_000_000

    sent = {"content-type": "application/json"}
    return str((await http.post("/search", content=body(), headers=sent)).status_code)


async def _slow(http: httpx.AsyncClient, _question: str) -> str:
    """A reply read in small pieces for some seconds, and then left."""
    async with http.stream("POST", "/show", json={"citation": "民法"}) as reply:
        read = 0
        async for piece in reply.aiter_raw(500):
            read += len(piece)
            await asyncio.sleep(0.2)
            if read > 5_000:
                break
        return str(reply.status_code)


async def _cut_off(http: httpx.AsyncClient, question: str) -> str:
    """A request sent in half, and one with an abandoned reply."""
    host, port = http.base_url.host, http.base_url.port
    whole = json.dumps({"query": question}).encode()
    for body in (whole[:10], whole):
        _reader, writer = await asyncio.open_connection(host, port)
        head = f"POST /search HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json"
        token = http.headers.get("authorization", "")
        head += f"\r\nauthorization: {token}\r\ncontent-length: {len(whole)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.transport.abort()
    return "left"


_DEEDS: tuple[Callable[[httpx.AsyncClient, str], Awaitable[str]], ...] = (
    *(_misled, _without_right, _slow, _cut_off),
    *(_searched, _shown, _resolved, _compared, _answered, _searched, _checked, _read) * 3,
)


def _some_citation(question: str) -> str:
    """A citation that depends on a question: of one of some laws, of its first 200 articles."""
    number = crc32(question.encode())
    return f"{_LAWS[number % len(_LAWS)]}{number // 7 % 200 + 1}条"


def _at(values: Sequence[float], share: float, side: float = 0.0) -> float:
    """The value below which a share of sorted values lies; `side` standard errors beside it."""
    place = len(values) * share + side * sqrt(len(values) * share * (1 - share))
    return values[min(max(round(place), 1), len(values)) - 1]


def _spent(server: psutil.Process) -> float:
    """Seconds of a processor that the processes of the server have had."""
    times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
    return sum(of.user + of.system for of in times)


def _memory(server: psutil.Process) -> int:
    return sum(map(_memory_of, (server, *server.children(recursive=True))))


def _memory_of(process: psutil.Process) -> int:
    rss: int = process.memory_info().rss
    return rss


if __name__ == "__main__":
    main()
