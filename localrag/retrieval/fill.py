"""What is left to an order: which of the provisions that fill one in says the point asked for.

An act says その他の有価証券で政令で定めるもの, and several provisions of its orders fill it in. The
right one repeats what is left to it: 法第二十七条の二第一項本文に規定する政令で定める有価証券は.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from localrag.corpus.links import Reference
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Locator, Passage
from localrag.question.asked import OrderAsked, figure_asked, order_asked
from localrag.question.everyday import EverydayWord
from localrag.retrieval.expand import Seed
from localrag.retrieval.types import Link, LinkKind
from localrag.retrieval.units import Admission, Scores, article_unit
from localrag.statutes.citations import find_citations
from localrag.statutes.names import LawNames
from localrag.statutes.references import DELEGATED_BY, REFERS
from localrag_indexes.analysis.normalize import normalize

# What is filled in by more provisions leaves nothing in particular.
_TOO_MANY = 400
# Characters after a citation in which an order repeats what is left to it, and characters before
# 政令で定める in which the act says what it is about.
_CLAUSE, _BEFORE = 200, 60
_ENDS = re.compile(r"は、|とする。|。|\n")
# Where the next paragraph begins.
_PARAGRAPH = re.compile(r"\n(?:[０-９]+|[①-⑳])　")
# What stands before a citation that opens a paragraph: its number, and the name of the act.
_OPENING = re.compile(r"(?:[^　。、\n]{1,20}　)?[^　。、（）\n]{0,40}(?:（[^）]{0,60}）)?")
# The noun by which the point is known in act, order and question: 額, 軽微 of 軽微な建設工事. Where
# the act has もの or nothing there, the noun stands before: 商品として政令で定めるもの.
_NOUN = re.compile("[一-鿿々ァ-ヺー]+")
_LEFT = re.compile(
    rf"(?:(?P<before>{_NOUN.pattern})(?:は、[^、。（）\n]{{0,12}}|として|で))?"
    r"(?:政令|[一-鿿]*[府省]令|[一-鿿]*規則)(?:で|の|でこれを)(?:定め|指定)(?:るところ|る|た)?"
    r"(?P<point>[^、。（）\n]{0,30})"
)
# How far a point is asked for whose noun the question does not have (額 in いくらか).
_UNNAMED = 0.5
# Of the question so much must stand where the act leaves a point to an order, unless it asks for
# an order, cites the place or asks for a figure.
_LEAST = 0.6
# What a provision counts that fills in another part than the one named.
_ELSEWHERE = 0.5
# How much counts that an order repeats the point, that it states the figure asked for, that its
# paragraph has the words of the question, and that these words have found it.
_REPEATS, _STATES, _ABOUT, _IS_FOUND = 0.5, 0.5, 0.3, 0.3
_LEAST_FIT = 0.2
_CONTENT = re.compile(r"[一-鿿々ァ-ヺーa-z0-9]")
_PROVISO = "ただし書"
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
    reference: Reference
    clause: str

    @property
    def paragraph(self) -> str:
        """Its paragraph from the line with the citation on, the items below it included."""
        text, position = self.passage.text, self.reference.start - self.passage.start
        start = text.rfind("\n", 0, position) + 1
        end = _PARAGRAPH.search(text, position)
        return text[start : end.start() if end else None]


class _Words(NamedTuple):
    """The words of a question, for what they share with a text.

    Attributes:
        own: the pairs of its letters, but for everyday words.
        everyday: for each everyday word its pairs, and those of each phrase of statutes for it.
    """

    own: set[str]
    everyday: list[list[set[str]]]

    @classmethod
    def of(cls, question: str, wordings: Sequence[EverydayWord], names: LawNames) -> Self:
        """The words of a question without the laws and provisions that it names."""
        said = [_pairs(one.said) for one in wordings]
        own = _pairs(_without_places(question, names)).difference(*said)
        return cls(own, [[_pairs(x) for x in (one.said, *one.phrases)] for one in wordings])

    def share(self, text: str) -> float:
        """The share of the words that a text has; of none it has all."""
        pairs = _pairs(text)
        total = len(self.own) + sum(len(one[0]) for one in self.everyday)
        held: float = len(self.own & pairs)
        for said, *phrases in self.everyday:
            best = max(len(one & pairs) / (len(one) or 1) for one in (said, *phrases))
            held += len(said) * best
        return held / total if total else 1.0


class Filler:
    """Finds what fills in the provisions that one question leads to.

    Args:
        store: where provisions and their references are.
        names: of the laws, and which orders are whose.
        admission: which documents may be found.
        question: as asked.
        wordings: its everyday words.
        found: articles by how well their words agree with the question, 0 to 1.
    """

    def __init__(
        self,
        store: Lookups,
        names: LawNames,
        admission: Admission,
        question: str,
        wordings: Sequence[EverydayWord],
        found: Scores,
    ) -> None:
        self._store = store
        self._names = names
        self._admission = admission
        self._question = question
        self._asked = order_asked(question)
        self._figure = figure_asked(question)
        self._words = _Words.of(question, wordings, names)
        self._found = found

    def links(self, seeds: Sequence[Seed]) -> list[Link]:
        """What fills in the best of the seeds, and what fills that in if it leaves the point again.

        Args:
            seeds: the provisions named, or else the best ones found, best first.

        Returns:
            At most two links; none where the question does not ask for what is left to an order.
        """
        named = [seed for seed in seeds if seed.named]
        link = self._best(named or seeds, self._asked)
        if link is None:
            return []
        law_id, _, path = link.unit.rpartition("#")
        again = self._best([Seed(law_id, Locator.parse(path), 1.0, named=False)], None)
        return [link, again] if again else [link]

    def _best(self, seeds: Sequence[Seed], asked: OrderAsked | None) -> Link | None:
        best, link = 0.0, None
        stating: set[str] = set()
        for seed in seeds:
            provision = self._store.at(seed.law_id, seed.locator)
            text = provision.text if provision else ""
            # What was found only by its words and itself states the figure leaves it to no order,
            # and nothing that fits worse leads to a better answer.
            states = self._figure is not None and self._figure.stated_in(text)
            if asked is None and states and not seed.named:
                stating.add(article_unit(seed.law_id, seed.locator))
                continue
            # A question that names the very paragraph names all that it leaves to an order.
            cited = seed.named and (bool(seed.locator.paragraph) or _PARAGRAPH.search(text) is None)
            points = self._points(text, cited=cited)
            if asked is None and not points:
                continue
            for filling in self._fillings(seed, asked):
                if stating and filling.passage.id not in stating:
                    continue
                fit = seed.strength * self._fit(seed, filling, asked, points, cited=cited)
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

    def _points(self, text: str, *, cited: bool) -> dict[str, float]:
        """The points that a provision leaves to an order and the question may ask for.

        Those are all of a place that it cites; elsewhere those with its words around them, and,
        where it asks for a figure, those that are figures.

        Returns:
            For the noun of every point, empty where it has none, how far it is asked for, 0 to 1.
        """
        points: dict[str, float] = {}
        for left in _LEFT.finditer(text):
            found = _NOUN.match(left["point"])
            noun = found[0] if found else left["before"] or ""
            share = self._words.share(_sentence(text, left.start(), left.end()))
            is_figure = self._figure is not None and self._figure.is_called(noun)
            if cited or (noun and (share >= _LEAST or is_figure)):
                named = 1.0 if noun and noun in self._question else _UNNAMED
                points[noun] = max(share * named, points.get(noun, 0.0))
        return points

    def _is_filled(self, noun: str, filling: _Filling) -> bool:
        """Whether an order says that it fills in a point: 金額 where the act says 金額以上.

        For a figure it may say what else the act calls it: 基礎額, which is 政令で定める金額.
        """
        left = _LEFT.search(filling.clause)
        filled = _NOUN.match(left["point"]) if left else None
        if noun in filling.clause or (filled is not None and noun.startswith(filled[0])):
            return True
        return self._figure is not None and all(
            self._figure.is_called(words) for words in (noun, filling.clause)
        )

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
        self,
        seed: Seed,
        filling: _Filling,
        asked: OrderAsked | None,
        points: Mapping[str, float],
        *,
        cited: bool,
    ) -> float:
        """How well a provision fills in the point asked for; 0 where it fills in another one."""
        near = seed.locator.contains(filling.reference.target)
        near = near or filling.reference.target.contains(seed.locator)
        states = self._figure is not None and self._figure.stated_in(filling.paragraph)
        if asked is not None:
            repeats = _share(_pairs(asked.point), filling.clause)
        else:
            own = [share for noun, share in points.items() if self._is_filled(noun, filling)]
            answers = cited or (bool(own) and (states or seed.named or self._figure is None))
            if not (near and answers):
                return 0.0
            repeats = max(own, default=0.0)
        # Who names the proviso of a place means none of what fills in the rest of it.
        exact = near and (_PROVISO not in self._question or _PROVISO in filling.clause)
        return (1.0 if exact else _ELSEWHERE) * (
            _LEAST_FIT
            + _REPEATS * repeats
            + _STATES * states
            + _ABOUT * self._words.share(f"{filling.passage.header}{filling.paragraph}")
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
