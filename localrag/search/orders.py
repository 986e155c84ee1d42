"""Delegated points: which provision of an order implements the point asked for.

An act says その他の有価証券で政令で定めるもの, and several provisions of its orders implement it.
The question identifies the point by place, by the words of the act, or by its noun. Edges connect
each point with its provisions (`localrag.law.delegations`).
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import PARAGRAPHS, Locator
from localrag.law.delegations import (
    CABINET,
    Filling,
    Point,
    article_of,
    fillings_of,
    points_left,
    points_of,
    same_before,
)
from localrag.search.edges import Seed, touch
from localrag.search.question.asked import OrderAsked
from localrag.search.reading import Reading
from localrag.search.types import Link, LinkKind
from localrag.search.units import Admission, article_unit
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import normalize

# Characters around 政令で定める searched for the noun asked for.
_AFTER = 20
# Weight of a point without its noun in the question (額 in いくらか).
_UNNAMED = 0.5
# Share of the question required in the act, unless the question asks for an order or cites the
# place.
_LEAST = 0.6
# Weight of a provision that implements another part than the one named, or no known point.
_ELSEWHERE = 0.5
# Weights of an order that implements the point, and of a paragraph with the question's words.
_REPEATS, _ABOUT = 0.5, 0.3
_LEAST_FIT = 0.2
# Weights if an order is asked for: of the point, by its noun, of the number of words that suffices,
# and of a noun found elsewhere than right behind.
_ASKED, _OF_NOUN, _ENOUGH, _SAME = 2.0, 0.6, 20, 0.8
# Characters before 政令で定める that make a quotation of the act; places at most.
_QUOTES, _FEW = 6, 3
_PROVISO = "ただし書"


class _Found(NamedTuple):
    """A provision that implements another one.

    Attributes:
        link: from its article to that of the other.
        place: its paragraph.
        point: the point it implements, or None if unknown.
        fit: how well it answers, above 0.
    """

    link: Link
    place: Locator
    point: Point | None
    fit: float


class Filler:
    """Finds the implementing provisions for one question.

    Args:
        store: the corpus store.
        admission: which documents may be found.
        reading: of the question.

    Attributes:
        events: notes for the user, after `links`.
    """

    def __init__(
        self,
        store: Lookups,
        admission: Admission,
        reading: Reading,
    ) -> None:
        self._store = store
        self._admission = admission
        self._question = reading.sought.text
        self._laws = [law_id for law in reading.laws for law_id in law.law_ids]
        self._asked = reading.orders
        # The words of the question without laws and provisions.
        self._words = _pairs(reading.beside)
        # The noun asked for. A provision that only delegates it again is no answer.
        self._needed = ""
        self.events: list[Fact] = []

    def links(self, seeds: Sequence[Seed]) -> list[Link]:
        """What implements the best seeds, and what implements that if it delegates again.

        Args:
            seeds: the provisions named, or else the best ones found, best first.

        Returns:
            At most two links; none if the question asks for no delegated point.
        """
        asked, further = (*self._asked, None, None)[:2]
        named = [seed for seed in seeds if seed.named] or self._quoted(asked, seeds)
        first = self._best(named or seeds, asked)
        if first is None:
            return []
        law_id = first.link.unit.rpartition("#")[0]
        self._needed = first.point.words.noun if first.point and asked else ""
        again = self._best([Seed(law_id, first.place, 1.0, named=False)], further)
        if again is None and further is not None:
            # One provision may delegate both.
            again = self._best(named or seeds, further)
        return [one.link for one in (first, again) if one is not None]

    def _quoted(self, asked: OrderAsked | None, seeds: Sequence[Seed]) -> list[Seed]:
        """The places with 政令で定める after the same words as in the question; none if many.

        Only the laws named are searched, or else those found by words.
        """
        if asked is None or not asked.before:
            return []
        longest, places = _QUOTES - 1, list[Seed]()
        for law_id in dict.fromkeys(self._laws or [seed.law_id for seed in seeds]):
            admitted = self._admission.admits(law_id)
            for point in points_left(self._store, law_id, Locator()) if admitted else ():
                is_left = point.reference.law_name == asked.instrument
                if not (is_left and point.words.after.startswith(asked.point[:1])):
                    continue
                same = same_before(asked.before, point.words.before)
                if same > longest:
                    longest, places = same, []
                if same == longest:
                    places.append(Seed(law_id, point.reference.source, 1.0, named=True))
        return places if len(places) <= _FEW else []

    def _best(self, seeds: Sequence[Seed], asked: OrderAsked | None) -> _Found | None:
        best: _Found | None = None
        for seed in seeds:
            article = article_of(seed.locator)
            points = points_left(self._store, seed.law_id, article)
            # A question citing the exact paragraph means every point it delegates.
            cited = seed.named and bool(points) and self._is_one_paragraph(seed)
            shares = self._shares(points, seed, asked, cited=cited)
            if asked is None and not shares:
                continue
            meant = _meant(shares, seed) if asked and seed.named else []
            filled = False
            for filling in fillings_of(self._store, seed.law_id, article, self._admission.admits):
                own = [point for point in points_of(filling, points) if point in shares]
                point = max(own, key=shares.__getitem__, default=None)
                if meant and point not in meant:
                    continue
                share = shares[point] if point else None
                fit = seed.strength * self._fit(seed, filling, asked, share, cited=cited)
                filled = filled or fit > 0
                if fit > (best.fit if best else 0.0):
                    link = Link(
                        LinkKind.FILLS,
                        article_unit(filling.reference.document_id, filling.place),
                        seed.unit,
                        filling.reference.start,
                        comes_first=asked is not None,
                        leaves=point.reference.start if point else -1,
                    )
                    best = _Found(link, filling.place, point, fit)
            provision = self._store.at(seed.law_id, seed.locator) if meant and not filled else None
            if provision:
                instrument = meant[0].reference.law_name
                self.events.append(
                    Fact(FactKind.NOT_FILLED_IN, provision=provision.header, instrument=instrument)
                )
        return best

    def _is_one_paragraph(self, seed: Seed) -> bool:
        place = seed.locator
        return (
            bool(place.paragraph)
            or len(self._store.locators(seed.law_id, article_of(place), PARAGRAPHS)) < 2
        )

    def _shares(
        self, points: Sequence[Point], seed: Seed, asked: OrderAsked | None, *, cited: bool
    ) -> dict[Point, float]:
        """How well each point of an article matches the question, 0 to 1.

        For a cited place without a mention of orders, all its points. Elsewhere points with
        matching words around them, and the point delegated again.
        """
        if asked is not None:
            return {point: _agreement(point, asked) for point in points}
        shares: dict[Point, float] = {}
        for point in points:
            noun, near = _noun(point), touch(seed.locator, point.reference.source)
            share = _held(self._words, f"{point.words.before} {point.words.after}")
            if near and noun and noun == self._needed:
                shares[point] = 1.0
            elif near and (cited or (noun and share >= _LEAST)):
                shares[point] = share * (1.0 if noun and noun in self._question else _UNNAMED)
        return shares

    def _fit(
        self,
        seed: Seed,
        filling: Filling,
        asked: OrderAsked | None,
        share: float | None,
        *,
        cited: bool,
    ) -> float:
        """How well a provision implements the point asked for; 0 for another point."""
        near = touch(seed.locator, filling.reference.target)
        if asked is None and not (near and (cited or share is not None)):
            return 0.0
        paragraph = self._store.at(filling.reference.document_id, filling.place)
        said = f"{paragraph.header}{paragraph.text}" if paragraph else ""
        # A question about the proviso excludes what implements the main sentence.
        exact = near and (_PROVISO not in self._question or filling.said.of_proviso)
        return (1.0 if exact else _ELSEWHERE) * (
            _LEAST_FIT
            + (_ASKED if asked else _REPEATS) * (share or 0.0)
            + _ABOUT * _held(self._words, said)
        )


def _meant(shares: Mapping[Point, float], seed: Seed) -> list[Point]:
    """Points of a cited place with their noun, or all words before, in the question."""
    return [
        point
        for point, share in shares.items()
        if share >= _OF_NOUN and touch(seed.locator, point.reference.source)
    ]


def _agreement(point: Point, asked: OrderAsked) -> float:
    """How well a point matches the question by its noun and the words before it, 0 to 1."""
    if asked.instrument and (asked.instrument == CABINET) != point.of_cabinet:
        return 0.0
    before, after = point.words.before, point.words.after
    # 政令で定める有価証券 equals 有価証券で政令で定めるもの.
    named = _held(_pairs(asked.point), f"{before[-_AFTER:]} {after[:_AFTER]}")
    noun = max(_SAME * named, float(after.startswith(asked.point)))
    words = min(same_before(asked.before, before), _ENOUGH) / _ENOUGH
    return _OF_NOUN * noun + (1 - _OF_NOUN) * words


def _noun(point: Point) -> str:
    return point.words.noun or point.words.noun_before


def _pairs(text: str) -> set[str]:
    """Pairs of meaningful letters: words without their inflection."""
    return {
        one + other
        for one, other in pairwise(normalize(text))
        if _carries_meaning(one) and _carries_meaning(other)
    }


def _carries_meaning(character: str) -> bool:
    return character.isalnum() and not "ぁ" <= character <= "ゖ"


def _held(asked: set[str], text: str) -> float:
    return len(asked & _pairs(text)) / len(asked) if asked else 1.0
