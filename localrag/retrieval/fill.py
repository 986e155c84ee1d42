"""What is left to an order: which of the provisions that fill one in says the point asked for.

An act says その他の有価証券で政令で定めるもの, and several provisions of its orders fill it in. The
right one repeats what is left to it: 法第二十七条の二第一項本文に規定する政令で定める有価証券は.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.links import StoredReference
from localrag.corpus.lookups import Lookups
from localrag.corpus.model import Locator, Passage
from localrag.question.asked import OrderAsked
from localrag.retrieval.admission import Admission
from localrag.retrieval.expand import Seed
from localrag.retrieval.model import Link, LinkKind
from localrag.retrieval.units import article_unit
from localrag.statutes.citations import find_citations
from localrag.statutes.references import DELEGATED_BY
from localrag_indexes.analysis.normalize import normalize

# Provisions that are filled in by more leave nothing in particular.
_TOO_MANY = 400
# Characters after a citation in which an order repeats what is left to it.
_CLAUSE = 200
_ENDS = re.compile(r"は、|とする。|。|\n")
_LEFT = re.compile(r"で(?:定め|指定)(?:る|た)?(?P<point>[^、。（）\n]{0,40})")
_LEFT_IN_ACT = re.compile(
    r"(?:政令|[府省]令|規則)(?:で|の)(?:定め|指定)(?:るところ|る|た)?(?P<point>[^、。（）\n]{0,30})"
)
# Of a point asked for beside, so much must stand where the act leaves it to an order.
_LEAST_LEFT = 0.6
# What a provision counts that fills in another paragraph than the one named, or that is of another
# kind of order than the one asked for.
_ELSEWHERE = 0.5
_OTHER_INSTRUMENT = 0.4
_CONTENT = re.compile(r"[一-鿿々ァ-ヺーa-z0-9]")


class _Filling(NamedTuple):
    """A provision of an order with the words that say what it fills in.

    Attributes:
        passage: its article.
        reference: its citation of the provision that it fills in.
        clause: the words after the citation.
    """

    passage: Passage
    reference: StoredReference
    clause: str

    @property
    def point(self) -> str:
        """What is left to it, in its own words; empty where it does not repeat it."""
        left = _LEFT.search(self.clause)
        return left["point"] if left else ""


def filling(
    store: Lookups,
    seeds: Sequence[Seed],
    question: str,
    asked: OrderAsked | None,
    admission: Admission,
) -> list[Link]:
    """The provision that says what one of the seeds leaves to an order, and what fills that in.

    Args:
        store: where provisions and their references are.
        seeds: the provisions named, or else the best ones found.
        question: as asked.
        asked: what it asks of an order; None where it does not ask for one in so many words.
        admission: which documents may be found.

    Returns:
        At most two links: of an order with a seed, and of an ordinance with that order. None where
        the question does not ask for what is left to an order.
    """
    words = _pairs(_without_places(question))
    best: tuple[float, Link, _Filling] | None = None
    for seed in seeds:
        for found in _fillings(store, seed.law_id, seed.locator, admission):
            score = seed.strength * _fit(store, seed, found, words, asked)
            if score > 0 and (best is None or score > best[0]):
                other = article_unit(seed.law_id, seed.locator)
                link = Link(
                    LinkKind.FILLS,
                    found.passage.id,
                    other,
                    found.reference.start,
                    comes_first=asked is not None,
                )
                best = score, link, found
    return [best[1]] if best else []


def _fillings(
    store: Lookups, law_id: str, locator: Locator, admission: Admission
) -> Iterator[_Filling]:
    """The provisions of orders that fill in an article."""
    article = Locator(locator.division, locator.article)
    connections = store.connections_to(law_id, article, _TOO_MANY)
    if len(connections) == _TOO_MANY:
        connections = store.connections_to(law_id, locator, _TOO_MANY)
    units = {
        f"{one.document_id}#{one.article}": None
        for one in connections
        if one.kind == DELEGATED_BY
        and not one.article.startswith("suppl")
        and admission.admits(one.document_id)
    }
    for passage in store.by_ids(units).values():
        for reference in store.references_from(passage.document_id, passage.locator):
            if (
                reference.kind == DELEGATED_BY
                and reference.law_id == law_id
                and article.contains(reference.target)
            ):
                yield _Filling(passage, reference, _clause(passage, reference.end))


def _clause(passage: Passage, position: int) -> str:
    rest = passage.text[position - passage.start :][:_CLAUSE]
    end = _ENDS.search(rest)
    return rest[: end.start() if end else None]


def _fit(
    store: Lookups, seed: Seed, found: _Filling, words: set[str], asked: OrderAsked | None
) -> float:
    """How well a provision fills in the point asked for; 0 where it was not asked for."""
    place = _place(seed.locator, found.reference.target)
    about = _share(words, f"{found.passage.header}{_line(found)}")
    if asked is not None:
        instrument = 1.0 if asked.instrument in found.clause else _OTHER_INSTRUMENT
        point = _share(_pairs(asked.point), found.clause)
        return place * instrument * (0.2 + 0.5 * point + 0.3 * about)
    left = _left_in(store, seed, found)
    if not left or _share(words, left) < _LEAST_LEFT:
        return 0.0
    return place * (0.2 + about)


def _place(named: Locator, filled: Locator) -> float:
    """How near the place that is filled in is to the one named."""
    return 1.0 if named.contains(filled) or filled.contains(named) else _ELSEWHERE


def _left_in(store: Lookups, seed: Seed, found: _Filling) -> str:
    """The words of the provision filled in around the point that it leaves to the order."""
    provision = store.at(seed.law_id, found.reference.target)
    point = found.point
    if provision is None or not _CONTENT.search(point):
        return ""
    for left in _LEFT_IN_ACT.finditer(provision.text):
        if left["point"].startswith(point[:4]):
            sentence = provision.text.rfind("。", 0, left.start()) + 1
            return provision.text[max(sentence, left.start() - 60) : left.end()]
    return ""


def _line(found: _Filling) -> str:
    """The paragraph or item with the citation."""
    text, position = found.passage.text, found.reference.start - found.passage.start
    end = text.find("\n", position)
    return text[text.rfind("\n", 0, position) + 1 : end if end >= 0 else None]


def _without_places(question: str) -> str:
    for citation in reversed(find_citations(question)):
        question = f"{question[: citation.start]} {question[citation.end :]}"
    return _LEFT_IN_ACT.sub(lambda left: f" {left['point']}", question)


def _pairs(text: str) -> set[str]:
    """The pairs of letters of a text that carry meaning: words without their inflection."""
    letters = normalize(text)
    return {
        first + second
        for first, second in pairwise(letters)
        if _CONTENT.match(first) and _CONTENT.match(second)
    }


def _share(asked: set[str], text: str) -> float:
    """The share of the pairs asked for that a text has; of none it has all."""
    return len(asked & _pairs(text)) / len(asked) if asked else 1.0
