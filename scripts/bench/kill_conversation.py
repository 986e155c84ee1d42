"""Kill -9 at random moments of a conversation: no answer that was written down may be lost.

In each round a process asks one question after the other of the sample corpus, writes each down
with a draft and its answer, tells of every answer that is kept, and is killed at a random moment.
Then the file is sound, every answer told is there with what it cites, at most one question is not
answered and is told as interrupted, and the next process goes on in the same conversation.
"""

import argparse
import os
import random
import shutil
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from bench.own_process import killed_after
from bench.rates import rate

from localrag import sample
from localrag.corpus.database import Database
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.doors.session import open as open_workspace
from localrag.ops.conversations.store import CONVERSATIONS, Conversations
from localrag.ops.conversations.types import TurnState
from localrag.search.indexing.index import index
from localrag.search.types import Query

QUESTIONS = ("渡し守の資格は何か。", sample.QUESTION)


def main() -> None:
    """Kill processes that converse, and look at what is kept."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--seconds", type=float, default=2.0, metavar="S", help="at most (2)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    chance = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        workspace = Workspace.locate(base)
        workspace.init()
        add(workspace, "main", [sample.FOLDER])
        index(workspace, "main")
        states: Counter[str] = Counter()
        answers = 0
        for number in range(chosen.rounds):
            home = Path(folder) / f"round{number}"
            shutil.copytree(base, home)
            told = told_until_killed(home, chance.uniform(0.0, chosen.seconds))
            states += examine(home, told)
            answers += len(told)
            shutil.rmtree(home)
    n = chosen.rounds
    print(f"n = {n}, {answers:,} answers told, rounds that lost one: {rate(0, n)}")
    print(f"turns found: {dict(states)}")


def converse(home: Path, out: int, most: int = 1_000) -> None:
    """Ask and write down, telling every answer that is kept."""
    with (
        open_workspace(home).corpus("main") as corpus,
        Conversations.open(Workspace.locate(home)) as kept,
    ):
        known = kept.list()
        conversation = known[0].id if known else kept.new().id
        for number in range(most):
            text = QUESTIONS[number % len(QUESTIONS)]
            turn = kept.begin(conversation, Query(text), "main", "", "")
            answer = corpus.ask(text)
            kept.draft(turn.id, [answer.text])
            kept.finish(turn.id, answer, 0.1)
            os.write(out, f"{turn.id}\n".encode())


def told_until_killed(home: Path, moment: float) -> list[int]:
    """Kill a process that converses; the turns that it told."""
    reading, writing = os.pipe()
    killed_after(moment, partial(converse, home, writing))
    os.close(writing)
    with os.fdopen(reading) as told:
        return [int(line) for line in told if line.endswith("\n")]


def examine(home: Path, told: list[int]) -> Counter[str]:
    """Check what is kept, and go on; how many turns are in which state."""
    path = Workspace.locate(home).conversations
    if path.exists():
        database = Database(path, CONVERSATIONS)
        assert database.rows("PRAGMA integrity_check") == [("ok",)]
        database.close()
    else:
        assert not told
    with Conversations.open(Workspace.locate(home)) as kept:
        turns = [turn for one in kept.list() for turn in kept.turns(one.id)]
    answered = {turn.id: turn for turn in turns if turn.state is TurnState.ANSWERED}
    for number in told:
        answer = answered[number].answer
        assert answer is not None
        assert answer.citations
    assert all(turn.state is TurnState.INTERRUPTED for turn in turns if turn.id not in answered)
    assert len(turns) - len(answered) <= 1
    reading, writing = os.pipe()
    converse(home, writing, most=1)
    os.close(writing)
    os.close(reading)
    with Conversations.open(Workspace.locate(home)) as kept:
        assert sum(one.turns for one in kept.list()) == len(turns) + 1
    return Counter(turn.state.value for turn in turns)


if __name__ == "__main__":
    main()
