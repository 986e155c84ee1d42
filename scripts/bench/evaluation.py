"""All methods on real questions through llama.cpp, killed with -9, resumed, and read again.

A chat model with random weights answers lawqa/train.jsonl over the 327 laws and their missing gold
passages, by every method. The evaluation is killed at random moments and continued. Every question
is noted in a log before it is asked; the first ones are compared with an undisturbed evaluation.
Printed by method: whether each label exists, and calls of the model against the promised ones,
without retries. Scores mean nothing. Set LOCALRAG_TEST_VOCABULARY for the vocabulary of Qwen2.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpora import LAWS, open_laws
from bench.options import parser
from bench.own_process import carry_out, killed_once, noted, noting, told
from bench.rates import rate

from localrag.answer.types import UNWATCHED, Answer, Watch
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.evaluation import runner
from localrag.evaluation.datasets import loading
from localrag.evaluation.planning import Plan, plan
from localrag.methods.answering import Answerer
from localrag.methods.catalogue import LABELS, NAMES, method
from localrag.search.types import Query
from localrag_models.store import ModelStore

_CHAT = "bench"
_ALLOWED_SECONDS = 5.0
_VOCABULARY = "ggml-vocab-qwen2.gguf"

Row = dict[str, Any]


def main() -> None:
    """Evaluate with kills, and print the figures."""
    options = parser(__doc__, work=True)
    options.add_argument("--limit", type=int, default=100, metavar="N", help="questions (100)")
    options.add_argument("--orders", type=int, default=1, metavar="N", help="of the options (1)")
    options.add_argument("--kills", type=int, default=3, metavar="N", help="kills (3)")
    options.add_argument(
        "--undisturbed", type=int, default=3, metavar="N", help="questions asked once more (3)"
    )
    options.add_argument(
        "--method", action="append", metavar="NAME", help="without it all; may be repeated"
    )
    options.add_argument("--tokens", type=int, default=150, metavar="N", help="of a reply (150)")
    options.add_argument("--context", type=int, default=3072, metavar="N", help="tokens (3072)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def child(asked: Plan, log: Path) -> None:
    """Run the evaluation to its end, unless killed."""
    note = noting(log)

    class NotedAnswerer(Answerer):
        """Answers as ever, after noting the question in a log that survives a kill."""

        def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
            note([self._method.name, query.text, query.options])
            return super().answer(query, watch)

    runner.Answerer = NotedAnswerer  # type: ignore[attr-defined]
    runner.evaluate(asked, run="bench")


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run with kills, then undisturbed, then finished; check every answer and every call."""
    home, log = folder / "home", folder / "asked.log"
    questions = chosen.data / "lawqa" / "train.jsonl"
    open_laws(chosen.data, chosen.work.resolve()).close()
    prepare(home, LAWS, chosen)
    methods = chosen.method or [name for name in NAMES if method(name).chooses]
    asked = planned(home, questions, chosen.limit, chosen.orders, methods)

    started = time.perf_counter()
    twice = with_kills(chosen, log, asked)
    seconds = time.perf_counter() - started
    found = {setup.name: rows(asked, setup.folder) for setup in asked.setups}
    n = sum(map(len, found.values()))
    begun = len(told(log))
    print(
        f"n = {n:,} answers of {len(methods)} methods to {asked.n} questions in {asked.orders} "
        f"orders, in {seconds:.0f} s with {chosen.kills} kills"
    )
    print(f"asked again though answered: {twice}; under way when killed: {begun - n}")
    started = time.perf_counter()
    carry_out(partial(child, asked, log))
    again = time.perf_counter() - started
    print(f"the finished evaluation run again: {again:.1f} s, {len(told(log)) - begun} asked")
    table(asked, found)
    same, of = as_undisturbed(chosen, home, questions, found)
    print(f"the same as undisturbed: {rate(same, of)} (n = {of})")
    assert n == len(methods) * asked.n * asked.orders, "every question has its answer"
    assert not twice
    assert begun - n <= chosen.kills
    assert len(told(log)) == begun
    assert again < _ALLOWED_SECONDS, "finished work costs next to nothing"


def with_kills(chosen: argparse.Namespace, log: Path, asked: Plan) -> int:
    """Run with kills to the end, and count the questions asked though they had an answer."""
    chance, act = random.Random(chosen.seed), partial(child, asked, log)
    total = len(asked.setups) * asked.n * asked.orders
    twice = 0
    kept: set[str] = set()
    for number in range(chosen.kills + 1):
        before = len(told(log))
        if number < chosen.kills:
            most = 2 * (total - len(kept)) // (chosen.kills + 2 - number)
            ready = partial(noted, log, before + 1 + chance.randrange(max(1, most)))
            assert killed_once(ready, chance.uniform(0.0, 0.3), act), "killed before its end"
        else:
            carry_out(act)
        twice += sum(json.dumps(call) in kept for call in told(log)[before:])
        kept = {
            json.dumps([setup.name, row["question"], row["options"]])
            for setup in asked.setups
            for row in rows(asked, setup.folder)
        }
        print(f"  {len(kept):,} of {total:,} answers")
    return twice


