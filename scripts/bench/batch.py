"""Batches killed with -9 at random moments: each answer once, in order, no question asked twice.

Made-up questions over the sample corpus are answered undisturbed, then with kills. Every call is
noted in a log before it is made. A question may be asked again only if its answer was not in the
file at the kill. Without --model quotations answer, with it a chat model.
"""

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.own_process import carry_out, killed_once, noting, told
from bench.rates import rate

from localrag import sample
from localrag.batch import run
from localrag.config import Config, load
from localrag.ingest.add import add
from localrag.ingest.index import index
from localrag.methods.answering import Answerer, open_answers
from localrag.reading.types import UNWATCHED, Answer, Watch
from localrag.retrieval.types import Query
from localrag.workspace import Workspace

_SUBJECTS = (
    "渡し舟",
    "渡し守",
    "灯籠",
    "水位",
    "風速",
    "講習",
    "届出",
    "Fennimore",
    "観測所",
    "登録",
)
_ASKED = (
    "{}の基準は何か。",
    "{}の資格は何か。",
    "{}はいつ行うか。",
    "{}をしてはならないのはどのような場合か。",
    "Who is responsible for {}?",
)
_CHAT = "bench"


class Counted:
    """Answers as `localrag ask` would, and notes every call in a log that survives a kill."""

    def __init__(self, answerer: Answerer, note: Callable[[object], None]) -> None:
        self._answerer = answerer
        self._note = note
        self.parallel = answerer.parallel

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        """Answer, after noting the question in the log."""
        self._note(query.text)
        return self._answerer.answer(query, watch)


def main() -> None:
    """Answer once unbroken and once with kills, and compare."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--questions", type=int, default=2000, metavar="N", help="rows (2000)")
    options.add_argument("--kills", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument(
        "--model",
        metavar="FILE",
        help="a GGUF chat model that writes the answers; 'tiny' for one with random weights",
    )
    options.add_argument("--tokens", type=int, default=64, metavar="N", help="of a reply (64)")
    options.add_argument(
        "-k", type=int, default=1, metavar="N", help="passages the model is shown (1)"
    )
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def child(home: Path, questions: Path, out: Path, log: Path) -> None:
    """Run the batch to its end, unless killed."""
    note = noting(log)

    @contextmanager
    def opener(workspace: Workspace, corpus: str, config: Config) -> Iterator[Counted]:
        with open_answers(workspace, corpus, config) as answerer:
            yield Counted(answerer, note)

    workspace = Workspace.locate(home)
    run(workspace, "main", load(workspace), questions, out, opener=opener)


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run undisturbed, then with kills, and compare."""
    chance = random.Random(chosen.seed)
    texts = made_up(folder / "questions.jsonl", chosen.questions, chance)
    prepare(folder / "home", chosen)

    undisturbed, log = folder / "undisturbed.jsonl", folder / "undisturbed.log"
    started = time.perf_counter()
    carry_out(work(folder, undisturbed, log))
    seconds = time.perf_counter() - started
    truth = told(undisturbed)
    statuses = Counter(row["status"] for row in truth)
    print(
        f"{len(texts):,} questions undisturbed: {seconds:.1f} s, "
        f"{60 * len(texts) / seconds:,.0f} a minute; {dict(statuses)}"
    )
    with_kills(chosen, chance, folder, truth)


def made_up(path: Path, count: int, chance: random.Random) -> list[str]:
    """Write so many questions to a file, no two alike; gives them."""
    texts = [
        _ASKED[number % 5].format(chance.choice(_SUBJECTS)) + f" ({number})"
        for number in range(count)
    ]
    path.write_text("".join(json.dumps({"question": text}) + "\n" for text in texts))
    return texts


def with_kills(
    chosen: argparse.Namespace,
    chance: random.Random,
    folder: Path,
    truth: list[dict[str, object]],
) -> None:
    """Run with kills, then check every answer and every call."""
    out, log = folder / "killed.jsonl", folder / "killed.log"
    answering = work(folder, out, log)
    kept_at: list[tuple[int, set[object]]] = []
    for number in range(chosen.kills):
        left = len(truth) - len(told(out))
        wanted = len(told(log)) + chance.randrange(max(1, 2 * left // (chosen.kills + 2)))
        if not killed_once(partial(asked, log, wanted), chance.uniform(0.0, 0.02), answering):
            break
        kept_at.append((len(told(log)), {row["question"] for row in told(out)}))
        called, kept = kept_at[-1][0], len(kept_at[-1][1])
        print(f"  kill {number + 1}: {called:,} calls so far, {kept:,} answers kept")
    carry_out(answering)

    log_of_calls, found = told(log), told(out)
    twice = sum(question in kept for called, kept in kept_at for question in log_of_calls[called:])
    lost = sum(not kept <= {row["question"] for row in found} for _, kept in kept_at)
    in_order = [row["question"] for row in found] == [row["question"] for row in truth]
    same = sum(essence(one) == essence(other) for one, other in zip(found, truth, strict=True))
    print(
        f"n = {len(found):,} answers of {len(truth):,} questions after {len(kept_at)} kills; "
        f"order kept: {in_order}; answered twice: {twice}; answers lost: {lost}"
    )
    print(
        f"calls: {len(log_of_calls):,}, so {len(log_of_calls) - len(truth)} were under way when "
        f"killed and begun again; as undisturbed: {rate(same, len(truth))}"
    )
    assert in_order
    assert not twice
    assert not lost
    assert len(log_of_calls) - len(truth) <= len(kept_at)


def prepare(home: Path, chosen: argparse.Namespace) -> None:
    """Make a workspace with the sample corpus, and the model if there is to be one."""
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "main", [sample.FOLDER])
    index(workspace, "main")
    if not chosen.model:
        return
    from localrag_models.store import ModelStore

    path = Path(chosen.model)
    if chosen.model == "tiny":
        from tiny_models.chat import write_chat_gguf

        path = home / "tiny.gguf"
        write_chat_gguf(path, context=8192)
    ModelStore(workspace.models).add(path, name=_CHAT, kind="chat")
    workspace.settings.write_text(
        f'chat.model = "{_CHAT}"\nchat.max_tokens = {chosen.tokens}\n'
        f"retrieval.k = {chosen.k}\nruntime.threads = 1\n"
    )


def work(folder: Path, out: Path, log: Path) -> Callable[[], None]:
    """What answers, to be done by a process of its own."""
    return partial(child, folder / "home", folder / "questions.jsonl", out, log)


def asked(log: Path, wanted: int) -> bool:
    """Whether there were more calls than so many."""
    return len(told(log)) > wanted


def essence(row: dict[str, object]) -> list[object]:
    """What of a row does not depend on time."""
    return [row.get(key) for key in ("row", "question", "status", "answer", "citations")]


if __name__ == "__main__":
    main()
