"""Provision recall on four-choice law questions: gold articles among the first hits, by stage.

The corpus is the 327 laws with their missing gold passages; ``--all-laws`` adds the 4,155 laws in
plain text. A hit counts if it is the gold article, or the document with its gold passage.
"""

import time
from pathlib import Path

from bench.corpora import LAWS, law_questions, open_corpus, write_excerpts
from bench.options import parser
from bench.rates import latency, rate

from localrag.evaluation.recall import all_at, any_at, ranks

CUTOFFS = (5, 10)


def main() -> None:
    """Print any and all at every cutoff for every stage."""
    options = parser(__doc__, work=True)
    options.add_argument(
        "--questions", type=Path, metavar="FILE", help="without it, lawqa/train.jsonl of the data"
    )
    options.add_argument("--all-laws", action="store_true", help="add the 4,155 laws")
    options.add_argument("--misses", action="store_true", help="print the questions missed")
    arguments = options.parse_args()
    data, work = arguments.data, arguments.work.resolve()
    paths = [data / "egov" / "xml", write_excerpts(data, work)]
    if arguments.all_laws:
        paths.append(data / "egov" / "all_laws.jsonl.xz")
    questions = law_questions(arguments.questions or data / "lawqa" / "train.jsonl")
    found: dict[str, list[tuple[int, ...]]] = {}
    seconds, worked = [], []
    with open_corpus(work, "all-laws" if arguments.all_laws else LAWS, paths) as retriever:
        for question in questions:
            started, busy = time.perf_counter(), time.process_time()
            retrieval = retriever.search(question.query, max(CUTOFFS))
            seconds.append(time.perf_counter() - started)
            worked.append(time.process_time() - busy)
            for stage in retrieval.trace.stages:
                passages = [hit.passage.id for hit in stage.hits]
                found.setdefault(stage.stage, []).append(ranks(question.gold, passages))
            if arguments.misses and not all(found[stage.stage][-1]):
                print(question.query.text[:70], question.gold, passages, sep="\n   ")
    n = len(questions)
    print(f"n = {n} questions, {arguments.questions or 'lawqa/train.jsonl'}")
    print(f"{'stage':<10}{'k':>4}  {'any gold article':<26}all gold articles")
    for name, placed in found.items():
        for k in CUTOFFS:
            some, every = any_at(placed, k), all_at(placed, k)
            print(f"{name:<10}{k:>4}  {rate(some, n):<26}{rate(every, n)}")
    print(f"search, all stages: {latency(seconds)}; CPU: {latency(worked)}")


if __name__ == "__main__":
    main()