def table(asked: Plan, found: dict[str, list[Row]]) -> None:
    """Print by method what its answers came to."""
    print(
        f"{'method':<22}{'n':>5}{'answered':>10}{'labels valid':>14}{'calls promised':>16}"
        f"{'as promised':>13}{'asked again':>13}{'s a question':>14}  failures"
    )
    for setup in asked.setups:
        answered = [row for row in found[setup.name] if row["status"] != "failed"]
        valid = sum(row["label"] in LABELS[: len(row["options"])] for row in answered)
        made = Counter(
            sum(not call["problem"] for call in row["trace"]["calls"])
            == setup.method.calls.of(len(row["options"]))
            for row in answered
        )
        retries = sum(
            bool(call["problem"])
            for row in found[setup.name]
            for call in row.get("trace", {}).get("calls", ())
        )
        failures = Counter(row["error"]["type"] for row in found[setup.name] if "error" in row)
        seconds = sum(row["seconds"] for row in found[setup.name]) / len(found[setup.name])
        promised = setup.method.calls.of(4)
        print(
            f"{setup.name:<22}{len(found[setup.name]):>5}{len(answered):>10}"
            f"{f'{valid} of {len(answered)}':>14}{promised:>16}"
            f"{f'{made[True]} of {len(answered)}':>13}{retries:>13}{seconds:>14.2f}  "
            f"{dict(failures) or '-'}"
        )
        assert valid == len(answered), "every label is one of the question's"


def as_undisturbed(
    chosen: argparse.Namespace, home: Path, questions: Path, found: dict[str, list[Row]]
) -> tuple[int, int]:
    """Ask the first questions once more, without kills; how many answers are the same, of all."""
    (home / "runs").rename(home / "killed")
    limit = min(chosen.undisturbed, chosen.limit)
    asked = planned(home, questions, limit, 1, list(found))
    runner.evaluate(asked)
    pairs = [
        (essence(one), essence(other))
        for setup in asked.setups
        for one, other in zip(found[setup.name], rows(asked, setup.folder), strict=False)
    ]
    return sum(one == other for one, other in pairs), len(pairs)


def planned(home: Path, questions: Path, limit: int, orders: int, methods: Sequence[str]) -> Plan:
    """The plan of the evaluation."""
    workspace = Workspace.locate(home)
    read = loading.load(workspace, "lawqa", file=questions)
    return plan(workspace, read, LAWS, load(workspace), methods, limit=limit, orders=orders)


def prepare(home: Path, corpus: str, chosen: argparse.Namespace) -> Workspace:
    """Make a workspace with a corpus of the work folder and a model with random weights."""
    work = chosen.work.resolve()
    workspace = Workspace.locate(home)
    workspace.init()
    for room in ("corpora", "indexes"):
        (home / room / corpus).symlink_to(work / "home" / room / corpus)
    # The file name has the quantisation: reading it from the header takes a second.
    path = home / "random-F32.gguf"
    _write_model(path, home, chosen.context)
    ModelStore(workspace.models).add(path, name=_CHAT, kind="chat")
    workspace.settings.write_text(
        f'chat.model = "{_CHAT}"\nchat.max_tokens = {chosen.tokens}\n'
        f"chat.context = {chosen.context}\nchat.temperature = 1.0\nruntime.threads = 1\n"
    )
    return workspace


def _write_model(path: Path, home: Path, context: int) -> None:
    """Write the model, with the vocabulary of Qwen2 where it is at hand."""
    from tiny_models.chat import TEMPLATE, write_chat_gguf, write_chat_gguf_with_vocabulary

    folder = os.environ.get("LOCALRAG_TEST_VOCABULARY")
    if folder is None:
        print("vocabulary: bytes (set LOCALRAG_TEST_VOCABULARY for that of Qwen2)")
        write_chat_gguf(path, context=context)
        return
    print("vocabulary: Qwen2")
    template = home / "template.jinja"
    template.write_text(TEMPLATE)
    write_chat_gguf_with_vocabulary(path, Path(folder) / _VOCABULARY, template)


def rows(asked: Plan, folder: Path) -> list[Row]:
    """Answers to the questions asked, by order; a last line that was cut off is ignored."""
    found: list[Row] = []
    for order in range(asked.orders):
        found += (row for row in told(folder / f"order-{order}.jsonl") if row["row"] <= asked.n)
    return found


def essence(row: Row) -> list[object]:
    """What of a row does not depend on time."""
    names = ("row", "question", "options", "status", "label", "answer", "claims", "citations")
    return [*(row.get(name) for name in names), row.get("error", {}).get("type")]


if __name__ == "__main__":
    main()
