"""Kill -9 at random moments of an optimisation: it must end like one that was never stopped.

A tiny model with random weights writes the queries and proposes the instructions, through
llama.cpp, over the 327 laws and the gold passages they lack; its scores mean nothing. Then a
second run with the same seed is killed again and again, and its candidates, their scores and the
counts of refused proposals are compared with those of the first.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.corpora import LAWS, open_laws
from bench.options import parser
from tiny_models.chat import write_chat_gguf

from localrag.config import load
from localrag.optimize.folder import RunFolder
from localrag.optimize.optimise import optimise
from localrag.optimize.types import Begun, Event, OptimisationPlan, Outcome
from localrag.workspace import Workspace
from localrag_models.store import ModelStore

MODEL = "tiny-random"
# Sampled: the likeliest tokens of random weights are the same for every question.
SETTINGS = {
    "chat.model": MODEL,
    "chat.temperature": 1.0,
    "chat.max_tokens": 2_048,
    "runtime.threads": 1,
}


def main() -> None:
    """Be the parent, or after ``--child`` the process to be killed."""
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), json.loads(sys.argv[3]))
        return
    options = parser(__doc__, work=True)
    options.add_argument("--kills", type=int, default=6, metavar="N", help="kills (6)")
    options.add_argument("--questions", type=int, default=20, metavar="N", help="questions (20)")
    options.add_argument("--calls", type=int, default=80, metavar="N", help="calls of models (80)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance (1)")
    bench(options.parse_args())


def child(home: Path, plan: dict[str, Any]) -> None:
    """Optimise."""
    workspace = Workspace(home)

    def tell(event: Event) -> None:
        if isinstance(event, Begun):
            print(f"    goes on with {event.known} outcomes", flush=True)

    optimise(workspace, LAWS, load(workspace, SETTINGS), OptimisationPlan(**plan), on_event=tell)


def bench(chosen: argparse.Namespace) -> None:
    """Run once unbroken and once with kills, and compare."""
    work = chosen.work.resolve()
    workspace = prepare(chosen.data, work)
    for name in ("unbroken", "killed"):
        folder = RunFolder.of(workspace, name)
        shutil.rmtree(folder.path, ignore_errors=True)
        folder.prompt.unlink(missing_ok=True)

    started = time.perf_counter()
    subprocess.run(command(workspace, plan_of(chosen, "unbroken")), check=True)
    seconds = time.perf_counter() - started
    whole = finished(workspace, "unbroken")
    scores = ", ".join(f"{candidate.score:.3f}" for candidate in whole.candidates)
    print(
        f"unbroken: {whole.calls} calls in {seconds:.0f} s, ended by {whole.end!r}; candidates "
        f"(n = {whole.validation} validation questions): {scores}; {asdict(whole.refused)}"
    )

    chance = random.Random(chosen.seed)
    started = time.perf_counter()
    for number in range(chosen.kills):
        moment = chance.uniform(0.0, 2 * seconds / (chosen.kills + 1))
        print(f"  kill {number + 1} after {moment:.1f} s")
        kill(command(workspace, plan_of(chosen, "killed")), moment)
    subprocess.run(command(workspace, plan_of(chosen, "killed")), check=True)
    broken = finished(workspace, "killed")
    print(f"killed {chosen.kills} times: {time.perf_counter() - started:.0f} s in all")

    same = [one == other for one, other in zip(whole.candidates, broken.candidates, strict=False)]
    print(f"n = {chosen.kills} kills; {sum(same)} of {len(whole.candidates)} candidates equal")
    if compared(whole) != compared(broken):
        sys.exit("the two runs differ")
    print("candidates, parents, scores, refused proposals and calls are the same")


def prepare(data: Path, work: Path) -> Workspace:
    """The corpus, the questions and the model in one workspace."""
    workspace = Workspace(work / "home")
    open_laws(data, work).close()
    questions = workspace.datasets / "lawqa" / "lawqa" / "train.jsonl"
    questions.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(data / "lawqa" / "train.jsonl", questions)
    store = ModelStore(workspace.models)
    if MODEL not in store.names():
        path = work / f"{MODEL}.gguf"
        write_chat_gguf(path, context=32_768)
        store.add(path, name=MODEL, kind="chat")
    return workspace


def plan_of(chosen: argparse.Namespace, name: str) -> OptimisationPlan:
    """What both runs do."""
    return OptimisationPlan(
        name, "lawqa", limit=chosen.questions, calls=chosen.calls, seed=chosen.seed
    )


def command(workspace: Workspace, plan: OptimisationPlan) -> list[str]:
    """Command line of the child."""
    values = {name: getattr(plan, name) for name in ("name", "dataset", "limit", "calls", "seed")}
    return [sys.executable, __file__, "--child", str(workspace.home), json.dumps(values)]


def kill(arguments: list[str], moment: float) -> None:
    """Start a child and kill it."""
    process = subprocess.Popen(arguments, start_new_session=True)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finished(workspace: Workspace, name: str) -> Outcome:
    """The report of a run."""
    outcome = RunFolder.of(workspace, name).outcome()
    assert outcome is not None
    return outcome


def compared(outcome: Outcome) -> tuple[object, ...]:
    """What must be the same."""
    return outcome.candidates, outcome.best, outcome.refused, outcome.calls, outcome.end


if __name__ == "__main__":
    main()
