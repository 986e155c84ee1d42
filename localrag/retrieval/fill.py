"""What is left to an order: which of the provisions that fill one in says the point asked for.

An act says その他の有価証券で政令で定めるもの, and several provisions of its orders fill it in. The
right one repeats what is left to it: 法第二十七条の二第一項本文に規定する政令で定める有価証券は.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.links import StoredReference
from localrag.corpus.lookups import Lookups
from localrag.corpus.model import Locator, Passage
from localrag.question.asked import OrderAsked, order_asked
from localrag.retrieval.admission import Admission
from localrag.retrieval.expand import Seed
from localrag.retrieval.model import Link, LinkKind
from localrag.retrieval.units import Scores, article_unit
from localrag.statutes.citations import find_citations
from localrag.statutes.names import LawNames
from localrag.statutes.references import DELEGATED_BY, REFERS
from localrag_indexes.analysis.normalize import normalize

# What is filled in by more provisions leaves nothing in particular.
_TOO_MANY = 400
# Found provisions that are looked at where none is named: for a question that asks for an order,
# and for one that only the best provision found sends on to one.
_FOUND, _BEST = 4, 3
# Characters after a citation in which an order repeats what is left to it, and characters before
# 政令で定める in which the act says what it is about.
_CLAUSE, _BEFORE = 200, 60
_ENDS = re.compile(r"は、|とする。|。|\n")
# What stands before a citation that opens a paragraph: its number, and the name of the act.
_OPENING = re.compile(r"(?:[^　。、\n]{1,20}　)?[^　。、（）\n]{0,40}(?:（[^）]{0,60}）)?")
_POINT = r"(?P<point>[^、。（）\n]{0,30})"
_LEFT = re.compile(
    rf"(?:政令|[府省]令|規則)(?:で|の|でこれを)(?:定め|指定)(?:るところ|る|た)?{_POINT}"
)
# The noun by which the point is known in act, order and question: 額, 軽微 of 軽微な建設工事.
_NOUN = re.compile("[一-鿿々ァ-ヺー]+")
# How far a point is asked for whose noun the question does not have (額 in いくらか).
_UNNAMED = 0.5
# Of the question so much must stand where the act leaves a point to an order, unless it asks for
# an order.
_LEAST = 0.6
# What a provision counts that fills in another paragraph than the one named.
_ELSEWHERE = 0.5
# How much counts that an order repeats the point, that its paragraph has the words of the question,
# and that these words have found it.
_REPEATS, _ABOUT, _IS_FOUND = 0.5, 0.3, 0.3
_LEAST_FIT = 0.2
_CONTENT = re.compile(r"[一-鿿々ァ-ヺーa-z0-9]")
_CABINET = "政令"
_ACTS = ("", "Act", "Constitution")
_CABINET_TYPES = ("CabinetOrder", "ImperialOrder")


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
    def line(self) -> str:
        """Its paragraph or item with the citation."""
        text, position = self.passage.text, self.reference.start - self.passage.start
        end = text.find("\n", position)
        return text[text.rfind("\n", 0, position) + 1 : end if end >= 0 else None]


class Filler:
    """Finds what fills in the provisions that one question leads to.

    Args:
        store: where provisions and their references are.
        names: of the laws, and which orders are whose.
        admission: which documents may be found.
        question: as asked.
        found: articles by how well their words agree with the question, 0 to 1.
    """

    def __init__(
        self,
        store: Lookups,
        names: LawNames,
        admission: Admission,
        question: str,
        found: Scores,
    ) -> None:
        self._store = store
        self._names = names
        self._admission = admission
        self._question = question
        self._asked = order_asked(question)
        self._words = _pairs(_without_places(question, names))
        self._found = found

    def links(self, seeds: Sequence[Seed]) -> list[Link]:
        """What fills in the best of the seeds, and what fills that in if it leaves the point again.

        Args:
            seeds: the provisions named, or else the best ones found, best first.

        Returns:
            At most two links; none where the question does not ask for what is left to an order.
        """
        seeds = [seed for seed in seeds if seed.named] or seeds[: _FOUND if self._asked else _BEST]
        link = self._best(seeds, self._asked)
        if link is None:
            return []
        law_id, _, path = link.unit.rpartition("#")
        again = self._best([Seed(law_id, Locator.parse(path), 1.0, named=False)], None)
        return [link, again] if again else [link]

    def _best(self, seeds: Sequence[Seed], asked: OrderAsked | None) -> Link | None:
        best, link = 0.0, None
        for seed in seeds:
            points = self._points(seed) if asked is None else {}
            if asked is None and not points:
                continue
            for filling in self._fillings(seed, asked):
                fit = seed.strength * self._fit(seed, filling, asked, points)
                if fit > best:
                    best = fit
                    link = Link(
                        LinkKind.FILLS,
                        filling.passage.id,
                        article_unit(seed.law_id, seed.locator),
                        filling.reference.start,
                        comes_first=asked is not None,
                    )
        return link

    def _points(self, seed: Seed) -> dict[str, float]:
        """The points that a provision leaves to an order, by their nouns.

        Returns:
            For every point with the words of the question around it how far it is asked for, 0
            to 1.
        """
        provision = self._store.at(seed.law_id, seed.locator)
        text = provision.text if provision else ""
        points: dict[str, float] = {}
        for left in _LEFT.finditer(text):
            noun = _NOUN.search(left["point"])
            share = _share(self._words, _sentence(text, left.start(), left.end()))
            if noun is not None and share >= _LEAST:
                named = 1.0 if noun[0] in self._question else _UNNAMED
                points[noun[0]] = max(share * named, points.get(noun[0], 0.0))
        return points

    def _fillings(self, seed: Seed, asked: OrderAsked | None) -> Iterator[_Filling]:
        """The provisions of orders that fill in the article of a seed."""
        article = Locator(seed.locator.division, seed.locator.article)
        connections = self._store.connections_to(seed.law_id, article, _TOO_MANY)
        if len(connections) == _TOO_MANY:
            connections = self._store.connections_to(seed.law_id, seed.locator, _TOO_MANY)
        units = {
            f"{one.document_id}#{one.article}": None
            for one in connections
            if one.kind in (DELEGATED_BY, REFERS)
            and self._admits(seed.law_id, one.document_id, one.article, asked)
        }
        own = self._names.orders(seed.law_id)
        for passage in self._store.by_ids(units).values():
            for reference in self._store.references_from(passage.document_id, passage.locator):
                if (
                    reference.law_id == seed.law_id
                    and article.contains(reference.target)
                    and (
                        reference.kind == DELEGATED_BY
                        or (passage.document_id in own and _opens(passage, reference.start))
                    )
                ):
                    yield _Filling(passage, reference, _clause(passage, reference.end))

    def _admits(self, act: str, order: str, article: str, asked: OrderAsked | None) -> bool:
        law_type = self._names.law_type(order)
        if act == order or law_type in _ACTS or article.startswith("suppl"):
            return False
        if not self._admission.admits(order):
            return False
        if asked is None or not asked.instrument:
            return True
        return (law_type in _CABINET_TYPES) == (asked.instrument == _CABINET)

    def _fit(
        self, seed: Seed, filling: _Filling, asked: OrderAsked | None, points: Mapping[str, float]
    ) -> float:
        """How well a provision fills in the point asked for; 0 where it fills in another one."""
        if asked is not None:
            repeats = _share(_pairs(asked.point), filling.clause)
        else:
            repeats = max((points[noun] for noun in points if noun in filling.clause), default=0.0)
            if not repeats:
                return 0.0
        near = seed.locator.contains(filling.reference.target)
        near = near or filling.reference.target.contains(seed.locator)
        return (1.0 if near else _ELSEWHERE) * (
            _LEAST_FIT
            + _REPEATS * repeats
            + _ABOUT * _share(self._words, f"{filling.passage.header}{filling.line}")
            + _IS_FOUND * self._found.get(filling.passage.id, 0.0)
        )


def _sentence(text: str, start: int, end: int) -> str:
    """What stands before a place in its sentence, as far as it is near, and the place itself."""
    opening = max(text.rfind("。", 0, start), text.rfind("\n", 0, start)) + 1
    return text[max(opening, start - _BEFORE) : end]


def _opens(passage: Passage, position: int) -> bool:
    """Whether a paragraph of the main provisions begins with it: 第六十条　戸籍法第五十条の…は."""
    text, position = passage.text, position - passage.start
    if passage.locator.division:
        return False
    return _OPENING.fullmatch(text, text.rfind("\n", 0, position) + 1, position) is not None


def _clause(passage: Passage, position: int) -> str:
    rest = passage.text[position - passage.start :][:_CLAUSE]
    end = _ENDS.search(rest)
    return rest[: end.start() if end else None]


def _without_places(question: str, names: LawNames) -> str:
    """The question without the laws and provisions that it names: what it says of them."""
    cited = [(one.start, one.end) for one in find_citations(question)]
    named = [(one.start, one.end) for one in names.find_names(question)]
    for start, end in (*cited, *named):
        question = f"{question[:start]}{' ' * (end - start)}{question[end:]}"
    return _LEFT.sub(lambda left: f" {left['point']}", question)


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
