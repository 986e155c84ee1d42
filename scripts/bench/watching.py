"""A watched folder: after bursts of changes and kills, the corpus equals one made from nothing.

Files are made, changed, renamed and removed in bursts while ``localrag watch`` runs. It is killed
at chance moments (``--kills``) and started again. At last, its idle processor time is measured.
"""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from bench.options import parser

import localrag
from localrag.corpus.workspace import Workspace
from localrag.search.units import IndexState, index_state

WORDS = [
    "灯台",
    "桟橋",
    "水門",
    "渡し舟",
    "検査",
    "登録",
    "修繕",
    "契約",
    "期間",
    "費用",
    "報告",
    "届出",
]
# Seconds of the measurement of an idle watch.
IDLE = 10.0


def main() -> None:
    """Print whether both corpora are equal, and the share of a core used while idle."""
    options = parser(__doc__, work=True)
    options.add_argument("--files", type=int, default=2_000, metavar="N")
    options.add_argument("--bursts", type=int, default=20, metavar="N")
    options.add_argument("--kills", type=int, default=100, metavar="N")
    options.add_argument("--seed", type=int, default=0)
    arguments = options.parse_args()
    draw = random.Random(arguments.seed)
    work = arguments.work.resolve()
    folder, home = work / "watched", work / "home"
    folder.mkdir(parents=True, exist_ok=True)
    Workspace(home).init()
    for number in range(arguments.files):
        (folder / f"{number:05}.txt").write_text(text(draw), encoding="utf-8")
    for at in range(max(arguments.bursts, arguments.kills)):
        running = watch(home, folder)
        if at < arguments.bursts:
            burst(folder, arguments.files // 20 + 1, draw)
        time.sleep(draw.uniform(0, 3))
        running.send_signal(signal.SIGKILL)
        running.wait()
    running = watch(home, folder)
    while not is_current(home, folder):
        time.sleep(0.5)
    process = psutil.Process(running.pid)
    before = sum(process.cpu_times()[:2])
    time.sleep(IDLE)
    idle = (sum(process.cpu_times()[:2]) - before) / IDLE
    running.send_signal(signal.SIGKILL)
    running.wait()
    Workspace(work / "other").init()
    with localrag.open(work / "other").corpus() as corpus:
        corpus.add(folder)
        corpus.index()
    wrong = sum(found(home, word) != found(work / "other", word) for word in WORDS)
    same = state(home) == state(work / "other")
    print(f"{arguments.files} files, {arguments.bursts} bursts, {arguments.kills} kills")
    print(f"documents equal: {same}; searches with other hits: {wrong} of {len(WORDS)}")
    print(f"idle: {idle:.2%} of a core")


def text(draw: random.Random) -> str:
    """A text of three sentences."""
    return "".join(f"{'、'.join(draw.sample(WORDS, 3))}の件である。\n" for _ in range(3))


def burst(folder: Path, count: int, draw: random.Random) -> None:
    """Make, change, rename and remove so many files each."""
    there = sorted(folder.iterdir())
    for path in draw.sample(there, min(count, len(there))):
        path.write_text(text(draw), encoding="utf-8")
    for path in draw.sample(there, min(count, len(there))):
        path.rename(folder / f"{draw.randrange(10**9):09}.txt")
    for path in draw.sample(sorted(folder.iterdir()), min(count, len(there))):
        path.unlink()
    for _ in range(count):
        (folder / f"{draw.randrange(10**9):09}.txt").write_text(text(draw), encoding="utf-8")


def watch(home: Path, folder: Path) -> "subprocess.Popen[bytes]":
    """Start the command."""
    command = [sys.executable, "-m", "localrag", "--home", str(home), "watch", str(folder)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet)


def is_current(home: Path, folder: Path) -> bool:
    """Whether the corpus and its index have taken in the folder."""
    fresh = index_state(Workspace(home), "main") is IndexState.FRESH
    return fresh and state(home) == files(folder)


def files(folder: Path) -> dict[str, str]:
    """The text of each file, by its name."""
    return {path.name: path.read_text(encoding="utf-8").strip() for path in folder.iterdir()}


def state(home: Path) -> dict[str, str]:
    """The text of each document, by its id; nothing if the corpus cannot be read yet."""
    try:
        with localrag.open(home).corpus() as corpus:
            store = corpus.store
            return {one.id: store.text(one.id).strip() for one in store.documents()}
    except localrag.LocalragError:
        return {}


def found(home: Path, words: str) -> list[tuple[float, str]]:
    """The hits of a search by score and id."""
    with localrag.open(home).corpus() as corpus:
        hits = corpus.search(words, 50).hits
    return sorted((round(-hit.score, 6), hit.passage.id) for hit in hits)


if __name__ == "__main__":
    main()
