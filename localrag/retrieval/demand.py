"""The provision that demands a permission, a licence, a registration, a notification.

Who asks for the permission to run an inn wants the provision that demands it. It is often the
longest article of its law, with the conditions and the reasons for a refusal, so that its words
tell little. But its law says which one it is: wherever it speaks of the permission it names the
provision (第三条第一項の許可を受けた者). What the best provisions found name so is what is asked
for, if it demands it and has the words of the question.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Locator, Passage
from localrag.question.asked import requirement_asked
from localrag.retrieval.query import analyzer
from localrag.retrieval.types import Link, LinkKind
from localrag.retrieval.units import Admission, Scores, article_unit

# Provisions found by their words whose references are read.
_READ = 10
# Share of the words of the question that the provision has, at least.
_LEAST = 0.6
_NAMED_BY = r"(?:の規定による|の規定により受けた|に規定する|の)?"


class _Demand(NamedTuple):
    """A place that provisions name as the source of what is asked for, and the first of these."""

    law_id: str
    place: Locator
    named_in: str


def demands(store: Lookups, question: str, found: Scores, admission: Admission) -> list[Link]:
    """The link of the provision that demands what is asked for; none for any other question.

    Args:
        store: where provisions and their references are.
        question: without the names of laws.
        found: articles by how well their words agree with the question, 0 to 1.
        admission: which documents may be found.
    """
    asked = requirement_asked(question)
    if asked is None:
        return []
    terms = set(analyzer().terms(question.replace(asked.noun, " ")))
    best: tuple[float, Link] | None = None
    for demand, votes in _named(store, asked.noun, found).items():
        passage = store.at(demand.law_id, demand.place)
        if passage is None or not admission.admits(demand.law_id):
            continue
        share = _share(terms, passage)
        if not asked.demanded_by.search(passage.text) or share < _LEAST:
            continue
        if best is None or votes * share > best[0]:
            unit = article_unit(demand.law_id, demand.place)
            link = Link(LinkKind.DEMANDS, unit, demand.named_in, passage.start, comes_first=True)
            best = votes * share, link
    return [best[1]] if best else []


def _named(store: Lookups, noun: str, found: Scores) -> Mapping[_Demand, float]:
    """The places named as the source of it, each by how well those that name it agree."""
    votes: dict[tuple[str, Locator], float] = defaultdict(float)
    first: dict[tuple[str, Locator], str] = {}
    units = sorted(found, key=lambda unit: -found[unit])[:_READ]
    for unit, passage in store.by_ids(units).items():
        for place in dict.fromkeys(_sources(store, passage, noun)):
            votes[place] += found[unit]
            first.setdefault(place, unit)
    return {_Demand(*place, first[place]): count for place, count in votes.items()}


def _sources(store: Lookups, passage: Passage, noun: str) -> Iterator[tuple[str, Locator]]:
    behind = re.compile(_NAMED_BY + noun)
    for one in store.references_from(passage.document_id, passage.locator):
        if (
            one.law_id
            and one.target.article
            and behind.match(passage.text, one.end - passage.start)
        ):
            yield one.law_id, one.target


def _share(terms: set[str], passage: Passage) -> float:
    held = terms & set(analyzer().terms(f"{passage.header}\n{passage.text}"))
    return len(held) / len(terms) if terms else 0.0
