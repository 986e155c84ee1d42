"""Questions as lawyers type them, over the 327 laws: which provisions are quoted for them.

Per group and half: how often a right provision is quoted first or second by the reader without a
model (its article; and the paragraph or item too, where the question has one), how often its
article is among the first ten hits; of the questions that name a law, how often another law
is quoted, which is neither named, nor under an act named, nor right;
and how often a law that the corpus lacks is told, and nothing supported in its stead. A quotation
and what it stands under count as one. A question that follows others is read
after them, without a model.

``--show`` prints the questions of the half that may be looked at, never of the other.
"""

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora import open_corpus
from options import REPOSITORY, parser
from rates import latency, rate

from localrag.corpus.model import Locator
from localrag.question.follow_up import rewritten
from localrag.reading.extractive import Quotations, quotations
from localrag.retrieval.model import Query, Retrieval
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.scope import OrdersUnder

QUESTIONS = REPOSITORY / "tests" / "localrag" / "lawyers" / "questions"
SEEN = "seen"
HITS = 10
FIRST = 2


@dataclass(frozen=True)
class Outcome:
    """What came of one question; None where it does not apply."""

    article: bool | None
    place: bool | None
    found: bool | None
    other_law: bool | None
    told: bool | None
    seconds: float


def main() -> None:
    """Print a line for every group and half, and one for all."""
    options = parser(__doc__, work=True)
    options.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FOLDER")
    options.add_argument("--show", action="store_true", help="print the questions that may be seen")
    arguments = options.parse_args()
    outcomes: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    work = arguments.work.resolve()
    with open_corpus(work, "statutes", [arguments.data / "egov" / "xml"]) as retriever:
        orders = OrdersUnder(retriever.store, retriever.names)
        for file in sorted(arguments.questions.glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                asked = json.loads(line)
                started = time.perf_counter()
                history = asked.get("history", ())
                read = rewritten(asked["question"], history, retriever.names)
                query = Query(read.text)
                retrieval = retriever.search(query, HITS)
                quoted = quotations(retriever, query, retrieval)
                seconds = time.perf_counter() - started
                outcome = judged(asked, quoted, retrieval, orders, seconds)
                outcomes[asked["group"], asked["half"]].append(outcome)
                if arguments.show and asked["half"] == SEEN:
                    show(asked, quoted, retrieval, outcome, retriever)
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


def judged(
    asked: dict[str, Any],
    answer: Quotations,
    retrieval: Retrieval,
    orders: OrdersUnder,
    seconds: float,
) -> Outcome:
    """Compare an answer with the gold provisions of its question."""
    gold = [(one["law_id"], locator_of(one)) for one in asked["gold"]]
    quoted = places(answer)[:FIRST]
    hits = [place_of(hit.passage.id) for hit in retrieval.hits[:HITS]]
    allowed = {law_id for law_id, _ in gold}.union(asked["laws"])
    allowed |= {order for law_id in asked["laws"] for order in orders(law_id)}
    laws = {citation.passage_id.rpartition("#")[0] for citation in answer.citations}
    absent = asked["absent"]
    return Outcome(
        article=any_in(gold, quoted, whole=True) if gold else None,
        place=any_in(gold, quoted, whole=False) if gold else None,
        found=any(same_article(one, hit) for one in gold for hit in hits) if gold else None,
        other_law=not laws <= allowed if asked["laws"] or absent else None,
        told=any(absent in words or words in absent for words in retrieval.absent)
        if absent
        else None,
        seconds=seconds,
    )


def places(answer: Quotations) -> list[list[tuple[str, Locator]]]:
    """The places quoted, those of one paragraph in a row as one."""
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


def print_line(group: str, half: str, some: Sequence[Outcome]) -> None:
    """Print the rates of some questions; a dash where none is asked for."""
    rates = []
    for name in ("article", "place", "found", "other_law", "told"):
        told = [value for one in some if (value := getattr(one, name)) is not None]
        rates.append(f"{rate(sum(told), len(told)):<24}")
    print(f"{group:<11}{half:<9}{len(some):>3}  {''.join(rates).rstrip()}")


def show(
    asked: dict[str, Any],
    answer: Quotations,
    retrieval: Retrieval,
    outcome: Outcome,
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
