"""Questions as lawyers type them, over the 327 laws: the quoted provisions.

Printed per group and half are rates of:

- a right provision quoted first or second, without a model: its article, and its paragraph or item;
- its article among the first ten hits;
- a wrong law quoted, for questions that name a law;
- absent laws named, with nothing supported instead.

A quotation and its heading count as one. A follow-up is read after the questions before it, without
a model.

``--parts`` repeats all without each part, on the half that may be seen. ``--searches FILE`` asks
with searches written by a model (``{"id": …, "searches": [{"law": …, "words": …}]}``, a line a
question). ``--show`` prints the questions of the half that may be seen.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from bench.corpora import open_corpus
from bench.options import REPOSITORY, parser
from bench.rates import latency, rate

from localrag.answer.extractive import Quotations, quotations
from localrag.corpus.types import Locator
from localrag.methods.extractive import search_written
from localrag.search import query as follow_up
from localrag.search.pipeline import Retriever
from localrag.search.query import NO_LAWS, OrdersUnder, Rewritten
from localrag.search.ranking import lexical
from localrag.search.reading import Retrieval
from localrag.search.types import Query, WrittenSearch

QUESTIONS = REPOSITORY / "tests" / "localrag" / "lawyers" / "questions"
ASKED = QUESTIONS.parent / "asked"
SEEN = "seen"
HITS = 10
FIRST = 2
# Parts that can be left out: name, attribute, replacement.
PARTS: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("laws named", "localrag.search.reading.scope_of", lambda *_: NO_LAWS),
    ("everyday words", "localrag.search.reading.wordings", lambda *_: ()),
    (
        "predicted questions, searched",
        "localrag.search.ranking.lexical",
        lambda store, index, query, wordings=(), _=None: lexical(store, index, query, wordings),
    ),
    ("the same, read", "localrag.answer.support.predicted_questions", lambda _: ()),
    ("penalties", "localrag.search.reading.penalty_asked", lambda *_: None),
    ("what fills in", "localrag.search.edges.Filler.links", lambda *_: []),
    ("figures", "localrag.search.reading.figure_asked", lambda *_: None),
    ("references", "localrag.search.edges.neighbours", lambda *_: {}),
    ("another provision second", "localrag.answer.extractive._spread", list),
    (
        "questions before",
        "localrag.search.query.rewritten",
        lambda text, *_: Rewritten(text),
    ),
    (
        "captions weighed",
        "localrag.search.ranking.weigh",
        lambda matches, *_: {unit: match.score for unit, match in matches.items()},
    ),
    ("meaning", "localrag.search.ranking.Dense.search", lambda *_: {}),
)


@dataclass(frozen=True)
class LawyersOutcome:
    """Result of one question; None if a figure does not apply."""

    article: bool | None
    place: bool | None
    found: bool | None
    other_law: bool | None
    told: bool | None
    seconds: float


def main() -> None:
    """Print a line for every group and half, and one for all; or one for each part left out."""
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FOLDER")
    options.add_argument("--searches", type=Path, metavar="FILE", help="searches that were written")
    options.add_argument("--show", action="store_true", help="print the questions that may be seen")
    options.add_argument("--parts", action="store_true", help="leave out one part after the other")
    arguments = options.parse_args()
    asked = [
        json.loads(line)
        for file in sorted(arguments.questions.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    work, egov = arguments.work.resolve(), arguments.data / "egov"
    asked_by_people = arguments.questions.resolve() == ASKED.resolve()
    laws = [egov / "xml", *([egov / "xml_2015"] if asked_by_people else [])]
    name = "statutes" if len(laws) == 1 else "all-statutes"
    with open_corpus(work, name, laws, arguments.embedder) as retriever:
        if arguments.parts:
            print_parts(retriever, [one for one in asked if one["half"] == SEEN])
        else:
            written = read_searches(arguments.searches) if arguments.searches else {}
            print_groups(answered(retriever, asked, written, shown=arguments.show))


def query_of(asked: dict[str, Any], retriever: Retriever) -> Query:
    """A question as it is searched for: read after those before it, without a model."""
    read = follow_up.rewritten(asked["question"], asked.get("history", ()), retriever.names)
    return Query(read.text, last=read.last)


def read_searches(file: Path) -> dict[str, list[WrittenSearch]]:
    """The searches that were written, by the id of their question."""
    replies = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {
        reply["id"]: [WrittenSearch(one["words"], one["law"]) for one in reply["searches"]]
        for reply in replies
    }


def answered(
    retriever: Retriever,
    questions: Sequence[dict[str, Any]],
    written: Mapping[str, Sequence[WrittenSearch]] = MappingProxyType({}),
    *,
    shown: bool = False,
) -> dict[tuple[str, str], list[LawyersOutcome]]:
    """Results of each question, by group and half.

    Args:
        retriever: of the laws.
        questions: as in their files.
        written: searches by id of the question.
        shown: print those that may be seen.
    """
    outcomes: dict[tuple[str, str], list[LawyersOutcome]] = defaultdict(list)
    orders = OrdersUnder(retriever.store, retriever.names)
    for asked in questions:
        started = time.perf_counter()
        query = query_of(asked, retriever)
        retrieval = search_written(retriever, query, written.get(asked["id"], ()), HITS)
        quoted = quotations(retriever, retrieval)
        seconds = time.perf_counter() - started
        outcome = judged(asked, quoted, retrieval, orders, seconds)
        outcomes[asked["group"], asked["half"]].append(outcome)
        if shown and asked["half"] == SEEN:
            show(asked, quoted, retrieval, outcome, retriever)
    return outcomes


def print_groups(outcomes: Mapping[tuple[str, str], Sequence[LawyersOutcome]]) -> None:
    """Print a line for every group and half, one for each half, and the time of an answer."""
    print(f"{'group':<11}{'half':<9}{'n':>3}  {'article first or second':<24}{'exact place':<24}"
          f"{'top 10':<24}{'of another law':<24}absent told")  # fmt: skip
    for (group, half), some in sorted(outcomes.items()):
        print_line(group, half, some)
    for half in sorted({half for _, half in outcomes}):
        print_line(
            "all", half, [one for key in outcomes if key[1] == half for one in outcomes[key]]
        )
    every = [one.seconds for some in outcomes.values() for one in some]
    print(f"an answer: {latency(every)}")


def print_parts(retriever: Retriever, questions: Sequence[dict[str, Any]]) -> None:
    """Print by group how often a right article is quoted first or second without each part."""
    groups = sorted({one["group"] for one in questions if one["gold"]})
    print(f"{'without':<30}{'all':<24}{'absent told':<24}{'  '.join(groups)}")
    for part, place, instead in (("nothing", "", None), *PARTS):
        with patch(place, instead) if place else nullcontext():
            outcomes = answered(retriever, questions)
        every = [one for some in outcomes.values() for one in some]
        shares = []
        for group in groups:
            of_group = [one.article for one in outcomes[group, SEEN]]
            shares.append(f"{sum(map(bool, of_group)) / len(of_group):<{len(group)}.2f}")
        print(f"{part:<30}{share(every, 'article')}{share(every, 'told')}{'  '.join(shares)}")


def share(outcomes: Sequence[LawyersOutcome], name: str) -> str:
    """The rate of a figure over the questions it applies to, as a column."""
    told = [value for one in outcomes if (value := getattr(one, name)) is not None]
    return f"{rate(sum(told), len(told)):<24}"


def judged(
    asked: dict[str, Any],
    answer: Quotations,
    retrieval: Retrieval,
    orders: OrdersUnder,
    seconds: float,
) -> LawyersOutcome:
    """Compare an answer with the gold provisions of its question."""
    gold = [(one["law_id"], locator_of(one)) for one in asked["gold"]]
    quoted = places(answer)[:FIRST]
    hits = [place_of(hit.passage.id) for hit in retrieval.hits[:HITS]]
    allowed = {law_id for law_id, _ in gold}.union(asked["laws"])
    allowed |= {order for law_id in asked["laws"] for order in orders(law_id)}
    laws = {citation.passage_id.rpartition("#")[0] for citation in answer.citations}
    absent = asked["absent"]
    return LawyersOutcome(
        article=any_in(gold, quoted, whole=True) if gold else None,
        place=any_in(gold, quoted, whole=False) if gold else None,
        found=any(same_article(one, hit) for one in gold for hit in hits) if gold else None,
        other_law=not laws <= allowed if asked["laws"] or absent else None,
        told=any(map(partial(is_name_of, absent), retrieval.absent)) if absent else None,
        seconds=seconds,
    )


def is_name_of(title: str, words: str) -> bool:
    """Whether words name a law, whole or short: 労働保険徴収法 has letters of its title."""
    letters = iter(title)
    return title in words or all(letter in letters for letter in words)


def places(answer: Quotations) -> list[list[tuple[str, Locator]]]:
    """The places quoted; successive ones of one paragraph count once."""
    together: list[list[tuple[str, Locator]]] = []
    for citation in answer.citations:
        law_id, place = place_of(citation.passage_id)
        before = together[-1][-1] if together else None
        if before and before[0] == law_id and paragraph(before[1]) == paragraph(place):
            together[-1].append((law_id, place))
        else:
            together.append([(law_id, place)])
    return together


def any_in(
    gold: Sequence[tuple[str, Locator]],
    quoted: Sequence[Sequence[tuple[str, Locator]]],
    *,
    whole: bool,
) -> bool:
    """Whether a gold provision, or the article it is in as a `whole`, is quoted."""
    return any(
        same_article(one, place)
        if whole
        else one[0] == place[0] and (place[1].contains(one[1]) or one[1].contains(place[1]))
        for one in gold
        for paragraph_places in quoted
        for place in paragraph_places
    )


def same_article(one: tuple[str, Locator], other: tuple[str, Locator]) -> bool:
    """Whether two places are in one article."""
    return one[0] == other[0] and article(one[1]) == article(other[1])


def place_of(passage_id: str) -> tuple[str, Locator]:
    """Law and place of a passage."""
    law_id, _, path = passage_id.rpartition("#")
    return law_id, Locator.parse(path)


def locator_of(gold: dict[str, str]) -> Locator:
    """The place of a gold provision."""
    return Locator(gold.get("division", ""), gold["article"], gold["paragraph"], gold["item"])


def article(place: Locator) -> tuple[str, str]:
    """The article of a place, with its division."""
    return place.division, place.article


def paragraph(place: Locator) -> tuple[str, str, str]:
    """The paragraph of a place."""
    return place.division, place.article, place.paragraph


def print_line(group: str, half: str, some: Sequence[LawyersOutcome]) -> None:
    """Print the rates of some questions; a dash where none is asked for."""
    rates = [share(some, name) for name in ("article", "place", "found", "other_law", "told")]
    print(f"{group:<11}{half:<9}{len(some):>3}  {''.join(rates).rstrip()}")


def show(
    asked: dict[str, Any],
    answer: Quotations,
    retrieval: Retrieval,
    outcome: LawyersOutcome,
    retriever: Retriever,
) -> None:
    """Print one question, how it was read and what was quoted."""
    names = retriever.names
    print(f"\n{asked['id']}  {asked['question']}\n   {outcome}")
    read = [(law.words, [names.title(id_)[:24] for id_ in law.law_ids]) for law in retrieval.laws]
    print(f"   laws {read}  absent {retrieval.absent}")
    for one in asked["gold"]:
        print(f"   gold    {names.title(one['law_id'])[:30]} {locator_of(one).path}")
    for citation in answer.citations:
        print(f"   quoted  {citation.label}")
    for hit in retrieval.hits[:5]:
        print(f"   hit     {hit.score:.2f}{' beside' if hit.beside else ''} {hit.passage.header}")


if __name__ == "__main__":
    main()
