"""Provision recall for the queries of three ways to answer four-choice law questions, by stage.

The corpus is the 327 laws with their missing gold passages. No model is used:

- `statute-fixed` (way 3): question and options, search by meaning.
- `statute-options` (way 5): per option, routed by the query; question and option replace the query
  that a model would write.
- `statute-localrag` (ours): every stage, for the question and per option, merged; a model would see
  8 passages per option at most.

With searches per option, a gold article counts at k if it is among the first k hits of an option.
The mean number of different passages in them is printed too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import mean

from bench.corpora import LAWS, law_questions, open_laws
from bench.options import parser
from bench.rates import rate

from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.evaluation.recall import all_at, any_at, ranks
from localrag.evaluation.types import Question
from localrag.methods.answering import MethodResources
from localrag.methods.catalogue import labelled
from localrag.methods.statute import RERANKED, K, search
from localrag.methods.statute_localrag import gather
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.types import Query
from localrag.text.facts import FactKind

CUTOFFS = (5, 10)
DEPTH = max(CUTOFFS)


def main() -> None:
    """Print any and all at every cutoff, for every way and stage."""
    arguments = parser(__doc__, work=True).parse_args()
    data, work = arguments.data, arguments.work.resolve()
    open_laws(data, work).close()
    questions = law_questions(data / "lawqa" / "train.jsonl")
    workspace = Workspace(work / "home")
    print(f"n = {len(questions)} questions, lawqa/train.jsonl")
    print(f"{'stage':<30}{'k':>3}  {'any gold article':<23}{'all gold articles':<23}passages")
    with MethodResources(workspace, LAWS, load(workspace)) as resources:
        for name, way in WAYS.items():
            print(name)
            report(questions, resources, way)


def fixed(toolkit: Toolkit, asked: Query) -> None:
    """Way 3."""
    toolkit.search(asked, DEPTH, words=False, meaning=True)


def options(toolkit: Toolkit, asked: Query) -> None:
    """Way 5, but for the queries."""
    for label, option in labelled(asked.options):
        query = Query(full_text(replace(asked, options=(option,))))
        subject = f"option {label}"
        hits = search(toolkit, query, K, subject=subject)
        toolkit.rerank(query, hits, RERANKED, subject=subject)


def ours(toolkit: Toolkit, asked: Query) -> None:
    """Step 1 of our own way."""
    gather(toolkit, asked)


WAYS: Mapping[str, Callable[[Toolkit, Query], object]] = {
    "statute-fixed": fixed,
    "statute-options": options,
    "statute-localrag": ours,
}


def report(
    questions: Sequence[Question],
    resources: MethodResources,
    way: Callable[[Toolkit, Query], object],
) -> None:
    """Run one way over the questions, and print what each of its stages found."""
    found: dict[str, list[tuple[tuple[int, ...], list[list[str]]]]] = defaultdict(list)
    events: Counter[str] = Counter()
    for question in questions:
        toolkit = Toolkit(resources)
        way(toolkit, question.query)
        for stage, rankings in rankings_of(toolkit).items():
            best = [ranks(question.gold, ranking) for ranking in rankings]
            together = tuple(
                min(filter(None, place), default=0) for place in zip(*best, strict=True)
            )
            found[stage].append((together, rankings))
        told = toolkit.trace.events
        events.update({str(one) for one in told if one.kind is FactKind.WORDS_FOR_MEANING})
    for stage, outcomes in found.items():
        if not any(any(rankings) for _, rankings in outcomes):
            continue
        placed = [together for together, _ in outcomes]
        for k in CUTOFFS:
            some, every = (rate(count(placed, k), len(questions)) for count in (any_at, all_at))
            read = mean(
                len({passage for ranking in rankings for passage in ranking[:k]})
                for _, rankings in outcomes
            )
            print(f"  {stage:<28}{k:>3}  {some:<23}{every:<23}{read:.1f}")
    for event, times in events.items():
        print(f"  {times} questions: {event}")


def rankings_of(toolkit: Toolkit) -> dict[str, list[list[str]]]:
    """For each stage the passages it ranked; searches for the question and for options apart."""
    rankings: dict[str, list[list[str]]] = defaultdict(list)
    for stage in toolkit.trace.stages:
        about = "per option" if stage.subject.startswith("option") else "question"
        rankings[f"{stage.stage}, {about}"].append([hit.passage.id for hit in stage.hits])
    return rankings


if __name__ == "__main__":
    main()
