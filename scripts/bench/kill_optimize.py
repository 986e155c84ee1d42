"""Kill -9 at random moments of an optimisation: it must end like one that was never stopped.

A tiny model with random weights writes the queries and proposes the instructions, through
llama.cpp, over the sample corpus; its scores mean nothing. Every call of a model that is written
down is noted in a log that survives a kill. A second run with the same seed is killed again and
again, each time a moment after some calls more, and its candidates, their scores, the counts of
refused proposals and the calls paid for are compared with those of the first.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from dataclasses import asdict
from functools import partial
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path

from bench.own_process import carry_out, killed_once
from bench.rates import rate
from tiny_models.chat import write_chat_gguf

from localrag import sample
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, Locator
from localrag.corpus.workspace import Workspace
from localrag.evaluation.optimize.folder import RunFolder
from localrag.evaluation.optimize.optimise import optimise
from localrag.evaluation.optimize.types import (
    Event,
    OptimisationPlan,
    OptimisationProgress,
    Outcome,
)
from localrag.search.indexing.index import index
from localrag_models.store import ModelStore

MODEL = "tiny-random"
# Sampled: the likeliest tokens of random weights are the same for every question.
SETTINGS = {
    "chat.model": MODEL,
    "chat.temperature": 1.0,
    "chat.max_tokens": 512,
    "runtime.threads": 1,
}
_MOMENT = 0.3
"""Seconds after a call within which the next one is under way, or is written down."""


def main() -> None:
    """Run once unbroken and once with kills, and compare."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--questions", type=int, default=12, metavar="N", help="questions (12)")
    options.add_argument("--calls", type=int, default=200, metavar="N", help="of models (200)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run once unbroken and once with kills, and compare."""
    home = folder / "home"
    # What takes longest to import: once, not in each of the processes that are forked.
    for module in ("gepa.api", "llama_cpp", "localrag_models.backends.llama_cpp"):
        import_module(module)
    # By a process of its own, as all that follows: what it has open is not to be forked.
    carry_out(partial(prepare, home, chosen.questions))

    started = time.perf_counter()
    carry_out(partial(work, home, chosen, "unbroken", folder / "unbroken"))
    seconds = time.perf_counter() - started
    whole = finished(home, "unbroken")
    scores = ", ".join(f"{candidate.score:.3f}" for candidate in whole.candidates)
    print(
        f"unbroken: {whole.calls} calls in {seconds:.0f} s, ended by {whole.end!r}; candidates "
        f"(n = {whole.validation} validation questions): {scores}; {asdict(whole.refused)}"
    )

    chance, log, kills = random.Random(chosen.seed), folder / "killed", 0
    act = partial(work, home, chosen, "killed", log)

    def reached(wanted: int) -> bool:
        return noted(log) >= wanted

    started = time.perf_counter()
    for number in range(chosen.kills):
        most = 2 * (whole.calls - noted(log)) // (chosen.kills - number + 1)
        wanted = noted(log) + chance.randrange(max(1, most))
        if not killed_once(partial(reached, wanted), chance.uniform(0, _MOMENT), act):
            break
        kills += 1
    carry_out(act)
    broken = finished(home, "killed")
    same = [one == other for one, other in zip(whole.candidates, broken.candidates, strict=False)]
    print(
        f"killed {kills} times: {time.perf_counter() - started:.0f} s in all; "
        f"{sum(same)} of {len(whole.candidates)} candidates equal"
    )
    if compared(whole) != compared(broken):
        sys.exit(f"the two runs differ: {compared(whole)}, {compared(broken)}")
    print("candidates, parents, scores, refused proposals and calls are the same")
    print(f"n = {kills} kills after which it did not go on as it was: {rate(0, kills)}")


def prepare(home: Path, count: int) -> None:
    """The sample corpus, questions about its articles, and the model in one workspace."""
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "main", [sample.FOLDER])
    index(workspace, "main")
    write_questions(workspace, questions(workspace), count)
    path = home / f"{MODEL}.gguf"
    write_chat_gguf(path, context=32_768)
    ModelStore(workspace.models).add(path, name=MODEL, kind="chat", link=True)


def questions(workspace: Workspace) -> Path:
    """Where the file of questions lies."""
    return workspace.home / "questions.jsonl"


def write_questions(workspace: Workspace, path: Path, count: int) -> None:
    """Write questions about articles of a corpus, in the format of lawqa_jp."""
    with CorpusStore.open(workspace.corpus("main").store, read_only=True) as store:
        articles = [
            (law.law_id, number, passage)
            for law in store.laws()
            for number in store.articles(law.law_id)
            if (passage := store.at(law.law_id, Locator(article=number), ARTICLES))
        ]
    rows = (
        {
            "id": f"q{number:04}",
            "question": f"設問{number:04}「{passage.text.split()[0][:40]}」に続くのはどれか。",
            "options": ["一番目の選択肢", "二番目の選択肢"],
            "answer": "a",
            "context": f"### {passage.header}\n{passage.text}",
            "gold": [{"law_id": law_id, "article": article}],
        }
        for number, (law_id, article, passage) in enumerate(islice(cycle(articles), count))
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def work(home: Path, chosen: argparse.Namespace, name: str, log: Path) -> None:
    """Optimise, noting every call that is written down."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def tell(event: Event) -> None:
        if isinstance(event, OptimisationProgress) and not event.replayed:
            os.write(file, b".")

    workspace = Workspace.locate(home)
    plan = OptimisationPlan(
        name, "lawqa", questions=questions(workspace), calls=chosen.calls, seed=chosen.seed
    )
    optimise(workspace, "main", load(workspace, SETTINGS), plan, on_event=tell)


def noted(log: Path) -> int:
    """Calls that are written down."""
    return log.stat().st_size if log.exists() else 0


def finished(home: Path, name: str) -> Outcome:
    """The report of a run."""
    outcome = RunFolder.of(Workspace.locate(home), name).outcome()
    assert outcome is not None
    return outcome


def compared(outcome: Outcome) -> tuple[object, ...]:
    """What must be the same."""
    return outcome.candidates, outcome.best, outcome.refused, outcome.calls, outcome.end


if __name__ == "__main__":
    main()
