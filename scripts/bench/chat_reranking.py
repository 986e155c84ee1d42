"""Reranking of the first hits by a chat model with one token: figures and time.

The model reads the question once, then each hit: does this provision answer it, yes or no? Hits are
ordered by the probability of yes, and by its sum with their score ("both"). Printed are right
articles first or second and among the first ten, and the time.
"""

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.corpora import installed, make_searchable
from bench.lawyers import ASKED, locator_of, place_of, query_of, same_article
from bench.options import parser
from bench.rates import latency, rate

from localrag.corpus.config import load
from localrag.corpus.inference.opening import open_chat
from localrag.search.pipeline import Retriever
from localrag.search.types import Hit
from localrag_models.chat import ChatModel, Message

# Characters of a provision that the model reads.
READ = 150
CHANCE = 0


def main() -> None:
    """Reread the hits of a sample of the questions."""
    options = parser(__doc__, work=True)
    options.add_argument("model", help="a chat model: the name of an installed one, or its file")
    options.add_argument(
        "--questions", type=Path, default=ASKED / "seen.jsonl", metavar="FILE", help="JSON lines"
    )
    options.add_argument("--limit", type=int, default=30, metavar="N", help="questions")
    options.add_argument("--depth", type=int, default=20, metavar="N", help="hits of each")
    options.add_argument("--threads", type=int, default=0, metavar="N", help="of the model")
    arguments = options.parse_args()
    asked = [json.loads(line) for line in arguments.questions.read_text("utf-8").splitlines()]
    asked = sorted((one for one in asked if one["gold"]), key=lambda one: str(one["id"]))
    random.Random(CHANCE).shuffle(asked)
    egov = arguments.data / "egov"
    laws = [path for name in ("xml", "xml_2015") if (path := egov / name).exists()]
    workspace, _ = make_searchable(arguments.work.resolve(), "all-statutes", laws)
    settings = {
        "embedding.model": "off",
        "chat.model": installed(workspace, arguments.model, "chat"),
        "runtime.threads": arguments.threads,
    }
    config = load(workspace, settings)
    right: dict[str, list[tuple[bool, bool]]] = {"before": [], "after": [], "both": []}
    seconds: list[float] = []
    calls = 0
    model = open_chat(workspace, config)
    assert model is not None
    with Retriever.open(workspace, "all-statutes", config) as retriever, model:
        for one in asked[: arguments.limit]:
            hits = retriever.search(query_of(one, retriever), arguments.depth).hits
            started = time.perf_counter()
            said = [probability(model, one["question"], hit) for hit in hits]
            seconds.append(time.perf_counter() - started)
            calls += len(hits)
            best = max((hit.score for hit in hits), default=1.0) or 1.0
            both = [yes + hit.score / best for yes, hit in zip(said, hits, strict=True)]
            right["before"].append(found(one, hits))
            right["after"].append(found(one, ordered(hits, said)))
            right["both"].append(found(one, ordered(hits, both)))
    print(f"{model.id}, first {arguments.depth} hits, n = {len(seconds)} questions, {calls} calls")
    print(f"a question: {latency(seconds)}")
    for name, outcomes in right.items():
        first, ten = (sum(one[at] for one in outcomes) for at in (0, 1))
        n = len(outcomes)
        print(f"{name:<8} first or second {rate(first, n)}  in ten {rate(ten, n)}")


def probability(model: ChatModel, question: str, hit: Hit) -> float:
    """How probably the model says that a provision answers a question."""
    text = (
        f"質問: {question}\n\n次の条文に、この質問の答えが書かれているか。"
        f"\n{hit.passage.header}\n{hit.passage.text[:READ]}\n\nyes か no だけで答える。"
    )
    choice = model.choose((Message("user", text),), ("yes", "no"))
    assert choice is not None
    return choice.probabilities["yes"]


def ordered(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    """Hits by other scores, best first; equal scores keep their order."""
    by_score = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])
    return [hit for _, hit in by_score]


def found(asked: dict[str, Any], hits: Sequence[Hit]) -> tuple[bool, bool]:
    """Whether a right article is among the first two hits, and among the first ten."""
    gold = [(one["law_id"], locator_of(one)) for one in asked["gold"]]
    right = [any(same_article(one, place_of(hit.passage.id)) for one in gold) for hit in hits]
    return any(right[:2]), any(right[:10])


if __name__ == "__main__":
    main()
