"""The workbench in use: first paint, results while typing, a long law, a busy machine.

Drives the real program on the workspace of ``--home``, whose corpus holds the real laws:

first   from the start of ``localrag tui`` to its bar and question field, in tmux and without;
        ``floor`` is a Textual application with one line
search  typing on the Search screen: from a key to its character, and to the list of hits
law     from Enter in the dialogue of Ctrl+G to the text of 金融商品取引法 (3.5 MB of XML)
scroll  scrolling in it: from PageDown or Down to the new rows
busy    typing a question while a tiny model streams an answer and an index is built

All is measured in our own pseudo-terminal, around tmux if named. A character counts as painted when
its bytes were read; drawing is left out. The workspace is not changed: its folders are linked into
one of the script's, and copied for ``busy``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.options import parser
from bench.rates import latency
from bench.streaming import WITHOUT_END
from bench.terminal import Terminal
from tiny_models.chat import write_chat_gguf

from localrag_tui.work.process import NICENESS

ENVIRONMENT = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
FLOOR = (
    sys.executable,
    "-c",
    """
from textual.app import App
from textual.widgets import Static
class Floor(App):
    def compose(self):
        yield Static("ready")
Floor().run()
""",
)
BAR, FIELD = "Models", "Ask a question"
SEARCHES = (
    "公開買付けの義務",
    "高速取引行為者の登録",
    "損害賠償の責任",
    "金商法27条の36",
    "保険契約",
)
LAW, OTHER = "金融商品取引法", "民法"
# The beginnings of the two.
LAW_BEGINS, OTHER_BEGINS = "国民経済の健全な発展", "公共の福祉に適合"
# The first of a thousand characters that no text on the screen holds.
RARE = 0x3400
FIRST_HIT = "  1 "
"""The rank of the first hit; a list is painted as a whole."""
STREAMED = " written"
"""Follows the number of tokens while an answer is written."""
QUESTION, CANCELLED = "登録の取消し", "cancelled"
# Seconds that a reply is streamed at least.
STREAMS = 2.0
F3, F4, CTRL_G, CTRL_U, PAGE_DOWN, DOWN = "\x1bOR", "\x1bOS", "\x07", "\x15", "\x1b[6~", "\x1b[B"
COLUMNS, ROWS = 140, 40


def main() -> None:
    """Measure the named parts."""
    options = parser(__doc__, data=False)
    options.add_argument("--home", type=Path, required=True, metavar="FOLDER", help="workspace")
    options.add_argument("--runs", type=int, default=20, metavar="N", help="starts (20)")
    options.add_argument("--keys", type=int, default=200, metavar="N", help="keys of a kind (200)")
    options.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all without one"
    )
    arguments = options.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        options.error(f"there is no part {', '.join(sorted(unknown))}")
    print(f"{COLUMNS} x {ROWS}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        for name in ("corpora", "indexes", "models", "localrag.toml"):
            (home / name).symlink_to((arguments.home / name).resolve())
        for part in arguments.parts or PARTS:
            PARTS[part](home, arguments)


def first(home: Path, arguments: argparse.Namespace) -> None:
    """From the shell to the first paint."""
    floors: list[float] = []
    painted: list[float] = []
    for _ in range(arguments.runs):
        for times, program, texts in (
            (floors, FLOOR, ("ready",)),
            (painted, command(home), (BAR, FIELD)),
        ):
            with Terminal(program, ENVIRONMENT, COLUMNS, ROWS) as terminal:
                times.append(terminal.until(*texts) - terminal.started)
    report("floor", floors)
    report("first paint", painted, bar=600)
    print(f"{'':32}{median(painted) / median(floors):.2f} times the floor")
    if shutil.which("tmux"):
        with tmux() as server:
            times = [in_tmux(server, command(home), BAR, FIELD) for _ in range(arguments.runs)]
        report("first paint in tmux", times, bar=600)
    else:
        print("tmux is not installed")


def search(home: Path, arguments: argparse.Namespace) -> None:
    """Typing on the Search screen."""
    echoes: list[float] = []
    results: list[float] = []
    with workbench(home) as terminal:
        terminal.press(F4)
        terminal.until("Type to search")
        # The first search opens the index and the analyzer.
        terminal.press("法")
        terminal.until(FIRST_HIT)
        while len(results) < arguments.keys:
            terminal.settle(0.2)
            terminal.press("\x1b")
            # What follows an Escape before it is taken up makes another key of it.
            terminal.until("Type to search")
            terminal.settle(0.2)
            for character in SEARCHES[len(results) % len(SEARCHES)]:
                pressed = terminal.press(character)
                echo, hits = terminal.when(character, FIRST_HIT)
                echoes.append(echo - pressed)
                results.append(hits - pressed)
                terminal.settle(0.2)
    report("key to its character", echoes, bar=50)
    report("key to its hits", results, bar=100)


def law(home: Path, arguments: argparse.Namespace) -> None:
    """Opening the longest law: as the first one in a workbench, and after another."""
    first: list[float] = []
    again: list[float] = []
    for _ in range(arguments.runs):
        with workbench(home) as terminal:
            terminal.press(F3)
            terminal.settle(0.3)
            first.append(go_to(terminal, LAW, LAW_BEGINS))
            go_to(terminal, OTHER, OTHER_BEGINS)
            again.append(go_to(terminal, LAW, LAW_BEGINS))
    report(f"{LAW}, the first time", first, bar=250)
    report(f"{LAW}, again", again, bar=250)


def scroll(home: Path, arguments: argparse.Namespace) -> None:
    """Each key waits for the rows of the one before."""
    with workbench(home) as terminal:
        terminal.press(F3)
        terminal.settle(0.3)
        go_to(terminal, LAW, LAW_BEGINS)
        terminal.settle(0.4)
        for name, key in (("PageDown", PAGE_DOWN), ("Down", DOWN)):
            frames = []
            for _ in range(arguments.keys):
                pressed = terminal.press(key)
                frames.append(terminal.until("") - pressed)
                terminal.settle(0.01)
            report(f"{name} to its rows", frames, bar=1000 / 30)
            print(f"{'':32}{len(frames) / sum(frames):.0f} frames a second, "
                  f"slowest {1 / max(frames):.0f}")  # fmt: skip


def busy(home: Path, arguments: argparse.Namespace) -> None:
    """Typing while a model streams and an index is built, each in a process of its own."""
    copy = home.with_name("copy")
    shutil.copytree(home, copy)
    model = home.with_name("tiny.gguf")
    write_chat_gguf(model, context=32_768, seed=WITHOUT_END)
    localrag = [sys.executable, "-m", "localrag", "--home", str(copy)]
    subprocess.run([*localrag, "models", "add", str(model)], check=True, capture_output=True)
    settings = ("chat.model=tiny", "chat.max_tokens=30000", "chat.context=32768")
    times: list[float] = []
    with workbench(copy, *settings) as terminal, building([*localrag, "index", "--rebuild"]):
        while len(times) < arguments.keys:
            # A reply ends with its schema, after some seconds: it is asked for again before.
            terminal.press(QUESTION)
            terminal.settle(0.3, most=2)
            terminal.press("\r")
            terminal.until(STREAMED, seconds=60)
            ends = time.perf_counter() + STREAMS
            while time.perf_counter() < ends:
                # None is typed twice: what shows the line again shows all of them.
                character = chr(RARE + len(times))
                pressed = terminal.press(character)
                times.append(terminal.until(character) - pressed)
                time.sleep(0.05)
            terminal.press("\x1b")
            terminal.until(CANCELLED)
            terminal.press(CTRL_U)
            terminal.settle(0.3, most=2)
    report("key to its character, busy", times, bar=50)


@contextmanager
def building(command: Sequence[str]) -> Iterator[None]:
    """An index is built all the time, at the priority that the workbench gives its own work."""
    ended = threading.Event()

    def build() -> None:
        while not ended.is_set():
            index = subprocess.Popen(
                ["nice", "-n", str(NICENESS), *command],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while index.poll() is None and not ended.wait(0.1):
                pass
            index.terminate()
            index.wait()

    thread = threading.Thread(target=build)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def go_to(terminal: Terminal, name: str, begins: str) -> float:
    """Open a law with Ctrl+G; seconds from Enter to its first words."""
    terminal.press(CTRL_G)
    terminal.until("Go to a provision")
    terminal.settle(0.2)
    terminal.press(name)
    terminal.settle(0.3)
    pressed = terminal.press("\r")
    return terminal.until(begins) - pressed


@contextmanager
def workbench(home: Path, *settings: str) -> Iterator[Terminal]:
    """The workbench, painted and at rest."""
    with Terminal(command(home, settings), ENVIRONMENT, COLUMNS, ROWS) as terminal:
        terminal.until(BAR, FIELD)
        terminal.settle(0.3)
        yield terminal


def command(home: Path, settings: Iterable[str] = ()) -> list[str]:
    """The command line of the workbench in English, on its first screen."""
    home.joinpath("tui.json").unlink(missing_ok=True)
    given = [part for setting in ("language=en", *settings) for part in ("--set", setting)]
    return [sys.executable, "-m", "localrag", "--home", str(home), *given, "tui"]


@contextmanager
def tmux() -> Iterator[list[str]]:
    """A server of tmux with one idle session, as a user has it; gives the command to reach it."""
    server = ["tmux", "-L", f"bench-{os.getpid()}", "-f", os.devnull]
    subprocess.run([*server, "new-session", "-d", "-s", "idle", "cat"], check=True)
    try:
        yield server
    finally:
        subprocess.run([*server, "kill-server"], check=False)


def in_tmux(server: list[str], program: Sequence[str], *texts: str) -> float:
    """Seconds from starting a program in tmux until its client has painted some texts."""
    command = [*server, "new-session", "-s", "tried", *program]
    try:
        with Terminal(command, ENVIRONMENT, COLUMNS, ROWS) as terminal:
            return terminal.until(*texts) - terminal.started
    finally:
        subprocess.run([*server, "kill-session", "-t", "tried"], check=False)


def report(name: str, seconds: Sequence[float], bar: float = 0) -> None:
    """One line: number, median, 95th percentile, the slowest, and the bar in milliseconds."""
    worst = f", slowest {max(seconds) * 1000:.0f} ms"
    print(f"{name:<32}{latency(seconds)}{worst}" + (f"; bar {bar:.0f} ms" if bar else ""))


Part = Callable[[Path, argparse.Namespace], None]
PARTS: dict[str, Part] = {
    "first": first,
    "search": search,
    "law": law,
    "scroll": scroll,
    "busy": busy,
}

if __name__ == "__main__":
    main()
