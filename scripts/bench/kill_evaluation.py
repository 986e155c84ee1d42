"""Kill -9 at random moments of an evaluation: no question with an answer may be asked again.

Made questions about the sample corpus are answered by a method that needs no model. Every question
is noted, in a log that survives a kill, before it is asked. The evaluation is killed again and
again, each time a moment after some questions more. Then it is run to its end: every question has
one answer, the one of an evaluation that nobody killed, and questions were asked again only where
they were under way when it was killed.
"""

import argparse
import random
import tempfile
import time
from functools import partial
from pathlib import Path

from bench.evaluation import essence, rows
from bench.kill_optimize import questions, write_questions
from bench.own_process import carry_out, killed_once, noting, told
from bench.rates import rate

from localrag import sample
from localrag.answer.types import UNWATCHED, Answer, Watch
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.evaluation import runner, statistics
from localrag.evaluation.datasets import loading
from localrag.evaluation.planning import Plan, plan
from localrag.methods.answering import Answerer
from localrag.search.indexing.index import index
from localrag.search.types import Query

METHOD = "statute-lexical"
_MOMENT = 0.05
"""Seconds after a question within which the next one or two are asked."""


def main() -> None:
    """Evaluate once unbroken and once with kills, and compare."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--questions", type=int, default=300, metavar="N", help="of them (300)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Evaluate once unbroken and once with kills, and compare."""
    # What takes longest to import: once, not in each of the processes that are forked.
    statistics.require()
    homes = {name: folder / name for name in ("unbroken", "killed")}
    for home in homes.values():
        carry_out(partial(prepare, home, chosen.questions))
    started = time.perf_counter()
    carry_out(partial(evaluate, homes["unbroken"]))
    seconds = time.perf_counter() - started
    truth = answers(homes["unbroken"])
    print(f"{len(truth):,} questions undisturbed: {seconds:.1f} s")

    home, chance, kills, twice, lost = homes["killed"], random.Random(chosen.seed), 0, 0, 0
    act = partial(evaluate, home)
    kept: dict[str, list[object]] = {}

    def reached(wanted: int) -> bool:
        return len(told(log(home))) >= wanted

    for number in range(chosen.kills):
        before = len(told(log(home)))
        most = 2 * (len(truth) - len(kept)) // (chosen.kills - number + 1)
        wanted = before + chance.randrange(max(1, most))
        if not killed_once(partial(reached, wanted), chance.uniform(0, _MOMENT), act):
            break
        kills += 1
        twice += sum(text in kept for text in told(log(home))[before:])
        now = answers(home)
        lost += sum(now.get(text) != answer for text, answer in kept.items())
        kept = now
    carry_out(act)
    found, all_asked = answers(home), told(log(home))
    same = sum(found.get(text) == answer for text, answer in truth.items())
    print(
        f"killed {kills} times: asked again though answered: {twice}; answers lost: {lost}; under "
        f"way when killed: {len(all_asked) - len(found)}; as undisturbed: {rate(same, len(truth))}"
    )
    assert not twice
    assert not lost
    assert found == truth
    assert len(all_asked) - len(found) <= kills
    print(f"n = {kills} kills that lost an answer or had one asked twice: {rate(0, kills)}")


def prepare(home: Path, count: int) -> None:
    """A workspace with the sample corpus and questions about it."""
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "main", [sample.FOLDER])
    index(workspace, "main")
    write_questions(workspace, questions(workspace), count)


def planned(home: Path) -> Plan:
    """What is asked."""
    workspace = Workspace.locate(home)
    read = loading.load(workspace, "lawqa", file=questions(workspace), corpus="main")
    return plan(workspace, read, "main", load(workspace), [METHOD])


def evaluate(home: Path) -> None:
    """Run the evaluation to its end, unless killed; notes every question before it is asked."""
    note = noting(log(home))

    class Counted(Answerer):
        """Answers as ever, once the question stands in a log that survives a kill."""

        def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
            note(query.text)
            return super().answer(query, watch)

    runner.Answerer = Counted  # type: ignore[attr-defined]
    runner.evaluate(planned(home), run="bench")


def log(home: Path) -> Path:
    """Where questions are noted."""
    return home / "asked.log"


def answers(home: Path) -> dict[str, list[object]]:
    """What each question came to that has an answer; each has one line."""
    made = planned(home)
    found = [row for setup in made.setups for row in rows(made, setup.folder)]
    by_question = {str(row["question"]): essence(row) for row in found}
    assert len(by_question) == len(found)
    return by_question


if __name__ == "__main__":
    main()
