"""An index of questions for single facts: JSQuAD by synthetic questions, passages, both.

The corpus has the paragraphs of the 200 questions of JSQuAD with the lowest hashes of ids
(``--questions``), and others (``--beside``); each is a document. A model (``--model``) writes up to
six synthetic questions for each, once; a stopped run continues. Every question is then asked of the
passages, of the synthetic questions, and of both (reciprocal rank fusion, as in `pr3-localrag`): is
its paragraph first, and among the first ten? Paragraphs without a synthetic question cannot be
found by one; they are counted, and the others listed apart.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.corpora import installed, make_searchable
from bench.options import parser
from bench.rates import rate
from bench.squad import JUDGES, SquadQuestion, questions

from localrag.corpus.config import Config, load
from localrag.corpus.workspace import Workspace
from localrag.prepare.index import LayerIndex
from localrag.prepare.layers import SYNTHETIC_QA
from localrag.prepare.preparing import prepare
from localrag.search.pipeline import Retriever
from localrag.search.reading import Retrieval
from localrag.search.types import Filters, Query
from localrag_indexes.fusion import reciprocal_rank_fusion

HITS = 10
# Synthetic questions that are looked at: one paragraph has several.
DEPTH = 60

Way = Callable[[str], Sequence[str]]
"""Finds documents for a question, best first, each once."""


def main() -> None:
    """Print, for each way to search, how often the right paragraph is found."""
    chosen = _arguments()
    every = list(questions(chosen.data / "jsquad" / "valid-v1.3.json"))
    asked = every[: chosen.questions]
    contexts = list(dict.fromkeys(one.context for one in asked))
    others = (one.context for one in every[chosen.questions :] if one.context not in contexts)
    held = [*contexts, *list(dict.fromkeys(others))[: chosen.beside]]
    ids = {context: f"p{number}" for number, context in enumerate(held)}
    workspace, name, config = _prepared(chosen, every, ids)
    with (
        Retriever.open(workspace, name, config) as retriever,
        LayerIndex.open(workspace, name, config, retriever.store) as layers,
    ):
        have = {text.document for text in layers.texts(SYNTHETIC_QA)}
        count = sum(1 for _ in layers.texts(SYNTHETIC_QA))
        print(f"{len(held):,} paragraphs, {len(have):,} of them with {count:,} synthetic questions")
        ways = _ways(retriever, layers)
        found = {way: [search(one.text) for one in asked] for way, search in ways.items()}
        right = [ids[one.context] for one in asked]
    _print("all questions", found, right, range(len(asked)))
    _print(
        "paragraph with synthetic questions",
        found,
        right,
        [number for number, id_ in enumerate(right) if id_ in have],
    )


def _prepared(
    chosen: argparse.Namespace, every: Iterable[SquadQuestion], ids: Mapping[str, str]
) -> tuple[Workspace, str, Config]:
    """The corpus of the paragraphs with their synthetic questions; made once."""
    pages = {one.context: one.page for one in every}
    name = f"question-index-{chosen.questions}-{chosen.beside}"
    chosen.work.mkdir(parents=True, exist_ok=True)
    source: Path = chosen.work.resolve() / f"{name}.jsonl"
    with source.open("w", encoding="utf-8") as out:
        for context, id_ in ids.items():
            text = context.partition("[SEP]")[2].strip() or context
            row = {"id": id_, "title": pages[context], "text": text}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    workspace, made = make_searchable(chosen.work, name, [source], chosen.embedder)
    settings = {
        "embedding.model": made.embedding.model,
        "chat.model": installed(workspace, chosen.model, "chat"),
        "chat.max_tokens": chosen.max_tokens,
        "runtime.threads": chosen.threads,
    }
    config = load(workspace, settings)
    (report,) = prepare(workspace, name, config, [SYNTHETIC_QA])
    outcomes = ", ".join(f"{n:,} {outcome.value}" for outcome, n in report.outcomes.items())
    print(
        f"{report.jobs:,} parts, {report.earlier:,} made before, {report.made:,} in this run "
        f"({report.seconds:,.0f} s{': ' if outcomes else ''}{outcomes}); "
        f"{report.refused:,} questions refused"
    )
    return workspace, name, config


def _ways(retriever: Retriever, layers: LayerIndex) -> dict[str, Way]:
    """Every way to search that the corpus has."""
    store = retriever.store

    def passages(text: str) -> list[str]:
        return _documents(retriever.search(Query(text), HITS))

    def ranked(text: str, *, meaning: bool) -> list[str]:
        return _documents(retriever.rank(Query(text), HITS, words=not meaning, meaning=meaning))

    def by_words(text: str) -> list[str]:
        found = layers.by_words(store, text, DEPTH, SYNTHETIC_QA, Filters())
        return _once(one.found.document for one in found)

    def by_meaning(text: str) -> list[str]:
        found = layers.nearest(store, text, DEPTH, SYNTHETIC_QA, Filters())
        return _once(one.found.document for one in found)

    def of_questions(text: str) -> list[list[str]]:
        return [by_words(text), *([by_meaning(text)] if layers.has_vectors else [])]

    def together(text: str) -> list[str]:
        asked = of_questions(text)
        # As in pr3-localrag, passages count as much as questions by all ways.
        weights = [len(asked), *(1 for _ in asked)]
        return list(reciprocal_rank_fusion([passages(text), *asked], weights))

    ways: dict[str, Way] = {"passages, words": partial(ranked, meaning=False)}
    if layers.has_vectors:
        ways["passages, meaning"] = partial(ranked, meaning=True)
    ways |= {"passages, all stages": passages, "questions, words": by_words}
    if layers.has_vectors:
        ways["questions, meaning"] = by_meaning
        ways["questions, both"] = lambda text: list(reciprocal_rank_fusion(of_questions(text)))
    ways["passages and questions"] = together
    return ways


def _documents(found: Retrieval) -> list[str]:
    return _once(hit.passage.document_id for hit in found.hits)


def _once(documents: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(documents))


def _print(
    group: str,
    found: Mapping[str, Sequence[Sequence[str]]],
    right: Sequence[str],
    numbers: Sequence[int],
) -> None:
    print(f"{group}, n = {len(numbers):,}")
    for way, lists in found.items():
        first, ten = (
            sum(right[number] in lists[number][:depth] for number in numbers) for depth in (1, HITS)
        )
        n = len(numbers)
        print(f"  {way:<24} first {rate(first, n):<22} of {HITS} {rate(ten, n)}")


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("--model", required=True, help="chat model, installed, or a file of one")
    options.add_argument(
        "--questions", type=int, default=JUDGES, metavar="N", help=f"that are asked ({JUDGES})"
    )
    options.add_argument(
        "--beside", type=int, default=0, metavar="N", help="paragraphs of other questions (0)"
    )
    options.add_argument("--max-tokens", type=int, default=1024, metavar="N", help="of a reply")
    options.add_argument("--threads", type=int, default=0, metavar="N", help="of the models")
    return options.parse_args()


if __name__ == "__main__":
    main()
