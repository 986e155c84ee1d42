"""Step `search`: how a query is searched for is decided by what it says."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from localrag.methods.toolkit import Toolkit
from localrag.retrieval.model import Hit, Query
from localrag.statutes.citations import LawKind, find_citations

SECOND_SEARCH = "second search"

_INTERPRETATION = re.compile(
    r"解釈|趣旨|意義|意味|定義|とは(?=[、,。?？\s何]|$)"
    r"|\b(?:interpret|meaning|purpose|defin)",
    re.IGNORECASE,
)


class Route(NamedTuple):
    """How to search: by words (BM25), by meaning (dense), or by both, fused by rank."""

    words: bool
    meaning: bool


def route(query: str) -> Route:
    """By words where an article is named, by meaning where interpretation is asked for, else both.

    A query that does both is searched by words: the number is the surer sign.
    """
    if any(citation.locator.article for citation in find_citations(query)):
        return Route(words=True, meaning=False)
    if _INTERPRETATION.search(query):
        return Route(words=False, meaning=True)
    return Route(words=True, meaning=True)


def search(toolkit: Toolkit, asked: Query, k: int, *, subject: str = "") -> tuple[Hit, ...]:
    """Search as `route` says, and once more in each law that the query names and no hit is of.

    Returns:
        The hits of all searches without duplicates, by their ranks; at most `k` of each.
    """
    words, meaning = route(asked.text)
    searches = [toolkit.search(asked, k, words=words, meaning=meaning, subject=subject)]
    hit = {one.passage.document_id for one in searches[0]}
    for law_id in _admitted(asked, toolkit.laws_named(asked.text)):
        if law_id not in hit:
            inside = replace(asked, filters=replace(asked.filters, documents=(law_id,)))
            again = f"{subject} in {law_id}".strip()
            searches.append(toolkit.search(inside, k, words=words, meaning=meaning, subject=again))
    unknown = _unknown_laws(toolkit, asked.text)
    if unknown:
        toolkit.note(SECOND_SEARCH, unknown, subject=subject)
    return merged(one for hits in searches for one in hits)


def merged(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Hits of several searches by their ranks, each passage once, ranked anew from 1."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: hit.rank):
        best.setdefault(hit.passage.id, hit)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best.values(), 1))


def _admitted(asked: Query, law_ids: Iterable[str]) -> list[str]:
    documents = asked.filters.documents
    return [law_id for law_id in law_ids if not documents or law_id in documents]


def _unknown_laws(toolkit: Toolkit, query: str) -> list[str]:
    """An event for each law that the query cites an article of and the corpus lacks."""
    events: dict[str, None] = {}
    read = 0
    for citation in find_citations(query):
        named = citation.law.kind is LawKind.NAMED and citation.continues < 0
        if named and not _known(toolkit, query, read, citation.law.end):
            events[f"the query cites {citation.text}, of a law that the corpus lacks"] = None
        read = citation.end
    return list(events)


def _known(toolkit: Toolkit, query: str, read: int, end: int) -> bool:
    """Whether a name of a law of the corpus ends between two places of a query.

    Where a long name begins cannot be told from its spelling. Some titles cite provisions: their
    name begins before `read` and is there in full only at `end`.
    """
    if toolkit.laws_named(query[read:end]):
        return True
    return not set(toolkit.laws_named(query[:end])) <= set(toolkit.laws_named(query[:read]))
