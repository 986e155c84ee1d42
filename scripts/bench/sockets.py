"""Sockets opened by the main commands, seen by the kernel, and whether a network is needed.

Every step (add, index, search, ask, batch, the start of the workbench) runs twice from the same
workspace: under ``strace`` with all its children, and in a namespace without a network. Unnamed
pairs of sockets between a process and its workers are expected. Any other opened, bound or
connected socket is printed. Output and files of both runs must be equal, except for times.

Needs Linux, ``strace`` and ``unshare``. Without ``--embedder`` it searches by words, without
``--model`` answers are quotations.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.options import law_files, parser
from bench.terminal import Terminal
from bench.tui import BAR, COLUMNS, ENVIRONMENT, FIELD, ROWS

from localrag.corpus.workspace import Workspace
from localrag.ops.offline import NAMESPACE
from localrag.sample import QUESTION
from localrag_models.store import ModelStore

STEPS = ("add", "index", "search", "ask", "batch", "tui")
_TRACE = ("strace", "-f", "-qq", "-s", "200", "-e", "trace=%network", "-o")
# 1234  connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0
_CALL = re.compile(r"^\d+\s+(socket|socketpair|bind|connect|sendto|sendmsg)\((.*)$", re.MULTILINE)
_ADDRESS = re.compile(r"sa_family=(AF_\w+)[^}]*")
_TIMES = re.compile(r"\d+(?:\.\d+)? (?:s|ms|seconds)\b")
_TIMED = {"seconds", "per_minute", "generation"}


def main() -> None:
    """Run all steps, and print what each opened."""
    options = parser(__doc__, embedder=True)
    options.add_argument("--model", default="", metavar="GGUF", help="chat model that answers")
    options.add_argument("--files", type=int, default=12, metavar="N", help="law files (12)")
    options.add_argument("--steps", nargs="+", default=STEPS, choices=STEPS, help="these alone")
    chosen = options.parse_args()
    for program in (_TRACE[0], NAMESPACE[0]):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run the steps chosen, one after the other."""
    files = law_files(chosen.data)
    # Large ones, for which processes are started.
    laws = [str(path) for path in files[len(files) - chosen.files :]]
    (folder / "questions.jsonl").write_text(json.dumps({"question": QUESTION}) + "\n", "utf-8")
    home = prepared(folder / "home", chosen)
    print(f"{'step':<8}{'pairs':>7}{'others':>8}{'same without a network':>24}  others")
    for step in chosen.steps:
        command = [*localrag(chosen), *arguments(step, laws, folder)]
        without = folder / "without" / "home"
        shutil.copytree(home, without)
        log = folder / f"{step}.log"
        seen = run(step, [*_TRACE, str(log), *command], home)
        alone = run(step, [*NAMESPACE, *command], without)
        pairs, others = sockets(log.read_text(errors="replace"))
        same = seen == alone
        told = "; ".join(f"{count} × {call}" for call, count in others.items()) or "none"
        print(f"{step:<8}{pairs:>7}{others.total():>8}{same!s:>24}  {told}", flush=True)
        if not same:
            print(f"  with:    {seen[:300]}\n  without: {alone[:300]}")
        shutil.rmtree(without.parent)


def prepared(home: Path, chosen: argparse.Namespace) -> Path:
    """A new workspace with the models that are named."""
    workspace = Workspace.locate(home)
    workspace.init()
    for path, name in ((chosen.model, "chat"), (chosen.embedder, "embedder")):
        if path:
            ModelStore(workspace.models).add(Path(path), name=name, link=True)
    return home


def localrag(chosen: argparse.Namespace) -> Iterator[str]:
    """How a verb is called."""
    yield from (sys.executable, "-m", "localrag", "--lang", "en", "--set", "ingest.workers=2")
    yield from ("--set", "runtime.threads=1", "--set", f"chat.model={'chat' * bool(chosen.model)}")
    if chosen.embedder:
        yield from ("--set", "embedding.model=embedder")


def arguments(step: str, laws: Sequence[str], folder: Path) -> list[str]:
    """The verb of a step, with what it takes."""
    out = str(folder / "answers.jsonl")
    return {
        "add": ["add", "--sample", "--json", *laws],
        "index": ["index", "--json"],
        "search": ["search", QUESTION, "--json"],
        "ask": ["ask", QUESTION, "--json"],
        "batch": ["batch", str(folder / "questions.jsonl"), "--out", out, "--restart", "--json"],
        "tui": ["tui"],
    }[step]


def run(step: str, command: Sequence[str], home: Path) -> str:
    """Run a step; what it printed and wrote, without the time it took."""
    environment = {"LOCALRAG_HOME": str(home)}
    if step == "tui":
        with Terminal(command, {**ENVIRONMENT, **environment}, COLUMNS, ROWS) as terminal:
            terminal.until(BAR, FIELD, seconds=120)
            terminal.press("\x11")  # Ctrl+Q
            return "painted"
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    # What fails at once opens nothing, and fails in the same way without a network.
    assert done.returncode == 0, done.stderr
    told = without_times(done.stdout)
    if step == "batch":
        out = Path(command[command.index("--out") + 1])
        told += without_times(out.read_text(encoding="utf-8"))
    return told.replace(str(home), "HOME")


def without_times(text: str) -> str:
    """What a verb printed, without the time it took."""
    try:
        return json.dumps(_timeless(json.loads(text)), ensure_ascii=False)
    except ValueError:
        return _TIMES.sub("…", text)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(one) for name, one in value.items() if name not in _TIMED}
    return list(map(_timeless, value)) if isinstance(value, list) else value


def sockets(log: str) -> tuple[int, Counter[str]]:
    """How many pairs of one's own were made, and every other call that opens or names a socket."""
    pairs, others = 0, Counter[str]()
    for call, rest in _CALL.findall(log):
        address = _ADDRESS.search(rest)
        if call == "socketpair" and rest.startswith("AF_UNIX"):
            pairs += 1
        elif call in ("socket", "socketpair"):
            others[f"{call}({rest.partition(')')[0]})"] += 1
        elif address:
            others[f"{call}({address[0]})"] += 1
    return pairs, others


if __name__ == "__main__":
    main()
