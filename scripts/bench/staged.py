"""`staged` end to end on real questions through llama.cpp: calls and stages.

A chat model with random weights answers questions of jemhopqa/train.json from the shared triples
and, as documents, JSQuAD's paragraphs. Printed are ends, calls, and how often each stage is asked
and finds something. No figure says anything about the method's quality. Set
LOCALRAG_TEST_VOCABULARY for the vocabulary of Qwen2.
"""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

from bench.corpora import open_corpus
from bench.evaluation import prepare
from bench.options import parser
from bench.rates import latency, rate

from localrag.answer.types import Answer, Stage, Status, Step, Unanswered
from localrag.corpus.config import load
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import method
from localrag.methods.staged import Stages
from localrag.search.types import ModelCall, Query

_CORPUS = "jemhopqa-jsquad"


class StagedOutcome(NamedTuple):
    """Result of a question.

    Attributes:
        answer: None if the model failed.
        calls: of the model, failed ones included.
    """

    answer: Answer | None
    failure: str
    calls: tuple[ModelCall, ...]
    seconds: float


def main() -> None:
    """Ask, for each order of the stages, and print what happened."""
    options = parser(__doc__, work=True)
    options.add_argument("--limit", type=int, default=100, metavar="N", help="questions (100)")
    options.add_argument(
        "--stages", action="append", choices=get_args(Stages), help="1-2-3; may be repeated"
    )
    options.add_argument("--tokens", type=int, default=400, metavar="N", help="of a reply (400)")
    options.add_argument("--context", type=int, default=4096, metavar="N", help="tokens (4096)")
    chosen = options.parse_args()
    jemhopqa = chosen.data / "jemhopqa"
    questions = json.loads((jemhopqa / "train.json").read_text(encoding="utf-8"))[: chosen.limit]
    documents = chosen.data / "jsquad" / "valid-v1.3.json"
    open_corpus(chosen.work.resolve(), _CORPUS, [jemhopqa / "triples.jsonl", documents]).close()
    with tempfile.TemporaryDirectory() as folder:
        workspace = prepare(Path(folder) / "home", _CORPUS, chosen)
        config = load(workspace)
        with MethodResources(workspace, _CORPUS, config) as resources:
            for stages in chosen.stages or ["1-2-3"]:
                settings = config.method.model_copy(update={"stages": stages})
                answerer = Answerer(method("staged"), resources, settings=settings)
                outcomes = []
                for seed, one in enumerate(questions):
                    # Under one seed a model without knowledge takes the same way every time.
                    resources.settings = config.chat.model_copy(update={"seed": seed})
                    outcomes.append(ask(answerer, Query(one["question"])))
                print(f"stages {stages}")
                report(outcomes)


def ask(answerer: Answerer, query: Query) -> StagedOutcome:
    """Ask one question."""
    started = time.perf_counter()
    try:
        answer = answerer.answer(query)
    except Unanswered as failed:
        return StagedOutcome(None, failed.kind, failed.trace.calls, time.perf_counter() - started)
    return StagedOutcome(answer, "", answer.trace.calls, time.perf_counter() - started)


def report(outcomes: list[StagedOutcome]) -> None:
    """Print the outcomes, and check what the method promises."""
    n = len(outcomes)
    answers = [one.answer for one in outcomes if one.answer is not None]
    statuses = Counter(answer.status for answer in answers)
    for status in Status:
        print(f"  {status.value:<22}{rate(statuses[status], n)} (n = {n})")
    failures = Counter(one.failure for one in outcomes if one.failure)
    print(f"  {'failed':<22}{rate(failures.total(), n)} (n = {n}) {dict(failures) or ''}")
    for stage in Stage:
        print(f"  {_way(answers, stage)}")
    calls = [call for one in outcomes for call in one.calls]
    good = Counter(call.purpose.split()[0] for call in calls if not call.problem)
    again = Counter(call.purpose.split()[0] for call in calls if call.problem)
    print(f"  {'calls a question':<22}{'good':>8}{'malformed':>12}")
    for purpose in good | again:
        print(f"  {purpose:<22}{good[purpose] / n:>8.2f}{again[purpose] / n:>12.2f}")
    print(f"  {'together':<22}{good.total() / n:>8.2f}{again.total() / n:>12.2f}")
    print(f"  a question: {latency([one.seconds for one in outcomes])}")
    most = method("staged").calls.most(0)
    for one in outcomes:
        assert one.calls, "every question leaves its calls"
        assert sum(not call.problem for call in one.calls) <= most, "no more than promised"
    for answer in answers:
        assert bool(answer.text) is (answer.status is not Status.NOT_FOUND)
        assert answer.doubts or answer.status is Status.SUPPORTED, "what is not carried says why"


def _way(answers: list[Answer], stage: Stage) -> str:
    """How often a stage was asked, and found something."""
    asked, found = 0, 0
    for step in _steps(answers):
        asked += stage in step.tried
        found += step.stage is stage
    return f"{stage.value:<22}asked for {asked:,} queries, found for {rate(found, asked)}"


def _steps(answers: list[Answer]) -> Iterator[Step]:
    for answer in answers:
        if answer.derivation is not None:
            yield from answer.derivation.steps


if __name__ == "__main__":
    main()
