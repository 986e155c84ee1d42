"""Provision recall on four-choice law questions: gold articles among the first hits, by stage.

The corpus is the 327 laws and the gold passages that they lack; with ``--all-laws`` also the
4,155 laws in plain text. A gold article counts as found when a hit is that article of the law, or
the document that holds its gold passage.
"""

import time
from pathlib import Path

from corpora import json_lines, open_corpus, write_excerpts
from options import parser
from rates import latency, rate

from localrag.corpus.model import Passage
from localrag.retrieval.model import Query

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
    questions = list(json_lines(arguments.questions or data / "lawqa" / "train.jsonl"))
    found: dict[tuple[str, int], list[int]] = {}
    seconds = []
    with open_corpus(work, "all-laws" if arguments.all_laws else "laws", paths) as retriever:
        for question in questions:
            gold = gold_articles(question)
            started = time.perf_counter()
            retrieval = retriever.search(
                Query(question["question"], tuple(question["choices"].values())), max(CUTOFFS)
            )
            seconds.append(time.perf_counter() - started)
            for stage in retrieval.trace.stages:
                ranked = [article_of(hit.passage) for hit in stage.hits]
                for cutoff in CUTOFFS:
                    hits = len(gold & set(ranked[:cutoff]))
                    counts = found.setdefault((stage.stage, cutoff), [0, 0])
                    counts[0] += hits > 0
                    counts[1] += hits == len(gold)
            missing = gold - set(ranked)
            if missing and arguments.misses:
                print(question["question"][:70], missing, ranked, sep="\n   ")
    n = len(questions)
    print(f"n = {n} questions, {arguments.questions or 'lawqa/train.jsonl'}")
    print(f"{'stage':<10}{'k':>4}  {'any gold article':<26}all gold articles")
    for (stage, cutoff), (some, every) in found.items():
        print(f"{stage:<10}{cutoff:>4}  {rate(some, n):<26}{rate(every, n)}")
    print(f"search, all stages: {latency(seconds)}")


def gold_articles(question: dict) -> set[tuple[str, str]]:
    """(law id, article) of the gold; (title, "") of what is no statute."""
    return {
        (entry["law_id"], entry["article"] or "") if entry["law_id"] else (entry["law_title"], "")
        for entry in question["gold"]
    }


def article_of(passage: Passage) -> tuple[str, str]:
    """What a hit is in the terms of `gold_articles`."""
    if passage.locator.article:
        division = passage.locator.division
        return passage.document_id, f"{division}/{passage.locator.article}".lstrip("/")
    name, _, rest = passage.document_id.partition("|")
    article = rest.partition("|")[0]
    return (name, article) if name[:3].isdigit() else (name, "")


if __name__ == "__main__":
    main()
