"""Processor time of `check` on growing hostile texts, and its effect on other users.

Fifteen shapes of text, each of ``--sizes`` characters, are checked against the 327 laws: nested and
unclosed quotation marks, citations of one law, 同条, branches, ranges, lists of law names,
definitions, case numbers, English citations, headings, a line break after each character, spread
letters, cells of one row, and a mixture. Bar: four times the text takes at most five times as long.

Then the holder of one token checks two of the largest texts at a time, while another one searches.
Printed is the 95th percentile of these searches (with its 95 % interval, by order statistics)
beside searches alone. Bar: five times. Last, a client disconnects during a check: seconds until the
checking process ends.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from math import sqrt
from pathlib import Path

import httpx
import psutil
from bench.corpora import LAWS, open_laws
from bench.options import parser

import localrag
from localrag.corpus.workspace import Workspace
from localrag.doors.serve.holders import Tokens

SHAPES = {
    "quotations in each other": "「民法」第一条「第二条」",
    "quotations not closed": "民法第一条「『（",
    "one law": "民法第七百九条、",
    "同条": "同条、",
    "branches": "第一条の二の",
    "ranges": "民法第一条から第三条まで及び",
    "names of laws": "民法刑法会社法、",
    "definitions": "民法（以下「甲」という。）甲第一条",
    "numbers of cases": "（ワ）第1号及び",
    "English": "Articles 5 to 7 of the Civil Code, ",
    "headings": "第一条（目的）\n",
    "line breaks": "民\n法\n第\n一\n条\n",
    "spread letters": "民 法 第 1 条 ",
    "cells": "民法第一条\t「あ」\t",
    "mixed": "民法第5条は「あ」と定め、Article 5（同条第2項）\n第３条 ",
}
_NORMAL = 1.96


def main() -> None:
    """Print the processor time of each shape, then the searches beside two checks."""
    given = _arguments()
    open_laws(given.data, given.work).close()
    home = given.work / "home"
    with localrag.open(home).corpus(LAWS) as corpus:
        corpus.check("民法第一条")
        _print_growth(corpus, given.sizes)
    if given.searches:
        with _tokens(home) as (checks, searches), _server(home) as (address, server):
            asyncio.run(_beside(address, checks, searches, server, given))


def _arguments() -> argparse.Namespace:
    made = parser(__doc__, work=True)
    made.add_argument("--sizes", type=int, nargs=2, default=(25_000, 100_000), metavar="N")
    made.add_argument("--searches", type=int, default=200, metavar="N", help="0: no server")
    return made.parse_args()


def _print_growth(corpus: localrag.Corpus, sizes: tuple[int, int]) -> None:
    small, large = sizes
    print(f"processor time of {small:,} and {large:,} characters, n = {len(SHAPES)} shapes")
    for name, unit in SHAPES.items():
        took = [_seconds(corpus, _of_size(unit, size)) for size in sizes]
        print(f"  {name:<26} {took[0]:6.2f} s {took[1]:6.2f} s  × {took[1] / took[0]:.1f}")
        sys.stdout.flush()


def _of_size(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _seconds(corpus: localrag.Corpus, text: str) -> float:
    began = time.process_time()
    corpus.check(text)
    return time.process_time() - began


@contextmanager
def _tokens(home: Path) -> Iterator[tuple[str, str]]:
    """A temporary token for checks, and one for searches."""
    path = Workspace(home).tokens
    before = path.read_bytes() if path.exists() else None
    tokens = Tokens(path)
    try:
        yield tokens.add("checks", (LAWS,)), tokens.add("searches", (LAWS,))
    finally:
        path.unlink()
        if before is not None:
            path.write_bytes(before)


@contextmanager
def _server(home: Path) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "localrag", "--home", str(home), "--lang", "en"]
    command += ["--set", "embedding.model=off", "serve", "--port", "0", "--corpus", LAWS, "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            started = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")
            yield started["address"], psutil.Process(server.pid)
        finally:
            server.terminate()
            server.wait()


def _client(address: str, token: str) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=address, timeout=600, headers=headers)


async def _beside(
    address: str, checks: str, searches: str, server: psutil.Process, given: argparse.Namespace
) -> None:
    questions = (f"損害賠償の責任 {number}" for number in count())
    text = _of_size(SHAPES["quotations in each other"], given.sizes[1])
    async with _client(address, checks) as checking, _client(address, searches) as searching:

        async def again(number: int) -> None:
            for times in count():
                await checking.post("/check", json={"text": f"{text}{number}{times}"})

        async def searched(times: int) -> list[float]:
            took = []
            for _ in range(times):
                began = time.perf_counter()
                reply = await searching.post("/search", json={"query": next(questions)})
                took.append(time.perf_counter() - began)
                assert reply.status_code == httpx.codes.OK, reply.text
            return sorted(took)

        await searched(max(1, given.searches // 10))
        alone = await searched(given.searches)
        running = [asyncio.create_task(again(number)) for number in range(2)]
        await asyncio.sleep(1)
        beside = await searched(given.searches)
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        print(f"p95 of n = {len(alone)} searches alone: {_told(alone)}")
        print(f"p95 of n = {len(beside)} searches beside two checks: {_told(beside)}")
        print(f"  × {_at(beside, 0.95) / _at(alone, 0.95):.1f}")
    began = time.perf_counter()
    while any(one.cpu_percent(0.1) > 0 for one in _checks(server)):
        await asyncio.sleep(0.05)
    print(f"the process that checks has gone {time.perf_counter() - began:.1f} s after its client")


def _checks(server: psutil.Process) -> list[psutil.Process]:
    """The checking processes; they have lower priority than searches."""
    return [one for one in server.children(recursive=True) if one.nice() > 0 and one.is_running()]


def _told(took: list[float]) -> str:
    low, high = (1000 * _at(took, 0.95, side) for side in (-_NORMAL, _NORMAL))
    return f"{1000 * _at(took, 0.95):.0f} ms [{low:.0f}, {high:.0f}]"


def _at(took: list[float], share: float, side: float = 0.0) -> float:
    """A quantile of sorted times, or a bound of its interval by order statistics."""
    place = len(took) * share + side * sqrt(len(took) * share * (1 - share))
    return took[min(len(took) - 1, max(0, round(place - 0.5)))]


if __name__ == "__main__":
    main()
